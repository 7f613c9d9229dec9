"""Ops that work element by element, or along axes of which there may be more: at many points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.checker.numerics.vectors import to_double
from gradcheck.checker.subject.carry.carried_op import (
    NO_BATCH,
    RULES,
    NoRule,
    Op,
    later,
    reshaped,
    rule,
)
from gradcheck.checker.subject.known_kernels import ELEMENT_BY_ELEMENT

if TYPE_CHECKING:
    from collections.abc import Sequence


@rule(ELEMENT_BY_ELEMENT)
@rule("Identity StopGradient PreventGradient CheckNumerics Snapshot")
@rule("MatrixTriangularSolve")
def _broadcast(op: Op) -> Sequence[Any]:
    """Shapes are aligned at their ends, behind the axis of points."""
    rank = len(op.outputs[0].shape)
    given = []
    for own, batch in zip(op.inputs, op.batches, strict=False):
        if batch is None:
            given.append(own)
            continue
        missing = rank + 1 - len(batch.shape)
        aligned = reshaped(batch, op.rows, [*[1] * missing, *batch.shape[1:]]) if missing else batch
        given.append(aligned)
    return op.again(*given)


del RULES["BroadcastGradientArgs"]  # its shapes are not broadcast


@rule("Select")
def _select(op: Op) -> Sequence[Any]:
    """Nothing is broadcast, but for a condition that is one number."""
    if op.rank(0) not in (0, op.rank(1)):
        raise NoRule
    return op.again(*map(op.full, range(3)))


@rule(" ".join(kind for kind in ELEMENT_BY_ELEMENT.split() if kind.endswith("Grad")))
@rule("BatchMatMul Betainc Cross MatrixSetDiagV3 MatrixSolve TridiagonalSolve")
def _all_leading(op: Op) -> Sequence[Any]:
    """All the inputs that are moved have the same leading axes."""
    places = range(3 if op.kind == "Betainc" else 2)
    op.only(*places)
    return op.again(*map(op.full, places))


@rule("Shape ShapeN Rank Size ZerosLike OnesLike")
def _of_the_shape(op: Op) -> Sequence[Any]:
    return [NO_BATCH] * len(op.outputs)


@rule("Reshape Squeeze ExpandDims EnsureShape")
def _reshape(op: Op) -> Sequence[Any]:
    op.only(0)
    return [reshaped(op.batches[0], op.rows, op.outputs[0].shape)]


@rule("IdentityN AddN")
def _lists(op: Op) -> Sequence[Any]:
    return op.again(op.all_of(0))


@rule("""
    Cholesky FFT FFT2D FFT3D IFFT IFFT2D IFFT3D IRFFT IRFFT2D IRFFT3D LogMatrixDeterminant
    LogSoftmax MatrixBandPart MatrixDeterminant MatrixDiagPartV3 MatrixDiagV3
    MatrixInverse MatrixLogarithm MatrixSquareRoot Qr RFFT RFFT2D RFFT3D SelfAdjointEigV2 Softmax
    Svd TopKV2
""")
def _leading(op: Op) -> Sequence[Any]:
    """The first input may have any number of leading axes."""
    op.only(0)
    # (Vectors that nobody wants have no axis at all.)
    return [told if told.shape.rank else NO_BATCH for told in op.again(op.batches[0])]


# ---- Along an axis


@rule("""
    All Any ArgMax ArgMin Cumprod Cumsum CumulativeLogsumexp EuclideanNorm Max Mean Min Prod
    ReverseV2 Sum
""")
def _along(op: Op) -> Sequence[Any]:
    op.only(0)
    return op.again(op.batches[0], later(op.numbers(1), op.rank(0)))


@rule("L2Loss")
def _half_a_square(op: Op) -> Sequence[Any]:
    import tensorflow as tf

    # (By numpy: of small ones four ops take ten times as long.)
    flat = to_double(op.batches[0].numpy()).reshape(op.rows, -1)
    return [tf.constant(np.einsum("ij,ij->i", flat, flat) / 2, op.outputs[0].dtype)]


@rule("Roll SplitV")
def _along_the_third(op: Op) -> Sequence[Any]:
    op.only(0)
    return op.again(op.batches[0], op.inputs[1], later(op.numbers(2), op.rank(0)))


@rule("Split")
def _split(op: Op) -> Sequence[Any]:
    return op.again(later(op.numbers(0), op.rank(1)), op.batches[1])


@rule("Transpose ConjugateTranspose")
def _transpose(op: Op) -> Sequence[Any]:
    op.only(0)
    return op.again(op.batches[0], _before(0, later(op.numbers(1), op.rank(0))))


@rule("ConcatV2")
def _concatenate(op: Op) -> Sequence[Any]:
    return op.again(op.all_of(0), later(op.numbers(1), len(op.outputs[0].shape)))


@rule("Pack")
def _pack(op: Op) -> Sequence[Any]:
    axis = later(op.attribute("axis"), len(op.outputs[0].shape))
    return op.again(op.all_of(0), axis=axis)


@rule("Unpack")
def _unpack(op: Op) -> Sequence[Any]:
    return op.again(op.batches[0], axis=later(op.attribute("axis"), op.rank(0)))


# ---- Shapes that have an entry for each axis


def _before(entry: Any, numbers: Any) -> Any:
    return np.concatenate([np.asarray([entry], numbers.dtype), numbers])


@rule("Tile")
def _tile(op: Op) -> Sequence[Any]:
    op.only(0)
    return op.again(op.batches[0], _before(1, op.numbers(1)))


@rule("Pad PadV2 MirrorPad")
def _pad(op: Op) -> Sequence[Any]:
    op.only(0)
    return op.again(op.batches[0], _before([0, 0], op.numbers(1)))


@rule("BroadcastTo")
def _broadcast_to(op: Op) -> Sequence[Any]:
    op.only(0)
    shape, own = op.outputs[0].shape, op.batches[0].shape[1:]
    aligned = reshaped(op.batches[0], op.rows, [*[1] * (len(shape) - len(own)), *own])
    return op.again(aligned, np.array([op.rows, *shape], np.int32))


@rule("Fill")
def _fill(op: Op) -> Sequence[Any]:
    import tensorflow as tf

    op.only(1)
    shape = op.outputs[0].shape
    aligned = reshaped(op.batches[1], op.rows, [1] * len(shape))
    return [tf.broadcast_to(aligned, [op.rows, *shape])]


@rule("Slice")
def _slice(op: Op) -> Sequence[Any]:
    op.only(0)
    return op.again(op.batches[0], _before(0, op.numbers(1)), _before(-1, op.numbers(2)))


@rule("StridedSlice")
def _strided_slice(op: Op) -> Sequence[Any]:
    op.only(0)
    begin, end, strides = (_before(first, op.numbers(i)) for i, first in ((1, 0), (2, 0), (3, 1)))
    # (The first axis as a whole.)
    masks = {name: 2 * op.attribute(name) + 1 for name in ("begin_mask", "end_mask")}
    others = ("ellipsis_mask", "new_axis_mask", "shrink_axis_mask")
    masks |= {name: 2 * op.attribute(name) for name in others}
    return op.again(op.batches[0], begin, end, strides, **masks)
