"""Each way to draw gives what its text promises."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradcheck.ops.samples.registry import SAMPLES
from tests.ops.samples.drawing import domains, drawn, seeds, shapes

if TYPE_CHECKING:
    from gradcheck.ops import Domain

SQUARE = [name for name, kind in SAMPLES.items() if kind.square]

squares = st.tuples(st.lists(st.integers(0, 2), max_size=1), st.integers(0, 4)).map(
    lambda parts: (*parts[0], parts[1], parts[1])
)


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


def test_parts_of_complex_values_are_independent() -> None:
    x = drawn("normal", (2000,), 0, complex_=True)
    assert abs(np.corrcoef(x.real, x.imag)[0, 1]) < 0.1
