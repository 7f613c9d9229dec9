"""What carries an upstream gradient back to the shape of an input."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradcheck.ops.language.adjoints import (
    one_hot_max,
    part,
    prod_others,
    put_slice,
    scatter_add,
    take_along,
    unbroadcast,
)


def test_one_hot_max_shares_among_ties() -> None:
    x = np.array([[1, 3, 3], [2, 0, 1]])
    np.testing.assert_array_equal(one_hot_max(x, 1), [[0, 0.5, 0.5], [1, 0, 0]])


def test_scatter_add_adds_at_repeated_indices() -> None:
    result = scatter_add(np.zeros(3), np.array([2, 0, 2]), np.array([1.0, 10, 100]))
    np.testing.assert_array_equal(result, [10, 0, 101])


def test_put_slice_leaves_zeros_outside() -> None:
    result = put_slice(np.ones((2, 3)), "0, 1:", np.array([5.0, 6.0]))
    np.testing.assert_array_equal(result, [[0, 5, 6], [0, 0, 0]])


def test_prod_others_by_hand() -> None:
    x = np.array([[2.0, 0, 3], [1, 4, 5]])
    np.testing.assert_array_equal(prod_others(x, 1), [[0, 6, 0], [20, 5, 4]])
    np.testing.assert_array_equal(prod_others(x, []), np.ones((2, 3)))


def test_take_along_picks_one_per_row() -> None:
    result = take_along(np.array([[1, 2], [3, 4]]), np.array([[1], [0]]))
    np.testing.assert_array_equal(result, [[2], [3]])


def test_an_axis_out_of_range_is_named() -> None:
    with pytest.raises(ValueError, match="axis 2 is out of range for rank 1"):
        part(np.zeros(3), 2, 0, 1)


small = st.lists(st.integers(0, 3), max_size=4).map(tuple)


@given(small, st.data())
def test_unbroadcast_is_the_transpose_of_broadcasting(shape: Any, data: Any) -> None:
    lead = data.draw(st.lists(st.integers(0, 3), max_size=2))
    wide = tuple(data.draw(st.integers(0, 3)) if size == 1 else size for size in shape)
    rng = np.random.default_rng(0)
    x, g = rng.standard_normal(shape), rng.standard_normal((*lead, *wide))
    back = unbroadcast(g, shape)
    assert back.shape == shape
    np.testing.assert_allclose(np.sum(back * x), np.sum(g * np.broadcast_to(x, g.shape)), atol=1e-9)


@pytest.mark.parametrize(("have", "want"), [((3,), (2,)), ((), (2,)), ((3,), (1, 3)), ((1,), (3,))])
def test_unbroadcast_refuses_a_shape_that_did_not_broadcast(have: Any, want: Any) -> None:
    with pytest.raises(ValueError, match="is not one that"):
        unbroadcast(np.zeros(have), want)
