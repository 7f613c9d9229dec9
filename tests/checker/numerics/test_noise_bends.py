"""A switch beside the point bends the lines that noise is measured on, and is none."""

from __future__ import annotations

import numpy as np
import pytest

from tests.checker.numerics.test_noise import EPSILON, measured


@pytest.mark.parametrize("gap", [1e-3, 1e-4, 1e-5, 1e-6, 1e-8, 1e-10])
def test_a_switch_beside_the_point_is_no_noise(gap: float) -> None:
    for function, at in (
        (lambda p: np.exp(np.maximum(p - 1, 0)), 1 - gap),
        (lambda p: np.clip(p, 0, 1) ** 2, 1 + gap),
    ):
        for seed in range(4):
            assert measured(function, np.array([at]), seed).level[0] <= 256 * EPSILON


@pytest.mark.parametrize("offset", [1e3, 1e6, 1e9])
def test_what_cancels_stays_noise(offset: float) -> None:
    noise = measured(lambda p: np.tanh((p + offset) - offset), np.array([0.7, 1.3]))
    assert (noise.level > 0.02 * EPSILON * offset).all()


def test_what_cancels_at_the_point_alone() -> None:
    # Nothing is left of it there, and its noise is no share of what it is elsewhere.
    noise = measured(lambda p: np.tanh(1.7 * p - 1.7 * 0.3), np.array([0.3 * (1 - 1e-12)]))
    assert noise.relative < 1e-12
    assert noise.lost < 1e-9


def test_an_offset_makes_no_wild_function() -> None:
    noise = measured(lambda p: (np.tanh(p) + 1000) - 1000, np.array([0.3, 1.2]))
    assert noise.lost < 1e-9
