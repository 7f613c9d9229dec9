"""Gradients that are lost since a number on the way is too large or too small for its precision."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradcheck
from gradcheck.checker.api import describe
from gradcheck.checker.precision.range_loss import leaves_range
from gradcheck.checker.subject.operand import Operand
from gradcheck.checker.subject.problem import Problem
from tests.checker.planted import planted


@pytest.mark.parametrize(
    ("y", "x", "cause"),
    [
        (1.5, 300.0, "Square leaves the range of float16 on the way: inf in place of 9e+04"),
        (1e-4, 1.5e-4, "RealDiv leaves the range of float16 on the way: inf in place of"),
    ],
)
def test_squares(tf: Any, y: float, x: float, cause: str) -> None:
    found = gradcheck.check(tf.atan2, np.float16(y), np.float16(x))
    assert found.verdict in ("mismatch", "nonfinite"), describe(found)
    assert cause in found.comparisons[0].note
    assert gradcheck.check(tf.atan2, np.float32(y), np.float32(x)).verdict == "pass"


def test_a_square_that_vanishes(tf: Any) -> None:
    def function(x: Any) -> Any:
        return tf.sqrt(x * x) / 4

    note = leaves_range(
        Problem(function, (Operand("x", np.array([1e-4], np.float16)),)), [np.ones(1)]
    )
    assert "Mul leaves the range of float16 on the way: 0 in place of 1e-08" in note


def test_a_fault_within_the_range_has_no_such_cause(tf: Any) -> None:
    def lose(gradients: list[Any]) -> list[Any]:
        return [g * 1.5 if g.dtype == tf.float16 else g for g in gradients]

    wrong = planted(tf.atan2, lose)
    found = gradcheck.check(wrong, np.float16(1.5), np.float16(3.0))
    assert found.verdict == "mismatch"
    assert "leaves the range" not in found.comparisons[0].note


def test_what_cannot_be_traced_is_judged_all_the_same(tf: Any) -> None:
    def function(y: Any, x: Any) -> Any:
        return tf.atan2(y, x) * float(tf.ones([]).numpy())

    found = gradcheck.check(function, np.float16(1.5), np.float16(300.0))
    assert found.verdict == "mismatch", describe(found)
