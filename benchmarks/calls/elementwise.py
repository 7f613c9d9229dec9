"""Functions that are taken of each element, in the shapes of TensorFlow's own gradient tests."""

from __future__ import annotations

import numpy as np

from benchmarks.calls.declaration import BF16, C64, C128, F16, F32, F64, each, given, op
from benchmarks.subjects import normal, uniform

FAMILY = "elementwise"

SIX = given(np.linspace(-2.6, 2.9, 6).reshape(1, 3, 2))
"""Six numbers in 1×3×2, as TensorFlow's tests of unary functions take them."""

CALLS = (
    op("square 1×3×2", FAMILY, F32, SIX, lambda tf: tf.square),
    op("exp 1×3×2", FAMILY, F32, SIX, lambda tf: tf.exp),
    op("tanh 1×3×2", FAMILY, F32, SIX, lambda tf: tf.tanh),
    op("sigmoid 1×3×2", FAMILY, F32, SIX, lambda tf: tf.sigmoid),
    op("sin 1×3×2", FAMILY, F64, SIX, lambda tf: tf.sin),
    op("atan 1×3×2", FAMILY, F64, SIX, lambda tf: tf.atan),
    op("tanh 1×3×2", FAMILY, F16, SIX, lambda tf: tf.tanh),
    op("exp 1×3×2", FAMILY, BF16, SIX, lambda tf: tf.exp),
    op("sqrt 1×3×2", FAMILY, F32, uniform(0.5, 3, (1, 3, 2)), lambda tf: tf.sqrt),
    op("log 1×3×2", FAMILY, F16, uniform(0.5, 3, (1, 3, 2)), lambda tf: tf.math.log),
    op("rsqrt 1×3×2", FAMILY, F32, uniform(0.5, 3, (6,)), lambda tf: tf.math.rsqrt),
    op("reciprocal of 4", FAMILY, C64, normal((4,)), lambda tf: tf.math.reciprocal),
    op("exp 1×3×2", FAMILY, C128, normal((1, 3, 2)), lambda tf: tf.exp),
    op("tanh of 3", FAMILY, C128, normal((3,)), lambda tf: tf.tanh),
    op("abs of 6", FAMILY, C64, normal((6,)), lambda tf: tf.abs),
    op("a scalar's cube", FAMILY, F32, given(1.5), lambda _: lambda x: x * x * x),
    op("a scalar's sine", FAMILY, F64, given(0.7), lambda tf: tf.sin),
    op("add of a row", FAMILY, F32, normal((1, 3, 2), (2,)), lambda _: lambda x, y: x + y),
    op("product of a row", FAMILY, F32, normal((2, 3), (3,)), lambda _: lambda x, y: x * y),
    op(
        "quotient 2×3",
        FAMILY,
        F64,
        each(normal((2, 3)), uniform(1, 2, (2, 3))),
        lambda _: lambda x, y: x / y,
    ),
    op(
        "pow 2×2 by a scalar",
        FAMILY,
        F64,
        each(uniform(0.5, 2, (2, 2)), given(1.7)),
        lambda tf: tf.pow,
    ),
    op("product 2×2", FAMILY, C64, normal((2, 2), (2, 2)), lambda _: lambda x, y: x * y),
    op(
        "squared difference 1×2×3×2, 3×2",
        FAMILY,
        F64,
        normal((1, 2, 3, 2), (3, 2)),
        lambda tf: tf.math.squared_difference,
    ),
    op(
        "maximum 2×3",
        FAMILY,
        F32,
        given([[0.1, 1.2, -0.7], [2.1, -1.3, 0.4]], [[0.6, 0.3, 0.2], [1.1, -0.4, -0.9]]),
        lambda tf: tf.maximum,
    ),
    op(
        "maximum of 4 with a gap of a hundredth",
        FAMILY,
        F32,
        given([0.1, 1.2, -0.7, 0.4], [0.6, 1.21, -0.71, -0.9]),
        lambda tf: tf.maximum,
    ),
    op(
        "where 2×4",
        FAMILY,
        F32,
        normal((2, 4), (2, 4)),
        lambda tf: lambda x, y: tf.where([[True, False] * 2, [False, True] * 2], x, y),
    ),
    op(
        "atan2 of 4",
        FAMILY,
        F32,
        given([1.2, -0.7, 0.5, -1.1], [0.8, 1.4, -0.6, -0.9]),
        lambda tf: tf.atan2,
    ),
    op(
        "clip 3×3",
        FAMILY,
        F32,
        given(np.linspace(-2, 2, 9).reshape(3, 3) + 0.1),
        lambda tf: lambda x: tf.clip_by_value(x, -1.0, 1.0),
    ),
    op("add of a row 6×5", FAMILY, BF16, normal((6, 5), (5,)), lambda _: lambda x, y: x + y),
    op("tanh 20×20", FAMILY, F32, normal((20, 20)), lambda tf: tf.tanh),
    op("softplus of 1,000", FAMILY, F64, normal((1000,)), lambda tf: tf.nn.softplus),
    op("sine of 1,000", FAMILY, F32, normal((1000,)), lambda tf: tf.sin),
)
