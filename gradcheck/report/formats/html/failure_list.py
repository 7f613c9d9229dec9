"""What failed, each case with all there is to say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradcheck.report.details import failure_details, gist
from gradcheck.report.formats.html.case_details import case_details
from gradcheck.report.formats.html.markup import Html, joined, listed, section, tag
from gradcheck.report.formats.html.status import verdict_badge

if TYPE_CHECKING:
    from gradcheck.model import Result, SpecProblem
    from gradcheck.report.formats.html.shown_run import ShownRun

_UNFOLDED = 2
"""So few failures are unfolded from the beginning."""
_MOST_OTHERS = 1000
"""Failures that are named beyond those that are shown in full."""
_LONGEST_GIST = 240
"""Characters of the line that says what happened."""


def failures_section(shown: ShownRun) -> Html:
    """A list of the failures, then each of them in full."""
    failures, problems = shown.outcome.failures, shown.outcome.plan.problems
    parts: list[Html] = [_problem(problem) for problem in problems]
    if not failures:
        parts.append(tag("p", "Every case that ran is as expected." if shown.results else "None."))
        return section("failures", "What failed", *parts)
    unfolded = len(failures) <= _UNFOLDED
    parts += [_failure(shown, r, unfolded=unfolded) for r in failures if r.id in shown.in_full]
    others = [r for r in failures if r.id not in shown.in_full]
    if others:
        rows = [
            joined([shown.link(r.id), " ", verdict_badge(r), f" {_gist(shown, r)}"])
            for r in others[:_MOST_OTHERS]
        ]
        parts += [tag("h3", f"{len(others)} more"), listed(rows)]
    if len(others) > _MOST_OTHERS:
        parts.append(tag("p", f"The list of cases below has all {len(failures)} of them."))
    return section("failures", "What failed", *parts)


def _failure(shown: ShownRun, result: Result, *, unfolded: bool) -> Html:
    """A line that says what happened, and behind it everything."""
    summary = tag(
        "summary",
        tag("h3", result.id),
        verdict_badge(result),
        f" {_gist(shown, result)}",
    )
    body = case_details(shown, result, level=4)
    place = shown.place(result.id).removeprefix("#")
    return tag("details", summary, body, class_="failure", id=place, open=unfolded)


def _gist(shown: ShownRun, result: Result) -> str:
    text = gist(failure_details(result, shown.outcome.plan))
    return text if len(text) <= _LONGEST_GIST else f"{text[: _LONGEST_GIST - 1]}…"


def _problem(problem: SpecProblem) -> Html:
    """A spec that could not be read."""
    hint = f"\n{problem.hint}" if problem.hint else ""
    return tag(
        "div",
        tag("p", tag("b", "Bad spec: "), problem.message, class_="cause"),
        tag("pre", f"{problem.location}\n{problem.source}{hint}", tabindex=0),
    )
