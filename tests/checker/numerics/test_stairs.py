"""Jumps, in what rounds; none in what varies fast, and none where there is noise throughout."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from gradcheck.checker import limits
from gradcheck.checker.numerics.choose_coordinates import choose
from gradcheck.checker.numerics.fitted import Rough
from gradcheck.checker.numerics.stairs import jumps_along
from gradcheck.checker.numerics.vectors import Layout
from tests.checker.numerics.smooth import Input

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradcheck.model import Array

X = np.array([0.3, 1.2, -0.7])


def heights(function: Callable[[Array], Array]) -> Array:
    """Of jumps along each element, for a function of each of them by itself."""
    space = choose([Input()], Layout.of([X]), X, 0, None).space
    rough = Rough(function, function(X), np.ones(3), np.zeros(3), space)
    return jumps_along(rough, np.arange(3), np.ones(3), seed=0)


@pytest.mark.parametrize("height", [2.0**-24, 2.0**-11, 2.0**-7])
@pytest.mark.parametrize("slope", [0.0, 1.0, 50.0])
def test_stairs_under_a_slope(height: float, slope: float) -> None:
    found = heights(lambda x: slope * np.sin(x) + np.round(np.cos(x) / height) * height)
    np.testing.assert_allclose(found, height, rtol=1e-2)


def test_a_single_switch() -> None:
    found = heights(lambda x: np.sin(x) + 0.1 * (x > X + 0.1))
    np.testing.assert_allclose(found, 0.1, rtol=1e-6)


def test_what_varies_fast_has_none() -> None:
    found = heights(lambda x: x + 1e-4 * np.sin(1000 * x))
    assert (found < 1e-9).all()


def test_noise_at_every_distance_is_none() -> None:
    def noisy(x: Array) -> Array:
        return x + 1e-6 * np.modf(np.sin(x * 2.0**50) * 2.0**20)[0]

    assert (heights(noisy) == 0).all()


def test_none_where_there_are_no_numbers() -> None:
    assert (heights(lambda x: np.where(x > X - 0.5, x, np.nan)) < 1e-9).all()


def test_as_many_at_once_as_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    def stairs(x: Array) -> Array:
        return np.round(x * 128) / 128

    together = heights(stairs)
    monkeypatch.setattr(limits, "NUMBERS_AT_ONCE", 1)
    np.testing.assert_array_equal(heights(stairs), together)
