"""Correct gradients that look wrong to a careless checker, and wrong ones that look right."""

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

HUGE = float(np.finfo(np.float64).max)


def verdict(function: Callable[..., Any], *inputs: Any, **options: Any) -> str:
    result = gradcheck.check(function, *inputs, **options)
    # Shown by pytest where an assertion about it fails.
    print(describe(result))
    return str(result.verdict)


def hilbert(size: int) -> Array:
    """A matrix whose condition grows like 30 to the power of its size."""
    return np.asarray(1 / (np.arange(size)[:, np.newaxis] + np.arange(size) + 1.0))


def draw(*shape: int) -> Array:
    return np.random.default_rng(11).standard_normal(shape)


class TestPrecisionInside:
    @pytest.mark.parametrize("name", ["tanh", "sin", "exp", "square", "sigmoid", "softplus"])
    @pytest.mark.parametrize("size", [1, 20])
    def test_float32(self, tf: Any, name: str, size: int) -> None:
        inner = getattr(tf.math, name, None) or getattr(tf.nn, name)
        for seed in range(3):
            x = np.random.default_rng(seed).uniform(-2, 2, size)
            found = verdict(lambda x: tf.cast(inner(tf.cast(x, tf.float32)), tf.float64), x)
            assert found == "pass"

    def test_float32_in_a_product(self, tf: Any) -> None:
        def function(a: Any, b: Any) -> Any:
            return tf.cast(tf.cast(a, tf.float32) @ tf.cast(b, tf.float32), tf.float64)

        assert verdict(function, draw(4, 5), draw(5, 3)) == "pass"

    def test_float32_in_a_loss(self, tf: Any) -> None:
        def function(x: Any) -> Any:
            return tf.cast(tf.reduce_sum(tf.square(tf.cast(x, tf.float32))), tf.float64)

        assert verdict(function, draw(20)) == "pass"

    @pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
    @pytest.mark.parametrize("name", ["tanh", "sin", "square", "sigmoid", "softmax", "softplus"])
    def test_few_bits(self, tf: Any, name: str, dtype: str) -> None:
        inner = getattr(tf.math, name, None) or getattr(tf.nn, name)

        def function(x: Any) -> Any:
            return tf.cast(inner(tf.cast(x, dtype)), tf.float64)

        half_more = planted(function, lambda gs: [1.5 * gs[0]])
        for seed in range(3):
            x = np.random.default_rng(seed).uniform(-2, 2, 10)
            assert verdict(function, x, seed=seed) == "pass"
            assert verdict(half_more, x, seed=seed) == "mismatch"

    @pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
    def test_few_bits_in_a_product(self, tf: Any, dtype: str) -> None:
        def function(a: Any, b: Any) -> Any:
            return tf.cast(tf.cast(a, dtype) @ tf.cast(b, dtype), tf.float64)

        half_less = planted(function, lambda gs: [gs[0], gs[1] / 2])
        for seed in range(3):
            rng = np.random.default_rng(seed)
            a, b = rng.standard_normal((3, 4)), rng.standard_normal((4, 2))
            assert verdict(function, a, b, seed=seed) == "pass"
            assert verdict(half_less, a, b, seed=seed) == "mismatch"

    def test_an_offset_that_leaves_few_bits_no_digit(self, tf: Any) -> None:
        def function(x: Any) -> Any:
            return tf.cast(tf.sin(tf.cast(x, tf.bfloat16)) + 1000, tf.float64)

        x = np.array([0.1, -0.4, 0.6])
        assert verdict(function, x) == "inconclusive"
        assert verdict(planted(function, lambda gs: [-gs[0]]), x) != "pass"

    def test_an_error_above_the_inner_precision_is_found(self, tf: Any) -> None:
        def inner(x: Any) -> Any:
            return tf.cast(tf.tanh(tf.cast(x, tf.float32)), tf.float64)

        assert verdict(planted(inner, lambda gs: [gs[0] * 1.001]), draw(20)) == "mismatch"

    @pytest.mark.parametrize("size", [6, 300])
    @pytest.mark.parametrize("bits", [4, 7, 8, 16, 20])
    def test_stairs_are_seen(self, tf: Any, bits: int, size: int) -> None:
        # Fixed point with a gradient that passes straight through. Steps of a power of two would
        # meet it only where the stairs lie on a line.
        stairs = with_gradient(lambda x: tf.round(x * 2.0**bits) / 2.0**bits, lambda g, _: g)
        x = np.random.default_rng(3).uniform(1.0, 4.0, size)
        (comparison,) = gradcheck.check(stairs, x).comparisons
        assert comparison.verdict != "pass" or (comparison.error_bar or 0) > 2.0**-bits / 10

    def test_what_quantises_on_purpose_is_told_what_to_say(self, tf: Any) -> None:
        stairs = with_gradient(lambda x: tf.round(x * 100) / 100, lambda g, _: g)
        (comparison,) = gradcheck.check(stairs, draw(6)).comparisons
        assert comparison.verdict == "inconclusive"
        assert "say `expect: inconclusive` and why" in comparison.note

    def test_rounding_inside_is_told(self, tf: Any) -> None:
        def inside(x: Any) -> Any:
            return tf.cast(tf.tanh(tf.cast(x, tf.float32)), tf.float64)

        (comparison,) = gradcheck.check(inside, draw(6)).comparisons
        assert comparison.verdict == "pass"
        assert "rounds inside, to about 2" in comparison.note


