"""How a verdict looks on the page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradcheck.report.details import mark
from gradcheck.report.endings import status_of
from gradcheck.report.formats.html.markup import Html, tag

if TYPE_CHECKING:
    from gradcheck.model import Result


def verdict_badge(result: Result) -> Html:
    """The verdict with its colour, and whether it was expected."""
    why = mark(result)
    text = f"{result.verdict} ({why})" if why else str(result.verdict)
    return tag("span", text, class_=f"badge {status_of(result)}")
