"""Rows that belong together: sums, products and extremes, empty segments and rows of none."""

from __future__ import annotations

import numpy as np

from gradcheck.ops.language.vocabulary import FUNCTIONS

X = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]])
IDS = np.array([2, 0, 2, -1])


def test_rows_of_a_segment_are_added_and_those_of_none_left_out() -> None:
    found = FUNCTIONS["segment_sum"](X, IDS, 3)
    np.testing.assert_array_equal(found, [[3, 4], [0, 0], [6, 8]])


def test_an_empty_segment_has_a_value_of_its_own() -> None:
    lowest = np.finfo(np.float64).min
    assert FUNCTIONS["segment_prod"](X, IDS, 3)[1].tolist() == [1, 1]
    assert FUNCTIONS["segment_max"](X, IDS, 3).tolist() == [[3, 4], [0, 0], [5, 6]]
    assert FUNCTIONS["segment_min"](X, IDS, 3).tolist() == [[3, 4], [0, 0], [1, 2]]
    assert FUNCTIONS["unsorted_max"](X, IDS, 3)[1].tolist() == [lowest, lowest]
    assert FUNCTIONS["unsorted_min"](X, IDS, 3)[1].tolist() == [-lowest, -lowest]


def test_each_row_gets_what_its_segment_has() -> None:
    values = np.array([[10.0], [20.0], [30.0]])
    assert FUNCTIONS["of_segment"](values, IDS).tolist() == [[30], [10], [30], [0]]
    assert FUNCTIONS["of_segment"](np.zeros((0, 2)), np.array([-1])).tolist() == [[0, 0]]


def test_the_product_of_the_others_beside_zeros() -> None:
    x = np.array([2.0, 0.0, 3.0, 0.0, 0.0, 5.0])
    found = FUNCTIONS["others_in_segment"](x, np.array([0, 0, 0, 1, 1, 1]), 2)
    assert found.tolist() == [0, 6, 0, 0, 0, 0]


def test_ids_of_several_axes() -> None:
    x, ids = np.arange(6.0).reshape(2, 3), np.array([[0, 1, 0], [1, 1, 0]])
    assert FUNCTIONS["segment_sum"](x, ids, 2).tolist() == [0 + 2 + 5, 1 + 3 + 4]
