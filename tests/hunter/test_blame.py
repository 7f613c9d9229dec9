"""Who is to blame: what is one with another, and what is no fault."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from gradcheck.hunter import task
from gradcheck.hunter.blame import Culprit, made_by, traced, with_more_bits
from gradcheck.hunter.errands import Hunt
from gradcheck.hunter.failures import Failure, FailureKind
from gradcheck.hunter.ledger import Finding, Ledger

if TYPE_CHECKING:
    from pathlib import Path

    from gradcheck.hunter.drafts import Draft

WRONG = Failure(FailureKind.WRONG)
ONE = {"values": "1+1j"}


@pytest.fixture
def hunt(tmp_path: Path) -> Hunt:
    return Hunt(Ledger.open(tmp_path, 0), (), ".")


def culprit(hunt: Hunt, target: str, inputs: dict[str, Any], **keys: Any) -> Culprit:
    """With every case that is asked for run here."""
    draft: Draft = {"op": target, "inputs": inputs, "dtype": "complex128", **keys}
    found: Culprit = ended(traced(hunt, draft, WRONG))
    return found


def ended(errand: Any) -> Any:
    result = None
    while True:
        try:
            case = errand.send(result) if result is not None else next(errand)
        except StopIteration as end:
            return end.value
        result = task.do(case, allow=(), root=".")


def test_functions_that_run_the_same_kernels_are_one(hunt: Hunt) -> None:
    one = culprit(hunt, "keras.activations.silu", {"x": ONE})
    assert one.blamed == "keras.activations.silu"
    assert one.kernels
    assert one.cause == culprit(hunt, "tf.nn.silu", {"features": ONE}).cause
    assert one.cause != culprit(hunt, "tf.math.tan", {"x": ONE}).cause


def test_a_second_derivative_is_traced_to_the_first(hunt: Hunt) -> None:
    numbers = {"x": {**ONE, "grad": False}, "y": ONE}
    found = culprit(hunt, "tf.raw_ops.Xdivy", numbers, check="second")
    assert found.why == ""
    assert "check" not in found.draft
    # ... of what its gradient runs, where its own is right.
    three = {"input": {"values": ["1+1j"] * 3}, "axis": {"values": -1, "dtype": "int32"}}
    found = culprit(hunt, "tf.raw_ops.Prod", three, check="second")
    assert (found.blamed, found.why) == ("tf.raw_ops.Cumprod", "")


def made(
    hunt: Hunt, name: str, inputs: dict[str, Any], failure: Failure = WRONG, **keys: Any
) -> str:
    draft: Draft = {"op": f"tf.raw_ops.{name}", "inputs": inputs, **keys}
    found: str = ended(made_by(hunt, Culprit(draft, failure)))
    return found


INT: dict[str, Any] = {"dtype": "int32"}


def test_kernels_that_share_a_gradient_function_are_one(hunt: Hunt) -> None:
    one, two = {"x": {"values": 2.0}}, {"x": {"values": 2.0}, "y": {"values": 3.0}}
    # The same words under two names.
    assert made(hunt, "Inv", one) == made(hunt, "Reciprocal", one) != ""
    assert made(hunt, "Inv", one) != made(hunt, "Exp", one)
    # A function that all of the work is handed to.
    segments = {"data": {"values": [1.0, 2.0]}, "segment_ids": {"values": [0, 1], **INT}}
    assert made(hunt, "SegmentMax", segments) == made(hunt, "SegmentMin", segments)
    assert made(hunt, "SegmentMax", segments) != made(hunt, "SegmentSum", segments)
    # What many hand their results to, to have them reduced, makes none of them.
    assert made(hunt, "Xlogy", two) != made(hunt, "Xdivy", two)
    # A function that is made for each: where one is refused, the other is wrong.
    args, rows = {"Tcomplex": "complex128"}, {"values": [[1.0, 2.0, 3.0, 4.0]] * 4}
    raised = Failure(FailureKind.RAISES, text="InvalidArgumentError: Matrix size-incompatible")
    length, both = {"values": [2], **INT}, {"values": [2, 2], **INT}
    vector = made(hunt, "RFFT", {"input": rows, "fft_length": length}, args=args)
    matrix = made(hunt, "RFFT2D", {"input": rows, "fft_length": both}, raised, args=args)
    assert vector == matrix


@pytest.mark.parametrize(
    ("blamed", "kind", "diagnosis", "is_known"),
    [
        ("tf.raw_ops.B", "wrong-values", "sign", True),
        ("tf.raw_ops.B", "wrong-values", "", True),
        ("tf.raw_ops.B", "raises", "", True),
        ("tf.raw_ops.B", "wrong-values", "factor", False),
        ("tf.raw_ops.A", "raises", "", False),
    ],
)
def test_what_one_function_gets_wrong(
    hunt: Hunt, blamed: str, kind: str, diagnosis: str, is_known: bool
) -> None:
    plain = ("wrong-values", "tf.raw_ops.A", "eager", "reverse", "real", "", "a.yaml")
    hunt.ledger.findings.append(Finding("of A", *plain, shared="one", diagnosis="sign"))
    assert bool(hunt.ledger.told_by("one", blamed, kind, diagnosis)) is is_known
    assert not hunt.ledger.told_by("other", blamed, kind, diagnosis)
    assert not hunt.ledger.told_by("", blamed, kind, diagnosis)


def few_bits(hunt: Hunt, name: str, inputs: dict[str, Any]) -> Culprit | None:
    draft: Draft = {"op": f"tf.raw_ops.{name}", "inputs": inputs, "dtype": "float16"}
    found: Culprit | None = ended(with_more_bits(hunt, Culprit(draft, WRONG)))
    return found


def test_what_few_bits_share_with_zero(hunt: Hunt) -> None:
    inputs = {"x": {"values": [1e-4, 3e-4, 2.0]}, "axis": {"values": 0, **INT}}
    found = few_bits(hunt, "Cumprod", inputs)
    assert found is not None
    assert found.draft["inputs"]["x"]["values"] == [0.0, 3e-4, 2.0]
    assert (found.blamed, "dtype" in found.draft) == ("tf.raw_ops.Cumprod", False)
    # What only few bits get wrong is theirs.
    assert few_bits(hunt, "Atan2", {"y": {"values": [1.5]}, "x": {"values": [300.0]}}) is None
