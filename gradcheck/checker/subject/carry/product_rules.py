"""Products, convolutions and what else is done to images: at many points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.checker.subject.carry.carried_op import (
    NO_BATCH,
    NoRule,
    Op,
    Rule,
    moved_ahead,
    moved_behind,
    reshaped,
    rule,
)

if TYPE_CHECKING:
    from collections.abc import Sequence


@rule("MatMul")
def _product(op: Op) -> Sequence[Any]:
    import tensorflow as tf

    pairs = zip(op.inputs, op.batches, strict=False)
    a, b = (own if batch is None else batch for own, batch in pairs)
    flip_a, flip_b = op.attribute("transpose_a"), op.attribute("transpose_b")
    if op.batches[1] is None and not flip_a:
        # (One product of many rows is faster than many products.)
        (told,) = op.again(tf.reshape(a, [-1, a.shape[-1]]), b)
        return [reshaped(told, op.rows, op.outputs[0].shape)]
    return [tf.matmul(a, b, transpose_a=flip_a, transpose_b=flip_b)]


@rule("BatchMatMulV2 BatchMatMulV3")
def _products(op: Op) -> Sequence[Any]:
    """All the matrices of all the points in one row, and none of them broadcast.

    For 16×1×4×4 by 1×4×4 in float32 TensorFlow 2.21 writes where it must not, and the process dies.
    Without it `test_no_product_is_broadcast` fails.
    """
    import tensorflow as tf

    matrices = op.outputs[0].shape[:-2]
    rows = op.rows * matrices.num_elements()
    given = []
    for place in range(2):
        batch, rank = op.full(place), op.rank(place)
        own = batch.shape[1:]
        aligned = tf.reshape(batch, [op.rows, *[1] * (len(matrices) + 2 - rank), *own])
        full = tf.broadcast_to(aligned, [op.rows, *matrices, *own[-2:]])
        given.append(tf.reshape(full, [rows, *own[-2:]]))
    (made,) = op.again(*given)
    return [reshaped(made, op.rows, op.outputs[0].shape)]


@rule("Einsum")
def _einsum(op: Op) -> Sequence[Any]:
    equation = op.attribute("equation")
    given, result = equation.split("->")
    free = next(letter for letter in "zyxwvutsrqponmlkjihgfedcba" if letter not in equation)
    pairs = list(zip(op.inputs[0], op.batches[0], strict=True))
    terms = [
        term if batch is None else free + term
        for term, (_, batch) in zip(given.split(","), pairs, strict=True)
    ]
    tensors = [own if batch is None else batch for own, batch in pairs]
    return op.again(tensors, equation=f"{','.join(terms)}->{free}{result}")


@rule("BiasAdd")
def _bias(op: Op) -> Sequence[Any]:
    import tensorflow as tf

    value, bias = op.batches
    is_last = _is_channels_last(op)
    if bias is None and is_last:
        return op.again(value)
    ones = [1] * (op.rank(0) - 2)
    shape = [1, *ones, -1] if is_last else [1, -1, *ones]
    bias = tf.reshape(
        op.inputs[1] if bias is None else bias, [1 if bias is None else op.rows, *shape]
    )
    return [(op.inputs[0] if value is None else value) + bias]


# ---- Images


def _is_channels_last(op: Op) -> bool:
    # (None stands for what is usual.)
    return op.attribute("data_format") in (None, "NHWC", "NDHWC")


def _flat(batch: Any) -> Any:
    """Points and examples along one axis."""
    import tensorflow as tf

    return tf.reshape(batch, [-1, *batch.shape[2:]])


@rule("""
    AvgPool AvgPool3D DepthToSpace Dilation2D ExtractImagePatches LRN MaxPool MaxPool3D
    ResizeBicubic ResizeBilinear ResizeNearestNeighbor ScaleAndTranslate SpaceToDepth
