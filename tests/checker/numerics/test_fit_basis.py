"""Polynomials through places, and what values scatter around their neighbours."""

from __future__ import annotations

import numpy as np
import pytest

from gradcheck.checker.numerics.fit_basis import (
    Polynomials,
    distinct,
    local_noise,
    spread_places,
)

PLACES = spread_places(np.random.default_rng(0))[np.newaxis]


@pytest.mark.parametrize("degree", [1, 3, 5])
def test_the_slope_of_a_polynomial_is_its_own(degree: int) -> None:
    own = np.polynomial.Polynomial(np.arange(1.0, degree + 2))
    fitted = Polynomials.of(PLACES, degree)
    values = own(PLACES)
    np.testing.assert_allclose((fitted.slope * values).sum(axis=1), own.deriv()(0.0))
    assert np.abs(fitted.rest(values[..., np.newaxis])).max() < 1e-12
    assert fitted.full.all()


def test_the_size_of_a_kink() -> None:
    fitted = Polynomials.of(PLACES, 5, kink=True)
    relu = np.maximum(PLACES, 0.0) + 3 * PLACES**2
    np.testing.assert_allclose((fitted.slope * relu).sum(axis=1), 1.0)


def test_few_places_do_not_tell_all_the_terms() -> None:
    few = np.repeat(np.linspace(-1, 1, 4), 12)[np.newaxis]
    assert distinct(few).tolist() == [4]
    assert not Polynomials.of(few, 5).full.any()
    assert Polynomials.of(few, 3).full.all()


@pytest.mark.parametrize("kink", [False, True])
def test_where_nothing_can_be_moved_nothing_is_told(kink: bool) -> None:
    """The input is infinite: so are the places, or they are no numbers."""
    nowhere = np.where(np.arange(PLACES.size) % 2, np.inf, np.nan)[np.newaxis]
    fitted = Polynomials.of(np.concatenate([nowhere, PLACES]), 3, kink=kink)
    assert fitted.full.tolist() == [False, True]


def test_a_switch_is_no_scatter() -> None:
    rng = np.random.default_rng(1)
    noise = 1e-3 * rng.standard_normal(PLACES.shape)
    kink, jump = np.maximum(PLACES, 0.2), 1.0 * (PLACES > 0.2)
    values = np.stack([noise, kink, jump, noise + jump], axis=-1)
    (plain, kinked, jumped, both) = local_noise(PLACES, values)[0]
    assert 5e-4 < plain < 2e-3
    assert 5e-4 < both < 2e-3
    assert max(kinked, jumped) < 1e-12
