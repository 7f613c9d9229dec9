"""What values on short lines tell of the noise of an output."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradcheck
from gradcheck.checker import limits, tolerances
from gradcheck.checker.numerics.noise_lines import line_steps, over_lines
from tests.checker.planted import with_gradient
from tests.checker.verdicts import draw, verdict


class TestPrecisionInside:
    @pytest.mark.parametrize("factor", [1.0, 1.1])
    @pytest.mark.parametrize("dtype", [np.float16, np.float32])
    def test_what_numpy_computes_may_round(self, tf: Any, dtype: type, factor: float) -> None:
        # (TensorFlow runs no op for it: nobody sees the precision that it computes in.)
        def sine(x: Any) -> Any:
            return tf.constant(np.sin(x.numpy().astype(dtype)).astype(np.float64)) * 1.0

        checked = with_gradient(sine, lambda g, x: factor * g * tf.cos(x))
        assert verdict(checked, draw(6)) == ("pass" if factor == 1.0 else "mismatch")

    def test_what_quantises_on_purpose_is_told_what_to_say(self, tf: Any) -> None:
        # (Of code inside of an op nobody knows whether it rounds, or has few digits.)
        def levels(x: Any) -> Any:
            rounded = tf.py_function(lambda a: tf.round(a * 100) / 100, [x], x.dtype)
            return tf.ensure_shape(rounded, x.shape)

        stairs = with_gradient(levels, lambda g, _: g)
        (comparison,) = gradcheck.check(stairs, draw(6)).comparisons
        assert comparison.verdict == "inconclusive"
        assert "say `expect: inconclusive` and why" in comparison.note


class TestFastFunctions:
    def test_noise_that_is_zero_by_chance_on_a_line(self, tf: Any) -> None:
        near = [0.9999999884361961 + 5.837250260597707e-09j, 0.99981431065 + 6.266758e-05j]
        near.append(0.999999985832742 - 6.202350918094879e-09j)
        assert verdict(tf.asin, np.array(near), seed=20) == "pass"


SPACINGS = (1e-6, 1e-5, 1e-4)


def test_lines_go_to_alternating_sides() -> None:
    steps = line_steps(SPACINGS).reshape(len(SPACINGS), limits.LINE_POINTS - 1)
    assert np.sign(steps[:, 0]).tolist() == [1, -1, 1]
    np.testing.assert_allclose(np.abs(steps[:, 0]), SPACINGS)
    np.testing.assert_allclose(steps[:, -1], steps[:, 0] * (limits.LINE_POINTS - 1))


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
def test_noise_is_told_from_a_smooth_function(scale: float) -> None:
    steps, rng = line_steps(SPACINGS), np.random.default_rng(0)
    smooth = 1 + steps
    noisy = smooth + 1e-8 * rng.standard_normal(len(steps))
    outputs = scale * np.stack([smooth, noisy], axis=1)
    told = over_lines(np.full(2, scale), outputs, len(SPACINGS))
    assert told.level[0] < 1e-14 * scale
    assert 1e-9 * scale < told.level[1] < 1e-7 * scale


def test_the_height_of_stairs_is_seen() -> None:
    height = 2.0**-18
    stairs = np.round((1 + line_steps(SPACINGS)) / height) * height
    told = over_lines(np.ones(1), stairs[:, np.newaxis], len(SPACINGS))
    assert told.seen.all()
    assert told.level[0] >= tolerances.ROUNDING_SHARE * height


def test_a_kink_is_no_staircase() -> None:
    steps = line_steps(SPACINGS)
    kinked, stairs = np.maximum(steps, 2e-6), np.floor(steps / 3e-6) * 3e-6
    told = over_lines(np.array([1 + 2e-6, 1.0]), 1 + np.stack([kinked, stairs], axis=1), 3)
    assert not told.level[0] > 1e-7
    assert told.level[1] > 5e-7


@pytest.mark.parametrize("gap", [0.3, 1.4, 3.0, 5.6, 6.9])
@pytest.mark.parametrize("flat", [True, False])
def test_a_kink_on_a_line_is_no_noise(gap: float, flat: bool) -> None:
    beyond = np.maximum(line_steps(SPACINGS) - gap * SPACINGS[0], 0.0)
    bent = beyond if flat else 0.25 + line_steps(SPACINGS) + beyond
    told = over_lines(np.full(1, 0.0 if flat else 0.25), bent[:, np.newaxis], 3)
    assert not told.level[0] > 1e-15


def test_what_rounds_is_no_kink() -> None:
    # One step in eight is missed, or two are made at once: its increments go there and back.
    places = np.arange(1.0, limits.LINE_POINTS)
    for late in range(2, limits.LINE_POINTS - 1):
        stairs = np.where(places < late, places, places + 1) * 2.0**-20
        told = over_lines(np.zeros(1), np.tile(stairs, 3)[:, np.newaxis], 3)
        assert told.level[0] > 2.0**-24
