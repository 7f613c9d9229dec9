"""The samples: seeded, inside the domain, clear of kinks, of the structure they promise."""

from __future__ import annotations

import math
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradcheck.model import Array, Sample
from gradcheck.ops import ANYWHERE, Domain
from gradcheck.ops.samples.registry import SAMPLES, draw, parse_sample

GENERAL = [name for name, kind in SAMPLES.items() if kind.structure == "general"]
SQUARE = [name for name, kind in SAMPLES.items() if kind.square]

shapes = st.lists(st.integers(0, 4), max_size=3).map(tuple)
squares = st.tuples(st.lists(st.integers(0, 2), max_size=1), st.integers(0, 4)).map(
    lambda parts: (*parts[0], parts[1], parts[1])
)
seeds = st.integers(0, 2**32)
# Edges and kinks: on a grid, so that there is room between them.
domains = st.builds(
    lambda points, low, high: Domain(
        low=points[0] if low else -math.inf,
        high=points[-1] if high else math.inf,
        kinks=tuple(points[1:-1]),
    ),
    st.lists(st.integers(-6, 6), min_size=2, max_size=5, unique=True).map(
        lambda points: sorted(point / 2 for point in points)
    ),
    st.booleans(),
    st.booleans(),
)


def drawn(
    name: str, shape: tuple[int, ...], seed: int, domain: Domain = ANYWHERE, complex_: bool = False
) -> Array:
    return draw(parse_sample(name), shape, complex_, np.random.default_rng(seed), domain)


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


@given(st.sampled_from(GENERAL), shapes, seeds, st.booleans())
def test_the_same_seed_draws_the_same(
    name: str, shape: tuple[int, ...], seed: int, complex_: bool
) -> None:
    first = drawn(name, shape, seed, complex_=complex_)
    np.testing.assert_array_equal(first, drawn(name, shape, seed, complex_=complex_))


@pytest.mark.parametrize("name", GENERAL)
def test_another_seed_draws_something_else(name: str) -> None:
    assert not np.array_equal(drawn(name, (4,), 1), drawn(name, (4,), 2))


@given(st.sampled_from(SQUARE), squares, seeds, st.booleans())
def test_matrices_have_the_structure_they_promise(
    name: str, shape: tuple[int, ...], seed: int, complex_: bool
) -> None:
    x = drawn(name, shape, seed, complex_=complex_)
    assert x.shape == shape
    assert np.iscomplexobj(x) == complex_
    adjoint = np.conj(np.swapaxes(x, -1, -2))
    singular = np.linalg.svd(x, compute_uv=False)
    if name in ("symmetric", "spd"):
        np.testing.assert_array_equal(x, adjoint)
    if name == "spd" and x.size:
        assert np.all(np.linalg.eigvalsh(x) > 0.4)
    if name in ("symmetric", "spd", "invertible"):
        assert np.all((singular > 0.49) & (singular < 2.01))
        assert np.all(np.abs(np.diff(singular, axis=-1)) > 0.05)
    if name == "lower":
        np.testing.assert_array_equal(x, np.tril(x))
        assert np.all(np.diagonal(x, axis1=-2, axis2=-1).real >= 0.5)
    if name == "orthogonal":
        np.testing.assert_allclose(
            x @ adjoint, np.broadcast_to(np.eye(shape[-1]), shape), atol=1e-12
        )


@given(shapes.filter(bool), seeds, st.booleans())
def test_probabilities_sum_to_one(shape: tuple[int, ...], seed: int, complex_: bool) -> None:
    x = drawn("probability", shape, seed, complex_=complex_)
    assert np.all(x.real > 0)
    if shape[-1]:
        # To the last digit, and in eight digits: a gradient may rely on it in any precision.
        assert np.all(x.sum(axis=-1) == 1)
        mantissa, _ = np.frexp(np.stack([x.real, x.imag]))
        assert np.all(np.ldexp(mantissa, 8) == np.rint(np.ldexp(mantissa, 8)))


