"""The noise of a function, where it is known: rounded on purpose, or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

import ml_dtypes
import numpy as np
import pytest

from gradcheck.checker.numerics.noise import measure_noise
from tests.checker.numerics.smooth import KNOWN

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
