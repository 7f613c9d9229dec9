"""Order and ranks are each other's opposite; ties keep their order."""

from __future__ import annotations

import numpy as np

from gradcheck.ops.language.vocabulary import FUNCTIONS

X = np.array([[3.0, 1.0, 2.0], [0.0, 5.0, -1.0]])


def test_order_sorts_and_ranks_put_back() -> None:
    ordered = np.take_along_axis(X, FUNCTIONS["order"](X, 1), 1)
    np.testing.assert_array_equal(ordered, FUNCTIONS["sort"](X, 1))
    np.testing.assert_array_equal(np.take_along_axis(ordered, FUNCTIONS["ranks"](X, 1), 1), X)


def test_ties_keep_their_order() -> None:
    assert FUNCTIONS["order"](np.array([1.0, 0.0, 1.0, 0.0])).tolist() == [1, 3, 0, 2]
