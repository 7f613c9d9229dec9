"""Changes that a function rounds off, rounding in the gradient itself, and points far out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradcheck
from gradcheck.checker.api import describe
from tests.checker.planted import planted, with_gradient

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradcheck.model import Array


def verdict(function: Callable[..., Any], *inputs: Any, **options: Any) -> str:
    result = gradcheck.check(function, *inputs, **options)
    # Shown by pytest where an assertion about it fails.
    print(describe(result))
    return str(result.verdict)


def draw(seed: int, *shape: int) -> Array:
    return np.random.default_rng(seed).standard_normal(shape)


def test_a_slope_that_no_step_could_show_is_not_refuted(tf: Any) -> None:
    # It climbs by 2e-9 within 1e-20 of zero: to every step that there is, a jump.
    steep = gradcheck.check(lambda x: 1e-9 * tf.tanh(1e20 * x), np.zeros(1))
    assert steep.verdict == "inconclusive", describe(steep)
    flat = planted(lambda x: 1e-9 * tf.tanh(x), lambda gs: [1e3 * gs[0]])
    assert gradcheck.check(flat, np.zeros(1)).verdict == "mismatch"


def test_an_element_that_a_huge_one_hides(tf: Any) -> None:
    # What the smallest element does is lost beside terms of 1e14, unless it is moved past them.
    a = np.array([[-48422.25, -267764.3, 6605.59], [-2.15e8, 5.17e9, 8.159e-05]])
    b = np.array(
        [[2253835.7, -0.00254], [5.87e-10, 2.26e-10], [8.57e7, 4.4e-9], [-3.2e-7, -2.3e-9]]
    )
    result = gradcheck.check(lambda a, b: tf.tensordot(a, b, [[0], [1]]), a, b)
    assert result.verdict == "pass", describe(result)


def test_a_gradient_that_rounds_whatever_its_inputs_are(tf: Any) -> None:
    # Only another upstream shows what the backward pass of this one loses.
    x = np.array(
        [
            [1146058866.9684775, -504305582.1880368, 5.811966204928269e-05],
            [57041210776.4629, -0.02708615709171423, -3.254509661850093e-07],
            [1.398717275176941e-12, 400.60060928646584, 1.8858100531345633e-10],
        ]
    )
    for seed in range(3):
        assert verdict(lambda x: tf.linalg.qr(x)[0], x, seed=seed) == "inconclusive"


class TestHiddenChanges:
    def test_an_output_that_is_too_large_to_show_a_change(self, tf: Any) -> None:
        # The first input reaches both outputs; of 1e18 the second one does not show it.
        weights = np.array([[1e-11, 0.0], [1e-10, 1e8]])
        result = gradcheck.check(lambda x: tf.linalg.matvec(weights, x), np.array([1e5, 1e10]))
        assert result.verdict in ("pass", "inconclusive"), describe(result)
        ((shown, _),) = [c.bound for c in result.comparisons if c.bound is not None]
        assert shown > 1e-10, "a bar that leaves room for what is hidden"

    def test_what_is_not_hidden_is_still_refuted(self, tf: Any) -> None:
        weights = np.array([[1.0, 0.0], [0.0, 1e8]])
        wrong = planted(
            lambda x: tf.linalg.matvec(weights, x), lambda g: [g[0] * np.array([1 + 1e-8, 1])]
        )
        assert verdict(wrong, np.array([1.0, 1e3])) == "mismatch"

    @pytest.mark.parametrize("size", [1e-12, 1e-9])
    def test_a_change_that_is_lost_inside(self, tf: Any, size: float) -> None:
        def function(x: Any) -> Any:
            return 1 - tf.cos(x)

        x = size * draw(1, 4)
        assert verdict(function, x) == "inconclusive"
        assert verdict(with_gradient(function, lambda g, _x: g), x) == "mismatch"

    def test_a_product_with_zero_hides_nothing(self) -> None:
        wrong = with_gradient(lambda x: 0 * x, lambda g, _x: g)
        assert verdict(wrong, draw(2, 3)) == "mismatch"

    def test_a_function_that_refuses_nan(self, tf: Any) -> None:
        def function(x: Any) -> Any:
            return tf.debugging.check_numerics(0 * x, "no")

        assert verdict(function, draw(2, 3)) == "pass"
        wrong = with_gradient(function, lambda g, _x: g)
        assert verdict(wrong, draw(2, 3)) == "mismatch"


class TestRoundingInTheGradient:
    @pytest.mark.parametrize("size", [1.0, 1e3, 1e6, 1e12])
    def test_cumulative_logsumexp(self, tf: Any, size: float) -> None:
        for seed in range(3):
            x = size * draw(seed, 2, 5)
            assert verdict(tf.math.cumulative_logsumexp, x, seed=seed) in ("pass", "inconclusive")
        wrong = planted(tf.math.cumulative_logsumexp, lambda g: [g[0] * 1.01])
        assert verdict(wrong, x) == "mismatch"

    @pytest.mark.parametrize("error", [1e-6, 1e-4])
    def test_a_fault_that_is_not_linear_in_the_upstream_is_no_excuse(
        self, tf: Any, error: float
    ) -> None:
        plus = with_gradient(tf.sin, lambda g, x: g * tf.cos(x) + error)
        assert verdict(plus, draw(3, 5)) == "mismatch"
        square = with_gradient(tf.sin, lambda g, x: g * tf.cos(x) + error * g * g)
        assert verdict(square, draw(3, 5)) == "mismatch"


class TestLowPrecisionFarOut:
    @pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
    @pytest.mark.parametrize("x", [[-8.0], [8.5, 9.0], [5.0, 6, 7, 8, 1], [-30.0]])
    def test_where_tanh_is_one(self, tf: Any, x: list[float], dtype: str) -> None:
        for seed in range(3):
            at = tf.cast(np.array(x) * (1 + 0.001 * seed), dtype)
            assert verdict(tf.tanh, at, seed=seed) == "pass"

    def test_lost_arithmetic_there_is_found_all_the_same(self, tf: Any) -> None:
        def lose(gradients: list[Any]) -> list[Any]:
            (g,) = gradients
            return [g * 1.5 if g.dtype == tf.float32 else g]

        x = np.array([6.0, 6.5, 7.0], np.float32)
        assert verdict(tf.tanh, x) == "pass"
        assert verdict(planted(tf.tanh, lose), x) == "mismatch"

    def test_a_scalar(self, tf: Any) -> None:
        def lose(gradients: list[Any]) -> list[Any]:
            (g,) = gradients
            return [g * 1.5 if g.dtype == tf.float32 else g]

        assert verdict(planted(tf.tanh, lose), np.float32(0.7)) == "mismatch"
        assert verdict(tf.tanh, np.float32(-8.0)) == "pass"

    def test_what_is_not_to_be_represented(self, tf: Any) -> None:
        assert verdict(tf.math.expm1, np.array([348.0, 1.0], np.float32)) == "pass"
        assert verdict(tf.math.erfc, np.array([-15.2, 0.5], np.float32)) == "pass"

    def test_a_function_that_is_infinite_in_low_precision_alone(self, tf: Any) -> None:
        result = gradcheck.check(
            lambda x: tf.sqrt(tf.reduce_sum(x * x)), np.array([500.0, 600.0], np.float16)
        )
        assert result.verdict == "inconclusive"
        assert "in float16 the function itself is not finite" in result.comparisons[0].note

    def test_one_that_is_another_in_low_precision_alone(self, tf: Any) -> None:
        # Below 2⁻¹² the exponential is rounded to one, and the gradient takes the other branch.
        result = gradcheck.check(tf.nn.selu, np.float16(-2.0754e-4))
        assert result.verdict == "inconclusive", describe(result)
        note = result.comparisons[0].note
        assert "in float16 the function itself is another one at this point" in note
        assert verdict(tf.nn.selu, np.float16(-0.2)) == "pass"

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

    def test_elements_that_the_function_excuses_are_no_common_factor(self, tf: Any) -> None:
        x = np.array([[-95.5, 159.4, 146.8], [179.1, -249.2, -49.9]], np.float16)
        assert verdict(lambda x: tf.math.l2_normalize(x, 0), x) == "pass"

    def test_the_others_still_show_one(self, tf: Any) -> None:
        def lose(gradients: list[Any]) -> list[Any]:
            (g,) = gradients
            return [g * 1.001 if g.dtype == tf.float32 else g]

        x = np.array([8.5, -9.0, 0.5, 1.0, 1.5, 2.0, 0.3], np.float32)
        assert verdict(tf.tanh, x) == "pass"
        assert verdict(planted(tf.tanh, lose), x) == "mismatch"

    def test_neighbours_stay_inside_the_domain(self, tf: Any) -> None:
        near = np.array([0.9929, 0.9918, 0.9961], np.float32)
        for seed in range(5):
            assert verdict(tf.asin, near, seed=seed) != "nonfinite"


class TestFarOutInDoublePrecision:
    def test_where_the_function_is_infinite(self, tf: Any) -> None:
        x = np.array([1e2, 1.3e6, -1.2e6, 3e5])
        assert verdict(lambda x: tf.math.log(tf.cosh(x / 1e3)), x) == "inconclusive"

    @pytest.mark.parametrize("size", [1e-12, 1e-6, 1e-3, 1e3, 1e6, 1e12])
    @pytest.mark.parametrize(
        "name", ["log_softmax", "l2_normalize", "gelu", "layer norm", "layers"]
    )
    def test_no_false_alarm_at_any_magnitude(self, tf: Any, name: str, size: float) -> None:
        def layer_norm(x: Any) -> Any:
            mean, variance = tf.nn.moments(x, [-1], keepdims=True)
            return (x - mean) * tf.math.rsqrt(variance + 1e-3)

        functions = {
            "log_softmax": tf.nn.log_softmax,
            "l2_normalize": lambda x: tf.math.l2_normalize(x, -1),
            "gelu": tf.nn.gelu,
            "layer norm": layer_norm,
            "layers": lambda x: tf.tanh(x @ draw(9, 5, 4)) @ draw(8, 4, 2),
        }
        for seed in range(2):
            x = size * draw(seed, 2, 5)
            assert verdict(functions[name], x, seed=seed) in ("pass", "inconclusive")

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
