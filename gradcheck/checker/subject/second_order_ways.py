"""The ways in which TensorFlow takes second derivatives, other than a tape around a tape.

Each gives the same product of the Hessian with a vector: what a tape around the gradient gives for
that vector as its upstream.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.checker.budget import current
from gradcheck.checker.subject.as_graph import as_graph
from gradcheck.checker.subject.refusals import must_be_compiled, must_have_gradients
from gradcheck.checker.subject.tape import Backward, GradientRaised, Tape
from gradcheck.checker.subject.tensors import FunctionRaised, call, explain_exception, to_numpy
from gradcheck.checker.subject.way_back import as_cotangents
from gradcheck.model import Mode

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gradcheck.checker.subject.gradient_of import Gradient
    from gradcheck.checker.subject.operand import Operand
    from gradcheck.model import Array


class SecondWay(StrEnum):
    """How a second derivative is taken; the text is what reports call it."""

    REVERSE_OVER_REVERSE = "reverse over reverse"
    FORWARD_OVER_REVERSE = "forward over reverse"
    REVERSE_OVER_FORWARD = "reverse over forward"
    NESTED_FORWARD = "forward over forward"


class SecondTaker:
    """Products of the Hessian with vectors in one way; traced once where it is traced."""

    def __init__(
        self, gradient: Gradient, operands: Sequence[Operand], mode: Mode, way: SecondWay
    ) -> None:
        """Nothing runs yet.

        Args:
            gradient: of the function, for one upstream.
            operands: what both take.
            mode: eagerly, or inside of a graph.
            way: how.
        """
        self._gradient, self._operands, self._mode, self._way = gradient, operands, mode, way
        # (It knows which variables hold the values.)
        self._tape = Tape(gradient.function, operands)
        self._traced: Any = None

    def __call__(self, values: Sequence[Array], upstream: Sequence[Array]) -> Backward:
        """The gradients, and the Hessian times the upstream, as a tape around them gives it.

        Raises GradientRaised, NoGradient, or Ended where XLA cannot compile it.
        """
        self._tape.hold(values)
        # (It is the gradient that is the function here.)
        arguments = self._tape.arguments(self._constants(values))
        outputs = [to_numpy(each) for each in self._gradient(*arguments)]
        return Backward(outputs, self.product(values, upstream))

    def product(self, values: Sequence[Array], upstream: Sequence[Array]) -> list[Array | None]:
        """The Hessian times the upstream alone, once the gradient was called."""
        self._tape.hold(values)
        vector = self._as_tangents(values, upstream)
        if self._way is not SecondWay.NESTED_FORWARD:
            return self._run(values, [vector])
        return self._by_elements(values, vector)

    def along(
        self, values: Sequence[Array], upstream: Sequence[Array], other: Sequence[Array]
    ) -> float:
        """Nested forward mode alone: the second derivative along two vectors."""
        self._tape.hold(values)
        vector = self._as_tangents(values, upstream)
        return float(self._run(values, [vector, self._cast(values, other)])[0])

    def _by_elements(self, values: Sequence[Array], vector: list[Array]) -> list[Array | None]:
        """Nested forward mode, along one element after the other."""
        found: list[Array | None] = []
        for position, own in enumerate(vector):
            product = np.zeros_like(own)
            others = [np.zeros_like(each) for each in vector]
            for place in range(own.size):
                for part in (1, 1j) if np.iscomplexobj(own) else (1,):
                    others[position].flat[place] = part
                    product.flat[place] += part * self._run(values, [vector, others])[0]
                others[position].flat[place] = 0
            found.append(product)
        return found

    def _as_tangents(self, values: Sequence[Array], upstream: Sequence[Array]) -> list[Array]:
        """The upstream of the gradients by operand; zero where there is no gradient."""
        given = iter(upstream)
        moved = [v for v, o in zip(values, self._operands, strict=True) if o.differentiate]
        arrays = [
            next(given) if connected else np.zeros(value.shape)
            for value, connected in zip(moved, self._gradient.connected, strict=True)
        ]
        return self._cast(values, arrays)

    def _cast(self, values: Sequence[Array], arrays: Sequence[Array]) -> list[Array]:
        moved = [v for v, o in zip(values, self._operands, strict=True) if o.differentiate]
        return [
            (a if np.iscomplexobj(v) else np.real(a)).astype(v.dtype)
            for a, v in zip(arrays, moved, strict=True)
        ]

    def _constants(self, values: Sequence[Array]) -> list[Any]:
        import tensorflow as tf

        held = self._tape.variables or [None] * len(values)
        return [
            tf.constant(value) if variable is None else tf.zeros([])
            for value, variable in zip(values, held, strict=True)
        ]

    def _run(self, values: Sequence[Array], vectors: list[list[Array]]) -> list[Any]:
        import tensorflow as tf

        current().must_be_left()
        run: Callable[..., Any] = self._taken
        if self._mode is not Mode.EAGER:
            if self._traced is None:
                self._traced = as_graph(self._taken, self._mode)
            run = self._traced
        try:
            tangents = [[tf.constant(each) for each in vector] for vector in vectors]
            return [to_numpy(each) for each in run(self._constants(values), tangents)]
        except Exception as error:
            must_be_compiled(error, self._mode)
            must_have_gradients(error)
            told = str(error) if isinstance(error, FunctionRaised) else explain_exception(error)
            raise GradientRaised(told) from error

    def _taken(self, constants: list[Any], tangents: list[list[Any]]) -> list[Any]:
        arguments = self._tape.arguments(constants)
        sources = [a for a, o in zip(arguments, self._operands, strict=True) if o.differentiate]
        return _TAKEN[self._way](self._gradient, arguments, sources, *tangents)


def _forward_over_reverse(
    gradient: Gradient, arguments: list[Any], sources: list[Any], tangents: list[Any]
) -> list[Any]:
    import tensorflow as tf

    with tf.autodiff.ForwardAccumulator(sources, tangents) as accumulator:
        gradients = iter(gradient(*arguments))
    return [
        accumulator.jvp(next(gradients), tf.UnconnectedGradients.ZERO)
        if connected
        else tf.zeros_like(source)
        for connected, source in zip(gradient.connected, sources, strict=True)
    ]


def _reverse_over_forward(
    gradient: Gradient, arguments: list[Any], sources: list[Any], tangents: list[Any]
) -> list[Any]:
    import tensorflow as tf

    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(sources)
        with tf.autodiff.ForwardAccumulator(sources, tangents) as accumulator:
            outputs = call(gradient.function, arguments)
        moves = [accumulator.jvp(each, tf.UnconnectedGradients.ZERO) for each in outputs]
    cotangents = as_cotangents(gradient.upstream, outputs)
    found = tape.gradient(
        moves,
        sources,
        output_gradients=cotangents,
        unconnected_gradients=tf.UnconnectedGradients.ZERO,
    )
    return [tf.convert_to_tensor(each) for each in found]


def _nested_forward(
    gradient: Gradient,
    arguments: list[Any],
    sources: list[Any],
    tangents: list[Any],
    others: list[Any],
) -> list[Any]:
    import tensorflow as tf

    none = tf.UnconnectedGradients.ZERO
    with tf.autodiff.ForwardAccumulator(sources, others) as outer:
        with tf.autodiff.ForwardAccumulator(sources, tangents) as inner:
            outputs = call(gradient.function, arguments)
        moves = [inner.jvp(each, none) for each in outputs]
    weights = as_cotangents(gradient.upstream, outputs)
    second = [outer.jvp(each, none) for each in moves]
    parts = [
        tf.cast(tf.reduce_sum(tf.math.real(tf.math.conj(ct) * each)), tf.float64)
        for ct, each in zip(weights, second, strict=True)
    ]
    return [tf.add_n(parts)]


_TAKEN: dict[SecondWay, Callable[..., list[Any]]] = {
    SecondWay.FORWARD_OVER_REVERSE: _forward_over_reverse,
    SecondWay.REVERSE_OVER_FORWARD: _reverse_over_forward,
    SecondWay.NESTED_FORWARD: _nested_forward,
}
