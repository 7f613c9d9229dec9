"""The noise of a function, where it is known: rounded on purpose, or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import pytest

import gradcheck
from gradcheck.checker.numerics.noise import measure_noise
from tests.checker.numerics.smooth import KNOWN
from tests.checker.planted import planted, swallowed
from tests.checker.verdicts import draw, verdict

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradcheck.checker.numerics.estimate import Noise
    from gradcheck.model import Array

EPSILON = 2.0**-52
ROUNDING = {"float32": 2.0**-24, "float16": 2.0**-11, "bfloat16": 2.0**-8}
"""Half a unit in the last place."""


def measured(function: Callable[[Array], Array], point: Array, seed: int = 0) -> Noise:
    with np.errstate(all="ignore"):
        base = function(point[np.newaxis])[0]
        return measure_noise(function, point, base, np.abs(point), seed)


@pytest.mark.parametrize("known", KNOWN, ids=str)
def test_a_smooth_function_has_the_noise_of_double_precision(known: object) -> None:
    function = next(k for k in KNOWN if k is known)
    x = function.draw(np.random.default_rng(1), 40)
    noise = measured(function.f, x)
    size = np.maximum(np.abs(function.f(x)), np.abs(x * function.df(x)))
    assert (noise.level <= 64 * EPSILON * size).all()


@pytest.mark.parametrize("inner", ROUNDING)
def test_precision_inside_is_discovered(inner: str) -> None:
    dtype = np.dtype(getattr(ml_dtypes, inner, inner))
    x = np.random.default_rng(2).uniform(0.5, 2.0, 40)
    noise = measured(lambda p: np.exp(p.astype(dtype)).astype(np.float64), x)
    typical = float(np.median(noise.level / np.exp(x)))
    assert ROUNDING[inner] / 8 < typical < 16 * ROUNDING[inner]


def test_cancelling_shows_as_noise() -> None:
    x = np.random.default_rng(3).uniform(0.5, 2.0, 40)
    noise = measured(lambda p: (np.sin(p) + 1e8) - 1e8, x)
    quantum = np.spacing(1e8)
    assert quantum / 8 < float(np.median(noise.level)) < 4 * quantum


@pytest.mark.parametrize("height", [1e-16, 1e-13, 1e-11])
@pytest.mark.parametrize("side", [1.0, -1.0])
def test_of_the_sides_of_a_kink_one_may_round_more(side: float, height: float) -> None:
    def function(points: Array) -> Array:
        rounded = 2.0 * np.rint(side * points / height) * height
        return np.where(side * points > 0, rounded, -0.3 * points)

    at = np.zeros(1)
    for seed in range(12):
        noise = measure_noise(function, at, function(at), np.ones(1), seed)
        assert height / 4 < noise.level.item() < 8 * height


def test_noise_in_one_output_is_not_the_others() -> None:
    def function(points: Array) -> Array:
        return np.concatenate([np.sin(points), np.sin(points) * 1e12], axis=1)

    noise = measured(function, np.array([0.3, 0.7]))
    assert noise.level[:2].max() < 1e-14
    assert 1e-7 < noise.level[2:].max() < 1e-2


def test_outputs_that_are_not_finite_have_no_noise_to_speak_of() -> None:
    def function(points: Array) -> Array:
        still = np.broadcast_to([np.inf, np.nan, 1.8e308], (len(points), 3))
        return np.concatenate([np.sin(points), still], axis=1)

    noise = measured(function, np.array([0.3]))
    assert np.isfinite(noise.level[0])
    assert noise.level[0] < 1e-14


def test_a_fast_function_is_not_taken_for_noise() -> None:
    x = np.random.default_rng(4).uniform(0.5, 1.0, 20)
    noise = measured(lambda p: np.sin(1e6 * p), x)
    # The argument itself is only known to ε·1e6.
    assert noise.level.max() < 64 * EPSILON * 1e6


@pytest.mark.parametrize("distance", [1e-9, 1e-11, 2e-12])
def test_nor_is_a_singularity_close_by(distance: float) -> None:
    near = 1 + distance * np.array([1.0, 1.3, 2.1])
    noise = measured(lambda p: 1 + np.sqrt(np.abs(p - 1)), near)
    # What the root is off when its argument is off by its last digit.
    assert noise.level.max() < 64 * EPSILON / np.sqrt(distance)


def test_short_lines_do_not_hide_the_precision_inside() -> None:
    def function(points: Array) -> Array:
        return np.exp(points.astype(np.float32)).astype(np.float64) + 1e-3 * np.sin(points)

    x = np.random.default_rng(5).uniform(0.5, 2.0, 40)
    typical = float(np.median(measured(function, x).level / np.exp(x)))
    assert ROUNDING["float32"] / 8 < typical < 16 * ROUNDING["float32"]


def test_nor_noise_that_is_the_same_on_all_of_them() -> None:
    def function(points: Array) -> Array:
        return np.sin(points) + 1e-9 * np.sin(1e17 * points)

    noise = measured(function, np.random.default_rng(6).uniform(0.5, 1.0, 10))
    assert np.median(noise.level) > 1e-10


def test_nor_steps_that_are_longer_than_they_are() -> None:
    # A logarithm next to one rounds to 2⁻⁵², and on a short line it stands still.
    def function(points: Array) -> Array:
        return np.log(1 + 1e-3 * np.exp(points)) - 1e-3 + points

    noise = measured(function, -6.07e-4 * np.array([1.0, 1.1, 1.3, 1.7]))
    assert np.median(noise.level) > EPSILON / 16


def test_no_outputs() -> None:
    assert not len(measured(lambda p: np.zeros((len(p), 0)), np.ones(2)).level)


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

    def test_rounding_inside_is_told(self, tf: Any) -> None:
        def inside(x: Any) -> Any:
            return tf.cast(tf.tanh(tf.cast(x, tf.float32)), tf.float64)

        (comparison,) = gradcheck.check(inside, draw(6)).comparisons
        assert comparison.verdict == "pass"
        assert "rounds inside, to about 2" in comparison.note


class TestConditioning:
    @pytest.mark.parametrize("offset", [1e8, 1e12])
    def test_an_offset_that_leaves_some_digits(self, tf: Any, offset: float) -> None:
        x = np.array([0.1, -0.1, 0.6])
        assert verdict(lambda x: tf.sin(x) + offset, x) == "pass"
        wrong = planted(lambda x: tf.sin(x) + offset, lambda gs: [-gs[0]])
        assert verdict(wrong, x) == "mismatch"

    @pytest.mark.parametrize("offset", [1e15, 1e16, 1e17, 1e20])
    def test_an_offset_that_leaves_none(self, tf: Any, offset: float) -> None:
        x = np.array([0.1, -0.1, 0.6])
        # (What is added is seen, and what the rest changes goes by it.)
        assert verdict(lambda x: tf.sin(x) + offset, x) == "pass"
        assert verdict(planted(lambda x: tf.sin(x) + offset, lambda gs: [-gs[0]]), x) == "mismatch"

        unseen = swallowed(tf.sin, offset)
        assert verdict(unseen, x) == "inconclusive"
        wrong = planted(unseen, lambda gs: [-gs[0]])
        assert verdict(wrong, x) in ("inconclusive", "mismatch")

    def test_a_variance_that_cancels(self, tf: Any) -> None:
        def function(x: Any) -> Any:
            return tf.reduce_mean(x * x) - tf.reduce_mean(x) ** 2

        assert verdict(function, 1e6 + draw(5)) in ("pass", "inconclusive")


class TestSwitches:
    def test_a_switch_is_no_rounding(self, tf: Any) -> None:
        """A second derivative of pooling is a choice between numbers of few bits."""
        values = 130 + 3 * np.random.default_rng(0).permutation(16).reshape(1, 4, 4, 1)
        for dtype in ("float64", "float32"):
            found = gradcheck.check(
                lambda x: tf.nn.max_pool2d(x, 2, 2, "VALID"), values.astype(dtype), checks="second"
            )
            assert found.verdict == "pass"


def test_all_inputs_are_rounded() -> None:
    """It shows though the points of a line are equally far apart."""
    rng = np.random.default_rng(0)
    point = rng.standard_normal(6)

    def single(points: Array) -> Array:
        return np.cumsum(points.astype(np.float32).astype(np.float64) ** 2, axis=1)

    scale = 2.0 ** np.floor(np.log2(np.abs(point)))
    found = measure_noise(single, point, single(point[np.newaxis])[0], scale, 0)
    assert found.relative > 2.0**-27


class TestFunctionsThatKeepTheirDigits:
    def test_what_is_constant_and_does_not_round(self, tf: Any) -> None:
        """Six is a short number, but relu6 does not round to few bits."""
        x = np.array([6.1, 6.3, 6.5, 6.7, 6.9, -0.1, -0.3, -2.0])
        for dtype in ("float64", "float32", "bfloat16"):
            given = tf.constant(x, dtype)
            assert gradcheck.check(tf.nn.relu6, given).verdict == "pass", dtype
            spoilt = planted(tf.nn.relu6, lambda gs: [gs[0] + 1e-3])
            assert gradcheck.check(spoilt, given).verdict == "mismatch", dtype
