"""What changed since the run that this one is compared with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradcheck.report import numbers
from gradcheck.report.formats.html.markup import Html, joined, listed, section, tag

if TYPE_CHECKING:
    from gradcheck.report.difference import ChangeList
    from gradcheck.report.formats.html.shown_run import ShownRun

_MOST_LISTED = 200
"""Cases that a list names: who has more has another problem than finding one."""


def changes_section(shown: ShownRun) -> Html:
    """Broken, mended and other cases; how to get that where nothing is compared."""
    difference = shown.difference
    if difference is None:
        how = tag("code", "gradcheck report last-week.json today.json --format html")
        told = tag(
            "p",
            "No earlier report was given. ",
            tag("code", "--baseline FILE"),
            " compares the run with a JSON report, and ",
            how,
            " compares two reports.",
        )
        return section("changes", "What changed", told)
    name = shown.background.earlier[-1].name
    head = joined(
        ["Since ", tag("b", name), f", with {numbers.count(difference.common, 'case')} in common: "]
    )
    parts = [tag("p", head, difference.counts(), ".")]
    if difference.environment:
        parts.append(tag("p", f"Not on the same: {'; '.join(difference.environment)}."))
    parts += [_list(found, shown) for found in difference.lists()]
    return section("changes", "What changed", *parts)


def _list(found: ChangeList, shown: ShownRun) -> Html:
    told: list[str] = [
        joined([shown.link(change.id), f" {change.text}" if change.text else ""])
        for change in found.changes[:_MOST_LISTED]
    ]
    total = len(found.changes)
    if total > _MOST_LISTED:
        told.append(f"… and {total - _MOST_LISTED} more")
    heading = tag("summary", f"{found.title[0].upper()}{found.title[1:]} ({total})")
    return tag("details", heading, listed(told), open=total <= 20)
