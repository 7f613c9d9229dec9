"""Functions whose outputs are only determined up to a phase, made comparable.

An eigenvector may be multiplied by any phase (by −1, if it is real) and is still the eigenvector.
Which phase comes out is an accident of the algorithm, and may jump from one point to the next, so
its derivative means nothing. What can be compared is the vector with its phase fixed: turned so
that its largest component is real and positive.
"""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.checker import tolerances
from gradcheck.checker.numerics.vectors import largest, to_double
from gradcheck.checker.subject.monte_carlo import watched_graph
from gradcheck.checker.subject.private_names import definition_of_op

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

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


def may_show_a_phase(kinds: Iterable[str]) -> bool:
    """Whether a function that runs these ops may: a trace, which may be dear, tells for sure.

    Without it `test_nothing_is_traced_for_phases_that_no_op_has` fails.
    """
    return any(map(_may_turn, kinds))


@cache
def _may_turn(kind: str) -> bool:
    return kind in _WANTS_VECTORS or definition_of_op(kind) is None


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


def depends_on_the_phase(function: Function, values: Sequence[Array]) -> bool:
    """Whether other phases of the vectors that a function computes give it other outputs.

    The function is traced twice, the second time with its vectors turned at random.

    Without it `test_a_wrong_gradient_is_found_where_no_phase_shows` fails.
    """
    import tensorflow as tf

    specs = [tf.TensorSpec(value.shape, value.dtype) for value in values]

    def outputs(*, turned: bool) -> list[Array]:
        def run(*tensors: Any) -> Any:
            with _turned() if turned else nullcontext():
                return tf.nest.flatten(function(*tensors))

        traced = tf.function(run, autograph=False).get_concrete_function(*specs)
        found = traced(*(tf.constant(value) for value in values))
        return [
            to_double(output.numpy())
            for output in found
            if output.dtype.is_floating or output.dtype.is_complex
        ]

    try:
        pairs = list(zip(outputs(turned=False), outputs(turned=True), strict=True))
    except Exception:  # what runs eagerly need not run in a graph: there is no telling
        return True
    return any(
        largest(np.ravel(one - other)) > tolerances.OTHER_MODE * largest(np.ravel(one))
        for one, other in pairs
    )


@contextmanager
def _turned() -> Iterator[None]:
    """Within this, vectors in the graph that is being traced have other phases."""

    def turn(kind: str, _inputs: Any, outputs: Any) -> Any:
        places = _VECTORS.get(kind, ())
        return [_turn(t) if i in places else t for i, t in enumerate(outputs)]

    with watched_graph(turn):
        yield


def _turn(vectors: Any) -> Any:
    """Each column with another phase; the columns of one matrix as those of the other."""
    import tensorflow as tf

    if not vectors.dtype.is_complex or vectors.shape.rank is None or vectors.shape.rank < 2:
        return vectors
    columns = tf.cast(tf.range(1, tf.shape(vectors)[-1] + 1), vectors.dtype.real_dtype)
    return vectors * tf.exp(tf.complex(tf.zeros_like(columns), columns))


_VECTORS = {"SelfAdjointEigV2": (1,), "Eig": (1,), "Svd": (1, 2)}
"""By op: which of its outputs are the vectors."""

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