""")
def _examples(op: Op) -> Sequence[Any]:
    """Points side by side along the axis of examples."""
    op.only(0)
    return _apart(op, op.again(_flat(op.batches[0])))


def _apart(op: Op, told: Sequence[Any]) -> Sequence[Any]:
    return [reshaped(t, op.rows, own.shape) for t, own in zip(told, op.outputs, strict=True)]


@rule("SoftmaxCrossEntropyWithLogits SparseSoftmaxCrossEntropyWithLogits")
def _cross_entropy(op: Op) -> Sequence[Any]:
    return _apart(op, op.again(_flat(op.full(0)), _flat(op.full(1))))


@rule("CropAndResize")
def _crops(op: Op) -> Sequence[Any]:
    import tensorflow as tf

    op.only(0, 1)
    images, indices = op.full(0), op.numbers(2)
    numbers = indices + images.shape[1] * np.arange(op.rows, dtype=indices.dtype)[:, np.newaxis]
    return _apart(op, op.again(_flat(images), _flat(op.full(1)), tf.constant(numbers.ravel())))


@rule("FusedBatchNorm FusedBatchNormV2 FusedBatchNormV3")
def _batch_norm(op: Op) -> Sequence[Any]:
    """Points side by side along the channels, none of which knows of another."""
    import tensorflow as tf

    if not _is_channels_last(op):
        raise NoRule
    images = moved_behind(op.full(0), 3)
    by_channel = [tf.reshape(op.full(i), [-1]) for i in range(1, 5)]
    told = op.again(tf.reshape(images, [*images.shape[:3], -1]), *by_channel)
    *sizes, channels = op.outputs[0].shape
    outputs = moved_ahead(tf.reshape(told[0], [*sizes, op.rows, channels]), 3)
    means = [reshaped(each, op.rows, [channels]) for each in told[1:5]]
    # (What else is kept for the way back has a shape of its own.)
    return [outputs, *means, *[NO_BATCH] * (len(told) - 5)]


@rule("Conv2D Conv3D DepthwiseConv2dNative")
def _convolution(op: Op) -> Sequence[Any]:
    if not _is_channels_last(op):
        op.only(0)
    # (Groups of channels are known in two dimensions alone.)
    both = None if op.kind == "Conv3D" else _groups
    return _one_or_the_other(op, (0, _examples), (1, _channels), both)


def _channels(op: Op) -> Sequence[Any]:
    """Kernels side by side along their last axis: each makes channels of its own."""
    import tensorflow as tf

    kernels, shape = op.batches[1], op.outputs[0].shape
    *sizes, last = kernels.shape[1:]
    # All that is made of one group of channels stands together. (Where each has kernels of its own
    # the groups are an axis already.)
    is_deep = op.kind == "DepthwiseConv2dNative"
    groups = 1 if is_deep else op.inputs[0].shape[-1] // sizes[-1]
    wide = moved_behind(
        reshaped(kernels, op.rows, [*sizes, groups, last // groups]), len(sizes) + 1
    )
    (told,) = op.again(op.inputs[0], tf.reshape(wide, [*sizes, -1]))
    apart = [sizes[-1], op.rows, last] if is_deep else [groups, op.rows, last // groups]
    outputs = tf.reshape(told, [*shape[:-1], *apart])
    return [reshaped(moved_ahead(outputs, len(shape)), op.rows, shape)]


def _groups(op: Op) -> Sequence[Any]:
    """Images and kernels side by side along their channels, which are taken in groups."""
    import tensorflow as tf

    images, kernels, shape = moved_behind(op.batches[0], 3), op.batches[1], op.outputs[0].shape
    wide = moved_behind(kernels, 2 if op.kind == "DepthwiseConv2dNative" else 3)
    sizes = [*wide.shape[:2], -1, wide.shape[4]]
    if op.kind != "DepthwiseConv2dNative":
        sizes = [*wide.shape[:3], -1]
    (told,) = op.again(tf.reshape(images, [*images.shape[:3], -1]), tf.reshape(wide, sizes))
    return [moved_ahead(tf.reshape(told, [*shape[:3], op.rows, shape[3]]), 3)]


@rule("Conv2DBackpropInput")
def _transposed_convolution(op: Op) -> Sequence[Any]:
    op.only(1, 2)
    if not _is_channels_last(op) or len(op.numbers(0)) != op.rank(2):
        raise NoRule
    return _one_or_the_other(op, (2, _transposed_examples), (1, _transposed_channels))


def _transposed_examples(op: Op) -> Sequence[Any]:
    sizes = op.numbers(0).copy()
    sizes[0] *= op.rows
    return _apart(op, op.again(sizes, op.inputs[1], _flat(op.batches[2])))


def _transposed_channels(op: Op) -> Sequence[Any]:
    import tensorflow as tf

    sizes, shape = op.numbers(0).copy(), op.outputs[0].shape
    if sizes[3] != op.batches[1].shape[3]:
        raise NoRule  # of groups of channels
    sizes[3] *= op.rows
    wide = moved_behind(op.batches[1], 2)
    (told,) = op.again(sizes, tf.reshape(wide, [*wide.shape[:2], -1, wide.shape[4]]))
    return [moved_ahead(tf.reshape(told, [*shape[:-1], op.rows, shape[-1]]), 3)]


def _one_or_the_other(
    op: Op, one: tuple[int, Rule], other: tuple[int, Rule], both: Rule | None = None
) -> Sequence[Any]:
    """Points that move one of two inputs, those that move the other, and those that move both."""
    import tensorflow as tf

    known = [own for place, own in (one, other) if op.batches[place] is not None]
    if len(known) == 1:
        return known[0](op)
    (first, by_first), (second, by_second) = one, other
    moves_first, moves_second = _moves(op, first), _moves(op, second)
    together = np.flatnonzero(moves_first & moves_second)
    if both is None and len(together) > op.rows // 4:
        raise NoRule
    ways = (
        (np.flatnonzero(~moves_second), (first,), by_first),
        (np.flatnonzero(moves_second & ~moves_first), (second,), by_second),
        (together, (first, second), both or _each),
    )
    parts = [(rows, own(_of_some(op, rows, *places))[0]) for rows, places, own in ways if len(rows)]
    order = np.argsort(np.concatenate([rows for rows, _ in parts]))
    return [tf.gather(tf.concat([told for _, told in parts], 0), order)]


def _moves(op: Op, place: int) -> Any:
    """By point: whether it moves this input."""
    differs = op.batches[place].numpy() != np.asarray(op.inputs[place])
    return differs.reshape(op.rows, -1).any(axis=1)


def _each(op: Op) -> Sequence[Any]:
    """A few points, one by one."""
    import tensorflow as tf

    pairs = list(zip(op.inputs, op.batches, strict=False))
    given = [[own if b is None else b[row] for own, b in pairs] for row in range(op.rows)]
    return [tf.stack([op.again(*tensors)[0] for tensors in given])]


def _of_some(op: Op, rows: Any, *places: int) -> Op:
    """The op at some of the points, which move these inputs alone."""
    import tensorflow as tf

    batches = [tf.gather(b, rows) if i in places else None for i, b in enumerate(op.batches)]
    return Op(op.kind, op.inputs, op.count, batches, op.outputs, len(rows), op.run)
