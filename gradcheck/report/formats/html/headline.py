"""The top of the page: how the run ended, in a sentence, in numbers and as a bar."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from gradcheck.report import numbers
from gradcheck.report.endings import Status, status_of
from gradcheck.report.formats.html import drawing
from gradcheck.report.formats.html.markup import Html, joined, section, tag
from gradcheck.report.totals import environment_line, headline, succeeded

if TYPE_CHECKING:
    from datetime import datetime

    from gradcheck.report.formats.html.shown_run import ShownRun

_BAR = 1000
"""The length of the bar, in its own units."""


def banner(shown: ShownRun, written: datetime) -> Html:
    """The heading of the page."""
    outcome = shown.outcome
    state = "pass" if succeeded(outcome) else "failed"
    shard = outcome.plan.shard
    part = f"shard {shard.index} of {shard.count} · " if shard else ""
    facts = f"{part}{outcome.tally.verdicts} in {numbers.seconds(outcome.summary.seconds)}"
    return tag(
        "header",
        tag("p", "gradcheck report", class_="name"),
        tag("h1", headline(outcome)),
        tag("p", facts),
        tag("p", environment_line(outcome.plan), class_="facts"),
        tag("p", "written ", _time(written), class_="facts"),
        class_=f"banner {state}",
    )


def _time(when: datetime) -> Html:
    return tag("time", f"{when:%Y-%m-%d %H:%M} UTC", datetime=when.isoformat(timespec="minutes"))


def summary_section(shown: ShownRun) -> Html:
    """The numbers: what a manager reads."""
    counts = Counter(status_of(result) for result in shown.results)
    tiles = [_tile(str(len(shown.results)), "cases", "")]
    tiles += [_tile(str(counts[s]), s.words, str(s)) for s in Status if counts[s]]
    compared = [c for result in shown.results for c in result.comparisons]
    judged = sum(c.judged for c in compared)
    tiles.append(_tile(f"{len(compared):,}", "gradients", ""))
    tiles.append(_tile(f"{judged:,}", "elements judged one by one", ""))
    return section("summary", "Summary", tag("dl", *tiles, class_="tiles"), _bar(counts))


def _tile(number: str, words: str, status: str) -> Html:
    return tag("div", tag("dt", words), tag("dd", number), class_=f"tile {status}".strip())


def _bar(counts: Counter[Status]) -> Html:
    """The shares of the verdicts."""
    total = sum(counts.values())
    if not total:
        return Html("")
    drawn, start = [], 0.0
    for status in Status:
        if counts[status]:
            # (However few they are, they can be seen.)
            width = max(6.0, _BAR * counts[status] / total)
            path = f"M{drawing.n(start)} 0h{drawing.n(width)}v10h-{drawing.n(width)}z"
            drawn.append(drawing.path(f"fill-{status}", path))
            start += width
    told = ", ".join(f"{counts[s]} {s.words}" for s in Status if counts[s])
    return tag(
        "svg",
        joined(drawn),
        viewBox=f"0 0 {drawing.n(start)} 10",
        preserveAspectRatio="none",
        role="img",
        aria_label=told,
        class_="bar",
    )
