"""Cases that expect to be wrong: what was expected and what was seen, why, in which versions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gradcheck.model import KnownBug, Verdict
from gradcheck.report import numbers
from gradcheck.report.formats.html.markup import Html, joined, listed, section, tag
from gradcheck.report.formats.html.status import verdict_badge
from gradcheck.report.remark_lines import expects_a_bug, gone_lines, is_mended, mended_lines

if TYPE_CHECKING:
    from gradcheck.model import Expectation, Result
    from gradcheck.report.formats.html.shown_run import ShownRun

_GROUPS_UNFOLDED = 20
"""So few are unfolded from the beginning."""
_ADDRESS = re.compile(r"https?://[^\s<>\"'`\\]{1,300}")
"""What becomes a link: a report may come from anywhere, and so may what it calls an address."""


def known_section(shown: ShownRun) -> Html:
    """An item for each function, reason and outcome; nothing where no case expects to be wrong."""
    groups: dict[tuple[str, ...], list[Result]] = {}
    for result in shown.results:
        if _is_told(result):
            groups.setdefault(_key(shown, result), []).append(result)
    if not groups:
        return Html("")
    items = [_item(shown, some) for some in groups.values()]
    count = sum(map(len, groups.values()))
    number = f"{numbers.count(count, 'case')}, in {numbers.count(len(items), 'group')}"
    told = tag("summary", number)
    folded = tag("details", told, listed(items, "known"), open=len(items) <= _GROUPS_UNFOLDED)
    note = "Their specs expect these verdicts; the run fails when one goes away."
    lines = [*gone_lines(shown.results), *mended_lines(shown.results, shown.environment)]
    changed = [tag("p", line) for line in lines]
    return section("known", "Known bugs", tag("p", note), *changed, folded)


def _is_told(result: Result) -> bool:
    """Whether the case expects something that is not right, here or in older versions.

    In a mode or check that the run has added a bug may be absent, and its case passes: that is told
    in the matrix.
    """
    is_absent = result.verdict.acceptable and result.expected
    return is_mended(result) or (expects_a_bug(result) and not is_absent)


def _key(shown: ShownRun, result: Result) -> tuple[str, ...]:
    case = result.case
    bug = case.bug if case and case.bug else KnownBug()
    reason = case.reason if case else ""
    versions = "; ".join(filter(None, (bug.versions, bug.otherwise)))
    told = (bug.mended or reason, versions, bug.instead, bug.issue)
    return (shown.label(result), _expected(result), str(result.verdict), *told)


def _item(shown: ShownRun, results: list[Result]) -> Html:
    """What was seen of which function and what its spec says of that, then the cases."""
    first = results[0]
    label, expected, _, reason, versions, instead, issue = _key(shown, first)
    parts = [
        joined([verdict_badge(first), " ", tag("code", label)]),
        tag("p", reason),
    ]
    if instead:
        parts.append(tag("p", "Right is: ", tag("code", instead)))
    if issue:
        linked = _ADDRESS.fullmatch(issue)
        address = tag("a", issue, href=issue, rel="noreferrer") if linked else issue
        parts.append(tag("p", "Reported: ", address))
    links = joined((shown.link(result.id) for result in results), ", ")
    facts = f"expected: {expected}; versions: {versions or 'all'}; "
    parts.append(tag("p", facts, links, class_="facts"))
    return joined(parts)


def _expected(result: Result) -> str:
    expect: Expectation = result.case.expect if result.case else None
    if expect is None:
        return "pass, it is mended"
    if isinstance(expect, Verdict):
        return str(expect)
    return ", ".join(f"{name}: {verdict}" for name, verdict in expect.items())
