"""The matrix of functions by mode and dtype: a coloured cell for all that was checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradcheck.report import numbers
from gradcheck.report.formats.html.markup import Html, joined, section, tag
from gradcheck.report.formats.html.status import Status, gravest, status_of

if TYPE_CHECKING:
    from gradcheck.model import Result
    from gradcheck.report.formats.html.shown_run import ShownRun

    Column = tuple[str, str]

_MOST_ROWS = 600
"""Functions that the table has rows for; those with failures come first."""
_FOLDED = 30
"""Rows from which on the table is folded."""

_DTYPES = ("float64", "float32", "bfloat16", "float16", "complex128", "complex64")
_MODES = ("eager", "graph", "xla")


def grid_section(shown: ShownRun) -> Html:
    """A row for each function, a column for each mode and dtype that any case has."""
    rows: dict[str, dict[Column, list[Result]]] = {}
    for result in shown.results:
        if result.case is not None:
            column = (str(result.case.mode), result.case.dtype)
            rows.setdefault(shown.label(result), {}).setdefault(column, []).append(result)
    if not rows:
        return Html("")
    columns = sorted({column for cells in rows.values() for column in cells}, key=_rank)
    names = sorted(rows, key=lambda name: (not _has_failed(rows[name]), name.lower()))
    body = [_row(shown, name, rows[name], columns) for name in names[:_MOST_ROWS]]
    caption = "How each function fared, by mode and dtype"
    drawn = tag(
        "table",
        tag("caption", caption, class_="unseen"),
        _head(columns),
        tag("tbody", *body),
        class_="grid",
    )
    scrolled = tag("div", drawn, class_="wide")
    told = (
        f"{numbers.count(len(names), 'function')} in {numbers.count(len(columns), 'combination')}"
    )
    if len(names) > _MOST_ROWS:
        told += f"; the first {_MOST_ROWS}"
    folded = tag("summary", told)
    parts = [_legend(), tag("details", folded, scrolled, open=len(names) <= _FOLDED)]
    return section("grid", "Functions by mode and dtype", *parts)


def _rank(column: Column) -> tuple[int, int, str]:
    mode, dtype = column
    place = _DTYPES.index(dtype) if dtype in _DTYPES else len(_DTYPES)
    return (_MODES.index(mode) if mode in _MODES else len(_MODES), place, dtype)


def _has_failed(cells: dict[Column, list[Result]]) -> bool:
    return any(not result.expected for results in cells.values() for result in results)


def _head(columns: list[Column]) -> Html:
    """Two rows: the modes, and below each of them its dtypes."""
    widths: dict[str, int] = {}
    for mode, _ in columns:
        widths[mode] = widths.get(mode, 0) + 1
    modes = [tag("th", m, scope="colgroup", colspan=width) for m, width in widths.items()]
    first = tag("tr", tag("th", "function", scope="col", rowspan=2), *modes)
    return tag("thead", first, tag("tr", *(tag("th", dtype, scope="col") for _, dtype in columns)))


def _row(
    shown: ShownRun, name: str, cells: dict[Column, list[Result]], columns: list[Column]
) -> Html:
    drawn = [_cell(shown, cells[c]) if c in cells else tag("td", "") for c in columns]
    return tag("tr", tag("th", tag("code", name), scope="row"), *drawn)


def _cell(shown: ShownRun, results: list[Result]) -> Html:
    status = gravest(status_of(result) for result in results)
    worst = next(result for result in results if status_of(result) is status)
    count = f" {len(results)}" if len(results) > 1 else ""
    text = f"{status.sign}{count}"
    label = f"{status.words}, {numbers.count(len(results), 'case')}"
    return tag("td", tag("a", text, href=shown.place(worst.id), aria_label=label), class_=status)


def _legend() -> Html:
    chips = [
        tag("span", tag("i", s.sign, class_=f"chip {s}"), s.words, class_="key") for s in Status
    ]
    return tag(
        "p", "A cell shows the gravest of its cases, and how many there are: ", joined(chips)
    )
