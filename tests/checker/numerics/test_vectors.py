"""Tensors as one flat real vector and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from gradcheck.checker.numerics.vectors import Layout, largest_first, to_double

if TYPE_CHECKING:
    from gradcheck.model import Array

SHAPES = arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3)
REAL = st.floats(-1e6, 1e6)
ARRAY = st.one_of(
    arrays.arrays(np.float64, SHAPES, elements=REAL),
    arrays.arrays(np.complex128, SHAPES, elements=st.complex_numbers(max_magnitude=1e6)),
)


@given(st.lists(ARRAY, max_size=4))
def test_there_and_back(given_arrays: list[Array]) -> None:
    layout = Layout.of(given_arrays)
    vector = layout.flatten(given_arrays)
    assert vector.dtype == np.float64
    assert len(vector) == layout.offsets[-1] == sum(layout.sizes)
    for before, after in zip(given_arrays, layout.unflatten(vector), strict=True):
        assert after.dtype == before.dtype
        assert after.shape == before.shape
        np.testing.assert_array_equal(after, before)


def test_a_complex_number_is_two_real_ones() -> None:
    layout = Layout.of([np.zeros(1), np.zeros((1, 2), np.complex128), np.zeros(())])
    flat = layout.flatten([np.array([7.0]), np.array([[1 + 2j, 3 - 4j]]), np.array(9.0)])
    assert flat.tolist() == [7, 1, 2, 3, -4, 9]
    assert layout.offsets == [0, 1, 5, 6]


def test_rows_keep_their_order() -> None:
    layout = Layout.of([np.zeros((2, 2)), np.zeros(1)])
    rows = np.arange(15.0).reshape(3, 5)
    matrices, numbers = layout.unflatten_rows(rows)
    assert matrices.shape == (3, 2, 2)
    assert numbers[:, 0].tolist() == [4, 9, 14]
    np.testing.assert_array_equal(layout.flatten_rows([matrices, numbers]), rows)


def test_nothing_is_a_row_of_nothing() -> None:
    layout = Layout.of([])
    assert layout.flatten([]).shape == (0,)
    assert layout.unflatten(np.zeros(0)) == []


def test_to_double() -> None:
    cases: list[tuple[Any, type]] = [
        (np.float32(1), np.float64),
        (np.complex64(1), np.complex128),
        (np.int32(1), np.float64),
        (np.bool_(True), np.float64),
    ]
    for value, wanted in cases:
        assert to_double(np.asarray(value)).dtype == wanted


def test_equals_but_for_rounding_stand_by_place() -> None:
    """What is shown does not depend on how a processor rounds."""
    up, down = 1 + 2.0**-50, 1 - 2.0**-50
    for sizes in ([1, 3, 1, 3], [down, 3 * up, 1, 3], [1, 3, up, 3 * up], [1, 3 * down, up, 3]):
        assert largest_first(np.array(sizes)).tolist() == [1, 3, 0, 2]
    assert largest_first(np.array([0.0, np.inf, 1.0001, 1.0002])).tolist() == [1, 3, 2, 0]
