"""What is remembered is what would be computed, and is not computed again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from gradcheck.checker import limits
from gradcheck.checker.subject.memoise import RememberingEvaluator, RememberingTape
from gradcheck.checker.subject.operand import Operand
from gradcheck.checker.subject.problem import Problem
from gradcheck.checker.subject.row_function import OneByOne
from gradcheck.model import Mode

if TYPE_CHECKING:
    from gradcheck.checker.subject.stacking import Stacking
    from gradcheck.model import Array


class Rows:
    """A function on rows that notes how many points each call was asked for."""

    def __init__(self, *, is_batched: bool = True) -> None:
        self.is_batched = is_batched
        self.is_traced = False
        self.stacking: Stacking | None = None
        self.raised = ""
        self.asked: list[int] = []

    def __call__(self, points: Array) -> Array:
        self.asked.append(len(points))
        return np.asarray(points**2)

    def together(self, points: Array) -> Array:
        return self(points)

    def probe(self) -> None:
        """Nothing is to be found out."""

    def expect(self, points: int) -> None:
        """It is ready."""

    def vouches(self) -> bool:
        return True

    def must_repeat(self, calls: int) -> None:
        """It does."""


POINTS = np.array([[1.0, 2.0], [3.0, 4.0], [1.0, 2.0], [5.0, 6.0]])


def test_a_point_is_evaluated_once() -> None:
    rows = Rows()
    remembering = RememberingEvaluator(rows)
    for points in (POINTS, POINTS[::-1], POINTS[1:2]):
        np.testing.assert_array_equal(remembering(points), points**2)
    assert rows.asked == [3], "two of the four points are one"
    more = np.array([[3.0, 4.0], [7.0, 8.0]])
    np.testing.assert_array_equal(remembering(more), more**2)
    assert rows.asked == [3, 1]


def test_what_there_is_no_room_for_is_evaluated_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "REMEMBERED_NUMBERS", 0)
    rows = Rows()
    remembering = RememberingEvaluator(rows)
    for _ in range(2):
        np.testing.assert_array_equal(remembering(POINTS), POINTS**2)
    assert rows.asked == [3, 3]


def test_points_that_need_a_call_each_are_not_taken_together() -> None:
    with pytest.raises(OneByOne):
        RememberingEvaluator(Rows(is_batched=False)).together(POINTS)
    assert RememberingEvaluator(Rows()).together(POINTS).shape == POINTS.shape


def test_a_pass_is_made_once_for_each_mode_and_upstream(tf: Any) -> None:
    calls = []

    def function(x: Any) -> Any:
        calls.append(x)
        return tf.square(x)

    x, ones = np.array([1.0, 2.0]), np.ones(2)
    tape = RememberingTape(Problem(function, (Operand("x", x),)))
    for upstream in (ones, 2 * ones, ones):
        (gradient,) = tape([x], [upstream], Mode.EAGER).gradients
        assert gradient is not None
        np.testing.assert_array_equal(gradient, 2 * x * upstream)
    assert len(calls) == 2
    tape([x], [ones], Mode.GRAPH)
    assert len(calls) > 2
