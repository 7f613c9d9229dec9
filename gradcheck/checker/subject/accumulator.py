"""What TensorFlow's forward accumulator says the derivative is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from gradcheck.checker.budget import current
from gradcheck.checker.subject.as_graph import as_graph, made_of
from gradcheck.checker.subject.refusals import (
    must_be_compiled,
    must_have_gradients,
    told_of_forward_mode,
    whole_traces,
)
from gradcheck.checker.subject.tape import GradientRaised, Tape
from gradcheck.checker.subject.tensors import FunctionRaised, call, explain_exception, to_numpy
from gradcheck.model import Mode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcheck.checker.subject.operand import Operand
    from gradcheck.checker.subject.tensors import Function
    from gradcheck.model import Array


@dataclass(frozen=True, eq=False)
class Moved:
    """Outputs, and how each of them moves."""

    outputs: list[Array]
    moves: list[Array]


class Accumulator:
    """A function whose forward derivatives are wanted; traced once where it is traced.

    There the accumulator is inside of the graph, as the tape is.
    """

    def __init__(
        self, function: Function, operands: Sequence[Operand], mode: Mode = Mode.EAGER
    ) -> None:
        """Nothing runs yet."""
        self._function = function if mode is Mode.EAGER else made_of(function)
        self._operands, self._mode = operands, mode
        # (It knows which variables hold the values.)
        self._tape = Tape(function, operands)
        self._traced: Any = None
        self.silent = False
        """Whether it knew of no output how it moves, and said None, when it ran last."""

    def __call__(self, values: Sequence[Array], tangents: Sequence[Array]) -> Moved:
        """How each output moves when the differentiated operands move along their tangents.

        Raises GradientRaised.
        """
        import tensorflow as tf

        current().must_be_left()
        moved = [v for v, o in zip(values, self._operands, strict=True) if o.differentiate]
        try:
            self._tape.hold(values)
            held = self._tape.variables or [None] * len(values)
            given = (
                [
                    tf.constant(value) if variable is None else tf.zeros([])
                    for value, variable in zip(values, held, strict=True)
                ],
                [tf.constant(t.astype(v.dtype)) for t, v in zip(tangents, moved, strict=True)],
            )
            with whole_traces():
                outputs, moves = self._run(*given)
        except FunctionRaised as error:
            must_have_gradients(error)
            # (It was called at this point before, and went well.)
            told = told_of_forward_mode(error, self._mode) or str(error)
            raise GradientRaised(f"{told}{self._where}") from error
        except Exception as error:
            must_be_compiled(error, self._mode)
            must_have_gradients(error)
            raise GradientRaised(f"{explain_exception(error)}{self._where}") from error
        return Moved([to_numpy(o) for o in outputs], [to_numpy(move) for move in moves])

    def of_one(self, operand: Operand) -> Accumulator:
        """The same for this operand alone."""
        others = [replace(o, differentiate=o is operand) for o in self._operands]
        return Accumulator(self._function, others, self._mode)

    @property
    def _where(self) -> str:
        return "" if self._mode is Mode.EAGER else f" (in {self._mode})"

    def _run(self, constants: list[Any], tangents: list[Any]) -> tuple[list[Any], list[Any]]:

        if self._mode is Mode.EAGER:
            return self._both(constants, tangents)
        if self._traced is None:
            self._traced = as_graph(self._both, self._mode)
        outputs, moves = self._traced(constants, tangents)
        return outputs, moves

    def _both(self, constants: list[Any], tangents: list[Any]) -> tuple[list[Any], list[Any]]:
        """Outputs and moves as tensors."""
        import tensorflow as tf

        arguments = self._tape.arguments(constants)
        primals = [a for a, o in zip(arguments, self._operands, strict=True) if o.differentiate]
        with tf.autodiff.ForwardAccumulator(primals, tangents) as accumulator:
            outputs = call(self._function, arguments)
        moves = [accumulator.jvp(output) for output in outputs]
        # (In a graph that is known when it is traced, and holds for all that it runs on.)
        self.silent = all(move is None for move in moves)
        pairs = zip(outputs, moves, strict=True)
        return outputs, [tf.zeros_like(o) if move is None else move for o, move in pairs]
