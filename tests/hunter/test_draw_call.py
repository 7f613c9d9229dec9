"""Calls that are drawn: kernels whose inputs must fit together have some that work."""

from __future__ import annotations

import numpy as np
import pytest

from gradcheck.hunter.drafts import task_case
from gradcheck.hunter.draw_call import drawn
from gradcheck.hunter.promised import is_in_order
from gradcheck.hunter.signatures import signature_of
from gradcheck.hunter.task import PROBE, answer_of, do


def calls_that_work(name: str) -> list[dict[str, object]]:
    request = {"target": name, "key": "op", "seed": 1, "seconds": 20.0, "wanted": 3}
    answer = answer_of(do(task_case(PROBE, 1, request, timeout=60.0), allow=(), root="."))
    return list(answer["drafts"])


@pytest.mark.parametrize(
    "kernel",
    [
        *("SparseConcat", "SparseAdd", "SparseTensorDenseMatMul", "SparseSoftmax"),
        *("SparseSparseMaximum", "SparseDenseCwiseMul", "SparseReduceSum", "SparseSlice"),
    ],
)
def test_sparse_kernels_are_called(kernel: str) -> None:
    found = calls_that_work(f"tf.raw_ops.{kernel}")
    assert found
    assert all(map(is_in_order, found))


@pytest.mark.parametrize("kernel", ["Sum", "EuclideanNorm", "ExpandDims", "Split", "Min"])
def test_python_has_other_names(kernel: str) -> None:
    """What the definition calls `reduction_indices` or `split_dim`, `tf.raw_ops` calls `axis`."""
    assert calls_that_work(f"tf.raw_ops.{kernel}")


@pytest.mark.parametrize("kernel", ["SpaceToBatchND", "MatrixDiagV3", "FractionalMaxPool"])
def test_kernels_that_refuse_nearly_everything(kernel: str) -> None:
    assert calls_that_work(f"tf.raw_ops.{kernel}")


def test_lists_of_one_length() -> None:
    signature = signature_of("tf.raw_ops.DynamicStitch", "op", allow=(), root=".")
    for seed in range(20):
        inputs = drawn(signature, np.random.default_rng(seed), special=False)["inputs"]
        assert len(inputs["indices"]["list"]) == len(inputs["data"]["list"])
        assert all(entry["dtype"] == "int32" for entry in inputs["indices"]["list"])
    assert calls_that_work("tf.raw_ops.DynamicStitch")
