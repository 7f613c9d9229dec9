"""The gradient of a function, as a function of what the function takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradcheck.checker.subject.left_by_calls import as_left, noted
from gradcheck.checker.subject.other_outputs import must_be_like
from gradcheck.checker.subject.substituted import read_as
from gradcheck.checker.subject.tensors import call

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcheck.checker.subject.operand import Operand
    from gradcheck.checker.subject.tensors import Function
    from gradcheck.model import Array


class Gradient:
    """The gradients of a function for one upstream; those that the tape gives, and no None."""

    def __init__(
        self, function: Function, operands: Sequence[Operand], upstream: Sequence[Array]
    ) -> None:
        """Nothing runs yet."""
        self.function, self.upstream = function, upstream
        self._positions = [i for i, operand in enumerate(operands) if operand.differentiate]
        self.connected: tuple[bool, ...] = ()
        """By differentiated operand: whether it had a gradient when this was last called."""

    def __call__(self, *tensors: Any) -> list[Any]:
        """The gradients as tensors, in the order of the operands."""
        import tensorflow as tf

        sources = [read_as(tensors[i]) for i in self._positions]
        with tf.GradientTape(watch_accessed_variables=False) as tape:
            tape.watch(sources)
            with noted() as left:
                outputs = call(self.function, tensors)
        if not tf.executing_eagerly():
            must_be_like(self.upstream, outputs, "a graph")
        cotangents = [
            tf.cast(tf.constant(ct), output.dtype)
            for ct, output in zip(self.upstream, outputs, strict=True)
        ]
        with as_left(left):
            gradients = tape.gradient(outputs, sources, output_gradients=cotangents)
        self.connected = tuple(gradient is not None for gradient in gradients)
        return [tf.convert_to_tensor(g) for g in gradients if g is not None]
