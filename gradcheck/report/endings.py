"""In which of five ways a case ended, for colours, signs and filters: fewer than verdicts."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from gradcheck.model import Verdict, worst_verdict
from gradcheck.report.details import fails

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gradcheck.model import CheckKind, Result


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


def status_of_check(result: Result, kind: CheckKind) -> Status:
    """How one check of a case ended, which may make several."""
    told = [c for c in result.comparisons if c.check is kind]
    if not told or result.case is None or len(result.case.checks) == 1:
        return status_of(result)
    if any(fails(result, comparison) for comparison in told):
        return Status.FAILED
    verdict = worst_verdict(comparison.verdict for comparison in told)
    if not verdict.acceptable:
        return Status.KNOWN
    return _OF_VERDICT.get(verdict, Status.PASS)


def gravest(statuses: Iterable[Status]) -> Status:
    """The first of them in the order of gravity; `skipped` if there is none."""
    order = list(Status)
    return min(statuses, key=order.index, default=Status.SKIPPED)
