"""Draws lie inside the domain and keep clear of its edges and kinks."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gradcheck.ops import Domain
from tests.ops.samples.drawing import GENERAL, domains, drawn, seeds, shapes


@given(st.sampled_from(GENERAL), shapes, seeds, domains, st.booleans())
def test_draws_lie_inside_the_domain_and_clear_of_its_kinks(
    name: str, shape: tuple[int, ...], seed: int, domain: Domain, complex_: bool
) -> None:
    x = drawn(name, shape, seed, domain, complex_)
    assert isinstance(x, np.ndarray)
    assert x.shape == shape
    assert x.dtype == (np.complex128 if complex_ else np.float64)
    points = [p for p in (domain.low, domain.high, *domain.kinks) if math.isfinite(p)]
    # loguniform(0.1, 10) asks for values as small as 0.1, so its margin is a share of that.
    margin = 0.005 if name == "loguniform" else 0.05
    assert np.all((x.real > domain.low) & (x.real < domain.high))
    for point in points:
        assert np.all(np.abs(x.real - point) >= margin * (1 - 1e-9))


def test_a_draw_that_rounding_puts_on_the_edge_stays_inside() -> None:
    x = drawn("distinct", (2, 2), 0, Domain(low=-1.5, high=2.0))
    assert np.all((x > -1.5) & (x < 2.0))


def test_a_tiny_range_is_not_pushed_away_from_the_edge() -> None:
    x = drawn("loguniform(1e-6, 1e-5)", (50,), 0, Domain(low=0.0))
    assert np.all((x >= 1e-6) & (x <= 1e-5))
