"""User code that the guide's specs check."""

from collections.abc import Callable

import numpy as np
import tensorflow as tf

Backward = Callable[[tf.Tensor], tf.Tensor]

_A = tf.constant([[1.0, 2.0], [3.0, 4.0]], tf.float64)
_B = tf.constant([[5.0, 6.0], [7.0, 8.0]], tf.float64)
_PRODUCT = tf.matmul(_A, _B)


def captured_product(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:  # noqa: ARG001  (that is the mistake)
    """Return a product that was computed before, from other tensors than the inputs."""
    return _PRODUCT


_FROZEN = tf.Variable([3.0, 4.0], trainable=False, dtype=tf.float64)


def scaled_by_frozen(x: tf.Tensor) -> tf.Tensor:
    """Multiply by a variable that is not to be trained: no tape watches it."""
    return x * _FROZEN


def numpy_detour(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
    """Square x, but by numpy: the tape loses its trace."""
    return tf.constant(np.square(x.numpy())) * y


@tf.custom_gradient
def swish(x: tf.Tensor) -> tuple[tf.Tensor, Backward]:
    """x·σ(x), with its derivative written by hand."""
    s = tf.sigmoid(x)

    def backward(g: tf.Tensor) -> tf.Tensor:
        return g * (s + x * s * (1 - s))

    return x * s, backward


@tf.custom_gradient
def straight_through(x: tf.Tensor) -> tuple[tf.Tensor, Backward]:
    """Round, and hand the upstream gradient on as it comes."""
    return tf.round(x), lambda g: g


@tf.custom_gradient
def cube(x: tf.Tensor) -> tuple[tf.Tensor, Backward]:
    """x³, with a derivative that a tape can differentiate again."""
    return x * x * x, lambda g: g * 3 * x * x
