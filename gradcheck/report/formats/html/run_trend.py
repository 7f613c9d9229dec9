"""The runs before this one: how each ended, and which cases did not stay as they were."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from gradcheck.report import numbers
from gradcheck.report.endings import Status, status_of
from gradcheck.report.formats.html.markup import Html, section, table, tag
from gradcheck.report.formats.html.pictures.trend_strip import trend_strip

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gradcheck.model import Result
    from gradcheck.report.formats.html.shown_run import ShownRun

_MOST_CASES = 50
"""Cases with a trend of their own in this section; every case has one in its details."""

_VERSIONS = ("tensorflow", "keras", "numpy", "gradcheck")


def history_section(shown: ShownRun) -> Html:
    """A row for each run, the newest first; nothing where there is only this one."""
    earlier = shown.background.earlier
    if not earlier:
        return Html("")
    runs: list[tuple[str, Mapping[str, str], Sequence[Result], float]] = [
        (run.name, run.environment, run.results, run.seconds) for run in earlier
    ]
    runs.append(("this run", shown.environment, shown.results, shown.outcome.summary.seconds))
    rows = [_row(*run) for run in reversed(runs)]
    header = ("run", "versions", "cases", *(s.words for s in Status), "time")
    listing = table(header, rows, "Runs, the newest first", "runs")
    return section("history", "History", listing, *_changed(shown))


def _row(
    name: str, environment: Mapping[str, str], results: Sequence[Result], seconds: float
) -> list[str]:
    counts = Counter(status_of(result) for result in results)
    versions = ", ".join(f"{key} {environment[key]}" for key in _VERSIONS if key in environment)
    numbers_ = [_number(status, counts[status]) for status in Status]
    return [name, versions, str(len(results)), *numbers_, numbers.seconds(seconds)]


def _number(status: Status, count: int) -> str:
    return tag("span", str(count), class_=f"badge {status}") if count else numbers.NOTHING


def _changed(shown: ShownRun) -> list[Html]:
    """The cases that have had more than one verdict, with their trends."""
    changing = []
    for result in shown.results:
        past = shown.past(result)
        if len({(r.verdict, r.expected) for r in past if r is not None}) > 1:
            changing.append((result, past))
    if not changing:
        return [tag("p", "No case had another verdict in these runs than now.")]
    items = [
        tag("div", tag("h3", shown.link(result.id)), trend_strip(past), class_="trend")
        for result, past in changing[:_MOST_CASES]
    ]
    told = f"{numbers.count(len(changing), 'case')} did not have the same verdict in all of them."
    if len(changing) > _MOST_CASES:
        told += f" The first {_MOST_CASES}:"
    return [tag("p", told), *items]
