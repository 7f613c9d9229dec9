"""For people in a browser: one page, written at the end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradcheck.report.formats.html.page import page
from gradcheck.report.formats.html.shown_run import ShownRun
from gradcheck.report.reporter import CollectingReporter

if TYPE_CHECKING:
    from gradcheck.report.background import Background
    from gradcheck.report.reporter import Options, Outcome


class HtmlReporter(CollectingReporter):
    """One page."""

    def report(self, outcome: Outcome) -> None:
        """Write the page."""
        self.stream.write(_page(outcome, self.options.background))


def comparison(outcome: Outcome, background: Background, options: Options) -> str:
    """The page of the new run, which says on top what changed."""
    del options
    return _page(outcome, background)


def _page(outcome: Outcome, background: Background) -> str:
    text = page(ShownRun(outcome, background))
    # ASCII alone, so that the bytes do not depend on the stream's encoding.
    return text.encode("ascii", "xmlcharrefreplace").decode()
