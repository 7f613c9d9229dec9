"""In which of five ways a case ended, for colours and filters: fewer than there are verdicts."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from gradcheck.model import Verdict
from gradcheck.report.details import mark
from gradcheck.report.formats.html.markup import Html, tag

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gradcheck.model import Result


class Status(StrEnum):
    """From the gravest to the mildest."""

    FAILED = "failed"
    KNOWN = "known"
    KINK = "kink"
    PASS = "pass"
    SKIPPED = "skipped"

    @property
    def words(self) -> str:
        """What it is called on the page."""
        return _WORDS[self]

    @property
    def sign(self) -> str:
        """For who does not see its colour."""
        return _SIGNS[self]


_WORDS = {
    Status.FAILED: "failed",
    Status.KNOWN: "known bugs",
    Status.KINK: "at a kink",
    Status.PASS: "passed",
    Status.SKIPPED: "skipped",
}
_SIGNS = {
    Status.FAILED: "✗",
    Status.KNOWN: "!",
    Status.KINK: "∧",
    Status.PASS: "✓",
    Status.SKIPPED: "–",
}
_OF_VERDICT = {Verdict.KINK: Status.KINK, Verdict.SKIPPED: Status.SKIPPED}


def status_of(result: Result) -> Status:
    """How the case ended."""
    if not result.expected:
        return Status.FAILED
    if not result.verdict.acceptable:
        return Status.KNOWN
    return _OF_VERDICT.get(result.verdict, Status.PASS)


def gravest(statuses: Iterable[Status]) -> Status:
    """The first of them in the order of gravity; `skipped` if there is none."""
    order = list(Status)
    return min(statuses, key=order.index, default=Status.SKIPPED)


def verdict_badge(result: Result) -> Html:
    """The verdict with its colour, and whether it was expected."""
    why = mark(result)
    text = f"{result.verdict} ({why})" if why else str(result.verdict)
    return tag("span", text, class_=f"badge {status_of(result)}")
