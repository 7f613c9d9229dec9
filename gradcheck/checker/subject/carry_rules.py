"""How each kind of op is run on many points at once.

A rule is given an op as it was run at one point, and for some of its inputs a batch: their values
at many points, along a leading axis. It gives the batches of the outputs, or raises NoRule; then,
and where there is no rule, the op is run for each point. No shape reaches a kernel here that is not
like those at the point with an axis more, or with more entries along one that nothing mixes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import numpy as np

from gradcheck.checker.subject.known_kernels import ELEMENT_BY_ELEMENT
from gradcheck.checker.subject.substituted import Run, place_of


class NoRule(Exception):  # noqa: N818  (an answer, not an error)
    """This op has to be run for each point."""


NO_BATCH: Final = object()
"""In place of a batch: the output is the same at all points, as a shape is."""


@dataclass(slots=True)
class Op:
    """An op at one point, and what it is given at many."""

    kind: str
    inputs: Sequence[Any]
    """Tensors, and then attributes with their names."""
    count: int
    """How many are tensors, or lists of them."""
    batches: list[Any]
    """By input: its values at the points; None if it is the same at all."""
    outputs: list[Any]
    """At the one point."""
    rows: int
    run: Run

    def again(self, *tensors: Any, **attributes: Any) -> list[Any]:
        """What the op gives for other tensors, and for other attributes."""
        rest = list(self.inputs[self.count :])
        for name, value in attributes.items():
            place = place_of(name, rest)
            if place is None:
                raise NoRule
            rest[place] = value
        given = [*tensors, *self.inputs[len(tensors) : self.count]]
        returned = self.run(*given, *rest)
        return returned if isinstance(returned, list) else [returned]

    def attribute(self, name: str) -> Any:
        """The value of an attribute."""
        place = place_of(name, self.inputs)
        if place is None:
            raise NoRule
        return self.inputs[place]

    def only(self, *places: int) -> None:
        """Raise NoRule unless no other inputs have batches than these."""
        if any(b is not None for i, b in enumerate(self.batches) if i not in places):
            raise NoRule

    def numbers(self, place: int) -> Any:
        """An input that is the same at all points, as an array."""
        return np.asarray(self.inputs[place])

    def rank(self, place: int) -> int:
        """Of an input at one point."""
        return len(_shape(self.inputs[place]))

    def full(self, place: int) -> Any:
        """The batch of an input, also where it is the same at all points."""
        if self.batches[place] is not None:
            return self.batches[place]
        return _repeated(self.inputs[place], self.rows, self.outputs)

    def all_of(self, place: int) -> list[Any]:
        """The batches of a list of inputs."""
        given, batches = self.inputs[place], self.batches[place]
        return [
            _repeated(each, self.rows, self.outputs) if batch is None else batch
            for each, batch in zip(given, batches or [None] * len(given), strict=True)
        ]


Rule = Callable[[Op], Sequence[Any]]
RULES: dict[str, Rule] = {}


def _rule(kinds: str) -> Callable[[Rule], Rule]:
    def register(rule: Rule) -> Rule:
        RULES.update(dict.fromkeys(kinds.split(), rule))
        return rule

    return register


def _shape(given: Any) -> tuple[int, ...]:
    return tuple(given.shape) if hasattr(given, "shape") else np.shape(given)


def _repeated(given: Any, rows: int, outputs: Sequence[Any]) -> Any:
    import tensorflow as tf

    like = given if isinstance(given, tf.Tensor) else tf.convert_to_tensor(given, outputs[0].dtype)
    return tf.broadcast_to(like[tf.newaxis], [rows, *like.shape])


def _reshaped(batch: Any, rows: int, shape: Sequence[int]) -> Any:
    import tensorflow as tf

    return tf.reshape(batch, [rows, *shape])


@_rule(ELEMENT_BY_ELEMENT)
@_rule("Identity StopGradient PreventGradient CheckNumerics Snapshot")
def _broadcast(op: Op) -> Sequence[Any]:
    """Element by element: shapes are aligned at their ends, behind the axis of points."""
    rank = len(op.outputs[0].shape)
    given = []
    for own, batch in zip(op.inputs, op.batches, strict=False):
        if batch is None:
            given.append(own)
            continue
        missing = rank + 1 - len(batch.shape)
        if missing:
            shape = batch.shape
            given.append(_reshaped(batch, op.rows, [*[1] * missing, *shape[1:]]))
        else:
            given.append(batch)
    return op.again(*given)


@_rule("Shape ShapeN Rank Size ZerosLike OnesLike")
def _of_the_shape(op: Op) -> Sequence[Any]:
    return [NO_BATCH] * len(op.outputs)


@_rule("Reshape Squeeze ExpandDims EnsureShape")
def _reshape(op: Op) -> Sequence[Any]:
    op.only(0)
    return [_reshaped(op.batches[0], op.rows, op.outputs[0].shape)]


@_rule("IdentityN AddN")
def _lists(op: Op) -> Sequence[Any]:
    return op.again(op.all_of(0))


@_rule("""
    Cholesky FFT FFT2D FFT3D IFFT IFFT2D IFFT3D IRFFT IRFFT2D IRFFT3D LogMatrixDeterminant
    LogSoftmax MatrixBandPart MatrixDeterminant MatrixDiagPartV3 MatrixDiagV3 MatrixExponential
    MatrixInverse MatrixLogarithm MatrixSquareRoot Qr RFFT RFFT2D RFFT3D SelfAdjointEigV2 Softmax
    Svd TopKV2