class TestMagnitudes:
    DECADES = 10.0 ** np.arange(-10, 11)

    @pytest.mark.parametrize("name", ["square", "log", "sqrt", "reciprocal"])
    def test_twenty_decades_in_one_input(self, tf: Any, name: str) -> None:
        function = getattr(tf.math, name)
        assert verdict(function, self.DECADES) == "pass"
        for position in (0, 10, 20):
            factor = np.ones(21)
            factor[position] = 1 + 1e-8
            wrong = planted(function, lambda gs, f=factor: [gs[0] * f])  # type: ignore[misc]
            assert verdict(wrong, self.DECADES) == "mismatch"

    def test_a_product_of_twenty_decades(self, tf: Any) -> None:
        assert verdict(tf.reduce_prod, self.DECADES) == "pass"

    def test_a_sum_over_twenty_decades_hides_the_small_ones(self, tf: Any) -> None:
        found = verdict(lambda x: tf.reduce_sum(x * x), self.DECADES)
        assert found in ("pass", "inconclusive")

    @pytest.mark.parametrize("scale", [1e-300, 1e-200, 1e-150, 1e-100, 1e100, 1e200, 1e290])
    def test_outputs_of_any_size(self, tf: Any, scale: float) -> None:
        for seed in range(4):
            x = np.random.default_rng(seed).standard_normal(5)
            assert verdict(lambda x: tf.exp(x) * scale, x, seed=seed) == "pass"
        wrong = planted(lambda x: tf.exp(x) * scale, lambda gs: [gs[0] * 1.001])
        assert verdict(wrong, x) == "mismatch"

    @pytest.mark.parametrize("scale", [1e-200, 1e-100, 1e100, 1e300])
    def test_inputs_of_any_size(self, scale: float) -> None:
        assert verdict(lambda x: x * 2.0, draw(3) * scale) == "pass"

    def test_inputs_next_to_the_largest_number(self) -> None:
        assert verdict(lambda x: x / 2, np.array([1.7e308])) == "pass"

    def test_subnormal_inputs(self) -> None:
        assert verdict(lambda x: x * 2.0, np.array([1e-310])) in ("pass", "inconclusive")

    def test_zero_as_the_only_input(self, tf: Any) -> None:
        assert verdict(tf.square, 0.0) == "pass"
        assert verdict(tf.sin, np.zeros(3)) == "pass"


