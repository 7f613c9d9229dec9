"""What two elements are off together is rounding only in the shares that last digits make."""

from __future__ import annotations

import numpy as np
import pytest

from gradcheck.checker.judge.explained import explained

SLOPE = np.array([1e-3, -2e-3, 1e-3])
SHARES = np.array([0.2, 0.5, 0.3])
KNOWN = np.full(3, 1e-13)


def _draws(seed: int) -> list[np.ndarray]:
    return list(1e-7 * np.random.default_rng(seed).standard_normal((12, 1)) * SHARES)


@pytest.mark.parametrize("seed", range(5))
def test_one_number_that_all_elements_share(seed: int) -> None:
    told = explained(0.5e-7 * SHARES, SLOPE, _draws(seed), KNOWN)
    assert told.fits
    assert told.hides < 1e-6
    fault = 1e-4 * SLOPE
    assert not explained(
        0.5e-7 * SHARES + fault, SLOPE, [d + fault for d in _draws(seed)], KNOWN
    ).fits


@pytest.mark.parametrize("seed", range(5))
def test_each_by_itself(seed: int) -> None:
    # (A fault as large as what last digits do is not found, and that is said.)
    rng = np.random.default_rng(seed)
    here, *beside = 1e-3 * rng.standard_normal((13, 3))
    told = explained(here / 3, SLOPE, beside, KNOWN)
    assert told.fits
    assert told.hides > 1
    assert not explained(
        here / 3 + 100 * SLOPE, SLOPE, [b + 100 * SLOPE for b in beside], KNOWN
    ).fits


def test_what_is_not_finite_explains_nothing() -> None:
    assert explained(SLOPE, SLOPE, [np.full(3, np.nan)], KNOWN).hides == np.inf
    assert explained(SLOPE, SLOPE, [SLOPE], np.zeros(3)).hides == np.inf