""")
def _leading(op: Op) -> Sequence[Any]:
    """The first input may have any number of leading axes."""
    op.only(0)
    return op.again(op.batches[0])


@_rule("Cross MatrixSolve MatrixTriangularSolve MatrixSetDiagV3 TridiagonalSolve")
def _all_leading(op: Op) -> Sequence[Any]:
    """All the inputs have the same leading axes."""
    places = range(3 if op.kind == "MatrixSetDiagV3" else 2)
    op.only(*places[:2])
    return op.again(op.full(0), op.full(1))


@_rule("BatchMatMul BatchMatMulV2 BatchMatMulV3")
def _products(op: Op) -> Sequence[Any]:
    return _broadcast(op)


@_rule("MatMul")
def _product(op: Op) -> Sequence[Any]:
    import tensorflow as tf

    a, b = (own if batch is None else batch for own, batch in zip(op.inputs, op.batches, strict=False))
    flip_a, flip_b = op.attribute("transpose_a"), op.attribute("transpose_b")
    if op.batches[1] is None and not flip_a:
        # (One product of many rows is faster than many products.)
        told = op.again(tf.reshape(a, [-1, a.shape[-1]]), b)
        return [_reshaped(told[0], op.rows, op.outputs[0].shape)]
    return [tf.matmul(a, b, transpose_a=flip_a, transpose_b=flip_b)]


@_rule("BiasAdd")
def _bias(op: Op) -> Sequence[Any]:
    import tensorflow as tf

    value, bias = op.batches
    rank = op.rank(0)
    first = op.attribute("data_format") in (b"NCHW", "NCHW")
    if bias is None and not first:
        return op.again(value)
    value = op.inputs[0] if value is None else value
    channels = [-1, *[1] * (rank - 2)] if first else [*[1] * (rank - 1), -1]
    bias = tf.reshape(op.inputs[1], channels) if bias is None else _reshaped(bias, op.rows, channels)
    return [value + bias]


@_rule("Einsum")
def _einsum(op: Op) -> Sequence[Any]:
    equation = op.attribute("equation")
    text = equation.decode() if isinstance(equation, bytes) else equation
    given, result = text.split("->")
    free = next(c for c in "zyxwvutsrqponmlkjihgfedcba" if c not in text)
    terms = [
        term if batch is None else free + term
        for term, batch in zip(given.split(","), op.batches[0], strict=True)
    ]
    tensors = [
        own if batch is None else batch
        for own, batch in zip(op.inputs[0], op.batches[0], strict=True)
    ]
    return op.again(tensors, equation=f"{','.join(terms)}->{free}{result}")


# ---- Along an axis


def _later(axes: Any, rank: int) -> Any:
    """Axes, behind the one of points."""
    axes = np.asarray(axes)
    later = np.where(axes < 0, axes + rank, axes) + 1
    # (An array without axes is not what an op is given for a number.)
    return later.astype(axes.dtype) if later.ndim else int(later)


@_rule("""
    All Any ArgMax ArgMin Cumprod Cumsum CumulativeLogsumexp EuclideanNorm Max Mean Min Prod
    ReverseV2 Sum
