"""Ops that gather, scatter, stitch and cut into segments: at many points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.checker.subject.carry.carried_op import (
    NoRule,
    Op,
    later,
    moved_ahead,
    moved_behind,
    rule,
)

if TYPE_CHECKING:
    from collections.abc import Sequence


@rule("GatherV2")
def _gather(op: Op) -> Sequence[Any]:
    op.only(0)
    if op.attribute("batch_dims"):
        raise NoRule
    return op.again(op.batches[0], op.inputs[1], later(op.numbers(2), op.rank(0)))


def _of_each_row(indices: Any, rows: int) -> Any:
    """Indices into one more leading axis, the same for each of its rows."""
    import tensorflow as tf

    number = np.arange(rows, dtype=indices.dtype).reshape(-1, *[1] * indices.ndim)
    numbers = np.broadcast_to(number, (rows, *indices.shape[:-1], 1))
    same = np.broadcast_to(indices, (rows, *indices.shape))
    return tf.constant(np.concatenate([numbers, same], axis=-1))


@rule("GatherNd")
def _gather_nd(op: Op) -> Sequence[Any]:
    op.only(0)
    return op.again(op.batches[0], _of_each_row(op.numbers(1), op.rows))


@rule("ScatterNd")
def _scatter_nd(op: Op) -> Sequence[Any]:
    op.only(1)
    shape = op.numbers(2)
    shape = np.concatenate([np.array([op.rows], shape.dtype), shape])
    return op.again(_of_each_row(op.numbers(0), op.rows), op.batches[1], shape)


@rule("TensorScatterAdd TensorScatterMax TensorScatterMin TensorScatterSub TensorScatterUpdate")
def _tensor_scatter(op: Op) -> Sequence[Any]:
    op.only(0, 2)
    return op.again(op.full(0), _of_each_row(op.numbers(1), op.rows), op.full(2))


@rule("""
    SegmentMax SegmentMean SegmentMin SegmentProd SegmentSum SparseSegmentMean SparseSegmentSqrtN
    SparseSegmentSum UnsortedSegmentMax UnsortedSegmentMin UnsortedSegmentProd UnsortedSegmentSum
""")
def _segments(op: Op) -> Sequence[Any]:
    """Points along the axis behind those that are cut into segments."""
    op.only(0)
    (told,) = op.again(moved_behind(op.batches[0], op.numbers(1).ndim))
    return [moved_ahead(told, 1)]


@rule("DynamicStitch ParallelDynamicStitch")
def _stitch(op: Op) -> Sequence[Any]:
    """Points along the axis behind those of the indices."""
    op.only(1)
    ranks = [np.ndim(indices) for indices in op.inputs[0]]
    data = [moved_behind(b, rank) for b, rank in zip(op.all_of(1), ranks, strict=True)]
    (told,) = op.again(op.inputs[0], data)
    return [moved_ahead(told, 1)]


@rule("ReverseSequence")
def _reverse_sequence(op: Op) -> Sequence[Any]:
    """Points along a last axis."""
    op.only(0)
    rank = op.rank(0)
    (told,) = op.again(moved_behind(op.batches[0], rank))
    return [moved_ahead(told, rank)]
