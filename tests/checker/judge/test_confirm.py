"""What is looked at again, and what is judged of elements that nobody can move or see."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradcheck
from tests.checker.planted import planted, with_gradient
from tests.checker.verdicts import verdict


class TestOutputsThatDoNotMove:
    def test_outputs_that_are_nan_and_belong_to_an_input(self, tf: Any) -> None:
        found = gradcheck.check(tf.math.log, np.array([-1.0, 2.0]))
        assert found.verdict == "inconclusive"


class TestInfiniteInputs:
    @pytest.mark.parametrize("name", ["tanh", "exp", "sigmoid"])
    def test_they_are_not_moved(self, tf: Any, name: str) -> None:
        assert verdict(getattr(tf.math, name), np.array([1.0, -np.inf])) == "pass"

    def test_masks(self, tf: Any) -> None:
        a, b = np.array([1.0, np.inf]), np.array([-np.inf, 2.0])
        assert verdict(lambda a, b: tf.where([True, False], a, b), a, b) == "pass"

    def test_the_finite_ones_are_still_judged(self, tf: Any) -> None:
        wrong = planted(tf.tanh, lambda gs: [gs[0] * 1.001])
        assert verdict(wrong, np.array([1.0, np.inf])) == "mismatch"


class TestTiesAndKinks:
    @pytest.mark.parametrize("outside", [-0.5, -0.01, -1e-6, 1 + 1e-6, 1.01, 1.5])
    def test_a_value_outside_of_both_sides(self, tf: Any, outside: float) -> None:
        def gradient(g: Any, x: Any) -> Any:
            slope = tf.where(x > 0, tf.ones_like(x), tf.zeros_like(x))
            return g * tf.where(x == 0, tf.constant(outside, x.dtype), slope)

        wrong = with_gradient(tf.nn.relu, gradient)
        result = gradcheck.check(wrong, np.array([0.0, 1.0, -1.0]), upstream="ones")
        assert result.verdict == "mismatch"
        assert "between the one-sided derivatives" in result.comparisons[0].note
        (worst,) = result.comparisons[0].worst
        assert worst.error == pytest.approx(max(-outside, outside - 1), rel=1e-2)

    @pytest.mark.parametrize("inside", [0.0, 0.3, 1.0])
    def test_a_value_between_both_sides(self, tf: Any, inside: float) -> None:
        def gradient(g: Any, x: Any) -> Any:
            slope = tf.where(x > 0, tf.ones_like(x), tf.zeros_like(x))
            return g * tf.where(x == 0, tf.constant(inside, x.dtype), slope)

        assert verdict(with_gradient(tf.nn.relu, gradient), np.array([0.0, 1.0])) == "kink"