""")
def _along(op: Op) -> Sequence[Any]:
    op.only(0)
    return op.again(op.batches[0], _later(op.numbers(1), op.rank(0)))


@_rule("L2Loss")
def _half_a_square(op: Op) -> Sequence[Any]:
    import tensorflow as tf

    flat = tf.reshape(op.batches[0], [op.rows, -1])
    return [tf.reduce_sum(flat * flat, 1) / 2]


@_rule("Roll")
def _roll(op: Op) -> Sequence[Any]:
    op.only(0)
    return op.again(op.batches[0], op.inputs[1], _later(op.numbers(2), op.rank(0)))


@_rule("Transpose ConjugateTranspose")
def _transpose(op: Op) -> Sequence[Any]:
    op.only(0)
    return op.again(op.batches[0], _before(0, _later(op.numbers(1), op.rank(0))))


@_rule("ConcatV2")
def _concatenate(op: Op) -> Sequence[Any]:
    return op.again(op.all_of(0), _later(op.numbers(1), len(op.outputs[0].shape)))


@_rule("Pack")
def _pack(op: Op) -> Sequence[Any]:
    axis = _later(op.attribute("axis"), len(op.outputs[0].shape))
    return op.again(op.all_of(0), axis=axis)


@_rule("Unpack")
def _unpack(op: Op) -> Sequence[Any]:
    return op.again(op.batches[0], axis=_later(op.attribute("axis"), op.rank(0)))


@_rule("Split")
def _split(op: Op) -> Sequence[Any]:
    return op.again(_later(op.numbers(0), op.rank(1)), op.batches[1])


@_rule("SplitV")
def _split_by_sizes(op: Op) -> Sequence[Any]:
    op.only(0)
    return op.again(op.batches[0], op.inputs[1], _later(op.numbers(2), op.rank(0)))


# ---- Shapes that have an entry for each axis


def _before(entry: Any, numbers: Any) -> Any:
    return np.concatenate([np.asarray([entry], numbers.dtype), numbers])


@_rule("Tile")
def _tile(op: Op) -> Sequence[Any]:
    op.only(0)
    return op.again(op.batches[0], _before(1, op.numbers(1)))


@_rule("Pad PadV2 MirrorPad")
def _pad(op: Op) -> Sequence[Any]:
    op.only(0)
    return op.again(op.batches[0], _before([0, 0], op.numbers(1)))


@_rule("BroadcastTo")
def _broadcast_to(op: Op) -> Sequence[Any]:
    op.only(0)
    shape = op.outputs[0].shape
    own = op.batches[0].shape[1:]
    aligned = _reshaped(op.batches[0], op.rows, [*[1] * (len(shape) - len(own)), *own])
    return op.again(aligned, np.array([op.rows, *shape], np.int32))


@_rule("Fill")
def _fill(op: Op) -> Sequence[Any]:
    import tensorflow as tf

    op.only(1)
    shape = op.outputs[0].shape
    aligned = _reshaped(op.batches[1], op.rows, [1] * len(shape))
    return [tf.broadcast_to(aligned, [op.rows, *shape])]


@_rule("Slice")
def _slice(op: Op) -> Sequence[Any]:
    op.only(0)
    return op.again(op.batches[0], _before(0, op.numbers(1)), _before(-1, op.numbers(2)))


@_rule("StridedSlice")
def _strided_slice(op: Op) -> Sequence[Any]:
    op.only(0)
    begin, end, strides = (_before(first, op.numbers(i)) for i, first in ((1, 0), (2, 0), (3, 1)))
    # (The first axis as a whole.)
    masks = {name: 2 * op.attribute(name) + 1 for name in ("begin_mask", "end_mask")}
    others = ("ellipsis_mask", "new_axis_mask", "shrink_axis_mask")
    masks |= {name: 2 * op.attribute(name) for name in others}
    return op.again(op.batches[0], begin, end, strides, **masks)


@_rule("GatherV2")
def _gather(op: Op) -> Sequence[Any]:
    op.only(0)
    if op.attribute("batch_dims"):
        raise NoRule
    return op.again(op.batches[0], op.inputs[1], _later(op.numbers(2), op.rank(0)))


# ---- Indices that have an entry for each axis


def _with_rows(indices: Any, rows: int) -> Any:
    """Indices into one more leading axis, for each of its rows."""
    import tensorflow as tf

    number = np.arange(rows, dtype=indices.dtype).reshape(-1, *[1] * indices.ndim)
    numbers = np.broadcast_to(number, (rows, *indices.shape[:-1], 1))
    same = np.broadcast_to(indices, (rows, *indices.shape))
    return tf.constant(np.concatenate([numbers, same], axis=-1))


@_rule("GatherNd")
def _gather_nd(op: Op) -> Sequence[Any]:
    op.only(0)
    return op.again(op.batches[0], _with_rows(op.numbers(1), op.rows))


@_rule("ScatterNd")
def _scatter_nd(op: Op) -> Sequence[Any]:
    op.only(1)
    shape = op.numbers(2)
    return op.again(_with_rows(op.numbers(0), op.rows), op.batches[1], _before(op.rows, shape))


@_rule("TensorScatterAdd TensorScatterMax TensorScatterMin TensorScatterSub TensorScatterUpdate")
def _tensor_scatter(op: Op) -> Sequence[Any]:
    op.only(0, 2)
    return op.again(op.full(0), _with_rows(op.numbers(1), op.rows), op.full(2))


# ---- Axes that an op leaves apart


@_rule("""
    AvgPool AvgPool3D DepthToSpace ExtractImagePatches LRN MaxPool MaxPool3D ResizeBicubic
    ResizeBilinear ResizeNearestNeighbor SpaceToDepth
