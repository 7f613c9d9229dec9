"""Functions whose outputs are only determined up to a phase, made comparable.

An eigenvector may be multiplied by any phase (by −1, if it is real) and is still the eigenvector.
Which phase comes out is an accident of the algorithm, and may jump from one point to the next, so
its derivative means nothing. What can be compared is the vector with its phase fixed: turned so
that its largest component is real and positive.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcheck.checker.subject.tensors import Function
    from gradcheck.model import Array

FREE_PHASE = (
    "the function uses eigenvectors or singular vectors of a complex matrix, which are determined "
    "up to a phase only: what depends on that phase has no derivative to compare with. Check a "
    "function that does not, such as the vectors' absolute values or V·Vᴴ"
)


def with_fixed_phase(name: str, function: Function) -> Function:
    """The function of this TensorFlow name, one of HAS_PHASE, with its vectors turned.

    Without it `test_the_phase_is_fixed` fails.
    """
    turn = HAS_PHASE[name]
    return lambda *tensors, **args: turn(function(*tensors, **args))


def shows_a_phase(function: Function, values: Sequence[Array]) -> bool:
    """Whether a function of any kind computes vectors that may come out with another phase.

    Without it `test_which_functions_have_vectors` fails.
    """
    import tensorflow as tf

    specs = [tf.TensorSpec(value.shape, value.dtype) for value in values]
    try:
        traced = tf.function(function, autograph=False).get_concrete_function(*specs)
    except Exception:
        return False
    graph = traced.graph.as_graph_def()
    nodes = chain(graph.node, *(inner.node_def for inner in graph.library.function))
    return any(
        node.op in _WANTS_VECTORS
        and node.attr[_WANTS_VECTORS[node.op]].b
        and (node.op == "Eig" or tf.as_dtype(node.attr["T"].type).is_complex)
        for node in nodes
    )


_WANTS_VECTORS = {"SelfAdjointEigV2": "compute_v", "Eig": "compute_v", "Svd": "compute_uv"}
"""Ops whose vectors have a phase that nothing determines, and the attribute that asks for them."""


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


HAS_PHASE = {
    "tf.linalg.eigh": _eigenvectors,
    "tf.linalg.eig": _eigenvectors,
    "tf.linalg.svd": _singular_vectors,
}
"""By TensorFlow name of functions whose vectors have a free phase: what turns them."""
