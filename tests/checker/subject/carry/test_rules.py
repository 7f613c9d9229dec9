"""Every rule gives at many points what the op gives at each."""

# (Lambdas in a comprehension keep their kind as a default.)
# mypy: disable-error-code="misc"

from __future__ import annotations

from itertools import chain, combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from gradcheck.checker.subject.carry.carried_op import RULES, Op
from gradcheck.checker.subject.carry.carrying import carried
from gradcheck.checker.subject.known_kernels import ELEMENT_BY_ELEMENT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from gradcheck.model import Array

ROWS = 11
"""A number that no axis here has."""


def draw(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).uniform(0.2, 0.8, shape)


def spd(size: int) -> Array:
    half = draw(size, size)
    return half @ half.T + np.eye(size)


def as_single_calls(
    tf: Any, function: Callable[..., Any], *values: Array, rtol: float = 1e-9
) -> None:
    """Carry points that move each choice of the inputs, and compare."""
    rng = np.random.default_rng(7)
    for moved in _choices(range(len(values))):
        points = [_point(values, moved, row, rng) for row in range(ROWS)]
        tensors = [tf.constant(value) for value in values]
        batches = [(tensors[i], np.stack([p[i] for p in points])) for i in moved]
        outputs, cargo = carried(lambda t=tensors: _flat(tf, function(*t)), batches, ROWS)
        expected = [_flat(tf, function(*map(tf.constant, point))) for point in points]
        for i, output in enumerate(outputs):
            single = np.stack([each[i].numpy() for each in expected])
            np.testing.assert_allclose(output, single, rtol=rtol, atol=rtol / 1e3)
        assert cargo.looped == 0


def _point(
    values: Sequence[Array], moved: Sequence[int], row: int, rng: np.random.Generator
) -> list[Array]:
    """The first moves all that move, each of the others one of them."""
    own = moved if row == 0 else [moved[row % len(moved)]]
    return [
        value * rng.uniform(0.95, 1.05, value.shape) if i in own else value
        for i, value in enumerate(values)
    ]


def _choices(places: Iterable[int]) -> Iterable[tuple[int, ...]]:
    every = list(places)
    return chain.from_iterable(combinations(every, size) for size in range(1, len(every) + 1))


def _flat(tf: Any, returned: Any) -> list[Any]:
    return [
        each
        for each in tf.nest.flatten(returned)
        if each.dtype.is_floating or each.dtype.is_complex
    ]


@pytest.mark.parametrize("kind", sorted(set(ELEMENT_BY_ELEMENT.split()) & RULES.keys() - {"AddN"}))
def test_element_by_element(tf: Any, kind: str) -> None:
    from tensorflow.python.framework import op_def_registry

    names = [each.name for each in op_def_registry.get(kind).input_arg]
    op = getattr(tf.raw_ops, kind)
    if kind == "Select":
        names = ["condition", "x", "y"]  # (As Python calls them.)
    attributes = {"Cast": {"DstT": tf.float64}, "Complex": {"Tout": tf.complex128}}
    attributes |= {"Angle": {"Tout": tf.float64}, "Real": {"Tout": tf.float64}}
    attributes |= {"Imag": {"Tout": tf.float64}, "ComplexAbs": {"Tout": tf.float64}}

    def function(*given: Any) -> Any:
        if kind in ("Angle", "Real", "Imag", "ComplexAbs", "Conj"):
            given = tuple(tf.complex(x, x * x) for x in given)
        if kind.startswith("Logical"):
            given = tuple(x > 0.5 for x in given)
        if kind in ("Select", "SelectV2"):
            given = (given[0] > 0.5, *given[1:])
        outputs = op(**dict(zip(names, given, strict=True)), **attributes.get(kind, {}))
        return tf.cast(outputs, tf.float64) if not outputs.dtype.is_floating else outputs

    # (Most broadcast; those that do not have inputs of one shape.)
    shapes = [(2, 3), (3,), (2, 1)]
    try:
        function(*(tf.constant(draw(*shapes[i])) for i in range(len(names))))
    except Exception:
        shapes = [(2, 3)] * 3
    values = [draw(*shapes[i], seed=i) for i in range(len(names))]
    if kind == "Acosh":
        values = [1 + v for v in values]
    if kind == "ClipByValue":
        as_single_calls(tf, lambda x: op(t=x, clip_value_min=0.3, clip_value_max=0.6), values[0])
    else:
        as_single_calls(tf, function, *values)