""")
def _examples(op: Op) -> Sequence[Any]:
    """Points side by side along the axis of examples."""
    op.only(0)
    return [_reshaped(t, op.rows, o.shape) for t, o in zip(op.again(_flat(op.batches[0])), op.outputs, strict=True)]


def _flat(batch: Any) -> Any:
    """Points and examples along one axis."""
    import tensorflow as tf

    return tf.reshape(batch, [-1, *batch.shape[2:]])


@_rule("SoftmaxCrossEntropyWithLogits SparseSoftmaxCrossEntropyWithLogits")
def _cross_entropy(op: Op) -> Sequence[Any]:
    told = op.again(_flat(op.full(0)), _flat(op.full(1)))
    return [_reshaped(t, op.rows, o.shape) for t, o in zip(told, op.outputs, strict=True)]


@_rule("Conv2D Conv3D DepthwiseConv2dNative")
def _convolution(op: Op) -> Sequence[Any]:
    if not _is_channels_last(op):
        op.only(0)
    return _one_or_the_other(op, (0, _examples), (1, _by_channels))


@_rule("Conv2DBackpropInput")
def _transposed_convolution(op: Op) -> Sequence[Any]:
    if not _is_channels_last(op) or len(op.numbers(0)) != 4:
        raise NoRule
    op.only(1, 2)
    return _one_or_the_other(op, (2, _transposed_examples), (1, _transposed_channels))


@_rule("Dilation2D")
def _dilation(op: Op) -> Sequence[Any]:
    return _examples(op)


def _is_channels_last(op: Op) -> bool:
    return op.attribute("data_format") in ("NHWC", b"NHWC", "NDHWC", b"NDHWC")


def _by_channels(op: Op) -> Sequence[Any]:
    """Kernels side by side along their last axis: each makes channels of its own."""
    import tensorflow as tf

    kernels, shape = op.batches[1], op.outputs[0].shape
    rank = len(kernels.shape) - 1
    wide = tf.transpose(kernels, [*range(1, rank), 0, rank])
    (told,) = op.again(op.inputs[0], tf.reshape(wide, [*kernels.shape[1:-1], -1]))
    # (All that is made of one channel stands together, where each has kernels of its own.)
    own = [kernels.shape[-2]] if op.kind == "DepthwiseConv2dNative" else []
    apart = tf.reshape(told, [*shape[:-1], *own, op.rows, kernels.shape[-1]])
    place = len(apart.shape) - 2
    ahead = tf.transpose(apart, [place, *range(place), place + 1])
    return [_reshaped(ahead, op.rows, shape)]


def _transposed_examples(op: Op) -> Sequence[Any]:
    sizes = op.numbers(0).copy()
    sizes[0] *= op.rows
    (told,) = op.again(sizes, op.inputs[1], _flat(op.batches[2]))
    return [_reshaped(told, op.rows, op.outputs[0].shape)]


def _transposed_channels(op: Op) -> Sequence[Any]:
    import tensorflow as tf

    kernels, shape, sizes = op.batches[1], op.outputs[0].shape, op.numbers(0).copy()
    sizes[3] *= op.rows
    wide = tf.transpose(kernels, [1, 2, 0, 3, 4])
    (told,) = op.again(sizes, tf.reshape(wide, [*wide.shape[:2], -1, wide.shape[4]]))
    apart = tf.reshape(told, [*shape[:-1], op.rows, shape[-1]])
    return [tf.transpose(apart, [3, 0, 1, 2, 4])]


def _one_or_the_other(op: Op, *ways: tuple[int, Rule]) -> Sequence[Any]:
    """Points that move one of two inputs, and those that move the other: few move both."""
    import tensorflow as tf

    alone = [rule for place, rule in ways if op.batches[place] is not None]
    if len(alone) == 1:
        return alone[0](op)
    (first, by_first), (second, by_second) = ways
    moved = [
        (op.batches[place].numpy() != np.asarray(op.inputs[place])).reshape(op.rows, -1).any(axis=1)
        for place in (first, second)
    ]
    both = moved[0] & moved[1]
    if both.sum() > op.rows // 4:
        raise NoRule
    parts = [
        (rows, rule(_of_some(op, rows, place))[0])
        for rows, place, rule in (
            (np.flatnonzero(~moved[1]), first, by_first),
            (np.flatnonzero(moved[1] & ~moved[0]), second, by_second),
        )
        if len(rows)
    ]
    for row in np.flatnonzero(both):
        given = [own if b is None else b[row] for own, b in zip(op.inputs, op.batches, strict=False)]
        parts.append((np.array([row]), op.again(*given)[0][tf.newaxis]))
    order = np.argsort(np.concatenate([rows for rows, _ in parts]))
    return [tf.gather(tf.concat([told for _, told in parts], 0), order)]


def _of_some(op: Op, rows: Any, place: int) -> Op:
    """The op at some of the points, which move one of its inputs alone."""
    import tensorflow as tf

    batches = [tf.gather(b, rows) if i == place else None for i, b in enumerate(op.batches)]
    return Op(op.kind, op.inputs, op.count, batches, op.outputs, len(rows), op.run)


@_rule("FusedBatchNorm FusedBatchNormV2 FusedBatchNormV3")
def _batch_norm(op: Op) -> Sequence[Any]:
    """Points side by side along the channels, none of which knows of another."""
    import tensorflow as tf

    if op.attribute("data_format") not in ("NHWC", b"NHWC"):
        raise NoRule
    images = tf.transpose(op.full(0), [1, 2, 3, 0, 4])
    by_channel = [tf.reshape(op.full(i), [-1]) for i in range(1, 5)]
    told = op.again(tf.reshape(images, [*images.shape[:3], -1]), *by_channel)
    shape = op.outputs[0].shape
    apart = tf.transpose(tf.reshape(told[0], [*shape[:3], op.rows, shape[3]]), [3, 0, 1, 2, 4])
    # (What is kept for the way back has shapes of its own.)
    means = [_reshaped(each, op.rows, [shape[3]]) for each in told[1:5]]
    return [apart, *means, *[NO_BATCH] * (len(told) - 5)]


@_rule("CropAndResize")
def _crops(op: Op) -> Sequence[Any]:
    import tensorflow as tf

    op.only(0, 1)
    boxes, indices = op.full(1), op.numbers(2)
    numbers = indices + len(op.inputs[0]) * np.arange(op.rows, dtype=indices.dtype)[:, np.newaxis]
    (told,) = op.again(_flat(op.full(0)), _flat(boxes), tf.constant(numbers.ravel()))
    return [_reshaped(told, op.rows, op.outputs[0].shape)]


@_rule("DynamicStitch ParallelDynamicStitch")
def _stitch(op: Op) -> Sequence[Any]:
    """Points along the axis behind those of the indices."""
    import tensorflow as tf

    op.only(1)
    data = [
        tf.transpose(batch, [*range(1, cut + 1), 0, *range(cut + 1, len(batch.shape))])
        for batch, cut in zip(op.all_of(1), (np.ndim(i) for i in op.inputs[0]), strict=True)
    ]
    (told,) = op.again(op.inputs[0], data)
    return [tf.transpose(told, [1, 0, *range(2, len(told.shape))])]


@_rule("""
    SegmentMax SegmentMean SegmentMin SegmentProd SegmentSum SparseSegmentMean SparseSegmentSqrtN
    SparseSegmentSum UnsortedSegmentMax UnsortedSegmentMin UnsortedSegmentProd UnsortedSegmentSum
