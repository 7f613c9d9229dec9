"""Reductions, scans and segments."""

from __future__ import annotations

import numpy as np

from benchmarks.calls.declaration import BF16, C64, C128, F16, F32, F64, distinct, given, op
from benchmarks.subjects import normal, uniform

FAMILY = "reductions"
SEGMENTS = "segments"

IDS = [0, 0, 1, 1, 1, 2, 3, 4, 5]
"""Segments of nine rows, as TensorFlow's tests have them."""

CALLS = (
    op("sum 2×3×4×2", FAMILY, F64, normal((2, 3, 4, 2)), lambda tf: lambda x: tf.reduce_sum(x, 1)),
    op("sum 10×20", FAMILY, F32, normal((10, 20)), lambda tf: lambda x: tf.reduce_sum(x, 0)),
    op("sum 2×3", FAMILY, F16, normal((2, 3)), lambda tf: lambda x: tf.reduce_sum(x, 1)),
    op("sum 5×6", FAMILY, C64, normal((5, 6)), lambda tf: lambda x: tf.reduce_sum(x, 0)),
    op("mean 2×3", FAMILY, F32, normal((2, 3)), lambda tf: tf.reduce_mean),
    op("mean 8×5", FAMILY, BF16, normal((8, 5)), lambda tf: lambda x: tf.reduce_mean(x, 0)),
    op("product 3×4", FAMILY, F64, normal((3, 4)), lambda tf: lambda x: tf.reduce_prod(x, 1)),
    op("product 3×2", FAMILY, C128, normal((3, 2)), lambda tf: lambda x: tf.reduce_prod(x, 1)),
    op("maximum 3×4", FAMILY, F32, distinct(3, 4), lambda tf: lambda x: tf.reduce_max(x, 1)),
    op("minimum of 8", FAMILY, F64, distinct(8), lambda tf: tf.reduce_min),
    op(
        "Euclidean norm 2×2×2",
        FAMILY,
        F32,
        given([[[-3, 5], [7, 11]], [[13, 17], [19, 23]]]),
        lambda tf: tf.math.reduce_euclidean_norm,
    ),
    op(
        "logsumexp 3×4",
        FAMILY,
        F32,
        normal((3, 4)),
        lambda tf: lambda x: tf.reduce_logsumexp(x, 1),
    ),
    op(
        "variance 4×5",
        FAMILY,
        F64,
        normal((4, 5)),
        lambda tf: lambda x: tf.math.reduce_variance(x, 0),
    ),
    op("std of 6", FAMILY, F32, normal((6,)), lambda tf: tf.math.reduce_std),
    op("cumsum of 50", FAMILY, F64, normal((50,)), lambda tf: tf.cumsum),
    op("cumsum of 300", FAMILY, F32, normal((300,)), lambda tf: tf.cumsum),
    op(
        "cumprod of 10, exclusive",
        FAMILY,
        F32,
        uniform(0.5, 1.5, (10,)),
        lambda tf: lambda x: tf.math.cumprod(x, exclusive=True),
    ),
    op(
        "cumulative logsumexp of 10",
        FAMILY,
        F64,
        given(np.arange(10) / 10 - 0.5),
        lambda tf: tf.math.cumulative_logsumexp,
    ),
    op(
        "segment sum 9×2",
        SEGMENTS,
        F32,
        normal((9, 2)),
        lambda tf: lambda x: tf.math.segment_sum(x, IDS),
    ),
    op(
        "segment mean 9×2",
        SEGMENTS,
        F64,
        normal((9, 2)),
        lambda tf: lambda x: tf.math.segment_mean(x, IDS),
    ),
    op(
        "segment max 9×2",
        SEGMENTS,
        F32,
        distinct(9, 2),
        lambda tf: lambda x: tf.math.segment_max(x, IDS),
    ),
    op(
        "unsorted segment sum 9×2",
        SEGMENTS,
        C64,
        normal((9, 2)),
        lambda tf: lambda x: tf.math.unsorted_segment_sum(x, IDS[::-1], 6),
    ),
    op(
        "unsorted segment product 4×2",
        SEGMENTS,
        F64,
        normal((4, 2)),
        lambda tf: lambda x: tf.math.unsorted_segment_prod(x, [1, 0, 1, 1], 2),
    ),
    op(
        "unsorted segment min with an empty segment 6×2",
        SEGMENTS,
        F32,
        distinct(6, 2),
        lambda tf: lambda x: tf.math.unsorted_segment_min(x, [0, 0, 1, 3, 3, 1], 4),
    ),
    op(
        "sparse segment mean 10×4",
        SEGMENTS,
        F32,
        normal((10, 4)),
        lambda tf: lambda x: tf.sparse.segment_mean(x, [8, 3, 0, 9], [0, 1, 2, 2]),
    ),
)
