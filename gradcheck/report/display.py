"""How a result shows itself: a sentence, the text that the command prints, HTML for a notebook.

The HTML needs nothing from elsewhere, says nothing but text, and takes the colours of the page
around it, light or dark, but for verdicts, which are white on a colour of their own.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from gradcheck.model import Comparison, Verdict
from gradcheck.report import numbers
from gradcheck.report.columns import failure_text, input_text, statements
from gradcheck.report.details import (
    failure_details,
    gist,
    input_details,
    input_label,
    input_mark,
    mark,
)
from gradcheck.report.formats.plain import result_line
from gradcheck.report.remark_lines import kink_lines, known_lines, weak_lines
from gradcheck.report.safe_text import defused, one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from gradcheck.model import Result
    from gradcheck.report.details import Grid, InputDetails

_STYLE = (
    ".gradcheck-result{line-height:1.5}"
    ".gradcheck-result table{border-collapse:collapse;margin:.5em 0}"
    ".gradcheck-result th,.gradcheck-result td{padding:.15em .8em;text-align:right;"
    "border-bottom:1px solid rgba(128,128,128,.4);background:none}"
    ".gradcheck-result th:first-child,.gradcheck-result td:first-child{text-align:left}"
    ".gradcheck-result p{margin:.3em 0;max-width:60em}"
    ".gradcheck-result pre{white-space:pre-wrap;background:none;color:inherit}"
    ".gradcheck-result .input{border-left:3px solid rgba(128,128,128,.4);padding-left:1em;"
    "margin:.6em 0}"
    ".gradcheck-result .verdict{color:#fff;border-radius:.6em;padding:.05em .6em}"
)
_COLOURS = {"good": "#1a7f37", "bad": "#b3261e", "known": "#8a5a00", "none": "#57606a"}
"""White on any of them has a contrast of 5 to 1 or more."""


def sentence(shown: Result | Comparison) -> str:
    """What came of it, in a line."""
    if isinstance(shown, Comparison):
        details = input_details(shown)
        cause = f": {details.cause}" if details.cause else ""
        return f"{details.label}: {shown.verdict}, {details.facts}{cause}"
    head = f"{one_line(shown.id)}: {shown.verdict}" + (f" ({mark(shown)})" if mark(shown) else "")
    if not shown.expected:
        return f"{head}. {gist(failure_details(shown))}"
    if not shown.comparisons:
        return f"{head}. {one_line(shown.message)}" if shown.message else f"{head}."
    labels = ", ".join(input_label(comparison) for comparison in shown.comparisons)
    error = numbers.largest(c.max_rel_error for c in shown.comparisons)
    bar = numbers.largest(c.error_bar for c in shown.comparisons)
    by = f" of {labels}: max rel error {numbers.error(error)}, error bar {numbers.error(bar)}."
    return f"{head}. Gradients{by}" if len(shown.comparisons) > 1 else f"{head}. The gradient{by}"


def text(shown: Result | Comparison) -> str:
    """What the command prints of it, plain: its line, and what there is to say beyond."""
    if isinstance(shown, Comparison):
        return defused(input_text(input_details(shown)))
    line = result_line(shown, 0)
    if not shown.expected:
        return defused(f"{line}\n\n{failure_text(failure_details(shown))}")
    return defused("\n".join([line, *_remarks(shown)]))


def failure(result: Result) -> str:
    """What an assertion that fails has to say: the failure in a line, then all about it."""
    details = failure_details(result)
    labels = ", ".join(item.label for item in details.inputs)
    what = f", {labels}: {result.verdict}" if labels else f": {result.verdict}: {gist(details)}"
    _, _, rest = failure_text(details).partition("\n")
    return defused(f"{details.id}{what}\n{rest}")


def html(shown: Result | Comparison) -> str:
    """A small table, and the failure's details."""
    if isinstance(shown, Comparison):
        parts = [_table([shown], [""]), *_input(input_details(shown), shown.verdict)]
    else:
        marks = [input_mark(shown, comparison) for comparison in shown.comparisons]
        parts = [_head(shown), _table(shown.comparisons, marks), *_body(shown)]
    return f'<div class="gradcheck-result"><style>{_STYLE}</style>{"".join(parts)}</div>'


def _remarks(result: Result) -> list[str]:
    known = [] if result.verdict.acceptable else known_lines([result])
    return [*known, *kink_lines(result), *weak_lines(result)]


def _head(result: Result) -> str:
    time = f"<small>{numbers.seconds(result.seconds)}</small>"
    return f"<p>{_verdict(result.verdict, mark(result))} <code>{_said(result.id)}</code> {time}</p>"


def _body(result: Result) -> list[str]:
    if result.expected:
        said = _remarks(result)
        if not result.comparisons and result.message:
            said.append(one_line(result.message))
        return [f"<p>{escape(line)}</p>" for line in said]
    details = failure_details(result)
    parts = [f"<p>{escape(line)}</p>" for line in statements(details)]
    if details.message:
        parts.append(f"<pre>{escape(details.message)}</pre>")
    return parts + [part for item in details.inputs for part in _input(item, item.verdict)]


def _input(details: InputDetails, verdict: Verdict) -> Iterable[str]:
    """What there is to say about an input that is not simply right."""
    if verdict in (Verdict.PASS, Verdict.SKIPPED) and not details.note:
        return
    yield f'<div class="input"><p><b>{escape(details.label)}</b>: {escape(details.facts)}</p>'
    if details.elements and verdict is not Verdict.PASS:
        yield _grid(details.elements)
    if details.note:
        yield f"<p>{escape(details.note)}</p>"
    if details.cause:
        yield f"<p><b>likely cause:</b> {escape(details.cause)}</p>"
    if details.places:
        yield f"<p><b>in your code:</b> <code>{escape(details.places)}</code></p>"
    yield "</div>"


def _table(comparisons: Sequence[Comparison], marks: Sequence[str]) -> str:
    if not comparisons:
        return ""
    head = ("input", "dtype", "elements", "max abs error", "max rel error", "error bar", "verdict")
    rows = [
        [
            escape(input_label(c)),
            _said(c.dtype),
            escape(numbers.elements(c)),
            *(numbers.error(figure) for figure in (c.max_abs_error, c.max_rel_error, c.error_bar)),
            _verdict(c.verdict, marked),
        ]
        for c, marked in zip(comparisons, marks, strict=True)
    ]
    return _rows(head, rows)


def _grid(grid: Grid) -> str:
    return _rows([escape(title) for title in grid.header], [map(escape, row) for row in grid.rows])


def _rows(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table of cells that are HTML already."""
    titles = "".join(f"<th>{cell}</th>" for cell in head)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table>"


def _verdict(verdict: Verdict, marked: str) -> str:
    kind = "good" if verdict.acceptable else "bad"
    kind = {"expected": "known", "unexpected": "bad"}.get(marked, kind)
    if verdict is Verdict.SKIPPED:
        kind = "none"
    note = f" ({marked})" if marked else ""
    return f'<span class="verdict" style="background:{_COLOURS[kind]}">{verdict}{note}</span>'


def _said(text: str) -> str:
    return escape(one_line(text))
