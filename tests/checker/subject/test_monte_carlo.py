"""What the arithmetic of a gradient loses is no fault of its formula; what is more is one."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradcheck
from gradcheck.checker.api import describe
from gradcheck.checker.judge.rounding import arithmetic_spread
from gradcheck.checker.reference.point import evaluate_at
from gradcheck.checker.subject.monte_carlo import Nudges, current_draw, rounding_anew
from gradcheck.checker.subject.operand import Operand
from gradcheck.checker.subject.problem import Problem
from gradcheck.checker.subject.tape import Tape
from tests.checker.planted import planted, with_gradient
from tests.checker.verdicts import verdict

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradcheck.model import Array

EPSILON = 2.0**-52


def spread(function: Callable[..., Any], x: Array) -> Array:
    """How much the gradient changes at most when its arithmetic is nudged."""
    problem = Problem(function, (Operand("x", x),))
    point = evaluate_at(problem)
    passed = Tape(function, problem.operands)(point.values, point.upstream)
    (found,) = arithmetic_spread(problem, point.values, point.upstream, passed)
    return found.size


def sigmoid_by_hand(g: Any, x: Any) -> Any:
    """The gradient of softplus, written so that it cancels where x is far below zero."""
    import tensorflow as tf

    return g * (1 - 1 / (1 + tf.exp(x)))


class TestGradientsThatCancel:
    @pytest.mark.parametrize("x", [4.00073297643e5, -1.91465005887e8])
    def test_one_less_a_product_that_is_one(self, tf: Any, x: float) -> None:
        found = gradcheck.check(tf.math.special.dawsn, np.array([x, 0.7]))
        assert found.verdict == "pass", describe(found)
        assert "its own arithmetic loses" in found.comparisons[0].note
        # Alone it may have lost all of its digits: then nothing is known of it.
        assert verdict(tf.math.special.dawsn, x) in ("pass", "inconclusive")

    @pytest.mark.parametrize("name", ["bessel_i0e", "bessel_i1e"])
    @pytest.mark.parametrize("x", [1.912373e6, -1.728711e6, 1.47478219912e11])
    def test_two_functions_that_are_almost_equal(self, tf: Any, name: str, x: float) -> None:
        function = getattr(tf.math, name)
        assert verdict(function, x) == "pass"
        assert verdict(planted(function, lambda gs: [gs[0] * 1.01]), x) == "mismatch"

    def test_an_error_just_above_the_rounding(self, tf: Any) -> None:
        wrong = planted(tf.math.bessel_i0e, lambda gs: [gs[0] * (1 + 1e-6)])
        assert verdict(wrong, 1.728711e6) == "mismatch"

    def test_by_hand(self, tf: Any) -> None:
        x = np.array([-20.0, -25.0])
        right = with_gradient(tf.nn.softplus, sigmoid_by_hand)
        assert verdict(right, x) == "pass"
        wrong = with_gradient(tf.nn.softplus, lambda g, x: 1.01 * sigmoid_by_hand(g, x))
        assert verdict(wrong, x) == "mismatch"

    def test_one_that_loses_all(self, tf: Any) -> None:
        lost = with_gradient(tf.nn.softplus, sigmoid_by_hand)
        assert verdict(lost, np.array([-40.0])) == "inconclusive"
        zero = with_gradient(tf.nn.softplus, lambda g, x: 0 * g * x)
        assert verdict(zero, np.array([-40.0])) == "mismatch"


class TestNudges:
    def test_a_well_behaved_gradient_hardly_changes(self, tf: Any) -> None:
        x = np.linspace(0.5, 2.0, 6)
        found = spread(lambda x: tf.sin(x) * tf.exp(x), x)
        assert 0 < found.max() < 64 * EPSILON * np.exp(2.0)

    @pytest.mark.parametrize("name", ["reduce_max", "sort", "relu", "pool"])
    def test_what_is_chosen_stays_chosen(self, tf: Any, name: str) -> None:
        functions = {
            "reduce_max": lambda x: tf.reduce_max(x * x),
            "sort": lambda x: tf.sort(tf.exp(x)) * np.arange(1.0, 7.0),
            "relu": lambda x: tf.nn.relu(x * 3.0 - 1.0),
            "pool": lambda x: tf.nn.max_pool1d(tf.reshape(x * x, [1, 6, 1]), 2, 2, "VALID"),
        }
        x = np.array([0.3, -1.2, 1.7, 0.9, -0.4, 1.1])
        assert spread(functions[name], x).max() < 64 * EPSILON * 40

    def test_lower_precision_inside_counts(self, tf: Any) -> None:
        def function(x: Any) -> Any:
            return tf.cast(tf.exp(tf.cast(x, tf.float32)), tf.float64)

        found = spread(function, np.array([0.7, 1.3]))
        assert 2.0**-26 < found.max() < 2.0**-18

    def test_complex(self, tf: Any) -> None:
        found = spread(lambda x: tf.exp(x) * x, np.array([0.7 + 0.2j, -0.3 + 1j]))
        assert 0 < found.max() < 64 * EPSILON * 8

    def test_each_draw_is_another_and_can_be_repeated(self, tf: Any) -> None:
        operands = (Operand("x", np.array([0.7, 1.3])),)
        tape = Tape(lambda x: tf.exp(tf.sin(x)), operands)

        def draw(number: int) -> Array:
            with rounding_anew(number):
                (gradient,) = tape([operands[0].value], [np.ones(2)]).gradients
            return np.asarray(gradient)

        draws = [draw(number) for number in range(8)]
        assert len({found.tobytes() for found in draws}) > 4
        assert all(np.array_equal(draw(number), found) for number, found in enumerate(draws))
        assert current_draw() is None

    def test_what_cannot_be_traced_has_no_excuse(self, tf: Any) -> None:
        def function(x: Any) -> Any:
            return tf.math.bessel_i0e(x) * float(tf.reduce_sum(tf.fill([2], 0.3)).numpy())

        assert not spread(function, np.array([0.7])).any()
        assert verdict(planted(function, lambda gs: [gs[0] * 1.01]), 0.7) == "mismatch"

    def test_a_traced_function_is_left_as_it_was(self, tf: Any) -> None:
        inner = tf.function(tf.math.bessel_i0e, autograph=False)
        x = np.array([1.728711e6])
        spread(lambda x: 2.0 * inner(x), x)
        np.testing.assert_array_equal(inner(x), tf.math.bessel_i0e(x))

    def test_variables(self, tf: Any) -> None:
        assert verdict(tf.math.bessel_i0e, tf.Variable(np.float64(1.728711e6))) == "pass"


def test_factors_of_a_matrix_are_off_by_a_share_of_its_largest_number(tf: Any) -> None:
    x = np.array([[1.0, 1e-12], [0.0, 1.0]])
    given = tf.constant(x)
    nudge = partial(Nudges(0), run=tf.identity)
    rows = tf.constant(np.stack([x] * 9))
    factors = nudge("Cholesky", [given], given, tf.transpose(rows, [0, 2, 1])).numpy()
    products = nudge("Mul", [given, given], given, rows).numpy()
    assert np.array_equal(factors[0], x.T)
    assert np.array_equal(products[0], x)
    # The small number of a factor changes by far more than its own last digit, that of a product
    # by no more, and zeros stay.
    assert np.ptp(factors[:, 1, 0]) > 1e3 * EPSILON * 1e-12
    assert 0 < np.ptp(products[:, 0, 1]) <= 3 * EPSILON * 1e-12
    assert not factors[:, 0, 1].any()


class TestLowPrecisionFarOut:
    def test_a_gradient_that_cancels_in_low_precision_alone(self, tf: Any) -> None:
        def lose(gradients: list[Any]) -> list[Any]:
            (g,) = gradients
            return [g * 1.5 if g.dtype == tf.bfloat16 else g]

        sure = np.array([-0.0025, 27.875, 0.3, -1.0]).astype("bfloat16")
        for seed in range(8):
            assert verdict(tf.nn.softmax, sure, seed=seed) in ("pass", "inconclusive")
        unsure = np.array([-0.0025, 0.875, 0.3, -1.0]).astype("bfloat16")
        assert verdict(tf.nn.softmax, unsure) == "pass"
        assert verdict(planted(tf.nn.softmax, lose), unsure) == "mismatch"
