from __future__ import annotations

import pytest

from gradcheck.checker.subject.phases import FREE_PHASE
from gradcheck.checker.subject.refusals import told_without_gradient
from gradcheck.hunter.failures import RAISED, Failure, FailureKind, failure_of
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


def raised(told: str) -> Failure:
    failure = failure_of(Result("a", Verdict.ERROR, message=f"{RAISED}gradient raised: {told}"))
    assert failure is not None
    return failure


def test_an_op_that_only_a_message_names() -> None:
    """Whatever goes through it, it is one thing that is missing."""
    failure = raised("NotImplementedError: Gradient for SparseDenseCwiseAdd is not implemented.")
    assert (failure.kind, failure.about) == (FailureKind.MISSING, "SparseDenseCwiseAdd")
    assert raised("ValueError: Gradient not defined for fast=False").about == ""
    assert raised("UnimplementedError: Cast is not supported").about == ""


def test_a_layout_that_a_gradient_does_not_cover() -> None:
    told = "InvalidArgumentError: Default MaxPoolingGradOp only supports NHWC on device type CPU"
    assert raised(told).kind is FailureKind.MISSING