class TestFastFunctions:
    @pytest.mark.parametrize("frequency", [1e3, 1e6, 1e9])
    def test_high_frequency(self, tf: Any, frequency: float) -> None:
        x = np.random.default_rng(0).uniform(0.5, 1, 5)
        assert verdict(lambda x: tf.sin(frequency * x), x) in ("pass", "inconclusive")

    @pytest.mark.parametrize("frequency", [1e3, 1e6])
    def test_an_error_at_high_frequency(self, tf: Any, frequency: float) -> None:
        x = np.random.default_rng(0).uniform(0.5, 1, 5)
        wrong = planted(lambda x: tf.sin(frequency * x), lambda gs: [gs[0] * 1.001])
        assert verdict(wrong, x) == "mismatch"

    def test_a_pole_close_by(self) -> None:
        near = np.array([1.001, 0.999, 1.0001, 1.000001])
        assert verdict(lambda x: 1 / (x - 1), near) == "pass"

    @pytest.mark.parametrize("name", ["sqrt", "log"])
    def test_a_branch_point_close_by(self, tf: Any, name: str) -> None:
        function = getattr(tf.math, name)
        assert verdict(lambda x: function(x - 1), 1 + np.array([1e-3, 1e-5, 1e-7])) == "pass"

    @pytest.mark.parametrize("name", ["asin", "acos", "atanh"])
    def test_the_end_of_the_domain_close_by(self, tf: Any, name: str) -> None:
        near = np.array([0.999, 0.99999, 0.9999999, -0.99999])
        assert verdict(getattr(tf.math, name), near) == "pass"

    def test_noise_that_is_zero_by_chance_on_a_line(self, tf: Any) -> None:
        near = [0.9999999884361961 + 5.837250260597707e-09j, 0.99981431065 + 6.266758e-05j]
        near.append(0.999999985832742 - 6.202350918094879e-09j)
        assert verdict(tf.asin, np.array(near), seed=20) == "pass"

    def test_a_branch_point_closer_than_any_step(self, tf: Any) -> None:
        near = np.array([-1 + 4e-12 - 4e-13j, -0.99 + 0.002j, -1 + 2e-12 + 2e-14j])
        assert verdict(tf.asin, near) == "pass"
        assert verdict(planted(tf.asin, lambda gs: [gs[0] * 1.001]), near) == "mismatch"

    def test_a_wave_that_is_short_against_its_argument(self, tf: Any) -> None:
        far = np.array([-2.3926148430864536e11, 3.5])
        assert verdict(tf.math.special.bessel_j0, far) in ("pass", "inconclusive")
        wrong = planted(tf.math.special.bessel_j0, lambda gs: [gs[0] * 1.1])
        assert verdict(wrong, far) == "mismatch"

    @pytest.mark.parametrize("centre", [0.0, 1.0])
    def test_a_length_scale_of_a_millionth(self, tf: Any, centre: float) -> None:
        offsets = 1e-6 * np.array([-1.0, -0.3, 0.2, 1.5])
        assert verdict(lambda x: tf.tanh((x - centre) * 1e6), centre + offsets) == "pass"

    def test_a_length_scale_of_a_millionth_around_zero(self, tf: Any) -> None:
        assert verdict(lambda x: tf.tanh(x * 1e6), np.zeros(1)) == "pass"
        assert verdict(lambda x: x / (1 + (1e6 * x) ** 2), np.zeros(1)) == "pass"


class TestConditioning:
    @pytest.mark.parametrize(
        ("name", "size"),
        [
            *[(name, size) for name in ("inv", "det", "solve") for size in (4, 6, 8, 10)],
            ("inv", 12),
            ("det", 12),
            ("solve", 12),
        ],
    )
    def test_a_bad_condition_is_never_a_mismatch(self, tf: Any, name: str, size: int) -> None:
        inputs = [hilbert(size)] + ([draw(size, 2)] if name == "solve" else [])
        found = verdict(getattr(tf.linalg, name), *inputs)
        assert found in (("pass",) if size < 6 else ("pass", "inconclusive"))

    @pytest.mark.parametrize("size", [4, 6, 7, 8])
    def test_nor_a_vacuous_pass(self, tf: Any, size: int) -> None:
        wrong = planted(tf.linalg.inv, lambda gs: [-gs[0]])
        assert verdict(wrong, hilbert(size)) in ("mismatch", "inconclusive")

    def test_an_error_of_a_thousandth_at_a_condition_of_ten_millions(self, tf: Any) -> None:
        wrong = planted(tf.linalg.inv, lambda gs: [gs[0] * 1.001])
        assert verdict(wrong, hilbert(6)) == "mismatch"

    @pytest.mark.parametrize("offset", [1e8, 1e12])
    def test_an_offset_that_leaves_some_digits(self, tf: Any, offset: float) -> None:
        x = np.array([0.1, -0.1, 0.6])
        assert verdict(lambda x: tf.sin(x) + offset, x) == "pass"
        wrong = planted(lambda x: tf.sin(x) + offset, lambda gs: [-gs[0]])
        assert verdict(wrong, x) == "mismatch"

    @pytest.mark.parametrize("offset", [1e15, 1e16, 1e17, 1e20])
    def test_an_offset_that_leaves_none(self, tf: Any, offset: float) -> None:
        x = np.array([0.1, -0.1, 0.6])
        assert verdict(lambda x: tf.sin(x) + offset, x) == "inconclusive"
        wrong = planted(lambda x: tf.sin(x) + offset, lambda gs: [-gs[0]])
        assert verdict(wrong, x) in ("inconclusive", "mismatch")

    def test_a_variance_that_cancels(self, tf: Any) -> None:
        def function(x: Any) -> Any:
            return tf.reduce_mean(x * x) - tf.reduce_mean(x) ** 2

        assert verdict(function, 1e6 + draw(5)) in ("pass", "inconclusive")


