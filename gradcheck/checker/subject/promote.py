"""A function that takes low precision alone, once more in double precision: its graph, promoted.

Whatever cannot be called in float64 (a closure over float32 variables or constants, a layer that
cannot be made again, a function that asserts a dtype or has an input signature) can be traced in
its own precision. That graph is rewritten and imported, with a float64 twin for each variable that
it reads. It is what the numeric derivative is taken of.

The gradient is promoted too, and not taken of the promoted function: the way back is traced as the
user's own tape records it, with whatever gradient functions it calls. So it is the user's formula
that is judged, in float64. Both are believed only if they give what the function itself gives, but
for rounding, at the point and beside it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.checker import limits, tolerances
from gradcheck.checker.numerics.rng import generator
from gradcheck.checker.numerics.vectors import changed, epsilon_of, largest
from gradcheck.checker.subject.alike import alike, gradients_alike
from gradcheck.checker.subject.operand import Captured, Operand
from gradcheck.checker.subject.private_names import Private, private
from gradcheck.checker.subject.promote_graph import lowest_dtype, rounding_of_constants
from gradcheck.checker.subject.promote_import import Twins, imported, traced
from gradcheck.checker.subject.tape import Tape
from gradcheck.checker.subject.tensors import FunctionRaised, is_differentiable, widen
from gradcheck.checker.subject.upstream import draw_upstream

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcheck.checker.subject.tape import Backward
    from gradcheck.checker.subject.tensors import Function
    from gradcheck.model import Array


@dataclass(frozen=True, slots=True, eq=False)
class Ways:
    """The graphs of a function and of its gradient."""

    forward: Any
    """Inputs to outputs."""
    back: Any
    """Inputs and upstream to those gradients that there are."""


@dataclass(frozen=True, slots=True, eq=False)
class Promoted:
    """A function and its gradient in double precision, of tensors or of variables."""

    ways: Ways
    sources: tuple[int, ...]
    """By gradient that there is: the position of its operand."""
    held: dict[int, Any]
    """By position: the twin of the variable in which the graph finds the operand's value."""
    shapes: tuple[Any, ...]
    """Of the operands: a graph takes no others."""
    constants: float
    """The unit in the last place to which some of its constants were rounded before; else zero."""

    def __call__(self, *arguments: Any) -> list[Any]:
        """The outputs, with the gradient known to whatever tape records this."""
        import tensorflow as tf

        stop_recording, record = private(Private.STOP_RECORDING), private(Private.RECORD)
        tensors = [tf.convert_to_tensor(argument) for argument in arguments]
        if tuple(tensor.shape for tensor in tensors) != self.shapes:
            raise FunctionRaised("what is traced for some shapes takes no others")

        def back(*upstream: Any) -> list[Any]:
            with stop_recording():
                found = self.ways.back(*self._given(tensors), *upstream)
            gradients: list[Any] = [None] * len(tensors)
            for position, gradient in zip(self.sources, found, strict=True):
                gradients[position] = gradient
            return gradients

        with stop_recording():
            outputs = list(self.ways.forward(*self._given(tensors)))
        record("Promoted", outputs, tensors, back)
        return outputs

    def _given(self, tensors: Sequence[Any]) -> list[Any]:
        """What the graph is given; the rest it finds in variables."""
        for position, variable in self.held.items():
            variable.assign(tensors[position])
        return [t for i, t in enumerate(tensors) if i not in self.held]


@dataclass(frozen=True, slots=True, eq=False)
class PromotedTwin:
    """The function in double precision, and the operands with the twins of their variables."""

    function: Function
    operands: tuple[Operand, ...]
    recorded: Tape | None = None
    """What has recorded its call at the point, and gone back for the upstream of a seed."""


def promoted(function: Function, operands: Sequence[Operand]) -> PromotedTwin | None:
    """The twin of a function that leaves no traces; None where it has none.

    Without it `test_a_function_of_float32_alone_is_judged_in_float64` fails.
    """
    try:
        return _promoted(function, operands)
    except Exception:  # it cannot be traced, or not in double precision, or not with its gradient
        return None


