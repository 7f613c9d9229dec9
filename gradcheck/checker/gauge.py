"""Functions whose outputs are only determined up to a phase, made comparable.

An eigenvector may be multiplied by any phase (by −1, if it is real) and is still the eigenvector.
Which phase comes out is an accident of the algorithm, and may jump from one point to the next, so
its derivative means nothing. What can be compared is the vector with its phase fixed: turned so
that its largest component is real and positive.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gradcheck.checker.tensors import Function


def with_fixed_phase(name: str, function: Function) -> Function:
    """The function of this TensorFlow name, its vectors turned; others as they are."""
    turn = _TURNS.get(name)
    if turn is None:
        return function
    return lambda *tensors: turn(function(*tensors))


def _eigenvectors(outputs: Any) -> Any:
    values, vectors = outputs
    return values, vectors * _phase(vectors)


def _singular_vectors(outputs: Any) -> Any:
    import tensorflow as tf

    if isinstance(outputs, tf.Tensor):
        return outputs
    values, left, right = outputs
    phase = _phase(left)
    # The two vectors of one singular value share their phase.
    return values, left * phase, right * phase[..., : right.shape[-1]]


def _phase(vectors: Any) -> Any:
    """By column, what turns its largest component to be real and positive."""
    import tensorflow as tf

    size = tf.abs(vectors)
    largest = tf.cast(tf.equal(size, tf.reduce_max(size, -2, keepdims=True)), vectors.dtype)
    pivot = tf.reduce_sum(largest * vectors, -2, keepdims=True)
    length = tf.cast(tf.abs(pivot), vectors.dtype)
    return tf.math.conj(pivot) / length


_TURNS = {
    "tf.linalg.eigh": _eigenvectors,
    "tf.linalg.eig": _eigenvectors,
    "tf.linalg.svd": _singular_vectors,
}