IMAGES, KERNELS = (2, 5, 4, 3), (3, 2, 3, 2)

CASES: dict[str, tuple[Callable[[Any], Callable[..., Any]], list[Array]]] = {
    "Identity": (lambda tf: lambda x: tf.raw_ops.Identity(input=x), [draw(2, 3)]),
    "StopGradient": (lambda tf: tf.stop_gradient, [draw(2, 3)]),
    "PreventGradient": (lambda tf: lambda x: tf.raw_ops.PreventGradient(input=x), [draw(2)]),
    "CheckNumerics": (
        lambda tf: lambda x: tf.raw_ops.CheckNumerics(tensor=x, message=""),
        [draw(2)],
    ),
    "Snapshot": (lambda tf: lambda x: tf.raw_ops.Snapshot(input=x), [draw(2, 3)]),
    "BatchMatMul": (
        lambda tf: lambda x, y: tf.raw_ops.BatchMatMul(x=x, y=y),
        [draw(2, 3, 4), draw(2, 4, 5)],
    ),
    "BatchMatMulV2": (
        lambda tf: lambda x, y: tf.raw_ops.BatchMatMulV2(x=x, y=y, adj_y=True),
        [draw(2, 3, 4), draw(5, 4)],
    ),
    "BatchMatMulV3": (
        lambda tf: lambda x, y: tf.raw_ops.BatchMatMulV3(x=x, y=y, Tout=tf.float64),
        [draw(2, 3, 4), draw(4, 5)],
    ),
    "Shape": (lambda tf: lambda x: x * tf.cast(tf.shape(x)[0], tf.float64), [draw(2, 3)]),
    "ShapeN": (
        lambda tf: lambda x: x * tf.cast(tf.shape_n([x, x])[1][0], tf.float64),
        [draw(2, 3)],
    ),
    "Rank": (lambda tf: lambda x: x * tf.cast(tf.raw_ops.Rank(input=x), tf.float64), [draw(2, 3)]),
    "Size": (lambda tf: lambda x: x * tf.cast(tf.raw_ops.Size(input=x), tf.float64), [draw(2, 3)]),
    "ZerosLike": (lambda tf: lambda x: x + tf.raw_ops.ZerosLike(x=x), [draw(2, 3)]),
    "OnesLike": (lambda tf: lambda x: x + tf.raw_ops.OnesLike(x=x), [draw(2, 3)]),
    "Reshape": (lambda tf: lambda x: tf.reshape(x, [3, -1]), [draw(2, 6)]),
    "Squeeze": (lambda tf: tf.squeeze, [draw(2, 1, 3, 1)]),
    "ExpandDims": (lambda tf: lambda x: tf.expand_dims(x, -1), [draw(2, 3)]),
    "EnsureShape": (lambda tf: lambda x: tf.ensure_shape(x, [None, 3]), [draw(2, 3)]),
    "IdentityN": (lambda tf: lambda x, y: tf.identity_n([x, y]), [draw(2), draw(3)]),
    "AddN": (lambda tf: lambda x, y: tf.add_n([x, y, x]), [draw(2, 3), draw(2, 3)]),
    "Cholesky": (lambda tf: tf.linalg.cholesky, [spd(3)]),
    **{
        kind: (
            lambda tf, kind=kind: lambda x: getattr(tf.raw_ops, kind)(input=tf.complex(x, -x)),
            [draw(2, 3, 4)],
        )
        for kind in ("FFT", "FFT2D", "FFT3D", "IFFT", "IFFT2D", "IFFT3D")
    },
    **{
        kind: (
            lambda tf, kind=kind, n=n: (
                lambda x: getattr(tf.raw_ops, kind)(
                    input=tf.complex(x, -x) if kind[0] == "I" else x,
                    fft_length=[4] * n,
                    **{
                        "Treal" if kind[0] == "I" else "Tcomplex": tf.float64
                        if kind[0] == "I"
                        else tf.complex128
                    },
                )
            ),
            [draw(4, 4, 4)],
        )
        for kind, n in (
            ("RFFT", 1),
            ("RFFT2D", 2),
            ("RFFT3D", 3),
            ("IRFFT", 1),
            ("IRFFT2D", 2),
            ("IRFFT3D", 3),
        )
    },
    "LogMatrixDeterminant": (lambda tf: tf.linalg.slogdet, [spd(3)]),
    "LogSoftmax": (lambda tf: tf.nn.log_softmax, [draw(2, 3)]),
    "Softmax": (lambda tf: tf.nn.softmax, [draw(2, 3)]),
    "MatrixBandPart": (lambda tf: lambda x: tf.linalg.band_part(x, 1, 0), [draw(3, 3)]),
    "MatrixDeterminant": (lambda tf: tf.linalg.det, [spd(3)]),
    "MatrixDiagPartV3": (lambda tf: lambda x: tf.linalg.diag_part(x, k=(-1, 1)), [draw(3, 4)]),
    "MatrixDiagV3": (lambda tf: lambda x: tf.linalg.diag(x, k=1), [draw(2, 3)]),
    "MatrixInverse": (lambda tf: tf.linalg.inv, [spd(3)]),
    "MatrixLogarithm": (lambda tf: lambda x: tf.linalg.logm(tf.complex(x, 0 * x)), [spd(3)]),
    "MatrixSquareRoot": (lambda tf: tf.linalg.sqrtm, [spd(3)]),
    "Qr": (lambda tf: tf.linalg.qr, [spd(3)]),
    "SelfAdjointEigV2": (
        lambda tf: lambda x: tf.raw_ops.SelfAdjointEigV2(input=x, compute_v=False)[0],
        [spd(3)],
    ),
    "Svd": (lambda tf: lambda x: tf.linalg.svd(x, compute_uv=False), [draw(3, 2)]),
    "TopKV2": (lambda tf: lambda x: tf.math.top_k(x, 2)[0], [draw(3, 4)]),
    "Cross": (lambda tf: tf.linalg.cross, [draw(2, 3), draw(2, 3, seed=1)]),
    "MatrixSetDiagV3": (lambda tf: tf.linalg.set_diag, [draw(3, 4), draw(3)]),
    "MatrixSolve": (lambda tf: tf.linalg.solve, [spd(3), draw(3, 2)]),
    "MatrixTriangularSolve": (lambda tf: tf.linalg.triangular_solve, [np.tril(spd(3)), draw(3, 2)]),
    "TridiagonalSolve": (
        lambda tf: lambda d, r: tf.raw_ops.TridiagonalSolve(diagonals=d, rhs=r),
        [draw(3, 4) + 2 * np.array([[0], [1], [0]]), draw(4, 2)],
    ),
    **{
        kind: (
            lambda tf, kind=kind: lambda x: getattr(tf.raw_ops, kind)(input=x, axis=[0, -1]),
            [draw(2, 3, 4)],
        )
        for kind in ("EuclideanNorm", "Max", "Mean", "Min", "Prod", "Sum")
    },
    **{
        kind: (
            lambda tf, kind=kind: (
                lambda x: tf.cast(getattr(tf.raw_ops, kind)(input=x > 0.5, axis=-2), tf.float64)
            ),
            [draw(2, 3, 4)],
        )
        for kind in ("All", "Any")
    },
    **{
        kind: (
            lambda tf, kind=kind: (
                lambda x: tf.cast(getattr(tf.raw_ops, kind)(input=x, dimension=-1), tf.float64)
            ),
            [draw(2, 5)],
        )
        for kind in ("ArgMax", "ArgMin")
    },
    **{
        kind: (
            lambda tf, kind=kind: lambda x: getattr(tf.raw_ops, kind)(x=x, axis=-2, exclusive=True),
            [draw(2, 3, 4)],
        )
        for kind in ("Cumprod", "Cumsum")
    },
    "CumulativeLogsumexp": (
        lambda tf: lambda x: tf.math.cumulative_logsumexp(x, axis=0),
        [draw(3, 2)],
    ),
    "ReverseV2": (lambda tf: lambda x: tf.reverse(x, [-1, 0]), [draw(2, 3, 4)]),
    "L2Loss": (lambda tf: tf.nn.l2_loss, [draw(2, 3)]),
    "Roll": (lambda tf: lambda x: tf.roll(x, [1, 2], [0, -1]), [draw(2, 3)]),
    "SplitV": (lambda tf: lambda x: tf.split(x, [1, 3], -1), [draw(2, 4)]),
    "Split": (lambda tf: lambda x: tf.split(x, 2, 1), [draw(2, 4)]),
    "Transpose": (lambda tf: lambda x: tf.transpose(x, [2, 0, 1]), [draw(2, 3, 4)]),
    "ConjugateTranspose": (
        lambda tf: lambda x: tf.raw_ops.ConjugateTranspose(x=tf.complex(x, x), perm=[1, 0]),
        [draw(2, 3)],
    ),
    "ConcatV2": (
        lambda tf: lambda x, y: tf.concat([x, y, tf.zeros([2, 1], tf.float64)], -1),
        [draw(2, 3), draw(2, 2)],
    ),
    "Pack": (lambda tf: lambda x, y: tf.stack([x, y], -1), [draw(2, 3), draw(2, 3)]),
    "Unpack": (lambda tf: lambda x: tf.unstack(x, axis=-1), [draw(2, 3)]),
    "Tile": (lambda tf: lambda x: tf.tile(x, [2, 3]), [draw(2, 3)]),
    "Pad": (lambda tf: lambda x: tf.pad(x, [[1, 0], [2, 1]]), [draw(2, 3)]),
    "PadV2": (lambda tf: lambda x: tf.pad(x, [[1, 0], [2, 1]], constant_values=3), [draw(2, 3)]),
    "MirrorPad": (lambda tf: lambda x: tf.pad(x, [[1, 0], [2, 1]], "REFLECT"), [draw(2, 3)]),
    "BroadcastTo": (lambda tf: lambda x: tf.broadcast_to(x, [4, 2, 3]), [draw(2, 1)]),
    "Fill": (lambda tf: lambda x: tf.fill([2, 3], x), [draw()]),
    "Slice": (lambda tf: lambda x: tf.slice(x, [0, 1], [-1, 2]), [draw(2, 4)]),
    "StridedSlice": (
        lambda tf: lambda x: (x[1, ..., tf.newaxis, ::2], x[:, -1:0:-1], x[..., 1]),
        [draw(3, 4, 5)],
    ),
    "GatherV2": (lambda tf: lambda x: tf.gather(x, [[0, 2], [1, 1]], axis=-1), [draw(2, 3)]),
    "GatherNd": (lambda tf: lambda x: tf.gather_nd(x, [[0, 2], [1, 1], [0, 0]]), [draw(2, 3)]),
    "ScatterNd": (lambda tf: lambda x: tf.scatter_nd([[0], [2], [0]], x, [4, 2]), [draw(3, 2)]),
    **{
        kind: (
            lambda tf, kind=kind: (
                lambda x, u: getattr(tf.raw_ops, kind)(tensor=x, indices=[[0], [2]], updates=u)
            ),
            [draw(4, 2), draw(2, 2, seed=1)],
        )
        for kind in (
            "TensorScatterAdd",
            "TensorScatterMax",
            "TensorScatterMin",
            "TensorScatterSub",
            "TensorScatterUpdate",
        )
    },
    **{
        kind: (
            lambda tf, kind=kind: (
                lambda x: getattr(tf.raw_ops, kind)(data=x, segment_ids=[0, 0, 2, 2])
            ),
            [draw(4, 2, 3)],
        )
        for kind in ("SegmentMax", "SegmentMean", "SegmentMin", "SegmentProd", "SegmentSum")
    },
    **{
        kind: (
            lambda tf, kind=kind: (
                lambda x: getattr(tf.raw_ops, kind)(
                    data=x, indices=[0, 3, 1], segment_ids=[0, 1, 1]
                )
            ),
            [draw(4, 2)],
        )
        for kind in ("SparseSegmentMean", "SparseSegmentSqrtN", "SparseSegmentSum")
    },
    **{
        kind: (
            lambda tf, kind=kind: (
                lambda x: getattr(tf.raw_ops, kind)(
                    data=x, segment_ids=[[0, 2], [2, 0], [1, 1]], num_segments=3
                )
            ),
            [draw(3, 2, 4)],
        )
        for kind in (
            "UnsortedSegmentMax",
            "UnsortedSegmentMin",
            "UnsortedSegmentProd",
            "UnsortedSegmentSum",
        )
    },
    **{
        kind: (
            lambda tf, kind=kind: (
                lambda x, y: getattr(tf.raw_ops, kind)(indices=[[0, 2], 1], data=[x, y])
            ),
            [draw(2, 3), draw(3)],
        )
        for kind in ("DynamicStitch", "ParallelDynamicStitch")
    },
    "ReverseSequence": (
        lambda tf: lambda x: tf.reverse_sequence(x, [1, 3, 2], seq_axis=1, batch_axis=0),
        [draw(3, 4, 2)],
    ),
    "MatMul": (
        lambda tf: (
            lambda x, y: (
                tf.raw_ops.MatMul(a=x, b=y),
                tf.raw_ops.MatMul(a=x, b=x, transpose_a=True),
                tf.raw_ops.MatMul(a=y, b=y, transpose_b=True),
            )
        ),
        [draw(2, 3), draw(3, 4)],
    ),
    "Einsum": (
        lambda tf: lambda x, y: (tf.einsum("ij,jk->ki", x, y), tf.einsum("...j,jk->...k", x, y)),
        [draw(2, 3), draw(3, 4)],
    ),
    "BiasAdd": (
        lambda tf: (
            lambda x, b: (
                tf.nn.bias_add(x, b),
                tf.nn.bias_add(tf.transpose(x, [0, 3, 1, 2]), b, "NCHW"),
            )
        ),
        [draw(*IMAGES), draw(3)],
    ),
    "AvgPool": (lambda tf: lambda x: tf.nn.avg_pool2d(x, 2, 1, "VALID"), [draw(*IMAGES)]),
    "MaxPool": (lambda tf: lambda x: tf.nn.max_pool2d(x, 2, 2, "SAME"), [draw(*IMAGES)]),
    "AvgPool3D": (
        lambda tf: (
            lambda x: tf.cast(tf.nn.avg_pool3d(tf.cast(x, tf.float32), 2, 1, "VALID"), tf.float64)
        ),
        [draw(1, 3, 4, 3, 2)],
    ),
    "MaxPool3D": (
        lambda tf: (
            lambda x: tf.cast(tf.nn.max_pool3d(tf.cast(x, tf.float32), 2, 1, "VALID"), tf.float64)
        ),
        [draw(1, 3, 4, 3, 2)],
    ),
    "DepthToSpace": (lambda tf: lambda x: tf.nn.depth_to_space(x, 2), [draw(2, 2, 3, 4)]),
    "SpaceToDepth": (lambda tf: lambda x: tf.nn.space_to_depth(x, 2), [draw(2, 4, 2, 3)]),
    "Dilation2D": (
        lambda tf: (
            lambda x: tf.nn.dilation2d(x, draw(2, 2, 3), [1, 1, 1, 1], "SAME", "NHWC", [1, 1, 1, 1])
        ),
        [draw(*IMAGES)],
    ),
    "ExtractImagePatches": (
        lambda tf: (
            lambda x: tf.image.extract_patches(x, [1, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1], "VALID")
        ),
        [draw(*IMAGES)],
    ),
    "LRN": (
        lambda tf: lambda x: tf.cast(tf.nn.lrn(tf.cast(x, tf.float32)), tf.float64),
        [draw(*IMAGES)],
    ),
    **{
        kind: (
            lambda tf, kind=kind: (
                lambda x: tf.cast(getattr(tf.raw_ops, kind)(images=x, size=[3, 6]), tf.float64)
            ),
            [draw(*IMAGES)],
        )
        for kind in ("ResizeBicubic", "ResizeBilinear", "ResizeNearestNeighbor")
    },
    "ScaleAndTranslate": (
        lambda tf: (
            lambda x: tf.cast(
                tf.raw_ops.ScaleAndTranslate(
                    images=x, size=[3, 6], scale=[0.5, 1.5], translation=[0.2, -0.3]
                ),
                tf.float64,
            )
        ),
        [draw(*IMAGES)],
    ),
    "SoftmaxCrossEntropyWithLogits": (
        lambda tf: lambda x, y: tf.raw_ops.SoftmaxCrossEntropyWithLogits(features=x, labels=y)[0],
        [draw(3, 4), draw(3, 4, seed=1)],
    ),
    "SparseSoftmaxCrossEntropyWithLogits": (
        lambda tf: (
            lambda x: tf.raw_ops.SparseSoftmaxCrossEntropyWithLogits(features=x, labels=[0, 3, 1])[
                0
            ]
        ),
        [draw(3, 4)],
    ),
    "CropAndResize": (
        lambda tf: (
            lambda x, b: tf.cast(
                tf.image.crop_and_resize(x, tf.cast(b, tf.float32), [1, 0, 1], [2, 3]), tf.float64
            )
        ),
        [draw(*IMAGES), draw(3, 4)],
    ),
    **{
        kind: (
            lambda tf, kind=kind: (
                lambda x, s, o: [
                    tf.cast(each, tf.float64)
                    for training in (True, False)
                    for each in getattr(tf.raw_ops, kind)(
                        x=tf.cast(x, tf.float32),
                        scale=tf.cast(s, tf.float32),
                        offset=tf.cast(o, tf.float32),
                        mean=[0.1] * 3,
                        variance=[1.1] * 3,
                        is_training=training,
                    )[:3]
                ]
            ),
            [draw(*IMAGES), draw(3), draw(3)],
        )
        for kind in ("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")
    },
    "Conv2D": (
        lambda tf: lambda x, w: tf.nn.conv2d(x, w, [1, 2, 1, 1], "SAME", dilations=1),
        [draw(*IMAGES), draw(*KERNELS)],
    ),
    "Conv2D of groups": (
        lambda tf: lambda x, w: tf.nn.conv2d(x, w, 1, "VALID", dilations=[1, 2, 1, 1]),
        [draw(2, 6, 4, 4), draw(2, 3, 2, 6)],
    ),
    "DepthwiseConv2dNative of one": (
        lambda tf: lambda x, w: tf.nn.depthwise_conv2d(x, w, [1, 2, 2, 1], "VALID"),
        [draw(1, 5, 5, 1), draw(2, 2, 1, 3)],
    ),
    "Conv2DBackpropInput with strides": (
        lambda tf: lambda w, y: tf.nn.conv2d_transpose(y, w, [1, 6, 6, 2], [1, 2, 2, 1], "SAME"),
        [draw(3, 3, 2, 3), draw(1, 3, 3, 3)],
    ),
    "Conv2D of what moves with its kernel": (
        lambda tf: (
            lambda x: tf.nn.conv2d(
                x, tf.reshape(x[0, :2, :2, :2], [2, 2, 2, 1]) * [[[[1.0, 2.0]]]], 1, "SAME"
            )
        ),
        [draw(2, 5, 4, 4)],
    ),
    "DepthwiseConv2dNative of what moves with its kernel": (
        lambda tf: (
            lambda x: tf.nn.depthwise_conv2d(
                x, tf.reshape(x[0, :2, :2], [2, 2, 3, 1]) * [[[[1.0, 2.0]]]], [1, 1, 1, 1], "VALID"
            )
        ),
        [draw(2, 5, 4, 3)],
    ),
    "FusedBatchNormV3 of one": (
        lambda tf: (
            lambda x: tf.cast(
                tf.raw_ops.FusedBatchNormV3(
                    x=tf.cast(x, tf.float32),
                    scale=[2.0],
                    offset=[1.0],
                    mean=[0.5],
                    variance=[1.5],
                    is_training=False,
                )[0],
                tf.float64,
            )
        ),
        [draw(1, 1, 3, 1)],
    ),
    "Select by one number": (
        lambda tf: (
            lambda x: tf.raw_ops.Select(condition=tf.reduce_sum(x) > 3.0, x=x, y=tf.square(x))
        ),
        [draw(2, 3)],
    ),
    "MatrixTriangularSolve broadcast": (
        lambda tf: tf.linalg.triangular_solve,
        [np.tril(draw(2, 3, 3)) + np.eye(3), draw(3, 2)],
    ),
    "Sum of all": (lambda tf: lambda x: tf.reduce_sum(x, keepdims=True), [draw(2, 3)]),
    "Sum of none": (lambda tf: lambda x: tf.reduce_sum(x, axis=[]), [draw(2, 3)]),
    "Mean of int64 axes": (
        lambda tf: lambda x: tf.raw_ops.Mean(input=x, axis=tf.constant([1], tf.int64)),
        [draw(2, 3)],
    ),
    "Einsum repeated": (
        lambda tf: lambda x, y: (tf.einsum("ii->i", x), tf.einsum("ij,j,jk->", x, y[0], y)),
        [draw(3, 3), draw(3, 4)[:, :3]],
    ),
    "Einsum ellipsis": (
        lambda tf: lambda x, y: tf.einsum("...ij,...jk->...ik", x, y),
        [draw(2, 3, 4), draw(1, 4, 5)],
    ),
    "GatherV2 of rank one": (lambda tf: lambda x: tf.gather(x, 2), [draw(4)]),
    "StridedSlice with new axes": (
        lambda tf: lambda x: (x[tf.newaxis, ..., tf.newaxis], x[-1], x[1:-1:2, tf.newaxis, 0]),
        [draw(5, 3)],
    ),
    "BatchMatMulV2 broadcast": (
        lambda tf: lambda x, y: tf.matmul(x, y, transpose_a=True),
        [draw(4, 1, 3, 2), draw(5, 3, 2)],
    ),
    "SelectV2 of scalars": (lambda tf: lambda x, y: tf.where(x > 0.5, x, y), [draw(2, 3), draw()]),
    "Pack of scalars": (lambda tf: lambda x, y: tf.stack([x, 1.0, y]), [draw(), draw(seed=1)]),
    "ConcatV2 negative": (lambda tf: lambda x: tf.concat([x, x], -2), [draw(2, 3, 4)]),
    "BroadcastTo of a scalar": (lambda tf: lambda x: tf.broadcast_to(x, [2, 3]), [draw()]),
    "MatrixSetDiagV3 of many": (
        lambda tf: lambda x, d: tf.linalg.set_diag(x, d, k=(-1, 0)),
        [draw(3, 3), draw(2, 3)],
    ),
    "Conv3D": (
        lambda tf: lambda x, w: tf.nn.conv3d(x, w, [1] * 5, "VALID"),
        [draw(1, 3, 4, 3, 2), draw(2, 2, 2, 2, 3)],
    ),
    "DepthwiseConv2dNative": (
        lambda tf: lambda x, w: tf.nn.depthwise_conv2d(x, w, [1] * 4, "SAME"),
        [draw(*IMAGES), draw(*KERNELS)],
    ),
    "Conv2DBackpropInput": (
        lambda tf: lambda w, y: tf.nn.conv2d_transpose(y, w, [2, 7, 6, 4], [1, 1, 1, 1], "VALID"),
        [draw(3, 2, 4, 3), draw(2, 5, 5, 3)],
    ),
}

