"""Convolutions, pools, activations, normalisation: the functions of tf.nn."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.calls.declaration import BF16, F16, F32, F64, Make, distinct, each, given, op
from benchmarks.subjects import Function, normal, uniform

CONVOLUTION = "convolution and pooling"
ACTIVATION = "activations and normalisation"

TEN = given([[-0.9, -0.7, -0.5, -0.3, -0.1], [0.1, 0.3, 0.5, 0.7, 0.9]])
"""Ten numbers on both sides of zero, as TensorFlow's tests of activations take them."""


BEYOND = given([[-0.9, -0.7, -0.5, -0.3, -0.1], [6.1, 6.3, 6.5, 6.7, 6.9]])
"""On both sides of six, as TensorFlow's tests of relu6 take them."""


def _dilation(tf: Any) -> Function:
    def dilate(x: Any) -> Any:
        kernel = tf.constant([[[0.13], [0.31]], [[-0.17], [0.04]]], x.dtype)
        return tf.nn.dilation2d(x, kernel, [1] * 4, "VALID", "NHWC", [1] * 4)

    return dilate


def _slope(activation: str) -> Make:
    """The gradient of an activation, as TensorFlow's tests of second derivatives write it."""

    def make(tf: Any) -> Function:
        def slope(x: Any) -> Any:
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = getattr(tf.nn, activation)(x)
            return tape.gradient(y, x)

        return slope

    return make


def _moments(tf: Any) -> Function:
    """Mean and variance in which examples have weights, as one tensor."""
    return lambda x, w: tf.concat(tf.nn.weighted_moments(x, [0], w), 0)


def _attention(tf: Any) -> Function:
    def attention(query: Any, key: Any, value: Any) -> Any:
        scores = tf.matmul(query, key, transpose_b=True) / np.sqrt(query.shape[-1])
        return tf.matmul(tf.nn.softmax(scores), value)

    return attention


def _layer_norm(tf: Any) -> Function:
    def layer_norm(x: Any, gain: Any, bias: Any) -> Any:
        mean, variance = tf.nn.moments(x, axes=[-1], keepdims=True)
        return tf.nn.batch_normalization(x, mean, variance, bias, gain, 1e-3)

    return layer_norm


