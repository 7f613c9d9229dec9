"""Everything about one case: what happened, input by input, with tables, pictures and a command."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gradcheck.model import Verdict
from gradcheck.report.columns import statements
from gradcheck.report.details import failure_details, input_details, input_mark
from gradcheck.report.formats.html.markup import Html, joined, table, tag
from gradcheck.report.formats.html.pictures import pictures_of
from gradcheck.report.formats.html.pictures.trend_strip import trend_strip
from gradcheck.report.formats.html.status import verdict_badge

if TYPE_CHECKING:
    from gradcheck.model import Comparison, Result
    from gradcheck.report.details import InputDetails
    from gradcheck.report.formats.html.shown_run import ShownRun

_MOST_PICTURED = 8
"""Inputs of a case that have pictures: a layer may have a hundred weights."""

_MOST_RUNS = 30
"""Runs that a strip shows."""


def case_details(shown: ShownRun, result: Result, level: int = 3) -> Html:
    """The details of a case; headings of its inputs are of this level."""
    told = failure_details(result, shown.outcome.plan)
    if result.expected:
        # (There is nothing to say against an expectation that came true.)
        told = replace(told, headline="")
    parts = [_facts(result)]
    lines = statements(told)
    if result.expected and told.reason:
        lines.append(f"Expected: {told.reason}")
    parts += [tag("p", line, class_="statement") for line in lines]
    if told.message:
        parts.append(tag("pre", told.message, tabindex=0))
    # What is wrong comes first, and has its pictures whatever else there is.
    inputs = sorted(result.comparisons, key=lambda c: c.verdict is Verdict.PASS)
    for number, comparison in enumerate(inputs):
        pictured = number < _MOST_PICTURED
        parts.append(_input(result, comparison, level, pictured=pictured))
    past = shown.past(result)[-_MOST_RUNS:]
    if sum(r is not None for r in past) > 1:
        parts.append(trend_strip(past))
    parts.append(tag("p", "Replay: ", tag("code", told.replay, class_="command")))
    return joined(parts)


def _facts(result: Result) -> Html:
    """Where the case comes from and what it is, in one line."""
    case = result.case
    words: list[str] = [verdict_badge(result)]
    if case is not None:
        if case.target.text:
            words.append(joined([f"{case.target.kind} ", tag("code", case.target.text)]))
        words += [case.dtype, str(case.mode), f"seed {case.seed}", tag("code", str(case.location))]
        words += [f"tag {tag_}" for tag_ in case.tags]
    if result.decided_by is not None:
        words.append(f"decided by {result.decided_by}")
    return tag("p", joined(words, " · "), class_="facts")


def _input(result: Result, comparison: Comparison, level: int, *, pictured: bool) -> Html:
    told = input_details(comparison)
    why = input_mark(result, comparison)
    verdict = f"{told.verdict} ({why})" if why else str(told.verdict)
    parts = [
        tag(f"h{level}", joined([tag("code", told.label), f" {verdict}"])),
        tag("p", told.facts, class_="facts"),
    ]
    if told.cause:
        parts.append(tag("p", tag("b", "Likely cause: "), told.cause, class_="cause"))
    if told.places:
        parts.append(tag("p", tag("b", "In your code: "), tag("code", told.places)))
    if told.note:
        parts.append(tag("p", told.note))
    parts.append(_elements(told))
    pictures = pictures_of(comparison) if pictured else []
    if pictures:
        parts.append(tag("div", *pictures, class_="pictures"))
    return tag("div", *parts, class_="input")


def _elements(told: InputDetails) -> Html:
    if told.elements is None:
        return Html("")
    grid = told.elements
    return table(grid.header, grid.rows, f"The elements of {told.label} that stand out most")
