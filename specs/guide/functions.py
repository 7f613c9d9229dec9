"""User code that the guide's specs check."""

import tensorflow as tf

_A = tf.constant([[1.0, 2.0], [3.0, 4.0]], tf.float64)
_B = tf.constant([[5.0, 6.0], [7.0, 8.0]], tf.float64)
_PRODUCT = tf.matmul(_A, _B)


def captured_product(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:  # noqa: ARG001  (that is the mistake)
    """Return a product that was computed before, from other tensors than the inputs."""
    return _PRODUCT
