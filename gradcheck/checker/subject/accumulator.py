"""What TensorFlow's forward accumulator says the derivative is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradcheck.checker.subject.tape import GradientRaised
from gradcheck.checker.subject.tensors import FunctionRaised, call, explain_exception, to_numpy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcheck.checker.subject.operand import Operand
    from gradcheck.checker.subject.tensors import Function
    from gradcheck.model import Array


def forward(
    function: Function,
    operands: Sequence[Operand],
    values: Sequence[Array],
    tangents: Sequence[Array],
) -> list[Array]:
    """How each output moves when the differentiated operands move along their tangents."""
    import tensorflow as tf

    arguments = [o.hold(value) for o, value in zip(operands, values, strict=True)]
    primals = [a for a, o in zip(arguments, operands, strict=True) if o.differentiate]
    moved = [tf.cast(tf.constant(t), p.dtype) for t, p in zip(tangents, primals, strict=True)]
    try:
        with tf.autodiff.ForwardAccumulator(primals, moved) as accumulator:
            outputs = call(function, arguments)
        moves = [accumulator.jvp(o, tf.UnconnectedGradients.ZERO) for o in outputs]
    except FunctionRaised as error:
        # (It was called at this point before, and went well.)
        raise GradientRaised(str(error)) from error
    except Exception as error:
        raise GradientRaised(explain_exception(error)) from error
    return [to_numpy(move) for move in moves]
