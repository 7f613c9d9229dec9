"""How a check can end, what each ending means, and which of several is the gravest."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class Verdict(StrEnum):
    """How a check ended. The text of each member is `meaning`: what it says, what to do next."""

    PASS = "pass"
    MISMATCH = "mismatch"
    DISCONNECTED = "disconnected"
    NONFINITE = "nonfinite"
    KINK = "kink"
    INCONCLUSIVE = "inconclusive"
    ERROR = "error"
    CRASHED = "crashed"
    TIMEOUT = "timeout"
    SKIPPED = "skipped"

    @property
    def meaning(self) -> str:
        """What the verdict means and what to do about it, in a sentence or two."""
        return _MEANINGS[self]

    @property
    def acceptable(self) -> bool:
        """Whether a case that expects nothing in particular may end this way."""
        return self in _ACCEPTABLE

    @property
    def severity(self) -> int:
        """How grave it is: the less, the graver."""
        return _SEVERITY.index(self)


_ACCEPTABLE = frozenset({Verdict.PASS, Verdict.KINK, Verdict.SKIPPED})

_MEANINGS = {
    Verdict.PASS: "The gradient agrees with the numeric derivative within its error bar.",
    Verdict.MISMATCH: (
        "The gradient differs from the numeric derivative by more than the error bar allows: "
        "look at the gradient function of this input."
    ),
    Verdict.DISCONNECTED: (
        "The tape returned None: no differentiable path leads from this input to the output. "
        "Look for values computed outside the function, casts to integers, numpy calls or "
        "tf.stop_gradient on the way."
    ),
    Verdict.NONFINITE: (
        "The gradient holds NaN or infinity where the function itself is finite: look for 0/0, "
        "0·inf or a log or root at the edge of its domain in the gradient function."
    ),
    Verdict.KINK: (
        "The function has a kink here; the gradient lies between the two one-sided derivatives."
    ),
    Verdict.INCONCLUSIVE: (
        "The numeric derivative is too poor to judge by: its error bar hides the gradient. Choose "
        "a point where the function is better conditioned, or give a `gradient:` formula."
    ),
    Verdict.ERROR: "The function, its gradient or the check itself raised: see the message.",
    Verdict.CRASHED: "The process that ran the case died: see the signal and the last output.",
    Verdict.TIMEOUT: "The case took longer than its time limit; `timeout:` in the spec raises it.",
    Verdict.SKIPPED: "The case was not run.",
}

# From the gravest to the mildest: a case is as bad as its worst input.
_SEVERITY = (
    Verdict.CRASHED,
    Verdict.TIMEOUT,
    Verdict.ERROR,
    Verdict.MISMATCH,
    Verdict.NONFINITE,
    Verdict.DISCONNECTED,
    Verdict.INCONCLUSIVE,
    Verdict.KINK,
    Verdict.PASS,
    Verdict.SKIPPED,
)


def worst_verdict(verdicts: Iterable[Verdict]) -> Verdict:
    """The gravest of the verdicts; `skipped` when there is none."""
    return min(verdicts, key=lambda verdict: verdict.severity, default=Verdict.SKIPPED)