def _promoted(function: Function, operands: Sequence[Operand]) -> PromotedTwin | None:
    import tensorflow as tf

    own = [operand.value for operand in operands]
    tape = Tape(function, operands)
    upstream, at_point = passed(tape, own, seed=0)
    graph, sources = _traced(tape, operands, at_point.outputs)
    definition = graph.graph.as_graph_def()
    lower, twins, outputs = lowest_dtype(definition), Twins(), len(at_point.outputs)
    if lower is None:
        return None
    variables = {i: v for i, v in enumerate(tape.variables or ()) if v is not None}

    double = Promoted(
        ways=Ways(*imported(graph, twins, outputs)),
        sources=sources,
        held={i: twins.of_variable(v) for i, v in variables.items()},
        shapes=tuple(tf.TensorShape(value.shape) for value in own),
        constants=max(rounding_of_constants(definition), twins.rounding),
    )
    theirs = tuple(with_twin(o, double.held.get(i), lower) for i, o in enumerate(operands))
    pair = Pair(tape, Tape(double, theirs), upstream, at_point)
    is_alike = pair.is_alike(operands, lower)
    tape.hold(own)
    if not is_alike or not _repeats(tape, own, at_point):
        return None
    return PromotedTwin(double, theirs)


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """A function with its gradient, and what is to be its twin in double precision."""

    own: Tape
    double: Tape
    upstream: Sequence[Array]
    at_point: Backward
    """What the function gives at the point."""

    def is_alike(self, operands: Sequence[Operand], lower: np.dtype[Any]) -> bool:
        """Whether both give the same but for rounding to this dtype, at the point and beside it."""
        at = [operand.value for operand in operands]
        for values in (at, [beside(operand) for operand in operands]):
            mine = self.at_point if values is at else self.own(values, self.upstream)
            other = self.double([widen(value) for value in values], self.upstream)
            if not alike(mine.outputs, other.outputs, lower):
                return False
            if not gradients_alike(mine.gradients, other.gradients, lower):
                return False
        return True


def _repeats(tape: Tape, values: Sequence[Array], before: Backward) -> bool:
    """Whether the function gives the same again: a graph would, whatever Python draws.

    Without it `test_what_python_draws_is_not_frozen` fails.
    """
    for _ in range(limits.REPEATED_CALLS):
        again = record_at(tape, values)
        for first, output in zip(before.outputs, again, strict=True):
            if changed(widen(output.numpy()), widen(first)).any():
                return False
    return True


def passed(tape: Tape, values: Sequence[Array], seed: int) -> tuple[list[Array], Backward]:
    """A cotangent for the outputs, and a pass forward, unless it is recorded, and back."""
    outputs = record_at(tape, values) if tape.recorded is None else tape.recorded[1]
    shapes = [tuple(output.shape) for output in outputs]
    upstream = draw_upstream("random", shapes, [o.dtype.is_complex for o in outputs], seed)
    return upstream, tape.back(upstream)


def record_at(tape: Tape, values: Sequence[Array]) -> list[Any]:
    """A pass forward at these values; `back` of the tape goes the other way."""
    import tensorflow as tf

    tape.hold(values)
    return tape.record(tape.arguments([tf.constant(value) for value in values]))


def _traced(
    tape: Tape, operands: Sequence[Operand], outputs: Sequence[Array]
) -> tuple[Any, tuple[int, ...]]:
    """One pass forward and back as a graph, in the function's own precision.

    It takes inputs and a cotangent for each output, and gives outputs and gradients; with it come
    the positions of the operands that have gradients.

    Args:
        tape: of the function, holding values.
        operands: all of them.
        outputs: as the function gives them.
    """
    import tensorflow as tf

    variables = tape.variables or [None] * len(operands)
    given = [i for i, variable in enumerate(variables) if variable is None]
    specs = [tf.TensorSpec(operands[i].value.shape, operands[i].value.dtype) for i in given]
    cotangents = [tf.TensorSpec(output.shape, output.dtype) for output in outputs]
    sources: list[int] = []

    def both(*tensors: Any) -> list[Any]:
        inputs = dict(zip(given, tensors[: len(given)], strict=True))
        placed = [inputs.get(i) for i in range(len(operands))]
        found, gradients = tape.both(placed, list(tensors[len(given) :]))
        moved = [i for i, operand in enumerate(operands) if operand.differentiate]
        known = [(i, g) for i, g in zip(moved, gradients, strict=True) if g is not None]
        sources[:] = [i for i, _ in known]
        return [*found, *(gradient for _, gradient in known)]

    return traced(both, [*specs, *cotangents]), tuple(sources)


def with_twin(operand: Operand, twin: Any, lower: np.dtype[Any]) -> Operand:
    """The operand, with the variable that holds it in double precision."""
    value = operand.value.dtype
    if is_differentiable(value) and epsilon_of(lower) > epsilon_of(operand.precision):
        operand = replace(operand, computed_in=lower)
    if operand.captured is None:
        return operand
    return replace(operand, captured=Captured(operand.captured.own, twin))


def beside(operand: Operand) -> Array:
    """Other values nearby, inside the domain, none of them what it is at the point."""
    if not operand.differentiate:
        return operand.value
    value, rng = widen(operand.value), generator(0, 0x747769)
    share = rng.uniform(0.25, 1.0, size=value.shape) * tolerances.NEIGHBOUR_DISTANCE
    change = np.where(value == 0, largest(value) or 1.0, value) * share
    if value.dtype.kind != "c":
        change = np.clip(change, (operand.low - value) / 2, (operand.high - value) / 2)
    return np.asarray(value + change).astype(operand.value.dtype)
