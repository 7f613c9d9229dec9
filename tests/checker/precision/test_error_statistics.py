"""A factor that all elements have in common, and roundings that look like one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from gradcheck.checker.precision.error_statistics import common_factor

if TYPE_CHECKING:
    from gradcheck.model import Array

EPSILON, SMALLEST = 2.0**-7, 2.0**-126
POINTS, ELEMENTS = 9, 8


def rounded(values: Array) -> Array:
    """To the eight bits of bfloat16."""
    mantissa, exponent = np.frexp(values)
    return np.asarray(np.ldexp(np.rint(np.ldexp(mantissa, 8)), exponent - 8))


def found(own: Array, double: Array) -> float:
    return common_factor(own - double, double, EPSILON, SMALLEST)


@pytest.mark.parametrize("seed", range(20))
class TestCommonFactor:
    def test_roundings_that_differ_from_point_to_point_have_none(self, seed: int) -> None:
        double = np.random.default_rng(seed).uniform(1, 2, (POINTS, ELEMENTS))
        assert found(rounded(double), double) < EPSILON / 4

    def test_one_per_cent_shows(self, seed: int) -> None:
        double = np.random.default_rng(seed).uniform(1, 2, (POINTS, 64))
        assert found(rounded(1.01 * double), double) > 0.001

    def test_what_is_off_differently_is_no_factor(self, seed: int) -> None:
        # As of a recurrence in bfloat16: what its states are rounded to is the same at all points.
        rng = np.random.default_rng(seed)
        double = rng.uniform(1, 2, (POINTS, 4))
        own = rounded(double * np.array([1.061, 1.002, 1.045, 0.997]))
        assert found(own, double) < 0
        # ... and what all are off by is one, though each is off by something of its own as well.
        double = rng.uniform(1, 2, (POINTS, 64))
        apart = 1 + 0.004 * rng.standard_normal(64)
        assert found(rounded(1.03 * double * apart), double) > 0.001

    def test_one_number_at_all_points_was_rounded_once(self, seed: int) -> None:
        # All down, by what rounding may do at most: nine times the same says no more than once.
        at_one_point = 1 + (np.random.default_rng(seed).integers(1, 64, ELEMENTS) + 0.49) / 128
        double = np.repeat(at_one_point[np.newaxis], POINTS, axis=0)
        assert (rounded(double) < double).all()
        assert found(rounded(double), double) <= 0
