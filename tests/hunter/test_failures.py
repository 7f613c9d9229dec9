from __future__ import annotations

import pytest

from gradcheck.checker.subject.phases import FREE_PHASE
from gradcheck.checker.subject.refusals import told_without_gradient
from gradcheck.hunter.failures import RAISED, FailureKind, failure_of
from gradcheck.model import CheckKind, Comparison, Result, Verdict


def compared(verdict: Verdict, note: str = "") -> Result:
    one = Comparison(name="x", verdict=verdict, shape=(2,), dtype="float64", note=note)
    return Result("a", verdict, (one,))


@pytest.mark.parametrize(
    ("result", "kind"),
    [
        (compared(Verdict.MISMATCH), FailureKind.WRONG),
        (compared(Verdict.NONFINITE), FailureKind.NONFINITE),
        (compared(Verdict.DISCONNECTED, "so a gradient is missing"), FailureKind.DISCONNECTED),
        (Result("a", Verdict.CRASHED, message="it died"), FailureKind.CRASH),
        (Result("a", Verdict.TIMEOUT, message="too long"), FailureKind.HANG),
        (Result("a", Verdict.ERROR, message=f"{RAISED}gradient raised: ValueError: no"), "raises"),
        (
            Result("a", Verdict.ERROR, message=told_without_gradient("Lu", CheckKind.REVERSE)),
            FailureKind.MISSING,
        ),
    ],
)
def test_what_counts(result: Result, kind: FailureKind) -> None:
    failure = failure_of(result)
    assert failure is not None
    assert failure.kind == kind


@pytest.mark.parametrize(
    "result",
    [
        compared(Verdict.PASS),
        compared(Verdict.KINK),
        compared(Verdict.INCONCLUSIVE),
        # None for what does not matter.
        compared(Verdict.DISCONNECTED, "the tape and the numeric derivative agree"),
        compared(Verdict.MISMATCH, FREE_PHASE),
        Result("a", Verdict.ERROR, message="the function raised ValueError"),
        Result("a", Verdict.ERROR, message="the check itself failed, please report this"),
        Result(
            "a",
            Verdict.ERROR,
            message=f"{RAISED}gradient raised: LookupError: Gradient explicitly disabled.",
        ),
    ],
)
def test_what_does_not(result: Result) -> None:
    assert failure_of(result) is None
