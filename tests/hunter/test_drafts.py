from __future__ import annotations

import numpy as np
import pytest

from gradcheck.hunter.drafts import (
    Draft,
    array_of,
    case_of,
    is_finite,
    rounded,
    tensor,
    with_values,
)
from gradcheck.hunter.promised import is_in_order


@pytest.mark.parametrize(
    "array",
    [
        np.array(1.5),
        np.array([[1 + 2j, -0.5j]]),
        np.array([np.inf, -np.inf, 0.0]),
        np.zeros((0, 3)),
        np.array([1e-30, 1e300]),
    ],
)
def test_what_is_written_is_read_back(array: np.ndarray) -> None:
    entry = tensor(array)
    back = array_of(entry)
    assert back is not None
    np.testing.assert_array_equal(back, array)
    dtype = {"dtype": "complex128"} if array.dtype.kind == "c" else {}
    case = case_of({"op": "tf.raw_ops.Exp", "inputs": {"x": entry}, **dtype}, 1, ())
    assert not isinstance(case, str), case
    if array.size:
        np.testing.assert_array_equal(case.inputs[0].values, array)
    assert case.inputs[0].shape == array.shape


def test_few_digits_are_kept() -> None:
    np.testing.assert_array_equal(rounded(np.array([1.23456, -0.000123456])), [1.23, -0.000123])


def test_samples_get_their_values() -> None:
    draft: Draft = {"op": "cholesky", "inputs": {"input": {"shape": [2, 2]}}}
    values = array_of(with_values(draft, ())["inputs"]["input"])
    assert values is not None
    np.testing.assert_allclose(values, values.T)


@pytest.mark.parametrize(("low", "high", "fine"), [(0.0, 1.0, True), (1.0, 0.0, False)])
def test_ends_in_their_order(low: float, high: float, fine: bool) -> None:
    entries = {"clip_value_min": {"values": low}, "clip_value_max": {"values": high}}
    draft: Draft = {"op": "tf.clip_by_value", "inputs": {"t": {"values": 0.5}, **entries}}
    assert is_in_order(draft) is fine


def test_infinite_points() -> None:
    assert is_finite({"op": "exp", "inputs": {"x": {"values": [1.0]}}})
    assert not is_finite({"op": "exp", "inputs": {"x": {"values": [1.0, float("inf")]}}})


@pytest.mark.parametrize(
    ("places", "fine"),
    [
        *(([[0, 1], [1, 0]], True), ([[1, 0], [0, 1]], False), ([[0, 1], [0, 1]], False)),
        ([[0, 1], [0, 2]], False),
    ],
)
def test_places_of_a_sparse_tensor_in_their_order(places: list[list[int]], fine: bool) -> None:
    inputs = {
        "sp_indices": {"values": places, "dtype": "int64"},
        "sp_values": {"values": [1.0, 2.0]},
        "sp_shape": {"values": [2, 2], "dtype": "int64"},
    }
    assert is_in_order({"op": "tf.raw_ops.SparseSoftmax", "inputs": inputs}) is fine
    # Indices of anything else may stand in any order.
    inputs = {"params": {"values": [1.0]}, "indices": {"values": places, "dtype": "int32"}}
    assert is_in_order({"op": "tf.raw_ops.GatherNd", "inputs": inputs})
