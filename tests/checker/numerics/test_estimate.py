"""What is known of coordinates: infinite where it diverges, two-sided at a kink."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gradcheck.checker import tolerances
from gradcheck.checker.numerics.estimate import Estimate, Noise


def known() -> Estimate:
    """Three coordinates: one smooth, one at a kink, one at a pole."""
    return replace(
        Estimate.unknown(3),
        value=np.array([2.0, 0.5, -1e9]),
        error=np.array([1e-9, 1e-6, 1e8]),
        below=np.array([7.0, 0.0, 7.0]),
        above=np.array([7.0, 1.0, 7.0]),
        kink=np.array([False, True, False]),
        diverges=np.array([False, False, True]),
    )


def test_nothing_is_known_at_first() -> None:
    nothing = Estimate.unknown(2)
    assert np.isnan(nothing.numeric).all()
    assert nothing.bound.tolist() == [np.inf, np.inf]
    assert not nothing.kink.any()


def test_what_diverges_is_infinite_with_its_sign() -> None:
    assert known().numeric.tolist() == [2.0, 0.5, -np.inf]
    assert known().bound.tolist() == [1e-9, 1e-6, 0.0]


def test_the_sides_count_at_a_kink_alone() -> None:
    assert known().left.tolist() == [2.0, 0.0, -np.inf]
    assert known().right.tolist() == [2.0, 1.0, -np.inf]


def test_what_is_put_into_a_copy_leaves_the_first_as_it_was() -> None:
    first = known()
    copy = first.copy()
    copy.put(np.array([0]), first.take(np.array([1])))
    assert copy.kink.tolist() == [True, True, False]
    assert copy.left[0] == 0.0
    assert first.kink.tolist() == [False, True, False]


def test_an_ideal_function_is_off_by_its_last_digit() -> None:
    noise = Noise.ideal(np.array([3.0, -2.0, np.inf, np.nan]))
    assert noise.assumed
    expected = np.array([3.0, 2.0, 0.0, 0.0]) * tolerances.LAST_DIGIT
    np.testing.assert_array_equal(noise.level, expected)
