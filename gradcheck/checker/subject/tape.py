"""What TensorFlow's tape says the derivative is."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from gradcheck.checker import limits
from gradcheck.checker.budget import current
from gradcheck.checker.subject.alike import passes_alike
from gradcheck.checker.subject.carry.cargo import CannotCarry
from gradcheck.checker.subject.carry.passes import passes_at
from gradcheck.checker.subject.monte_carlo import (
    Nudges,
    current_draw,
    recorded_graph,
    rounding_anew,
)
from gradcheck.checker.subject.tensors import (
    Function,
    FunctionRaised,
    call,
    explain_exception,
    to_numpy,
    where_raised,
)
from gradcheck.model import Array, Mode

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gradcheck.checker.subject.operand import Operand


class GradientRaised(Exception):  # noqa: N818  (it is not an error of ours: it becomes a verdict)
    """The forward pass went well, the gradient raised."""


@dataclass(frozen=True, eq=False)
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
        self._mode = mode
        self.variables: list[Any] | None = None
        """By operand: the variable that holds it, or None; known once there are values."""
        self._traced: Any = None
        self._drawn_at: tuple[Any, list[Backward]] = (None, [])
        """Values and upstream, and by draw: the pass there in nudged arithmetic."""
        self._going_back = False
        self._forward: _Forward | None = None

    def __call__(self, values: Sequence[Array], upstream: Sequence[Array]) -> Backward:
        """One pass forward and one back.

        Raises GradientRaised when only the way back fails, and FunctionRaised else.
        """
        import tensorflow as tf

        current().must_be_left()
        self.hold(values)
        constants = [
            tf.constant(value) if variable is None else tf.zeros([])
            for variable, value in zip(self.variables or (), values, strict=True)
        ]
        run: Any = self.both
        draw = current_draw()
        if draw is not None:
            return self._drawn(values, upstream)[draw]
        if self._mode is not Mode.EAGER:
            if self._traced is None:
                compile_ = self._mode is Mode.XLA
                self._traced = tf.function(self.both, jit_compile=compile_, autograph=False)
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
        self._forward = self._go_forward(arguments, arguments)
        return self._forward.outputs

    def record_all(self, arguments: Sequence[Any]) -> list[Any]:
        """The same, and which variables the function read that can be trained."""
        self._forward = self._go_forward(arguments, arguments, watch_all=True)
        return list(self._forward.tape.watched_variables())

    @property
    def recorded(self) -> tuple[Sequence[Any], list[Any]] | None:
        """The arguments and the outputs of a call that was recorded, until `back` has used it."""
        if self._forward is None:
            return None
        return self._forward.arguments, self._forward.outputs

    def back(self, upstream: Sequence[Array]) -> Backward:
        """The way back of what was recorded, once; raises as a call does."""
        import tensorflow as tf

        if self._forward is None:
            raise RuntimeError("nothing was recorded")
        forward, self._forward = self._forward, None
        self._going_back = True
        cotangents = [tf.constant(ct) for ct in upstream]
        return self._run(lambda: (forward.outputs, self._go_back(forward, cotangents)))

    def _run(self, run: Callable[..., Any], *arguments: Any) -> Backward:
        try:
            outputs, gradients = run(*arguments)
        except FunctionRaised:
            raise
        except Exception as error:
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
                variable.assign(value)

    def arguments(self, constants: Sequence[Any]) -> list[Any]:
        """What the function is given: these tensors, or the variables that hold their values."""
        variables = self.variables or [None] * len(constants)
        return [c if v is None else v for c, v in zip(constants, variables, strict=True)]

    def at_all(
        self, points: Sequence[Sequence[Array]], upstream: Sequence[Array]
    ) -> list[Backward]:
        """Passes at many points, carried along with one; raises where that cannot be."""
        found = passes_at(self.passed, self._operands, points, upstream)
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
        self._going_back = True
        gradients = self._go_back(forward, upstream)
        # What a traced function raises later, when it runs, may come from either way.
        self._going_back = False
        return forward.outputs, gradients

    def _go_forward(
        self, arguments: Sequence[Any], given: Sequence[Any], *, watch_all: bool = False
    ) -> _Forward:
        import tensorflow as tf

        sources = [s for s, o in zip(given, self._operands, strict=True) if o.differentiate]
        with tf.GradientTape(watch_accessed_variables=watch_all) as tape:
            tape.watch(sources)
            outputs = call(self._function, arguments)
        return _Forward(tape, sources, outputs, arguments)

    def _go_back(self, forward: _Forward, upstream: Sequence[Any]) -> list[Any]:
        # (A function may have to be called in a way that its gradient has to be, too.)
        going_back = getattr(self._function, "going_back", None)
        with nullcontext() if going_back is None else going_back(forward.arguments):
            return _go_back(forward, upstream)


class _Forward(NamedTuple):
    """A pass forward that was recorded."""

    tape: Any
    sources: list[Any]
    outputs: list[Any]
    arguments: Sequence[Any]


def _traced(function: Callable[..., Any], *arguments: Any) -> Any:
    """The function as a graph for arguments like these."""
    import tensorflow as tf

    # (Called as a tf.function it would count as one that is traced too often, and TensorFlow warn.)
    return tf.function(function, autograph=False).get_concrete_function(*arguments)


def _go_back(forward: _Forward, upstream: Sequence[Any]) -> list[Any]:
    import tensorflow as tf

    cotangents = [
        ct if ct.dtype == output.dtype else tf.cast(ct, output.dtype)
        for ct, output in zip(upstream, forward.outputs, strict=True)
    ]
    return [_dense(gradient) for gradient in _gradients(forward, cotangents)]


def _gradients(forward: _Forward, cotangents: list[Any]) -> Sequence[Any]:
    """What the tape has to say.

    `tape.gradient` spends more time on structures, of which there are none here, than most
    gradients take: where it can be, what it calls is called.
    """
    import tensorflow as tf
    from tensorflow.python.eager import imperative_grad

    recorded = getattr(forward.tape, "_tape", None)
    plain = all(isinstance(each, tf.Tensor) for each in (*forward.outputs, *forward.sources))
    if recorded is None or not plain or not tf.executing_eagerly():
        given: Sequence[Any] = forward.tape.gradient(
            forward.outputs, forward.sources, output_gradients=cotangents
        )
        return given
    found: Sequence[Any] = imperative_grad.imperative_grad(
        recorded, forward.outputs, forward.sources, output_gradients=cotangents
    )
    return found


def _dense(gradient: Any) -> Any:
    """A gradient as one tensor: the tape may give slices that stand for one."""
    import tensorflow as tf

    if gradient is None or isinstance(gradient, tf.Tensor):
        return gradient
    return tf.convert_to_tensor(gradient)