class TestOutputsThatDoNotMove:
    @pytest.mark.parametrize("still", [HUGE, -HUGE, np.inf, -np.inf, np.nan])
    def test_beside_outputs_that_do(self, tf: Any, still: float) -> None:
        def function(x: Any) -> Any:
            return tf.concat([x * x, tf.fill([2], tf.constant(still, tf.float64))], 0)

        assert verdict(function, draw(3)) == "pass"
        assert verdict(planted(function, lambda gs: [gs[0] * (1 + 1e-8)]), draw(3)) == "mismatch"

    @pytest.mark.parametrize("lowest", [-HUGE, -np.inf])
    def test_a_masked_softmax(self, tf: Any, lowest: float) -> None:
        def function(x: Any) -> Any:
            return tf.nn.softmax(tf.where([True, False, True], x, tf.constant(lowest, tf.float64)))

        assert verdict(function, np.array([0.3, 1.0, 2.0])) == "pass"

    def test_outputs_that_are_nan_and_belong_to_an_input(self, tf: Any) -> None:
        found = gradcheck.check(tf.math.log, np.array([-1.0, 2.0]))
        assert found.verdict == "inconclusive"


class TestOutputsThatMoveByLessThanTheirLastDigit:
    """An output of one that loses 1e-17 to another does not show it."""

    def test_a_softmax_that_is_sure(self, tf: Any) -> None:
        assert verdict(tf.nn.softmax, np.array([20.0, -16.0, -17.0, -19.0])) != "mismatch"
        assert verdict(tf.nn.softmax, np.array([20.0, -16.0, -17.0, 19.0])) != "mismatch"
        for seed in range(8):
            x = np.random.default_rng([seed, 7]).standard_normal((3, 4))
            assert verdict(tf.nn.softmax, 10 * x, seed=seed) != "mismatch"
            assert verdict(tf.nn.softmax, 1000 * x, seed=seed) != "mismatch"


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

    def test_the_report_does_not_count_the_others_as_judged(self, tf: Any) -> None:
        result = gradcheck.check(tf.tanh, np.array([1.0, np.inf, -np.inf]))
        assert result.comparisons[0].judged == 1


