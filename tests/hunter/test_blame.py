"""Who is to blame: what is one with another, and what is no fault."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from gradcheck.hunter import task
from gradcheck.hunter.blame import Culprit, traced
from gradcheck.hunter.errands import Hunt
from gradcheck.hunter.failures import Failure, FailureKind
from gradcheck.hunter.ledger import Ledger

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
    errand = traced(hunt, draft, WRONG)
    result = None
    while True:
        try:
            case = errand.send(result) if result is not None else next(errand)
        except StopIteration as ended:
            found: Culprit = ended.value
            return found
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
