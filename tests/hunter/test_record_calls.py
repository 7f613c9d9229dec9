"""The kernels that a call runs: those of its gradient too, each as a call that works."""

from __future__ import annotations

from typing import Any

from gradcheck.hunter.drafts import Draft, case_of, task_case
from gradcheck.hunter.task import RECORD, answer_of, do


def recorded(draft: Draft, **request: Any) -> list[Draft]:
    case = task_case(RECORD, 1, {"draft": draft, **request}, timeout=60.0)
    return list(answer_of(do(case, allow=(), root="."))["calls"])


def test_what_a_gradient_runs_is_recorded() -> None:
    matrix = {"values": [[1.0, 2.0], [3.0, 4.0]]}
    draft = {"op": "tf.math.reduce_prod", "inputs": {"input_tensor": matrix}, "check": "second"}
    calls = recorded(draft, backward=True)
    assert {"tf.raw_ops.Prod", "tf.raw_ops.Cumprod"} <= {call["op"] for call in calls}


def test_what_is_recorded_can_be_called() -> None:
    """The kernels' inputs have the names that Python has for them."""
    matrix = {"values": [[1.0, 2.0], [3.0, 4.0]]}
    for op in ("tf.math.reduce_prod", "tf.math.reduce_logsumexp"):
        for call in recorded({"op": op, "inputs": {"input_tensor": matrix}}):
            case = case_of(call, 1, ())
            assert not isinstance(case, str), case
            result = do(case, allow=(), root=".")
            assert "has no input" not in result.message, result.message