class TestTiesAndKinks:
    @pytest.mark.parametrize("gap", [1e-3, 1e-6, 1e-9])
    @pytest.mark.parametrize("name", ["reduce_max", "sort", "maximum"])
    def test_near_ties(self, tf: Any, name: str, gap: float) -> None:
        functions = {
            "reduce_max": tf.reduce_max,
            "sort": tf.sort,
            "maximum": lambda x: tf.maximum(x, x[::-1]),
        }
        assert verdict(functions[name], np.array([1.0, 0.0, 1 + gap])) == "pass"

    @pytest.mark.parametrize("distance", [1e-300, 1e-12, 1e-9, 1e-3])
    def test_near_a_kink_at_zero(self, tf: Any, distance: float) -> None:
        assert verdict(tf.nn.relu, np.array([distance, -distance])) == "pass"

    @pytest.mark.parametrize("distance", [1e-12, 1e-9, 1e-6, 1e-3])
    def test_near_a_kink_elsewhere(self, tf: Any, distance: float) -> None:
        x = np.array([1 + distance, 1 - distance])
        assert verdict(lambda x: tf.abs(x - 1), x) == "pass"

    @pytest.mark.parametrize(
        ("name", "x"),
        [
            ("nn.relu", [0.0, 1.0]),
            ("abs", [0.0, 1.0]),
            ("reduce_max", [1.0, 1.0, 0.0]),
            ("sort", [1.0, 1.0, 0.0]),
            ("sign", [0.0, 0.7]),
        ],
    )
    def test_at_a_kink(self, tf: Any, name: str, x: list[float]) -> None:
        function = tf
        for part in name.split("."):
            function = getattr(function, part)
        result = gradcheck.check(function, np.array(x))
        assert result.verdict == "kink", describe(result)
        worst = result.comparisons[0].worst[0]
        assert worst.left is not None
        assert worst.right is not None

    def test_both_sides_are_shown(self, tf: Any) -> None:
        result = gradcheck.check(tf.nn.relu, np.array([0.0]), upstream="ones")
        worst = result.comparisons[0].worst[0]
        assert (worst.left, worst.right) == pytest.approx((0, 1))

    def test_every_kink_is_shown(self, tf: Any) -> None:
        result = gradcheck.check(tf.abs, np.array([0.0, 1.0, 0.0, -1.0]), upstream="ones")
        sides = {e.index: (e.left, e.right) for e in result.comparisons[0].worst}
        assert sides == {(0,): pytest.approx((-1, 1)), (2,): pytest.approx((-1, 1))}

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

    def test_a_jump_beside_a_slope(self, tf: Any) -> None:
        assert verdict(lambda x: x + tf.floor(x), np.array([2.0, 0.3])) == "kink"
        assert verdict(lambda x: x + tf.sign(x), np.array([0.0, 0.3])) == "kink"

    @pytest.mark.parametrize("name", ["floor", "ceil", "round"])
    def test_a_jump_without_a_gradient(self, tf: Any, name: str) -> None:
        at = 2.5 if name == "round" else 2.0
        result = gradcheck.check(getattr(tf.math, name), np.array([at, 0.7]))
        assert result.verdict in ("kink", "disconnected")
        assert "a gradient is missing" not in result.comparisons[0].note

    def test_kinks_of_the_second_derivative_are_smooth(self, tf: Any) -> None:
        def huber(x: Any) -> Any:
            return tf.where(tf.abs(x) < 1, x * x / 2, tf.abs(x) - 0.5)

        assert verdict(huber, np.array([1.0, -1.0, 1 + 1e-9])) == "pass"
        assert verdict(lambda x: tf.nn.relu(x) ** 2, np.array([0.0, 1.0])) == "pass"

    def test_an_infinite_derivative_is_none_that_is_wrong(self, tf: Any) -> None:
        assert verdict(tf.sqrt, np.array([0.0, 1.0])) == "pass"


class TestComplex:
    def test_from_real_inputs(self, tf: Any) -> None:
        assert verdict(lambda x: tf.exp(tf.complex(0 * x, x)), draw(4)) == "pass"
        assert verdict(tf.signal.rfft, draw(6)) == "pass"

    @pytest.mark.parametrize("name", ["abs", "math.angle", "math.conj", "math.real", "signal.fft"])
    def test_inputs(self, tf: Any, name: str) -> None:
        function = tf
        for part in name.split("."):
            function = getattr(function, part)
        assert verdict(function, draw(4) + 1j * draw(5)[1:]) == "pass"


