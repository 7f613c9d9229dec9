"""Gathering, scattering, sorting and other moves of elements."""

from __future__ import annotations

from benchmarks.calls.declaration import BF16, C64, C128, F16, F32, F64, distinct, op
from benchmarks.subjects import normal

FAMILY = "indexing and shapes"

CALLS = (
    op("gather 3×2", FAMILY, F32, normal((3, 2)), lambda tf: lambda x: tf.gather(x, [2, 0, 2])),
    op(
        "gather along an axis 4×5×3",
        FAMILY,
        F64,
        normal((4, 5, 3)),
        lambda tf: lambda x: tf.gather(x, [1, 4, 1], axis=1),
    ),
    op(
        "gather_nd 4×3",
        FAMILY,
        C128,
        normal((4, 3)),
        lambda tf: lambda x: tf.gather_nd(x, [[3, 1], [0, 2], [3, 1]]),
    ),
    op(
        "gather 100×5",
        FAMILY,
        F32,
        normal((100, 5)),
        lambda tf: lambda x: tf.gather(x, [99, 3, 50, 3]),
    ),
    op(
        "gather_nd 2×2",
        FAMILY,
        F64,
        normal((2, 2)),
        lambda tf: lambda x: tf.gather_nd(x, [[0, 0], [1, 1]]),
    ),
    op(
        "scatter_nd 4 into 8",
        FAMILY,
        F32,
        normal((4,)),
        lambda tf: lambda x: tf.scatter_nd([[4], [3], [1], [7]], x, [8]),
    ),
    op(
        "tensor_scatter_nd_update 6, 2",
        FAMILY,
        F32,
        normal((6,), (2,)),
        lambda tf: lambda x, u: tf.tensor_scatter_nd_update(x, [[1], [4]], u),
    ),
    op(
        "tensor_scatter_nd_add 3×4, 2×4",
        FAMILY,
        F16,
        normal((3, 4), (2, 4)),
        lambda tf: lambda x, u: tf.tensor_scatter_nd_add(x, [[0], [2]], u),
    ),
    op(
        "concat 2×3, 2×2",
        FAMILY,
        F32,
        normal((2, 3), (2, 2)),
        lambda tf: lambda x, y: tf.concat([x, y], 1),
    ),
    op(
        "stack of 3 and 3",
        FAMILY,
        F32,
        normal((3,), (3,)),
        lambda tf: lambda x, y: tf.stack([x, y]),
    ),
    op(
        "broadcast_to 2×1×3",
        FAMILY,
        F32,
        normal((2, 1, 3)),
        lambda tf: lambda x: 2 * tf.broadcast_to(x, [2, 5, 3]),
    ),
    op("tile 4×2", FAMILY, F64, normal((4, 2)), lambda tf: lambda x: tf.tile(x, [1, 3])),
    op("pad 2×3", FAMILY, F32, normal((2, 3)), lambda tf: lambda x: tf.pad(x, [[1, 0], [0, 2]])),
    op(
        "mirror pad 3×4",
        FAMILY,
        BF16,
        normal((3, 4)),
        lambda tf: lambda x: tf.pad(x, [[1, 1], [2, 0]], "REFLECT"),
    ),
    op("strided slice 4×4", FAMILY, F64, normal((4, 4)), lambda _: lambda x: x[1:, ::2]),
    op(
        "transpose 2×3×4",
        FAMILY,
        C64,
        normal((2, 3, 4)),
        lambda tf: lambda x: tf.transpose(x, [2, 0, 1]),
    ),
    op(
        "reverse_sequence 3×2×4",
        FAMILY,
        F64,
        normal((3, 2, 4)),
        lambda tf: lambda x: tf.reverse_sequence(x, [2, 1, 3], seq_axis=2, batch_axis=0),
    ),
    op("sort 3×5", FAMILY, F32, distinct(3, 5), lambda tf: tf.sort),
    op("top_k 2×4", FAMILY, F32, distinct(2, 4), lambda tf: lambda x: tf.math.top_k(x, 2).values),
    op(
        "dynamic_stitch 3×2, 2×2",
        FAMILY,
        F32,
        normal((3, 2), (2, 2)),
        lambda tf: lambda x, y: tf.dynamic_stitch([[0, 4, 2], [1, 3]], [x, y]),
    ),
    op(
        "roll and reshape 10×30",
        FAMILY,
        F32,
        normal((10, 30)),
        lambda tf: lambda x: tf.reshape(tf.roll(x, [1, 2], [0, 1]), [30, 10]),
    ),
    op(
        "ragged row sums 7",
        FAMILY,
        F32,
        normal((7,)),
        lambda tf: (
            lambda x: tf.reduce_sum(tf.RaggedTensor.from_row_lengths(x, [3, 0, 2, 2]), axis=1)
        ),
    ),
)