def test_a_draw_that_rounding_puts_on_the_edge_stays_inside() -> None:
    x = drawn("distinct", (2, 2), 0, Domain(low=-1.5, high=2.0))
    assert np.all((x > -1.5) & (x < 2.0))


@given(shapes, seeds, domains)
def test_distinct_values_stay_apart(shape: tuple[int, ...], seed: int, domain: Domain) -> None:
    # In a free or half-open domain the gap is absolute; pressed against a point it halves.
    free = np.sort(drawn("distinct", shape, seed).ravel())
    assert np.all(np.diff(free) >= 0.05 - 1e-9)
    bounded = np.sort(drawn("distinct", shape, seed, domain).ravel())
    assert np.all(np.diff(bounded) > 0)


@pytest.mark.parametrize("seed", range(20))
def test_magnitudes_are_nice(seed: int) -> None:
    assert np.all(((x := drawn("positive", (9,), seed)) >= 0.5) & (x <= 2))
    assert np.all(((x := np.abs(drawn("nonzero", (9,), seed))) >= 0.5) & (x <= 2))
    assert np.all(np.abs(drawn("unit", (9,), seed)) <= 0.8)
    assert np.all(np.abs(drawn("unit", (9,), seed, complex_=True)) <= 0.8)
    assert set(drawn("integers(3, 6)", (30,), seed)) == {3, 4, 5}
    assert drawn("integers(0, 2)", (3,), seed).dtype == np.int64
    assert drawn("boolean", (3,), seed).dtype == np.bool_


def test_a_tiny_range_is_not_pushed_away_from_the_edge() -> None:
    x = drawn("loguniform(1e-6, 1e-5)", (50,), 0, Domain(low=0.0))
    assert np.all((x >= 1e-6) & (x <= 1e-5))


def test_parts_of_complex_values_are_independent() -> None:
    x = drawn("normal", (2000,), 0, complex_=True)
    assert abs(np.corrcoef(x.real, x.imag)[0, 1]) < 0.1


@pytest.mark.parametrize(
    ("text", "sample"),
    [
        ("normal", Sample("normal")),
        (" uniform( -1 , 2e0 ) ", Sample("uniform", (-1.0, 2.0))),
        ("uniform", Sample("uniform")),
        ("uniform()", Sample("uniform")),
        ("integers(0, 5)", Sample("integers", (0.0, 5.0))),
    ],
)
def test_parse(text: str, sample: Sample) -> None:
    assert parse_sample(text) == sample


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("unifrom(0, 1)", "did you mean 'uniform'?"),
        ("zzz", "there are normal, uniform"),
        ("uniform(0)", "takes 2 numbers, got 1"),
        ("uniform(0, x)", "takes numbers, not 'x'"),
        ("uniform(0, inf)", "takes numbers, not 'inf'"),
        ("uniform(2, 1)", "low must be below high"),
        ("normal(1, 2)", "takes no parameters"),
        ("loguniform(-1, 1)", "low must be positive"),
        ("integers(0.5, 2)", "whole numbers"),
        ("integers(0, 1e30)", "32 bits"),
        ("uniform(0, 1", "is not a sample"),
        ("", "is not a sample"),
        ("normal; import os", "is not a sample"),
    ],
)
def test_what_is_no_sample_is_explained(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=r".") as caught:
        parse_sample(text)
    assert words in str(caught.value)


@given(st.text(max_size=20))
def test_any_text_is_a_sample_or_a_value_error(text: str) -> None:
    with suppress(ValueError):
        assert parse_sample(text).name in SAMPLES


@pytest.mark.parametrize(("name", "shape"), [("spd", (2, 3)), ("lower", (3,)), ("probability", ())])
def test_a_shape_that_does_not_fit_is_explained(name: str, shape: Any) -> None:
    with pytest.raises(ValueError, match="the shape is"):
        drawn(name, shape, 0)