class TestRandomness:
    def test_stateless_is_deterministic(self, tf: Any) -> None:
        def function(x: Any) -> Any:
            return x * tf.random.stateless_normal([4], [1, 2], dtype=tf.float64)

        assert verdict(function, draw(4)) == "pass"

    @pytest.mark.parametrize("size", [1, 4])
    def test_dropout_is_not(self, tf: Any, size: int) -> None:
        for _ in range(5):
            result = gradcheck.check(lambda x: tf.nn.dropout(x, 0.5), 1 + draw(size) ** 2)
            assert result.verdict == "inconclusive", describe(result)
            assert "not deterministic" in result.message

    def test_noise_is_not(self, tf: Any) -> None:
        result = gradcheck.check(lambda x: x + tf.random.normal([4], dtype=tf.float64), draw(4))
        assert "not deterministic" in result.message

    def test_a_gradient_that_is_not(self, tf: Any) -> None:
        wrong = with_gradient(
            lambda x: 2 * x, lambda g, _x: 2 * g + tf.random.normal([4], dtype=tf.float64)
        )
        result = gradcheck.check(wrong, draw(4))
        assert result.verdict in ("inconclusive", "mismatch")

    def test_a_gradient_that_is_not_is_named(self, tf: Any) -> None:
        wrong = with_gradient(
            lambda x: 2 * x, lambda g, _x: 2 * g + tf.random.normal([4], dtype=tf.float64)
        )
        result = gradcheck.check(wrong, draw(4))
        assert "deterministic" in describe(result)

    @pytest.mark.parametrize("dtype", ["float64", "float32"])
    @pytest.mark.parametrize("size", [1e-9, 1e-3, 0.1])
    def test_nor_does_its_randomness_pass_for_rounding(
        self, tf: Any, size: float, dtype: str
    ) -> None:
        def gradient(g: Any, x: Any) -> Any:
            return g * tf.cos(x) + tf.cast(size, g.dtype) * tf.random.normal([4], dtype=g.dtype)

        result = gradcheck.check(with_gradient(tf.sin, gradient), draw(4).astype(dtype))
        assert result.verdict == "inconclusive"
        assert "the gradient of input0 is not deterministic" in result.message


class TestBatching:
    """Functions that give something else when they are called with a batch."""

    @pytest.mark.parametrize(
        "function",
        [
            lambda tf, x: x / tf.cast(tf.shape(x)[0], tf.float64),
            lambda tf, x: x - tf.reduce_mean(x),
            lambda tf, x: tf.nn.softmax(x, axis=0),
            lambda _tf, x: x * x if x.shape.rank == 2 else x * 3,
            lambda tf, x: tf.transpose(x) * tf.reduce_sum(x),
            lambda tf, x: tf.reshape(x, [-1]) ** 2,
        ],
    )
    def test_they_pass_all_the_same(self, tf: Any, function: Callable[..., Any]) -> None:
        assert verdict(lambda x: function(tf, x), draw(3, 2)) == "pass"


class TestWithoutDoublePrecision:
    @pytest.mark.parametrize("name", ["batch norm", "local response", "resize", "bicubic"])
    def test_an_honest_bar(self, tf: Any, name: str) -> None:
        def batch_norm(x: Any) -> Any:
            one, none = tf.ones([2]), tf.constant([], tf.float32)
            return tf.raw_ops.FusedBatchNormV3(
                x=x, scale=one, offset=0 * one, mean=none, variance=none, is_training=True
            )[0]

        functions = {
            "batch norm": batch_norm,
            "local response": tf.nn.local_response_normalization,
            "resize": lambda x: tf.image.resize(x, [6, 6]),
            "bicubic": lambda x: tf.image.resize(x, [6, 6], method="bicubic"),
        }
        x = draw(1, 3, 3, 2).astype(np.float32)
        assert verdict(functions[name], x) == "pass"
        wrong = planted(functions[name], lambda gs: [gs[0] * 1.05])
        assert verdict(wrong, x) == "mismatch"


class TestBugsOfTensorFlow:
    """Gradients that are wrong as they come; when one is mended, its test says so."""

    def test_cumprod_at_zero(self, tf: Any) -> None:
        result = gradcheck.check(tf.math.cumprod, np.array([1.0, 0.0, 2.0, 3.0]))
        assert result.verdict == "mismatch"
        assert result.comparisons[0].worst_index == (1,)

    def test_the_norm_of_zero(self, tf: Any) -> None:
        assert verdict(tf.norm, np.zeros(3)) == "nonfinite"

    def test_where_and_division(self, tf: Any) -> None:
        def function(x: Any) -> Any:
            return tf.where(x == 0, tf.ones_like(x), tf.sin(x) / x)

        assert verdict(function, np.array([0.0, 1.0])) == "nonfinite"

    def test_no_gradient_registered(self, tf: Any) -> None:
        result = gradcheck.check(lambda x: tf.unique(x)[0], draw(4))
        assert result.verdict == "error"
        assert "the forward pass is fine" in result.message
        assert "Unique" in result.message
