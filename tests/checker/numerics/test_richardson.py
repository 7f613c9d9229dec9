"""Extrapolation: exact where the series ends, bounded where it does not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradcheck.checker.numerics.richardson import extrapolate

if TYPE_CHECKING:
    from gradcheck.model import Array

COEFFICIENT = st.floats(-10, 10).map(lambda c: round(c, 3))


def series(limit: float, coefficients: list[float], ratio: int, steps: int = 4) -> Array:
    """Quotients over halving steps: the limit and a power series in h or h²."""
    power = 1 if ratio == 2 else 2
    h = 0.25 * 0.5 ** np.arange(steps)
    terms = [c * h ** (power * (k + 1)) for k, c in enumerate(coefficients)]
    return np.atleast_2d(np.sum([np.full(steps, limit), *terms], axis=0))


@pytest.mark.parametrize(("ratio", "most"), [(4, 1e-3), (2, 2e-2)])
@pytest.mark.parametrize("terms", [3, 6])
def test_how_often_the_limit_lies_outside_twice_the_bound(
    ratio: int, most: float, terms: int
) -> None:
    # Coefficients as those of a function whose singularity is not far away.
    rng = np.random.default_rng(terms)
    falling = rng.uniform(-10, 10, (20_000, terms)) * 0.3 ** np.arange(terms)
    quotients = np.concatenate([series(0.0, list(row), ratio) for row in falling])
    result = extrapolate(quotients, np.full(quotients.shape, 1e-13), ratio=ratio)
    assert float((np.abs(result.value) > 2 * result.bound).mean()) < most


@given(COEFFICIENT, st.lists(COEFFICIENT, max_size=1), st.sampled_from([2, 4]))
def test_one_term_is_extrapolated_away(limit: float, coefficients: list[float], ratio: int) -> None:
    quotients = series(limit, coefficients, ratio)
    result = extrapolate(quotients, np.full(quotients.shape, 1e-14), ratio=ratio)
    assert abs(result.value[0] - limit) <= result.bound[0]
    assert result.bound[0] < 1e-12


@pytest.mark.parametrize("coefficients", [[1.0, -8.0, -7.0]])
def test_agreement_by_chance(coefficients: list[float]) -> None:
    quotients = series(0.0, coefficients, 2)
    result = extrapolate(quotients, np.full(quotients.shape, 1e-14), ratio=2)
    assert abs(result.value[0]) <= 2 * result.bound[0]


def test_the_bound_covers_the_noise() -> None:
    rng = np.random.default_rng(0)
    noise = 1e-6 * 2.0 ** np.arange(4)
    quotients = series(3.0, [1.0, 2.0], 4) + noise * rng.uniform(-1, 1, (5000, 4))
    result = extrapolate(quotients, np.broadcast_to(noise, quotients.shape), ratio=4)
    error = np.abs(result.value - 3.0)
    assert (error <= result.bound).all()
    assert result.bound.max() < 1e-3


def test_two_terms_that_cancel_between_two_steps_do_not_deceive() -> None:
    # c₁h + c₂h² is the same at the first two steps: they agree, and are wrong.
    h = 0.25 * 0.5 ** np.arange(4)
    c2 = 1.0
    c1 = -c2 * (h[0] + h[1])
    quotients = np.atleast_2d(1.0 + c1 * h + c2 * h**2)
    assert quotients[0, 0] == pytest.approx(quotients[0, 1])
    result = extrapolate(quotients, np.full((1, 4), 1e-15), ratio=2)
    assert abs(result.value[0] - 1.0) <= result.bound[0]


def test_quotients_that_are_not_there() -> None:
    quotients = np.array([[np.nan, 2.0, 2.0, 2.0], [np.nan] * 4, [1.0, np.inf, np.nan, 3.0]])
    with np.errstate(invalid="ignore"):
        result = extrapolate(quotients, np.full(quotients.shape, 1e-15), ratio=4)
    assert result.value[0] == 2.0
    assert np.isinf(result.bound[1:]).all()


def test_the_level_names_the_smallest_step_used() -> None:
    clean = extrapolate(series(1.0, [1.0, 1.0, 1.0], 4), np.full((1, 4), 1e-15), ratio=4)
    assert clean.level[0] == 3
    # Where small steps are all noise, the first ones are used.
    noise = np.array([[1e-12, 1e-3, 1e-1, 1e1]])
    noisy = extrapolate(series(1.0, [], 4), noise, ratio=4)
    assert noisy.level[0] <= 1


def test_one_quotient_tells_nothing() -> None:
    result = extrapolate(np.array([[2.0]]), np.array([[1e-15]]), ratio=4)
    assert np.isinf(result.bound[0])
