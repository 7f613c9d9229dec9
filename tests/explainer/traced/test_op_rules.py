"""Each op that ran is read as the declared op that it is: its chain is what the tape gives."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from gradcheck.checker.case import problem_of
from gradcheck.explainer.derive.chain import bar, run_chain
from gradcheck.explainer.traced.op_rules import RULES
from gradcheck.explainer.traced.op_texts import text_of_op
from gradcheck.explainer.traced.ran_ops import watch
from gradcheck.explainer.traced.traced_graph import Traced, read_ops
from gradcheck.explainer.traced.traced_proof import symbol_values
from gradcheck.model import Case, Input, Location, Target, TargetKind

if TYPE_CHECKING:
    from gradcheck.explainer.traced.ran_ops import Watched
    from gradcheck.model import Shape

HERE = Location("test", 1, 1)

SQUARE = "tf.matmul(x, x, transpose_b=True) + [[1.0, 0.0], [0.0, 2.0]]"
READ = {
    "MatMul": "tf.raw_ops.MatMul(a=x, b=x, transpose_a=True)",
    "BatchMatMulV2": "tf.raw_ops.BatchMatMulV2(x=[[[1.0, 2.0, 3.0]]], y=x, adj_y=True)",
    "Einsum": "tf.einsum('ij,kj->ki', x, x)",
    "AddN": "tf.add_n([x, x, tf.sin(x)])",
    "Transpose": "tf.transpose(tf.exp(x))",
    "Reshape": "tf.reshape(tf.exp(x), [3, -1])",
    "ExpandDims": "tf.expand_dims(tf.exp(x), 1)",
    "Squeeze": "tf.squeeze(tf.expand_dims(tf.exp(x), 1), [1])",
    "BroadcastTo": "tf.broadcast_to(x, [2, 2, 3])",
    "ReverseV2": "tf.reverse(tf.exp(x), [1])",
    "Roll": "tf.roll(tf.exp(x), [1], [1])",
    "Slice": "tf.slice(tf.exp(x), [0, 1], [-1, 2])",
    "StridedSlice": "tf.exp(x)[:, tf.newaxis, ::-2] * x[1, 2] + x[..., 1:2]",
    "GatherV2": "tf.gather(tf.exp(x), [2, 0, 2], axis=1)",
    "ScatterNd": "tf.scatter_nd([[2], [0]], tf.exp(x), [4, 3])",
    "Split": "tf.split(tf.exp(x), 3, axis=1)[1] * x",
    "SplitV": "tf.split(tf.exp(x), [1, 2], axis=1)[1]",
    "Unpack": "tf.unstack(tf.exp(x), axis=0)[1]",
    "Pack": "tf.stack([x, tf.exp(x)], axis=1)",
    "ConcatV2": "tf.concat([x, tf.exp(x)], 1)",
    "Pad": "tf.pad(tf.exp(x), [[0, 1], [1, 0]])",
    "Tile": "tf.tile(tf.exp(x), [1, 2])",
    "SelectV2": "tf.where(x > 0.1, tf.exp(x), 2.0 * x)",
    "LeakyRelu": "tf.nn.leaky_relu(x, 0.3)",
    "MatrixDiagV3": "tf.linalg.diag(tf.exp(x))",
    "MatrixDiagPartV3": "tf.linalg.diag_part(tf.matmul(x, x, transpose_b=True))",
    "MatrixBandPart": "tf.linalg.band_part(tf.exp(x), 0, 1)",
    "MatrixInverse": "tf.linalg.inv(tf.matmul(x, x, transpose_b=True))",
    "MatrixSolve": "tf.linalg.solve(tf.matmul(x, x, transpose_b=True), x)",
    "MatrixTriangularSolve": "tf.linalg.triangular_solve([[1.0, 0.0], [0.5, 2.0]], x)",
    "Qr": "tf.linalg.qr(tf.transpose(x))[1]",
    "SelfAdjointEigV2": "tf.linalg.eigvalsh(tf.matmul(x, x, transpose_b=True))",
    "Svd": "tf.linalg.svd(x, compute_uv=False)",
    "BiasAdd": "tf.nn.bias_add(tf.exp(x), [1.0, 2.0, 3.0])",
    "Conv2D": (
        "tf.nn.conv2d(tf.reshape(x, [1, 2, 3, 1]), tf.reshape(tf.exp(x), [2, 1, 1, 3]), 1, 'SAME')"
    ),
    "MaxPool": "tf.nn.max_pool2d(tf.reshape(x, [1, 2, 3, 1]), 2, 1, 'VALID')",
    "AvgPool": "tf.nn.avg_pool2d(tf.reshape(x, [1, 2, 3, 1]), [2, 1], 1, 'VALID')",
    "SparseSoftmaxCrossEntropyWithLogits": (
        "tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[0, 2], logits=tf.exp(x))"
    ),
    "SoftmaxCrossEntropyWithLogits": (
        "tf.nn.softmax_cross_entropy_with_logits([[0.2, 0.3, 0.5], [1.0, 0.0, 0.0]], tf.exp(x))"
    ),
    "Sum": "tf.reduce_sum(tf.exp(x), [-1], keepdims=True) + tf.reduce_sum(x)",
    "Mean": "tf.reduce_mean(tf.exp(x), 0) + tf.reduce_max(x, [0, 1])",
    "Prod": "tf.reduce_prod(x, 1)",
    "Cumsum": "tf.cumsum(tf.exp(x), axis=1, reverse=True, exclusive=True)",
    "Cumprod": "tf.math.cumprod(x, axis=0)",
    "StopGradient": "x * tf.stop_gradient(tf.exp(x))",
    "Mul": "tf.nn.softplus(x) * tf.nn.gelu(x) / tf.nn.elu(x) - tf.math.squared_difference(x, 2.0)",
    "Cast": "tf.cast(x > 0.0, tf.float64) * tf.exp(x)",
    "Pow": "tf.abs(x) ** 1.5 + tf.maximum(0.1, x)",
    "Rsqrt": "tf.math.rsqrt(tf.square(x) + 1.0) + tf.math.log1p(tf.sigmoid(x))",
    "MirrorPad": "tf.pad(tf.exp(x), [[1, 1], [1, 2]], mode='REFLECT') ** 2",
    "PadV2": "tf.pad(tf.exp(x), [[1, 1], [1, 2]], constant_values=2.5) ** 2",
    "Betainc": "tf.math.betainc(2.0, 1.5, tf.sigmoid(x))",
    "Igamma": "tf.math.igamma(1.5, tf.exp(x))",
    "Igammac": "tf.math.igammac([1.5, 1.5, 1.5], tf.exp(x))",
    "Polygamma": "tf.math.polygamma(1.0, tf.exp(x))",
    "Zeta": "tf.math.zeta(2.5, tf.exp(x))",
    "CumulativeLogsumexp": "tf.math.cumulative_logsumexp(tf.sin(x), axis=1, reverse=True)",
    "TopKV2": "tf.math.top_k(tf.exp(x), 2)[0] + tf.sort(tf.exp(x))[:, :2]",
    "MatrixSetDiagV3": "tf.linalg.set_diag(tf.exp(x), x[:, 0])",
    "LogMatrixDeterminant": "tf.linalg.slogdet(tf.matmul(x, x, transpose_b=True))[1]",
    "MatrixSquareRoot": f"tf.linalg.sqrtm({SQUARE})",
    "SegmentSum": "tf.math.segment_sum(tf.exp(x), [0, 2])",
    "SegmentMean": "tf.math.segment_mean(tf.exp(x), [0, 0])",
    "SegmentMax": "tf.math.segment_max(tf.exp(x), [0, 0])",
    "SegmentMin": "tf.math.segment_min(tf.exp(x), [0, 1])",
    "SegmentProd": "tf.math.segment_prod(tf.exp(x), [0, 0])",
    "UnsortedSegmentSum": "tf.math.unsorted_segment_sum(tf.exp(x), [2, 0], 3)",
    "UnsortedSegmentMax": "tf.math.unsorted_segment_max(tf.exp(x), [1, 1], 2)[1]",
    "UnsortedSegmentMin": "tf.math.unsorted_segment_min(tf.exp(x), [0, 0], 1)",
    "UnsortedSegmentProd": "tf.math.unsorted_segment_prod(tf.exp(x), [1, 1], 2)",
    "TensorScatterAdd": "tf.tensor_scatter_nd_add(tf.exp(x), [[1]], tf.sin(x[:1]))",
    "TensorScatterSub": "tf.tensor_scatter_nd_sub(tf.exp(x), [[1]], tf.sin(x[:1]))",
    "TensorScatterUpdate": "tf.tensor_scatter_nd_update(tf.exp(x), [[1]], tf.sin(x[:1]))",
    "TensorScatterMax": "tf.tensor_scatter_nd_max(tf.sin(x), [[1]], tf.cos(x[:1]))",
    "TensorScatterMin": "tf.tensor_scatter_nd_min(tf.sin(x), [[1]], tf.cos(x[:1]))",
    "SpaceToDepth": "tf.nn.space_to_depth(tf.reshape(tf.exp(x[:, :2]), [1, 2, 2, 1]), 2)",
    "DepthToSpace": "tf.nn.depth_to_space(tf.reshape(tf.exp(x[:, :2]), [1, 1, 1, 4]), 2)",
    "ExtractImagePatches": (
        "tf.image.extract_patches(tf.reshape(tf.exp(x), [1, 2, 3, 1]), [1, 1, 2, 1], "
        "[1, 1, 1, 1], [1, 1, 2, 1], 'SAME')"
    ),
    "Conv2DBackpropInput": (
        "tf.nn.conv2d_transpose(tf.reshape(x, [1, 2, 3, 1]), "
        "tf.reshape(tf.exp(x), [2, 1, 3, 1]), [1, 4, 3, 3], [2, 1], 'SAME')"
    ),
    "Conv3D": (
        "tf.nn.conv3d(tf.reshape(x, [1, 1, 2, 3, 1]), tf.reshape(tf.exp(x), [1, 2, 1, 1, 3]), "
        "[1, 1, 1, 2, 1], 'SAME')"
    ),
    "Conv3DBackpropInputV2": (
        "tf.nn.conv3d_transpose(tf.reshape(x, [1, 1, 2, 3, 1]), "
        "tf.reshape(tf.exp(x), [1, 2, 1, 3, 1]), [1, 1, 3, 3, 3], 1, 'VALID')"
    ),
    "DepthwiseConv2dNative": (
        "tf.nn.depthwise_conv2d(tf.reshape(x, [1, 2, 3, 1]), "
        "tf.reshape(tf.exp(x), [2, 1, 1, 3]), [1, 1, 1, 1], 'VALID')"
    ),
}
SINGLE = {
    "AvgPool3D": "tf.nn.avg_pool3d(tf.reshape(x, [1, 1, 2, 3, 1]), [1, 1, 2], 1, 'SAME')",
    "MaxPool3D": "tf.nn.max_pool3d(tf.reshape(x, [1, 1, 2, 3, 1]), [1, 2, 2], 1, 'VALID')",
    "ResizeBilinear": "tf.image.resize(tf.reshape(tf.exp(x), [1, 2, 3, 1]), [3, 2])",
    "LRN": "tf.nn.local_response_normalization(tf.reshape(x, [1, 1, 2, 3]), 1, 2.0, 0.5, 0.75)",
}
"""Ops that TensorFlow computes in float32 alone."""


def traced(
    text: str, shape: Shape = (2, 3), seed: int = 0, dtype: str = "float64"
) -> tuple[Watched, Traced]:
    case = Case("t", "t", "t", HERE, Target(TargetKind.EXPR, text, HERE),
                (Input("x", shape, HERE),), seed=seed, dtype=dtype)  # fmt: skip
    watched = watch(problem_of(case, allow=(), root="."))
    return watched, read_ops(watched, text)


def chain_and_tape(
    watched: Watched, found: Traced, text: str, rounds: float = 1e-12
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    import tensorflow as tf

    from gradcheck.checker.subject.build_function import build
    from gradcheck.spec.resolve import resolve

    graph = found.graph
    upstream = np.random.default_rng(3).standard_normal(graph.shapes[graph.output])
    known = run_chain(graph, symbol_values(found, watched), upstream)
    case = Case("t", "t", "t", HERE, Target(TargetKind.EXPR, text, HERE),
                (Input("x", watched.values["x"].shape, HERE),))  # fmt: skip
    x = tf.constant(watched.values["x"])
    with tf.GradientTape() as tape:
        tape.watch(x)
        out = build(resolve(case), allow=(), root=".")(x)
    tape_gives = tape.gradient(out, x, tf.constant(upstream, x.dtype))
    assert np.allclose(known[graph.output], out, rtol=rounds, atol=rounds)
    return known[bar(graph, "x")], np.asarray(tape_gives), upstream


@pytest.mark.parametrize("kind", READ)
def test_what_ran_is_read(kind: str) -> None:
    watched, found = traced(READ[kind])
    assert kind in {ran.kind for ran in watched.ran}
    assert not found.jacobians
    mine, tape, _ = chain_and_tape(watched, found, READ[kind])
    np.testing.assert_allclose(mine, tape, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("kind", SINGLE)
def test_what_ran_in_float32_is_read(kind: str) -> None:
    watched, found = traced(SINGLE[kind], dtype="float32")
    assert kind in {ran.kind for ran in watched.ran}
    assert not found.jacobians
    mine, tape, _ = chain_and_tape(watched, found, SINGLE[kind], rounds=1e-5)
    np.testing.assert_allclose(mine, tape, rtol=1e-5, atol=1e-6)


def test_every_rule_is_tried() -> None:
    old = {"BatchMatMul", "BatchMatMulV3", "Select", "MatrixDiag", "MatrixDiagPart"}
    assert set(RULES) - set(READ) - set(SINGLE) == old


@pytest.mark.parametrize(
    "text",
    [
        "tf.gather(tf.exp(x), [[0], [2]], batch_dims=1, axis=1)",
        "tf.linalg.eigh(tf.matmul(x, x, transpose_b=True))[1] ** 2",
        "tf.linalg.svd(x)[2] ** 2",
        "tf.linalg.solve(tf.matmul(x, x, transpose_b=True), x, adjoint=True)",
        "tf.linalg.inv(tf.matmul(x, [[1.0, 0.0], [2.0, 3.0], [0.0, 1.0]]), adjoint=True)",
        "tf.linalg.diag_part(tf.exp(x))",
        "tf.math.unsorted_segment_mean(tf.exp(x), [1, 1], 2)",
        "tf.reduce_sum(tf.linalg.trace(tf.reshape(tf.exp(x), [1, 2, 3])))",
    ],
)
def test_arguments_of_what_is_declared_are_read(text: str) -> None:
    watched, found = traced(text)
    assert not found.jacobians
    mine, tape, _ = chain_and_tape(watched, found, text)
    np.testing.assert_allclose(mine, tape, rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (
            "tf.raw_ops.BatchToSpaceND(input=tf.sin(x), block_shape=[2], crops=[[0, 0]])",
            "BatchToSpaceND",
        ),
        ("tf.reduce_sum(tf.math.zeta(2.0 + tf.abs(x), 1.5 + tf.abs(x)), 1)", "Zeta"),
        ("tf.linalg.qr(x, full_matrices=True)[1] ** 2", "Qr"),
    ],
)
def test_what_has_no_rule_is_a_symbol_and_the_chain_goes_through_it(text: str, kind: str) -> None:
    watched, found = traced(text)
    assert list(found.unknown) == [kind]
    mine, tape, _ = chain_and_tape(watched, found, text)
    np.testing.assert_allclose(mine, tape, rtol=1e-9, atol=1e-12)


def test_a_wrong_jacobian_would_show() -> None:
    watched, found = traced(
        "tf.raw_ops.BatchToSpaceND(input=tf.sin(x), block_shape=[2], crops=[[0, 0]])"
    )
    graph = found.graph
    values = symbol_values(found, watched)
    upstream = np.ones(graph.shapes[graph.output])
    right = run_chain(graph, values, upstream)["x_bar"]
    (jacobian,) = found.jacobians
    values[jacobian.symbol] = 2 * values[jacobian.symbol]
    assert np.allclose(run_chain(graph, values, upstream)["x_bar"], 2 * right)
    assert np.abs(right).max() > 0.1


def test_no_gradient_goes_through_whole_numbers() -> None:
    watched, found = traced("tf.cast(tf.argmax(x, 1), tf.float64) * x[:, 0]")
    assert [v.tolist() for v in found.held.values()] == [np.argmax(watched.values["x"], 1).tolist()]
    mine, tape, _ = chain_and_tape(watched, found, "tf.cast(tf.argmax(x, 1), tf.float64) * x[:, 0]")
    np.testing.assert_allclose(mine, tape)


def test_what_is_not_needed_is_no_step() -> None:
    watched, found = traced("tf.split(tf.exp(x) * 1.0 + 0.0, 3, axis=1)[0]")
    names = {step.op.name for step in found.graph.steps}
    assert names == {"exp", "split"}
    assert "Shape" not in {ran.kind for ran in watched.ran}


def test_a_kind_without_rule_is_told() -> None:
    from gradcheck.explainer.traced.read_texts import NoRule

    with pytest.raises(NoRule):
        text_of_op("NoSuchOp", None, 0)  # type: ignore[arg-type]
