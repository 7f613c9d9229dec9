"""In which way a gradient fails, as far as the result of its check tells; and what is by design."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from gradcheck.checker.judge.notes import IS_MISSING
from gradcheck.checker.subject.jacobian_ways import Way
from gradcheck.checker.subject.phases import FREE_PHASE
from gradcheck.checker.subject.refusals import WITHOUT_GRADIENT
from gradcheck.model import Verdict
from gradcheck.spec.expression import allowlist

if TYPE_CHECKING:
    from gradcheck.model import Comparison, Result

RAISED = "the forward pass is fine, but its "
"""How the message begins of what is raised by a gradient, and not by its function."""

_ON_PURPOSE = ("explicitly disabled",)
"""What TensorFlow says of what was made not to be differentiated."""
_NOT_WRITTEN = (
    *("NotImplementedError", "not implemented", "not supported", "Unimplemented"),
    *("Gradient not defined", "only supports"),
)
"""How a gradient function says that it does not cover a case."""


class FailureKind(StrEnum):
    """What is wrong; the text is the name of the folder that its specs go to."""

    WRONG = "wrong-values"
    NONFINITE = "nonfinite"
    DISCONNECTED = "disconnected"
    RAISES = "raises"
    CRASH = "crashes"
    HANG = "hangs"
    MISSING = "missing-gradients"

    @property
    def told(self) -> str:
        """What is said of a gradient that fails so."""
        return _TOLD[self]


NUMBERS = (FailureKind.WRONG, FailureKind.NONFINITE, FailureKind.DISCONNECTED)
"""What is told by numbers, or by None."""
UNANSWERED = (FailureKind.RAISES, FailureKind.MISSING)
"""What raises: that there is a derivative at all is to be shown another way."""

_TOLD = {
    FailureKind.WRONG: "the gradient is wrong",
    FailureKind.NONFINITE: "the gradient is not finite where the function is smooth",
    FailureKind.DISCONNECTED: "there is no gradient (None), and the output moves",
    FailureKind.RAISES: "the gradient raises where the function does not",
    FailureKind.CRASH: "the process dies",
    FailureKind.HANG: "the gradient does not come to an end",
    FailureKind.MISSING: "there is none for this call",
}


@dataclass(frozen=True, slots=True)
class Failure:
    """What a check has seen."""

    kind: FailureKind
    inputs: tuple[str, ...] = ()
    """The inputs whose gradients fail; empty where that is not known."""
    about: str = ""
    """The op that has no gradient, or the name of what was raised."""
    text: str = ""
    """What is told of it: a diagnosis, or a message."""
    diagnosis: str = ""
    """The short name of the likely cause; empty where none is known."""


def failure_of(result: Result) -> Failure | None:
    """How it fails; None where it does not, where that cannot be judged, or is meant so."""
    verdict, message = result.verdict, result.message
    if verdict is Verdict.CRASHED:
        return Failure(FailureKind.CRASH, about=message, text=_first(message))
    if verdict is Verdict.TIMEOUT:
        return Failure(FailureKind.HANG, text=_first(message))
    if verdict is Verdict.ERROR:
        return _raised(message)
    kinds = {
        Verdict.MISMATCH: FailureKind.WRONG,
        Verdict.NONFINITE: FailureKind.NONFINITE,
        Verdict.DISCONNECTED: FailureKind.DISCONNECTED,
    }
    if verdict not in kinds:
        return None
    wrong = [c for c in result.comparisons if c.verdict is verdict and not _is_meant(c)]
    if not wrong:
        return None
    told = result.diagnosis.text if result.diagnosis else wrong[0].note
    known = result.diagnosis.cause if result.diagnosis else ""
    return Failure(kinds[verdict], tuple(c.name for c in wrong), text=told, diagnosis=known)


def _raised(message: str) -> Failure | None:
    if unregistered := WITHOUT_GRADIENT.search(message):
        return Failure(FailureKind.MISSING, about=unregistered[1], text=_first(message))
    if not message.startswith(RAISED) or any(words in message for words in _ON_PURPOSE):
        return None
    told = _first(message.removeprefix(RAISED))
    raised = re.search(r"raised: (\w+)", message)
    if any(words in message for words in _NOT_WRITTEN):
        return Failure(FailureKind.MISSING, about=_op_in(told), text=told)
    return Failure(FailureKind.RAISES, about=raised[1] if raised else "", text=told)


def way_in(told: str) -> Way:
    """The way to make a Jacobian that a text is about: the first that it names."""
    named = [way for way in Way if way in told]
    return min(named, key=told.find, default=Way.ROWS)


def _op_in(told: str) -> str:
    """The op that a message is about; empty where nothing says so but the call.

    Without it `test_an_op_that_only_a_message_names` fails.
    """
    named = re.search(r"[Gg]radient (?:for|of) (\w+)", told)
    return named[1] if named and f"tf.raw_ops.{named[1]}" in allowlist.ALLOWED else ""


def _is_meant(comparison: Comparison) -> bool:
    """Whether the comparison is one that nobody would call a fault.

    None is a fault only where the output is known to move; of vectors whose phase nothing defines
    no gradient is right.
    """
    if FREE_PHASE in comparison.note:
        return True
    return comparison.verdict is Verdict.DISCONNECTED and IS_MISSING not in comparison.note


def _first(message: str) -> str:
    return " ".join(message.partition("\n")[0].split())[:300]