CALLS = (
    op(
        "conv2d 2×5×4×2 by 3×3×2×3",
        CONVOLUTION,
        F32,
        normal((2, 5, 4, 2), (3, 3, 2, 3)),
        lambda tf: lambda x, w: tf.nn.conv2d(x, w, 1, "VALID"),
    ),
    op(
        "conv2d 1×4×4×1 by 2×2×1×1",
        CONVOLUTION,
        F16,
        normal((1, 4, 4, 1), (2, 2, 1, 1)),
        lambda tf: lambda x, w: tf.nn.conv2d(x, w, 1, "VALID"),
    ),
    op(
        "conv2d with strides 2×6×5×3 by 3×2×3×3",
        CONVOLUTION,
        F64,
        normal((2, 6, 5, 3), (3, 2, 3, 3)),
        lambda tf: lambda x, w: tf.nn.conv2d(x, w, 2, "SAME"),
    ),
    op(
        "conv2d 1×8×8×4 by 3×3×4×8",
        CONVOLUTION,
        F32,
        normal((1, 8, 8, 4), (3, 3, 4, 8)),
        lambda tf: lambda x, w: tf.nn.conv2d(x, w, 1, "SAME"),
    ),
    op(
        "conv1d 1×5×2 by 3×2×2",
        CONVOLUTION,
        F32,
        normal((1, 5, 2), (3, 2, 2)),
        lambda tf: lambda x, w: tf.nn.conv1d(x, w, 1, "SAME"),
    ),
    op(
        "conv3d 1×3×3×2×2 by 2×2×1×2×2",
        CONVOLUTION,
        F32,
        normal((1, 3, 3, 2, 2), (2, 2, 1, 2, 2)),
        lambda tf: lambda x, w: tf.nn.conv3d(x, w, [1] * 5, "VALID"),
    ),
    op(
        "depthwise conv2d 2×4×4×2 by 3×1×2×2",
        CONVOLUTION,
        F32,
        normal((2, 4, 4, 2), (3, 1, 2, 2)),
        lambda tf: lambda x, w: tf.nn.depthwise_conv2d(x, w, [1] * 4, "SAME"),
    ),
    op(
        "conv2d transpose 1×3×2×3 by 3×3×2×3",
        CONVOLUTION,
        F32,
        normal((1, 3, 2, 3), (3, 3, 2, 3)),
        lambda tf: lambda x, w: tf.nn.conv2d_transpose(x, w, [1, 6, 4, 2], 2),
    ),
    op(
        "max pool 1×4×4×2",
        CONVOLUTION,
        F32,
        distinct(1, 4, 4, 2),
        lambda tf: lambda x: tf.nn.max_pool2d(x, 2, 2, "VALID"),
    ),
    op(
        "max pool 2×3×3×3",
        CONVOLUTION,
        F64,
        distinct(2, 3, 3, 3),
        lambda tf: lambda x: tf.nn.max_pool2d(x, 2, 1, "SAME"),
    ),
    op(
        "average pool 2×3×3×3",
        CONVOLUTION,
        F32,
        normal((2, 3, 3, 3)),
        lambda tf: lambda x: tf.nn.avg_pool2d(x, 2, 1, "SAME"),
    ),
    op(
        "average pool 1×4×4×1",
        CONVOLUTION,
        BF16,
        normal((1, 4, 4, 1)),
        lambda tf: lambda x: tf.nn.avg_pool2d(x, 2, 2, "VALID"),
    ),
    op("dilation2d 1×4×4×1 by 2×2×1", CONVOLUTION, F32, distinct(1, 4, 4, 1), _dilation),
    op("dilation2d 1×4×4×1 by 2×2×1", CONVOLUTION, BF16, distinct(1, 4, 4, 1), _dilation),
    op(
        "dilation2d 1×3×3×1 by 2×2×1 of random numbers",
        CONVOLUTION,
        BF16,
        uniform(0, 1, (1, 3, 3, 1)),
        _dilation,
    ),
    op(
        "max pool 1×4×4×2×1",
        CONVOLUTION,
        F32,
        distinct(1, 4, 4, 2, 1),
        lambda tf: lambda x: tf.nn.max_pool3d(x, 2, 2, "VALID"),
    ),
    op(
        "average pool 1×3×3×3×1",
        CONVOLUTION,
        F32,
        normal((1, 3, 3, 3, 1)),
        lambda tf: lambda x: tf.nn.avg_pool3d(x, 2, 1, "SAME"),
    ),
    op("relu 2×5", ACTIVATION, F32, TEN, lambda tf: tf.nn.relu),
    op("relu 2×5", ACTIVATION, F16, TEN, lambda tf: tf.nn.relu),
    op("relu6 2×5", ACTIVATION, F32, BEYOND, lambda tf: tf.nn.relu6),
    op("relu6 2×5", ACTIVATION, BF16, BEYOND, lambda tf: tf.nn.relu6),
    op("elu 2×5", ACTIVATION, F32, TEN, lambda tf: tf.nn.elu),
    op("selu 2×5", ACTIVATION, F64, TEN, lambda tf: tf.nn.selu),
    op("leaky relu 2×5", ACTIVATION, BF16, TEN, lambda tf: tf.nn.leaky_relu),
    op("softplus 2×5", ACTIVATION, F32, TEN, lambda tf: tf.nn.softplus),
    op("softsign 2×5", ACTIVATION, F32, TEN, lambda tf: tf.nn.softsign),
    op("slope of elu 2×5", ACTIVATION, F32, TEN, _slope("elu")),
    op("slope of softplus 2×5", ACTIVATION, F64, TEN, _slope("softplus")),
    op("gelu 3×4", ACTIVATION, F32, normal((3, 4)), lambda tf: tf.nn.gelu),
    op("swish of 8", ACTIVATION, F32, normal((8,)), lambda tf: tf.nn.silu),
    op("softmax 2×4", ACTIVATION, F32, normal((2, 4)), lambda tf: tf.nn.softmax),
    op("softmax 3×4", ACTIVATION, F16, normal((3, 4)), lambda tf: tf.nn.softmax),
    op("softmax 16×16", ACTIVATION, F16, normal((16, 16)), lambda tf: tf.nn.softmax),
    op("gelu 10×20", ACTIVATION, BF16, normal((10, 20)), lambda tf: tf.nn.gelu),
    op("softmax 2×5", ACTIVATION, BF16, normal((2, 5)), lambda tf: tf.nn.softmax),
    op(
        "log softmax 5×10",
        ACTIVATION,
        F64,
        normal((5, 10)),
        lambda tf: tf.nn.log_softmax,
    ),
    op(
        "bias_add 4×2",
        ACTIVATION,
        F32,
        normal((4, 2), (2,)),
        lambda tf: tf.nn.bias_add,
    ),
    op(
        "bias_add 64×2×2×2",
        ACTIVATION,
        F16,
        normal((64, 2, 2, 2), (2,)),
        lambda tf: tf.nn.bias_add,
    ),
    op(
        "l2_normalize 4×7×3",
        ACTIVATION,
        F64,
        normal((4, 7, 3)),
        lambda tf: lambda x: tf.nn.l2_normalize(x, 1),
    ),
    op(
        "weighted moments 5×2",
        ACTIVATION,
        F64,
        each(normal((5, 2)), uniform(0.5, 1.5, (5, 2))),
        _moments,
    ),
    op(
        "local response normalisation 1×3×3×4",
        ACTIVATION,
        F32,
        normal((1, 3, 3, 4)),
        lambda tf: lambda x: tf.nn.local_response_normalization(x, 2, 1.0, 0.5, 0.5),
    ),
    op(
        "fused batch norm 2×2×3×2",
        ACTIVATION,
        F32,
        normal((2, 2, 3, 2), (2,), (2,)),
        lambda tf: lambda x, scale, offset: tf.compat.v1.nn.fused_batch_norm(x, scale, offset)[0],
    ),
    op("layer norm 3×5", ACTIVATION, F32, normal((3, 5), (5,), (5,)), _layer_norm),
    op("attention 4×8", ACTIVATION, F32, normal((4, 8), (6, 8), (6, 8)), _attention),
)
