"""Losses, of an example each and of a whole batch; the scalar ones need one number for many."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.calls.declaration import BF16, F16, F32, F64, closure, each, given, op
from benchmarks.subjects import Function, normal, uniform

FAMILY = "losses"
SCALAR = "scalar losses"

LABELS = np.array([[0, 0, 0, 1], [0, 0.5, 0.5, 0], [0.5, 0.3, 0, 0.2]])
LOGITS = given([[0.1, 0.2, 0.3, 0.4], [0.1, 0.4, 0.9, 1.6], [0.1, 0.8, 2.7, 6.4]])
"""Three examples of four classes, as TensorFlow's tests of cross entropy have them."""


def _cross_entropy(tf: Any) -> Function:
    return lambda logits: tf.nn.softmax_cross_entropy_with_logits(
        tf.constant(LABELS, logits.dtype), logits
    )


def _ctc(tf: Any) -> Function:
    return lambda logits: tf.nn.ctc_loss(
        labels=tf.constant([[1, 2]]),
        logits=logits,
        label_length=[2],
        logit_length=[5],
        blank_index=0,
    )


def _softmax_regression(tf: Any) -> Function:
    rng = np.random.default_rng(5)
    x, y = rng.standard_normal((16, 32)), rng.integers(0, 10, 16)

    def loss(weights: Any) -> Any:
        logits = tf.matmul(tf.constant(x, weights.dtype), weights)
        return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits))

    return loss


def _traced_softmax_regression(tf: Any) -> Function:
    traced: Function = tf.function(_softmax_regression(tf))
    return traced


def _perceptron(tf: Any) -> Function:
    """Two layers and a squared error."""
    target = np.random.default_rng(6).standard_normal((8, 1))

    def loss(x: Any, w: Any, b: Any, v: Any, c: Any) -> Any:
        hidden = tf.tanh(tf.matmul(x, w) + b)
        return tf.reduce_mean((tf.matmul(hidden, v) + c - tf.constant(target, x.dtype)) ** 2)

    return loss


def _gaussian(tf: Any) -> Function:
    x = np.random.default_rng(7).standard_normal((20, 5))

    def loss(mean: Any, log_scale: Any) -> Any:
        z = (tf.constant(x, mean.dtype) - mean) * tf.exp(-log_scale)
        return tf.reduce_sum(0.5 * z * z + log_scale)

    return loss


def _cholesky_likelihood(tf: Any) -> Function:
    """The logarithm of a normal density whose covariance is made of 17×20 numbers."""
    sample = np.random.default_rng(8).standard_normal((17, 1))

    def loss(x: Any) -> Any:
        root = tf.linalg.cholesky(tf.matmul(x, x, transpose_b=True) / 9)
        z = tf.linalg.triangular_solve(root, tf.constant(sample, x.dtype))
        logarithm = tf.reduce_sum(tf.math.log(tf.linalg.diag_part(root)))
        return -0.5 * tf.reduce_sum(z * z) - logarithm

    return loss


def _gaussian_process(tf: Any) -> Function:
    """The log marginal likelihood of a Gaussian process by three hyperparameters."""
    rng = np.random.default_rng(9)
    x, y = rng.uniform(-2, 2, 12), rng.standard_normal((12, 1))

    def loss(log_length: Any, log_scale: Any, log_noise: Any) -> Any:
        squares = tf.constant((x[:, None] - x[None, :]) ** 2, log_length.dtype)
        kernel = tf.exp(2 * log_scale - squares / 2 * tf.exp(-2 * log_length))
        root = tf.linalg.cholesky(
            kernel + tf.exp(2 * log_noise) * tf.eye(12, dtype=log_length.dtype)
        )
        z = tf.linalg.triangular_solve(root, tf.constant(y, log_length.dtype))
        return 0.5 * tf.reduce_sum(z * z) + tf.reduce_sum(tf.math.log(tf.linalg.diag_part(root)))

    return loss


def _evidence(tf: Any) -> Function:
    """The evidence lower bound of a small variational autoencoder's code."""
    noise = np.random.default_rng(10).standard_normal((6, 4))

    def loss(mean: Any, log_variance: Any, decoder: Any) -> Any:
        code = mean + tf.exp(log_variance / 2) * tf.constant(noise, mean.dtype)
        fit = tf.reduce_sum(tf.nn.softplus(tf.matmul(code, decoder)))
        divergence = tf.reduce_sum(tf.exp(log_variance) + mean**2 - 1 - log_variance)
        return fit + divergence / 2

    return loss


