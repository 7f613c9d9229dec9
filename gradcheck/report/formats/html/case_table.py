"""The list of all cases, a table for each spec file, with what the script filters by."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradcheck.report import numbers
from gradcheck.report.endings import Status, status_of
from gradcheck.report.formats.html.markup import Html, joined, section, tag
from gradcheck.report.formats.html.status import verdict_badge
from gradcheck.report.reporter import MOST_CASES
from gradcheck.report.tally import split_id, verdict_counts
from gradcheck.report.totals import by_file, slowest

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from gradcheck.model import Result
    from gradcheck.report.formats.html.shown_run import ShownRun

_COLUMNS = (
    "case",
    "dtype",
    "mode",
    "max abs error",
    "max rel error",
    "error bar",
    "verdict",
    "time",
)
_SLOWEST = 10


def cases_section(shown: ShownRun) -> Html:
    """Filters, then the tables; folded where there are many cases."""
    few = len(shown.results) <= MOST_CASES
    groups = [
        _group(shown, path, results, unfolded=few)
        for path, results in by_file(shown.results).items()
    ]
    count = tag("p", numbers.count(len(shown.results), "case"), id="count", role="status")
    told = (
        "The details of cases that are as expected are unfolded by a script, which this browser "
        "does not run; those of failures stand above."
    )
    note = tag("noscript", tag("p", told))
    return section("cases", "Cases", _filters(shown), count, note, *groups, _slow(shown))


def _filters(shown: ShownRun) -> Html:
    """What the script filters by; hidden where there is none."""
    statuses = dict.fromkeys(status_of(result) for result in shown.results)
    boxes = [
        tag("label", tag("input", type="checkbox", name="status", value=s, checked=True), s.words)
        for s in Status
        if s in statuses
    ]
    cases = [result.case for result in shown.results if result.case]
    hint = "parts of ids, tags, causes"
    word = tag("input", type="search", id="search", placeholder=hint, autocomplete="off")
    controls = [
        tag("label", "Search ", word),
        _choice("dtype", sorted({case.dtype for case in cases})),
        _choice("mode", sorted({str(case.mode) for case in cases})),
        tag("fieldset", tag("legend", "Show"), *boxes),
    ]
    if shown.difference is not None:
        changed = tag("input", type="checkbox", id="changed")
        controls.append(tag("label", changed, "only what changed"))
    return tag("form", *controls, id="filters", role="search", hidden=True)


def _choice(name: str, values: Iterable[str]) -> Html:
    options = [tag("option", "all", value=""), *(tag("option", value) for value in values)]
    return tag("label", f"{name} ", tag("select", *options, id=name))


def _group(shown: ShownRun, path: str, results: Sequence[Result], *, unfolded: bool) -> Html:
    head = tag("tr", *(tag("th", title, scope="col") for title in _COLUMNS))
    rows = tag("tbody", *(_row(shown, result) for result in results))
    name = path or "cases"
    caption = tag("caption", f"Cases of {name}", class_="unseen")
    listing = tag("table", caption, tag("thead", head), rows, class_="cases")
    failed = "failed" if any(not result.expected for result in results) else ""
    told = joined([tag("b", name), f" {verdict_counts(results)}"])
    summary = tag("summary", told, class_=failed or None)
    scrolled = tag("div", listing, class_="wide")
    return tag("details", summary, scrolled, class_="file", open=unfolded)


def _row(shown: ShownRun, result: Result) -> Html:
    number, case = shown.numbers[result.id], result.case
    name = split_id(result)[1]
    in_full = result.id in shown.in_full
    expanded = None if in_full else "false"
    link = tag("a", name, href=shown.place(result.id), aria_expanded=expanded)
    errors = [
        numbers.error(numbers.largest(getattr(c, which) for c in result.comparisons))
        for which in ("max_abs_error", "max_rel_error", "error_bar")
    ]
    cells = [
        case.dtype if case else "",
        str(case.mode) if case else "",
        *errors,
        verdict_badge(result),
        numbers.seconds(result.seconds),
    ]
    return tag(
        "tr",
        tag("th", link, scope="row"),
        *(tag("td", cell) for cell in cells),
        id=f"c{number}",
        class_=status_of(result),
        data_more=_searched(result) or None,
        data_changed=result.id in shown.changed or None,
    )


def _searched(result: Result) -> str:
    """What else the case is found by: tags and the cause of its failure."""
    words = [*result.case.tags] if result.case else []
    if result.case and result.case.target.text not in result.id:
        words.append(result.case.target.text)
    if result.diagnosis:
        words.append(result.diagnosis.cause)
    return " ".join(words)


def _slow(shown: ShownRun) -> Html:
    if len(shown.results) <= _SLOWEST:
        return Html("")
    items = [
        tag("li", shown.link(r.id), f" {numbers.seconds(r.seconds)}")
        for r in slowest(shown.results, _SLOWEST)
    ]
    summary = tag("summary", f"The {_SLOWEST} slowest")
    return tag("details", summary, tag("ol", *items))