""")
def _segments(op: Op) -> Sequence[Any]:
    """Points along the axis behind those that are cut into segments."""
    import tensorflow as tf

    op.only(0)
    cut = op.numbers(1).ndim
    rank = len(op.batches[0].shape)
    behind = tf.transpose(op.batches[0], [*range(1, cut + 1), 0, *range(cut + 1, rank)])
    (told,) = op.again(behind)
    return [tf.transpose(told, [1, 0, *range(2, len(told.shape))])]


@_rule("ReverseSequence")
def _last(op: Op) -> Sequence[Any]:
    """Points along a last axis."""
    import tensorflow as tf

    op.only(0)
    rank = len(op.batches[0].shape)
    (told,) = op.again(tf.transpose(op.batches[0], [*range(1, rank), 0]))
    return [tf.transpose(told, [rank - 1, *range(rank - 1)])]


del RULES["Select"], RULES["BroadcastGradientArgs"]  # their shapes are not broadcast


@cache
def inputs_of(kind: str) -> int:
    """How many tensors, or lists of them, an op of this kind is given."""
    found = _definition(kind)
    return 0 if found is None else len(found.input_arg)


def lengths_of(kind: str, attributes: Sequence[Any] | None) -> list[int | None] | None:
    """By input of an op: how many tensors its list has, None if it is none; None for no op."""
    found, given = _definition(kind), list(attributes or ())
    if found is None or any(each.type_list_attr for each in found.input_arg):
        return None
    numbers = [each.number_attr for each in found.input_arg]
    return [given[given.index(name) + 1] if name else None for name in numbers]


@cache
def is_pure(kind: str) -> bool:
    """Whether an op of this kind gives the same each time, and keeps nothing."""
    found = _definition(kind)
    return found is not None and not found.is_stateful


def _definition(kind: str) -> Any:
    from tensorflow.python.framework import op_def_registry

    return op_def_registry.get(kind)
