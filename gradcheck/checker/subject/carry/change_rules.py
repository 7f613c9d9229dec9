"""How ops change what they give when what they are given changes: formulas without cancelling.

Sums, pieces and moves are linear: their change is what they give for the change. Products change
by one factor's change at a time. For functions of one number there is a formula for the difference
of two values that subtracts none of them: exp(x + d) − exp(x) = exp(x)·(exp(d) − 1).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from gradcheck.checker.numerics.vectors import epsilon_of

if TYPE_CHECKING:
    from gradcheck.checker.subject.carry.carried_op import Op


class Change(NamedTuple):
    """How a tensor changes from the point to others, along a leading axis."""

    by: Any
    noise: Any
    """What that may be off, about; not below zero."""


def _places(kinds: str, *places: int) -> dict[str, tuple[int, ...]]:
    return dict.fromkeys(kinds.split(), places)


LINEAR: Final = (
    _places(
        """
        AddN AvgPool AvgPool3D BroadcastTo CheckNumerics ConcatV2 Cumsum DepthToSpace EnsureShape
        ExpandDims ExtractImagePatches GatherNd GatherV2 Identity IdentityN MatrixBandPart
        MatrixDiagPartV3 Mean MirrorPad Neg Pack Pad PreventGradient Reshape ResizeBilinear
        ResizeNearestNeighbor ReverseSequence ReverseV2 Roll SegmentMean SegmentSum Slice Snapshot
        SpaceToDepth SparseSegmentMean SparseSegmentSqrtN SparseSegmentSum SplitV Squeeze
        StopGradient StridedSlice Sum Tile Transpose UnsortedSegmentSum Unpack
        """,
        0,
    )
    | _places("DynamicStitch Fill ParallelDynamicStitch ScatterNd Split", 1)
    | _places("Add AddV2 BiasAdd Sub", 0, 1)
    | _places("Select SelectV2", 1, 2)
)
"""By kind of op: which of its inputs it is linear in, together. No entry has a number below zero
among its coefficients, but for those in `NEGATIVE`."""

NEGATIVE: Final = {"Neg": 0, "Sub": 1}
"""Those that take the opposite of an input, and of which: what that may be off is added."""

_PRODUCTS = """
    BatchMatMul BatchMatMulV2 BatchMatMulV3 Conv2D Conv3D DepthwiseConv2dNative MatMul Mul