LOW = {
    "AvgPool3D",
    "MaxPool3D",
    "LRN",
    "ResizeBicubic",
    "ResizeBilinear",
    "ScaleAndTranslate",
    "CropAndResize",
    "FusedBatchNorm",
    "FusedBatchNormV2",
    "FusedBatchNormV3",
}
"""Without a kernel, or a result, in double precision."""


@pytest.mark.parametrize("kind", CASES)
def test_others(tf: Any, kind: str) -> None:
    make, values = CASES[kind]
    as_single_calls(tf, make(tf), *values, rtol=1e-5 if kind.partition(" ")[0] in LOW else 1e-9)


@pytest.mark.parametrize("right", [(1, 4, 4), (4, 4), (3, 4, 4), (2, 1, 4, 4)])
def test_no_product_is_broadcast(tf: Any, right: tuple[int, ...]) -> None:
    """TensorFlow's kernel for float32 ends the process for 16×1×4×4 by 1×4×4."""
    seen = []

    def run(x: Any, y: Any, *_: Any) -> list[Any]:
        seen.append((tuple(x.shape), tuple(y.shape)))
        return [tf.linalg.matmul(x, y)]

    x, y = tf.ones((3, 4, 4)), tf.constant(draw(*right), tf.float32)
    many = tf.constant(draw(16, 3, 4, 4), tf.float32)
    inputs = [x, y, "adj_x", False, "adj_y", False]
    op = Op("BatchMatMulV2", inputs, 2, [many, None], [tf.linalg.matmul(x, y)], 16, run)
    (made,) = RULES["BatchMatMulV2"](op)
    expected = many.numpy().reshape(16, *[1] * (len(right) - 3), 3, 4, 4) @ y.numpy()
    np.testing.assert_allclose(made, expected, rtol=1e-6)
    assert [(len(a), a[0]) for a, _ in seen] == [(len(b), b[0]) for _, b in seen]


def test_every_rule_is_tried() -> None:
    kinds = {name.partition(" ")[0] for name in CASES}
    assert kinds | set(ELEMENT_BY_ELEMENT.split()) >= RULES.keys()
