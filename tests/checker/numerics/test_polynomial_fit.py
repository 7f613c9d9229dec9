"""Functions of few bits, which only a fit through many points can differentiate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from gradcheck.checker.numerics.choose_coordinates import choose
from gradcheck.checker.numerics.estimate import Estimate
from gradcheck.checker.numerics.fitted import Rough
from gradcheck.checker.numerics.polynomial_fit import fit, smoothed, with_few_steps
from gradcheck.checker.numerics.vectors import Layout
from tests.checker.numerics.smooth import Input
from tests.checker.planted import planted
from tests.checker.verdicts import verdict

if TYPE_CHECKING:
    from gradcheck.model import Array


class TestPrecisionInside:
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


def test_the_slope_of_stairs() -> None:
    x, height = np.array([0.3, 1.2, -0.7]), 2.0**-7

    def stairs(points: Array) -> Array:
        return np.round(np.sin(points) / height) * height

    space = choose([Input()], Layout.of([x]), x, 0, None).space
    rough = Rough(stairs, stairs(x), np.ones(3), np.full(3, height / np.sqrt(12)), space)
    found = smoothed(Estimate.unknown(3), rough, seed=0)
    assert (np.abs(found.numeric - np.cos(x)) <= 2 * found.bound).all()
    assert (found.bound < 0.25).all()


def test_few_steps_along_some_coordinates() -> None:
    x, slopes, height = np.array([0.3, 0.9]), np.array([1.0, 0.03]), 2.0**-7

    def stairs(points: Array) -> Array:
        return np.asarray(np.round((points @ slopes)[..., np.newaxis] / height) * height)

    space = choose([Input()], Layout.of([x]), x, 0, None).space
    rough, columns = Rough(stairs, stairs(x), np.ones(1), np.zeros(1), space), np.arange(2)
    for seed in range(20):
        told = fit(rough, columns, seed)
        level = with_few_steps(rough, columns, told, 0.0, seed)
        assert 0.5 <= level[0] / (height / np.sqrt(12)) <= 3
        assert (np.abs(told.estimate.numeric - slopes) <= told.estimate.bound).all()
        assert (told.estimate.bound <= 0.05).all()


def test_what_is_known_better_stays() -> None:
    x = np.array([0.3, 1.2])
    space = choose([Input()], Layout.of([x]), x, 0, None).space
    rough = Rough(np.sin, np.sin(x), np.ones(2), np.full(2, 1e-3), space)
    known = Estimate.unknown(2)
    known.value[0], known.error[0] = np.cos(0.3), 1e-12
    found = smoothed(known, rough, seed=0)
    assert found.numeric[0] == np.cos(0.3)
    assert found.bound[0] == 1e-12
    assert np.isfinite(found.bound[1])
