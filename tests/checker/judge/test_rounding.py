"""What rounding does to a gradient is granted, and no more than that."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradcheck
from gradcheck.checker.api import describe
from tests.checker.planted import planted, with_gradient
from tests.checker.verdicts import draw, draw_from, verdict


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


class TestRoundingInTheGradient:
    @pytest.mark.parametrize("size", [1.0, 1e3, 1e6, 1e12])
    def test_cumulative_logsumexp(self, tf: Any, size: float) -> None:
        for seed in range(3):
            x = size * draw_from(seed, 2, 5)
            assert verdict(tf.math.cumulative_logsumexp, x, seed=seed) in ("pass", "inconclusive")
        wrong = planted(tf.math.cumulative_logsumexp, lambda g: [g[0] * 1.01])
        assert verdict(wrong, x) == "mismatch"

    @pytest.mark.parametrize("error", [1e-6, 1e-4])
    def test_a_fault_that_is_not_linear_in_the_upstream_is_no_excuse(
        self, tf: Any, error: float
    ) -> None:
        plus = with_gradient(tf.sin, lambda g, x: g * tf.cos(x) + error)
        assert verdict(plus, draw_from(3, 5)) == "mismatch"
        square = with_gradient(tf.sin, lambda g, x: g * tf.cos(x) + error * g * g)
        assert verdict(square, draw_from(3, 5)) == "mismatch"


class TestFastFunctions:
    def test_a_wave_that_is_short_against_its_argument(self, tf: Any) -> None:
        far = np.array([-2.3926148430864536e11, 3.5])
        assert verdict(tf.math.special.bessel_j0, far) in ("pass", "inconclusive")
        wrong = planted(tf.math.special.bessel_j0, lambda gs: [gs[0] * 1.1])
        assert verdict(wrong, far) == "mismatch"


class TestRandomness:
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


@pytest.mark.parametrize("wrong", [False, True])
@pytest.mark.parametrize("results", ["differ by nothing", "are rounded alike"])
def test_a_fault_where_two_results_are_equal(tf: Any, results: str, wrong: bool) -> None:
    def gradient(u: Any, a: Any, b: Any) -> Any:
        equal = a - b == 0 if results == "differ by nothing" else tf.exp(a) == tf.exp(b)
        factor = tf.where(equal, tf.cast(3.0 if wrong else 2.0, u.dtype), tf.cast(2.0, u.dtype))
        return u * factor * a, u * tf.ones_like(b)

    function = with_gradient(lambda a, b: a * a + b, gradient)
    result = gradcheck.check(function, np.array([1.5, 0.3]), np.array([1.5, 0.7]))
    first, second = result.comparisons
    assert second.verdict == "pass"
    if not wrong:
        assert first.verdict == "pass", describe(result)
        return
    # (Two exponentials that round differently are no longer equal, and the fault is gone with that.
    # But it is far larger than any rounding.)
    assert first.worst_index == (0,)
    assert first.verdict == "mismatch", describe(result)


def test_places_are_not_nudged(tf: Any) -> None:
    """Which elements are averaged is worked out in fractions: a last digit less is another one."""

    def averaged(x: Any) -> Any:
        starts = tf.cast(tf.floor(tf.range(2.0) * 4.0 / 2.0), tf.int32)
        low = tf.cast(x, tf.float16)
        pairs = tf.gather(low, starts) + tf.gather(low, starts + 1)
        return tf.cast(pairs, x.dtype)

    half = planted(averaged, lambda gs: [0.5 * gs[0]])
    at = np.array([0.12573022, -0.13210486, 0.64042265, 0.10490012])
    assert verdict(averaged, at) == "pass"
    assert verdict(half, at) == "mismatch"
