"""Who reaches outputs that are not finite, and who has to be finite beside them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradcheck
from gradcheck.checker.judge.nonfinite import reach_nonfinite
from gradcheck.checker.reference.point import evaluate_at
from gradcheck.checker.subject.operand import Operand
from gradcheck.checker.subject.problem import Problem
from tests.checker.planted import planted, with_gradient
from tests.checker.verdicts import verdict


class TestFarOutInDoublePrecision:
    def test_where_the_function_is_infinite(self, tf: Any) -> None:
        x = np.array([1e2, 1.3e6, -1.2e6, 3e5])
        assert verdict(lambda x: tf.math.log(tf.cosh(x / 1e3)), x) == "inconclusive"

    def test_a_complex_function_that_overflows(self, tf: Any) -> None:
        # Infinite parts change their signs over every step, which is no derivative.
        x = np.array([1.2e9 + 2.2e9j, 0.3 - 0.2j])
        assert verdict(tf.sin, x) == "inconclusive"
        assert verdict(tf.math.expm1, np.array([2400.0 + 2401.0j, 1.0 + 1.0j])) == "inconclusive"

    def test_an_input_of_finite_outputs_and_infinite_ones(self, tf: Any) -> None:
        # One power overflows, the other does not, and both have the exponent in common.
        assert verdict(tf.pow, np.array([600.0, 1.2]), np.array(500.0)) == "inconclusive"

    @pytest.mark.parametrize("at", [0.3, 700.0])
    def test_beside_an_infinite_output_a_gradient_must_be_finite(self, tf: Any, at: float) -> None:
        def gradient(g: Any, x: Any) -> Any:
            return g * tf.exp(x) * tf.where(x == at, np.nan, tf.ones_like(x))

        wrong = with_gradient(tf.exp, gradient)
        assert verdict(wrong, np.array([at, 1000.0])) == "nonfinite"
        assert verdict(wrong, np.array([at + 0.1, 1000.0])) in ("pass", "inconclusive")


class TestSpecialPoints:
    def test_a_function_that_is_not_finite_is_no_fault_of_the_gradient(self) -> None:
        import tensorflow as tf

        result = gradcheck.check(tf.math.log, np.array([1.2, -1.0, 0.0]))
        assert result.verdict == "inconclusive"
        assert "the output at [1] is nan), which hides 2 of 3" in result.comparisons[0].note


def test_only_what_an_infinite_output_depends_on_reaches_it(tf: Any) -> None:
    x = np.array([1.0, 1000.0, 2.0])
    point = evaluate_at(Problem(tf.exp, (Operand("x", x),)))
    assert reach_nonfinite(point, np.arange(3)).tolist() == [False, True, False]
    finite = evaluate_at(Problem(tf.tanh, (Operand("x", x),)))
    assert not reach_nonfinite(finite, np.arange(3)).any()


def test_both_parts_of_a_complex_number_do(tf: Any) -> None:
    point = evaluate_at(Problem(tf.exp, (Operand("x", np.array([1 + 1j, 1000 + 1j])),)))
    assert reach_nonfinite(point, np.arange(4)).tolist() == [False, False, True, True]


def test_what_reaches_an_infinite_output_as_well(tf: Any) -> None:
    def blurred(x: Any) -> Any:
        return tf.raw_ops.ResizeBilinear(images=x, size=[5, 5])

    image = np.ones((1, 3, 3, 1))
    image[0, 0, 0, 0] = 1e100  # no number of float32, in which this op computes
    assert verdict(blurred, image) == "inconclusive"
    wrong = planted(
        blurred, lambda gs: [gs[0] * np.where(np.arange(9) == 8, 1.1, 1.0).reshape(1, 3, 3, 1)]
    )
    assert verdict(wrong, image) == "mismatch"


class TestCloseToTheLargestNumber:
    def test_derivatives_close_to_the_largest_number(self, tf: Any) -> None:
        for x in (709.0, 709.5):
            assert verdict(tf.exp, np.array([x])) == "pass"
            wrong = planted(tf.exp, lambda gs: [gs[0] * (1 - 1e-6)])
            assert verdict(wrong, np.array([x])) == "mismatch"

    @pytest.mark.parametrize("x", [[1e308], [-1e308], [1e308, 1.0]])
    @pytest.mark.usefixtures("tf")
    def test_a_wrong_slope_close_to_the_largest_number(self, x: list[float]) -> None:
        wrong = planted(lambda x: 1.79 * x, lambda gs: [gs[0] * (1 + 1e-6)])
        result = gradcheck.check(wrong, np.array(x))
        (own,) = result.comparisons
        assert (result.verdict, own.failing) == ("mismatch", len(x))
        assert verdict(lambda x: 1.79 * x, np.array(x)) == "pass"
        assert verdict(lambda x: 1.79 * x, np.array(x), checks="forward") == "pass"