"""
BILINEAR: Final = frozenset(_PRODUCTS.split())
"""Those that are linear in each of their first two inputs."""


def last_digits(*values: Any) -> Any:
    """What numbers of these sizes round off."""
    import tensorflow as tf

    size = tf.abs(values[0])
    for value in values[1:]:
        size = size + tf.abs(value)
    return size * tf.constant(epsilon_of(np.dtype(size.dtype.as_numpy_dtype)), size.dtype)


Formula = Callable[[Any, Any, Any], Any]
"""A number at the point, its change, and what it is then, to the change of the result."""


def _of_exp(x: Any, d: Any, _: Any) -> Any:
    import tensorflow as tf

    return tf.exp(x) * tf.math.expm1(d)


def _of_log(x: Any, d: Any, _: Any) -> Any:
    import tensorflow as tf

    return tf.math.log1p(d / x)


def _of_log1p(x: Any, d: Any, _: Any) -> Any:
    import tensorflow as tf

    return tf.math.log1p(d / (1 + x))


def _of_square(x: Any, d: Any, y: Any) -> Any:
    return d * (x + y)


def _of_sqrt(x: Any, d: Any, y: Any) -> Any:
    import tensorflow as tf

    return d / (tf.sqrt(x) + tf.sqrt(y))


def _of_rsqrt(x: Any, d: Any, y: Any) -> Any:
    import tensorflow as tf

    one, other = tf.sqrt(x), tf.sqrt(y)
    return -d / (one * other * (one + other))


def _of_reciprocal(x: Any, d: Any, y: Any) -> Any:
    return -d / (x * y)


def _of_sigmoid(x: Any, d: Any, y: Any) -> Any:
    import tensorflow as tf

    return -tf.sigmoid(y) * tf.sigmoid(-x) * tf.math.expm1(-d)


def _of_softplus(x: Any, d: Any, _: Any) -> Any:
    import tensorflow as tf

    return tf.math.log1p(tf.sigmoid(x) * tf.math.expm1(d))


def _of_tanh(x: Any, d: Any, y: Any) -> Any:
    import tensorflow as tf

    return tf.sinh(d) / (tf.cosh(x) * tf.cosh(y))


def _of_sin(x: Any, d: Any, y: Any) -> Any:
    import tensorflow as tf

    return 2 * tf.cos((x + y) / 2) * tf.sin(d / 2)


def _of_cos(x: Any, d: Any, y: Any) -> Any:
    import tensorflow as tf

    return -2 * tf.sin((x + y) / 2) * tf.sin(d / 2)


def _of_relu(x: Any, d: Any, y: Any) -> Any:
    import tensorflow as tf

    return tf.where(x > 0, tf.where(y > 0, d, -x), tf.nn.relu(y))


def _of_abs(x: Any, d: Any, y: Any) -> Any:
    import tensorflow as tf

    return tf.where(tf.sign(x) == tf.sign(y), tf.sign(x) * d, tf.abs(y) - tf.abs(x))


def _of_softmax(x: Any, d: Any, _: Any) -> Any:
    import tensorflow as tf

    share, grown = tf.nn.softmax(x), tf.math.expm1(d)
    more = tf.reduce_sum(share * grown, -1, keepdims=True)
    return share * (grown - more) / (1 + more)


def _of_log_softmax(x: Any, d: Any, _: Any) -> Any:
    import tensorflow as tf

    more = tf.reduce_sum(tf.nn.softmax(x) * tf.math.expm1(d), -1, keepdims=True)
    return d - tf.math.log1p(more)


FORMULAS: Final[dict[str, Formula]] = {
    "Abs": _of_abs,
    "Cos": _of_cos,
    "Exp": _of_exp,
    "Expm1": _of_exp,
    "Inv": _of_reciprocal,
    "Log": _of_log,
    "Log1p": _of_log1p,
    "LogSoftmax": _of_log_softmax,
    "Reciprocal": _of_reciprocal,
    "Relu": _of_relu,
    "Rsqrt": _of_rsqrt,
    "Sigmoid": _of_sigmoid,
    "Sin": _of_sin,
    "Softmax": _of_softmax,
    "Softplus": _of_softplus,
    "Sqrt": _of_sqrt,
    "Square": _of_square,
    "Tanh": _of_tanh,
}
"""By kind of op: the change of a function of one number, or of one axis."""

PairFormula = Callable[[Any, Any, Any, Any, Any, Any], Any]
"""The same of two numbers: each at the point, its change, and what it is then."""


def _of_quotient(a: Any, da: Any, _: Any, b: Any, db: Any, c: Any) -> Any:
    return (da - a / b * db) / c


def _of_squared_difference(a: Any, da: Any, a1: Any, b: Any, db: Any, b1: Any) -> Any:
    return (da - db) * (a - b + (a1 - b1))


def _of_maximum(a: Any, da: Any, a1: Any, b: Any, db: Any, b1: Any) -> Any:
    return _of_choice(a >= b, a1 >= b1, da, db, a1 - b, b1 - a)


def _of_minimum(a: Any, da: Any, a1: Any, b: Any, db: Any, b1: Any) -> Any:
    return _of_choice(a <= b, a1 <= b1, da, db, a1 - b, b1 - a)


def _of_choice(first: Any, then: Any, da: Any, db: Any, to_first: Any, to_second: Any) -> Any:
    import tensorflow as tf

    return tf.where(first, tf.where(then, da, to_second), tf.where(then, to_first, db))


def _of_power(a: Any, da: Any, _: Any, b: Any, db: Any, b1: Any) -> Any:
    import tensorflow as tf

    grows = tf.where(db == 0, tf.zeros_like(db * a), db * tf.math.log(a))
    return tf.pow(a, b) * tf.math.expm1(b1 * tf.math.log1p(da / a) + grows)


PAIR_FORMULAS: Final[dict[str, PairFormula]] = {
    "Maximum": _of_maximum,
    "Minimum": _of_minimum,
    "Pow": _of_power,
    "RealDiv": _of_quotient,
    "SquaredDifference": _of_squared_difference,
}
"""By kind of op: the change of a function of two numbers."""


def half_a_square(op: Op, change: Change, lost: Any) -> Change:
    """Of L2Loss, that adds up all of a tensor."""
    import tensorflow as tf

    size, axes = op.inputs[0] + op.batches[0], list(range(1, len(change.by.shape)))
    loose = (change.noise + last_digits(change.by)) * tf.abs(size)
    if lost is not None:
        loose += 2 * lost * tf.abs(change.by)
    return Change(*(tf.reduce_sum(each, axes) / 2 for each in (change.by * size, loose)))