def _mean_cholesky(tf: Any) -> Function:
    return lambda x: tf.reduce_mean(tf.linalg.cholesky(tf.matmul(x, x, adjoint_b=True) / 9))


CALLS = (
    op("softmax cross entropy 3×4", FAMILY, F64, LOGITS, _cross_entropy),
    op("softmax cross entropy 3×4", FAMILY, F32, LOGITS, _cross_entropy),
    op("softmax cross entropy 3×4", FAMILY, F16, LOGITS, _cross_entropy),
    op(
        "sparse softmax cross entropy 2×4",
        FAMILY,
        F32,
        normal((2, 4)),
        lambda tf: lambda x: tf.nn.sparse_softmax_cross_entropy_with_logits([3, 0], x),
    ),
    op(
        "sigmoid cross entropy 2×3",
        FAMILY,
        F32,
        normal((2, 3)),
        lambda tf: lambda x: tf.nn.sigmoid_cross_entropy_with_logits([[0.0, 1, 0.5]] * 2, x),
    ),
    op(
        "weighted cross entropy of 6",
        FAMILY,
        F64,
        normal((6,)),
        lambda tf: (
            lambda x: tf.nn.weighted_cross_entropy_with_logits(
                tf.constant([0, 1, 0, 1, 1, 0.5], x.dtype), x, 2.0
            )
        ),
    ),
    op(
        "log poisson loss of 4",
        FAMILY,
        F32,
        normal((4,)),
        lambda tf: lambda x: tf.nn.log_poisson_loss([1.0, 2, 0, 3], x),
    ),
    op("l2 loss of 6", FAMILY, BF16, normal((6,)), lambda tf: tf.nn.l2_loss),
    op("ctc loss 5×1×4", FAMILY, F32, normal((5, 1, 4)), _ctc),
    op(
        "Huber loss 2×5",
        FAMILY,
        F32,
        normal((2, 5)),
        lambda tf: lambda x: tf.keras.losses.Huber(reduction=None)(tf.zeros_like(x), 2 * x),
    ),
    op(
        "Keras cross entropy from logits 4×3",
        FAMILY,
        F32,
        normal((4, 3)),
        lambda tf: (
            lambda x: tf.keras.losses.CategoricalCrossentropy(from_logits=True)(
                tf.one_hot([0, 2, 1, 1], 3), x
            )
        ),
    ),
    op(
        "cosine similarity 3×4",
        FAMILY,
        F32,
        normal((3, 4)),
        lambda tf: lambda x: tf.keras.losses.cosine_similarity(tf.ones((3, 4)), x),
    ),
    op("softmax regression 32×10", SCALAR, F64, normal((32, 10)), _softmax_regression),
    op("softmax regression 32×10", SCALAR, F32, normal((32, 10)), _softmax_regression),
    op(
        "softmax regression 32×10 as a tf.function",
        SCALAR,
        F32,
        normal((32, 10)),
        _traced_softmax_regression,
    ),
    closure(
        "two-layer network's squared error 8×6",
        SCALAR,
        F32,
        normal((8, 6)),
        normal((6, 10), (10,), (10, 1), (1,)),
        _perceptron,
    ),
    op("Gaussian likelihood of 5 means and scales", SCALAR, F64, normal((5,), (5,)), _gaussian),
    op("Gaussian likelihood of 5 means and scales", SCALAR, F32, normal((5,), (5,)), _gaussian),
    op("Cholesky likelihood 17×20", SCALAR, F64, normal((17, 20)), _cholesky_likelihood),
    op("mean of a Cholesky factor 17×20", SCALAR, F64, normal((17, 20)), _mean_cholesky),
    op(
        "Gaussian process of 12 by 3 parameters",
        SCALAR,
        F64,
        given(0.1, 0.2, -1.0),
        _gaussian_process,
    ),
    op(
        "evidence lower bound 6×4",
        SCALAR,
        F32,
        normal((6, 4), (6, 4), (4, 7)),
        _evidence,
    ),
    op(
        "mean square of 1,000",
        SCALAR,
        F32,
        normal((1000,)),
        lambda tf: lambda x: tf.reduce_mean(tf.square(x)),
    ),
    op(
        "weighted Huber error of 40",
        SCALAR,
        F64,
        each(normal((40,)), uniform(0.5, 1.5, (40,))),
        lambda tf: lambda x, w: tf.reduce_sum(w * (tf.sqrt(1 + x * x) - 1)),
    ),
)
