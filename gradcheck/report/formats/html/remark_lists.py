"""What passes and has something to say all the same: weak bars, kinks, cases that did not run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradcheck.report.formats.html.markup import Html, listed, section, tag
from gradcheck.report.remark_lines import kink_lines, skipped_lines, weak_lines

if TYPE_CHECKING:
    from gradcheck.report.formats.html.shown_run import ShownRun


def remarks_section(shown: ShownRun) -> Html:
    """Lists that are folded where they are long; nothing where there is nothing to say."""
    lists = (
        ("Judged in part, or in low precision alone", _lines(shown, "weak")),
        ("At a kink, and between its two slopes", _lines(shown, "kink")),
        ("Skipped", skipped_lines(shown.results)),
    )
    parts = [
        tag("details", tag("summary", f"{title} ({len(lines)})"), listed(lines))
        for title, lines in lists
        if lines
    ]
    return section("remarks", "What a pass does not say", *parts) if parts else Html("")


def _lines(shown: ShownRun, kind: str) -> list[str]:
    told = weak_lines if kind == "weak" else kink_lines
    return [line for result in shown.results for line in told(result)]
