"""In which of five ways a case ended, for colours and filters: fewer than verdicts.

And with which of eight marks a cell of the matrix tells it: what is expected to be no pass is a
wrong gradient, none at all, an error, or one that nobody can decide on, and these differ.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from gradcheck.model import Verdict, worst_verdict
from gradcheck.report.details import fails

if TYPE_CHECKING:
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


_WORDS = {
    Status.FAILED: "failed",
    Status.KNOWN: "known bugs",
    Status.KINK: "at a kink",
    Status.PASS: "passed",
    Status.SKIPPED: "skipped",
}


class Mark(StrEnum):
    """The signs of a matrix, from the gravest to the mildest."""

    FAILED = "✗"
    WRONG = "!"
    ERROR = "e"
    MISSING = "∅"
    OPEN = "?"
    KINK = "∧"
    PASS = "✓"
    SKIPPED = "–"

    @property
    def words(self) -> str:
        """What the legend calls it."""
        return _MARK_WORDS[self]

    @property
    def status(self) -> Status:
        """Which gives it its colour."""
        return _STATUS_OF_MARK.get(self, Status.KNOWN)


_MARK_WORDS = {
    Mark.FAILED: "failed",
    Mark.WRONG: "known to be wrong",
    Mark.ERROR: "known to end in an error",
    Mark.MISSING: "known to have no gradient",
    Mark.OPEN: "known to be undecided",
    Mark.KINK: "at a kink",
    Mark.PASS: "passed",
    Mark.SKIPPED: "skipped",
}
_STATUS_OF_MARK = {
    Mark.FAILED: Status.FAILED,
    Mark.KINK: Status.KINK,
    Mark.PASS: Status.PASS,
    Mark.SKIPPED: Status.SKIPPED,
}
_MARK_OF_VERDICT = {
    Verdict.MISMATCH: Mark.WRONG,
    Verdict.NONFINITE: Mark.WRONG,
    Verdict.DISCONNECTED: Mark.MISSING,
    Verdict.INCONCLUSIVE: Mark.OPEN,
    Verdict.ERROR: Mark.ERROR,
    Verdict.CRASHED: Mark.ERROR,
    Verdict.TIMEOUT: Mark.ERROR,
    Verdict.KINK: Mark.KINK,
    Verdict.PASS: Mark.PASS,
    Verdict.SKIPPED: Mark.SKIPPED,
}
_OF_VERDICT = {Verdict.KINK: Status.KINK, Verdict.SKIPPED: Status.SKIPPED}


def status_of(result: Result) -> Status:
    """How the case ended."""
    if not result.expected:
        return Status.FAILED
    if not result.verdict.acceptable:
        return Status.KNOWN
    return _OF_VERDICT.get(result.verdict, Status.PASS)


def mark_of_check(result: Result, kind: CheckKind) -> Mark:
    """How one check of a case ended, which may make several."""
    told = [c for c in result.comparisons if c.check is kind]
    if not told or result.case is None or len(result.case.checks) == 1:
        return _MARK_OF_VERDICT[result.verdict] if result.expected else Mark.FAILED
    if any(fails(result, comparison) for comparison in told):
        return Mark.FAILED
    return _MARK_OF_VERDICT[worst_verdict(comparison.verdict for comparison in told)]


def graver(one: Mark, other: Mark) -> bool:
    """Whether the first is graver than the second."""
    order = list(Mark)
    return order.index(one) < order.index(other)
