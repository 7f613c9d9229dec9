"""From coordinates to the elements that a report shows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradcheck
from gradcheck.checker.judge.figures import index_of, place
from gradcheck.checker.reference.point import evaluate_at
from gradcheck.checker.subject.operand import Operand
from gradcheck.checker.subject.problem import Problem
from tests.checker.planted import planted

X = np.array([1.0, 2.0, 3.0])


class TestTiesAndKinks:
    def test_both_sides_are_shown(self, tf: Any) -> None:
        result = gradcheck.check(tf.nn.relu, np.array([0.0]), upstream="ones")
        worst = result.comparisons[0].worst[0]
        assert (worst.left, worst.right) == pytest.approx((0, 1))

    def test_every_kink_is_shown(self, tf: Any) -> None:
        result = gradcheck.check(tf.abs, np.array([0.0, 1.0, 0.0, -1.0]), upstream="ones")
        sides = {e.index: (e.left, e.right) for e in result.comparisons[0].worst}
        assert sides == {(0,): pytest.approx((-1, 1)), (2,): pytest.approx((-1, 1))}


class TestInfiniteInputs:
    def test_the_report_does_not_count_the_others_as_judged(self, tf: Any) -> None:
        result = gradcheck.check(tf.tanh, np.array([1.0, np.inf, -np.inf]))
        assert result.comparisons[0].judged == 1


def test_only_what_fails_is_named(tf: Any) -> None:
    wrong = planted(tf.square, lambda gs: [gs[0] * np.array([1.0, 1.5, 1.0])])
    assert len(gradcheck.check(wrong, X).comparisons[0].worst) == 1


def test_the_index_of_a_number_in_its_input() -> None:
    operands = (Operand("a", np.ones((2, 3))), Operand("b", np.ones((2, 2), np.complex128)))
    point = evaluate_at(Problem(lambda a, _b: a, operands))
    assert index_of(4, point, 0) == (1, 1)
    assert index_of(4, point, 1) == index_of(5, point, 1) == (1, 0)
    assert place(index_of(4, point, 0)) == "[1, 1]"
    assert place(()) == "the scalar"


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_is_not_finite_is_no_error_of_zero(tf: Any, value: float) -> None:
    wrong = planted(tf.square, lambda gs: [gs[0] * np.array([1.0, value, 1.0])])
    comparison = gradcheck.check(wrong, X).comparisons[0]
    assert comparison.verdict == "nonfinite"
    assert str(comparison.max_abs_error) == str(comparison.max_rel_error) == str(value)
