"""What TensorFlow's tape says the derivative is."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.checker import limits
from gradcheck.checker.budget import current
from gradcheck.checker.subject.alike import passes_alike
from gradcheck.checker.subject.as_graph import as_graph
from gradcheck.checker.subject.assign import assign
from gradcheck.checker.subject.carry.cargo import CannotCarry
from gradcheck.checker.subject.carry.passes import passes_at
from gradcheck.checker.subject.ended import Ended
from gradcheck.checker.subject.left_by_calls import Left, as_left, noted
from gradcheck.checker.subject.monte_carlo import (
    Nudges,
    current_draw,
    recorded_graph,
    rounding_anew,
)
from gradcheck.checker.subject.other_outputs import must_be_like
from gradcheck.checker.subject.refusals import must_be_compiled, must_have_gradients
from gradcheck.checker.subject.stacked_passes import stacked_passes
from gradcheck.checker.subject.tensors import (
    Function,
    FunctionRaised,
    call,
    explain_exception,
    to_numpy,
    where_raised,
)
from gradcheck.checker.subject.watched_gradients import going_back, is_watched
from gradcheck.checker.subject.way_back import Forward, as_cotangents, go_back, watch
from gradcheck.model import Array, Mode
from gradcheck.model.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gradcheck.checker.subject.operand import Operand
    from gradcheck.checker.subject.stacking import Stacking
    from gradcheck.model.called_gradients import GradientCall


class GradientRaised(Exception):  # noqa: N818  (it is not an error of ours: it becomes a verdict)
    """The forward pass went well, the gradient raised."""


@frozen()
class Backward:
    """Outputs, and a gradient (or None) for each operand that is differentiated."""

    outputs: list[Array]
    gradients: list[Array | None]


class Tape:
    """A function whose gradients are wanted at several points; traced once where it is traced."""

    def __init__(
        self, function: Function, operands: Sequence[Operand], mode: Mode = Mode.EAGER
    ) -> None:
        """Nothing runs yet."""
        self._function = function
        self._operands = operands
        self.mode = mode
        self.variables: list[Any] | None = None
        """By operand: the variable that holds it, or None; known once there are values."""
        self._traced: Any = None
        self._drawn_at: tuple[Any, list[Backward]] = (None, [])
        """Values and upstream, and by draw: the pass there in nudged arithmetic."""
        self._going_back = False
        self._forward: Forward | None = None
        self._gone_back: tuple[Sequence[Array], Backward] | None = None
        self.called: set[GradientCall] = set()
        """The registered gradient functions that were called on the way back, if anybody asked."""

    def __call__(self, values: Sequence[Array], upstream: Sequence[Array]) -> Backward:
        """One pass forward and one back.

        Raises GradientRaised when only the way back fails, and FunctionRaised else.
        """
        import tensorflow as tf

        current().must_be_left()
        self.hold(values)
        constants = [
            tf.constant(value if variable is None else np.zeros(()))
            for variable, value in zip(self.variables or (), values, strict=True)
        ]
        run: Any = self.both
        draw = current_draw()
        if draw is not None:
            return self._drawn(values, upstream)[draw]
        if self.mode is not Mode.EAGER:
            if self._traced is None:
                self._traced = as_graph(self.both, self.mode)
            run = self._traced
        self._going_back = False
        return self._run(run, constants, [tf.constant(ct) for ct in upstream])

    def results(
        self, values: Sequence[Array], upstream: Sequence[Array]
    ) -> list[tuple[str, Array]]:
        """Every result that is rounded on the way forward and back, with the kind of its op."""
        import tensorflow as tf

        kinds: list[str] = []

        def run(constants: list[Any], cotangents: list[Any]) -> list[Any]:
            with recorded_graph() as results:
                self.both(constants, cotangents)
            kinds[:] = [kind for kind, _ in results]
            return [tensor for _, tensor in results]

        self.hold(values)
        constants = [tf.constant(value) for value in values]
        arguments = (constants, [tf.constant(ct) for ct in upstream])
        tensors = _traced(run, *arguments)(*arguments)
        return [(k, to_numpy(tensor)) for k, tensor in zip(kinds, tensors, strict=True)]

    def record(self, arguments: Sequence[Any]) -> list[Any]:
        """A pass forward on tensors and variables; `back` goes the other way."""
        self._forward, self._gone_back = self._go_forward(arguments, arguments), None
        return self._forward.outputs

    def record_all(self, arguments: Sequence[Any]) -> list[Any]:
        """The same, and which variables the function read that can be trained."""
        self._forward = self._go_forward(arguments, arguments, watch_all=True)
        return list(self._forward.tape.watched_variables())

    def lifted(
        self, function: Function, operands: Sequence[Operand], variables: Sequence[Any]
    ) -> Tape:
        """What was recorded here, as a record of a function that takes these variables too.

        Without it `test_a_layer_is_called_no_more_than_it_takes` fails.
        """
        tape = Tape(function, operands)
        if self._forward is not None:
            tape._forward = self._forward._replace(
                sources=[*self._forward.sources, *variables],
                arguments=[*self._forward.arguments, *variables],
            )
        return tape

    def note(self, left: Left) -> None:
        """Know what the call that was recorded left."""
        if self._forward is not None:
            self._forward = self._forward._replace(left=[left])

    @property
    def recorded(self) -> tuple[Sequence[Any], list[Any]] | None:
        """The arguments and the outputs of the call that was recorded, if one was."""
        if self._forward is None:
            return None
        return self._forward.arguments, self._forward.outputs

    def back(self, upstream: Sequence[Array]) -> Backward:
        """The way back of what was recorded, for one upstream alone; raises as a call does."""
        if self._gone_back is not None:
            given, found = self._gone_back
            if not all(map(np.array_equal, given, upstream)):
                raise RuntimeError("what was recorded went back for another upstream")
            return found
        if self._forward is None:
            raise RuntimeError("nothing was recorded")
        forward, self._forward = self._forward, None
        self._going_back = True
        cotangents = as_cotangents(upstream, forward.outputs)
        found = self._run(lambda: (forward.outputs, self._go_back(forward, cotangents)))
        self._forward, self._gone_back = forward, (upstream, found)
        return found

    def _run(self, run: Callable[..., Any], *arguments: Any) -> Backward:
        try:
            outputs, gradients = run(*arguments)
        except (FunctionRaised, Ended):
            raise
        except Exception as error:
            must_be_compiled(error, self.mode)
            must_have_gradients(error)
            told = explain_exception(error) + where_raised(error)
            if self._going_back:
                raise GradientRaised(told) from error
            raise FunctionRaised(told) from error
        return Backward(
            [output.numpy() for output in outputs],
            [None if g is None else g.numpy() for g in gradients],
        )

    def hold(self, values: Sequence[Array]) -> None:
        """Give the variables in which the function finds operands these values."""
        if self.variables is None:
            self.variables = [
                operand.hold(value) if operand.is_held else None
                for operand, value in zip(self._operands, values, strict=True)
            ]
            return
        for variable, value in zip(self.variables, values, strict=True):
            if variable is not None:
                assign(variable, value)

    def arguments(self, constants: Sequence[Any]) -> list[Any]:
        """What the function is given: these tensors, or the variables that hold their values."""
        variables = self.variables or [None] * len(constants)
        return [c if v is None else v for c, v in zip(constants, variables, strict=True)]

    def at_all(
        self,
        points: Sequence[Sequence[Array]],
        upstream: Sequence[Array],
        stacking: Stacking | None = None,
    ) -> list[Backward]:
        """Passes at many points, along a leading axis if one is given, else carried along with one.

        Raises where that cannot be.
        """
        given = self.passed, self._operands, points, upstream
        found = passes_at(*given) if stacking is None else stacked_passes(*given, stacking)
        return [Backward(*each) for each in found]

    def _drawn(self, values: Sequence[Array], upstream: Sequence[Array]) -> list[Backward]:
        """By draw: a pass in nudged arithmetic, all of them carried along with one that is not.

        Raises CannotCarry where that one is not what the tape says else: a graph may have gradients
        of its own.
        """
        key = tuple((array.dtype.name, array.tobytes()) for array in (*values, *upstream))
        if self._drawn_at[0] != key:
            points = [values] * (1 + limits.ROUNDING_DRAWS)
            found = passes_at(self.passed, self._operands, points, upstream, Nudges(0))
            plain, *passes = (Backward(*each) for each in found)
            drawn = [each.gradients for each in passes]
            with rounding_anew(None):
                alone = self(values, upstream)
            if not passes_alike(plain.gradients, alone.gradients, drawn):
                raise CannotCarry("gradients that are others in a graph")
            self._drawn_at = key, passes
        return self._drawn_at[1]

    def both(self, constants: list[Any], upstream: list[Any]) -> tuple[list[Any], list[Any]]:
        """Outputs and gradients as tensors, for whoever traces this, once the values are held."""
        return self.passed(self.arguments(constants), upstream)

    def passed(
        self, arguments: list[Any], upstream: list[Any], sources: Sequence[Any] | None = None
    ) -> tuple[list[Any], list[Any]]:
        """Outputs and gradients of what the function is given, as tensors.

        Args:
            arguments: what it is given.
            upstream: the cotangent.
            sources: what is differentiated, by argument, where that is not the argument itself.
        """
        forward = self._go_forward(arguments, sources or arguments)
        if self.mode is not Mode.EAGER:
            must_be_like(upstream, forward.outputs, str(self.mode))
        self._going_back = True
        gradients = self._go_back(forward, upstream)
        # What a traced function raises later, when it runs, may come from either way.
        self._going_back = False
        return forward.outputs, gradients

    def _go_forward(
        self, arguments: Sequence[Any], given: Sequence[Any], *, watch_all: bool = False
    ) -> Forward:
        import tensorflow as tf

        sources = [s for s, o in zip(given, self._operands, strict=True) if o.differentiate]
        with tf.GradientTape(watch_accessed_variables=watch_all) as tape:
            watch(tape, sources)
            with noted() as left:
                outputs = call(self._function, arguments)
        return Forward(tape, sources, outputs, arguments, left)

    def _go_back(self, forward: Forward, upstream: Sequence[Any]) -> list[Any]:
        # (A function may have to be called in a way that its gradient has to be, too.)
        prepared = getattr(self._function, "going_back", None)
        within = nullcontext() if prepared is None else prepared(forward.arguments)
        if not (forward.left or is_watched()):
            with within:
                return go_back(forward, upstream)
        # (As calls left it is put in place first: it is what they left behind.)
        with as_left(forward.left), within, going_back(self.called):
            return go_back(forward, upstream)


def _traced(function: Callable[..., Any], *arguments: Any) -> Any:
    """The function as a graph for arguments like these."""
    import tensorflow as tf

    # (Called as a tf.function it would count as one that is traced too often, and TensorFlow warn.)
    return tf.function(function, autograph=False).get_concrete_function(*arguments)
