"""What TensorFlow says the derivative is: the tape, and the forward accumulator."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gradcheck.checker.numerics.rng import generator
from gradcheck.checker.subject.monte_carlo import current_draw, nudged_graph, recorded_graph
from gradcheck.checker.subject.tensors import (
    Function,
    FunctionRaised,
    call,
    explain_exception,
    to_numpy,
    where_raised,
)
from gradcheck.errors import UsageError
from gradcheck.model import Array, Mode, Shape, Upstream

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


def draw_upstream(
    upstream: Upstream, shapes: Sequence[Shape], complex_: Sequence[bool], seed: int
) -> list[Array]:
    """The cotangent of each output, in double precision.

    Drawn ones are signed and keep away from zero, so that no output counts for nothing; they are
    multiples of 1/64, so that every precision represents them exactly.
    """
    if isinstance(upstream, tuple):
        if len(upstream) != len(shapes):
            raise UsageError(
                f"`upstream` has {len(upstream)} arrays, but the function has "
                f"{len(shapes)} floating-point outputs"
            )
        for given, shape in zip(upstream, shapes, strict=True):
            if given.shape != shape:
                raise UsageError(
                    f"`upstream` has shape {list(given.shape)}, but the output it belongs to has "
                    f"shape {list(shape)}"
                )
        return [np.asarray(given) for given in upstream]
    if upstream == "ones":
        return [np.ones(shape) for shape in shapes]
    rng = generator(seed, 0x6374)

    def draw(shape: Shape) -> Array:
        size = np.array(rng.integers(32, 97, size=shape) / 64)
        return np.asarray(size * (2.0 * rng.integers(0, 2, size=shape) - 1.0))

    return [
        draw(shape) + 1j * draw(shape) if is_complex else draw(shape)
        for shape, is_complex in zip(shapes, complex_, strict=True)
    ]


class Tape:
    """A function whose gradients are wanted at several points; traced once where it is traced."""

    def __init__(
        self, function: Function, operands: Sequence[Operand], mode: Mode = Mode.EAGER
    ) -> None:
        """Nothing runs yet."""
        self._function = function
        self._operands = operands
        self._mode = mode
        self._variables: list[Any] | None = None
        self._traced: Any = None
        self._nudged: dict[tuple[str, ...], Any] = {}
        """By the dtypes of the operands."""
        self._going_back = False
        self._forward: _Forward | None = None

    def __call__(self, values: Sequence[Array], upstream: Sequence[Array]) -> Backward:
        """One pass forward and one back.

        Raises GradientRaised when only the way back fails, and FunctionRaised else.
        """
        import tensorflow as tf

        self._set_variables(values)
        constants = [
            tf.constant(value) if variable is None else tf.zeros([])
            for variable, value in zip(self._variables or (), values, strict=True)
        ]
        run: Any = self._both
        draw = current_draw()
        if draw is not None:
            run = partial(self._run_nudged, tf.constant([draw, 0]))
        elif self._mode is not Mode.EAGER:
            if self._traced is None:
                compile_ = self._mode is Mode.XLA
                self._traced = tf.function(self._both, jit_compile=compile_, autograph=False)
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
                self._both(constants, cotangents)
            kinds[:] = [kind for kind, _ in results]
            return [tensor for _, tensor in results]

        self._set_variables(values)
        constants = [tf.constant(value) for value in values]
        arguments = (constants, [tf.constant(ct) for ct in upstream])
        tensors = _traced(run, *arguments)(*arguments)
        return [(k, to_numpy(tensor)) for k, tensor in zip(kinds, tensors, strict=True)]

    def record(self, arguments: Sequence[Any]) -> list[Any]:
        """A pass forward on tensors and variables; `back` goes the other way."""
        self._forward = self._go_forward(arguments)
        return self._forward.outputs

    def back(self, upstream: Sequence[Array]) -> Backward:
        """The way back of what was recorded, once; raises as a call does."""
        import tensorflow as tf

        if self._forward is None:
            raise RuntimeError("nothing was recorded")
        forward, self._forward = self._forward, None
        self._going_back = True
        cotangents = [tf.constant(ct) for ct in upstream]
        return self._run(lambda: (forward.outputs, _go_back(forward, cotangents)))

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

    def _set_variables(self, values: Sequence[Array]) -> None:
        if self._variables is None:
            self._variables = [
                operand.hold(value) if operand.is_held else None
                for operand, value in zip(self._operands, values, strict=True)
            ]
            return
        for variable, value in zip(self._variables, values, strict=True):
            if variable is not None:
                variable.assign(value)

    def _both(self, constants: list[Any], upstream: list[Any]) -> tuple[list[Any], list[Any]]:
        variables = self._variables or [None] * len(constants)
        arguments = [c if v is None else v for c, v in zip(constants, variables, strict=True)]
        forward = self._go_forward(arguments)
        self._going_back = True
        gradients = _go_back(forward, upstream)
        # What a traced function raises later, when it runs, may come from either way.
        self._going_back = False
        return forward.outputs, gradients

    def _run_nudged(
        self, seed: Any, constants: list[Any], upstream: list[Any]
    ) -> tuple[list[Any], list[Any]]:
        def both(seed: Any, constants: list[Any], upstream: list[Any]) -> Any:
            with nudged_graph(seed):
                return self._both(constants, upstream)

        kind = tuple(constant.dtype.name for constant in constants)
        if kind not in self._nudged:
            self._nudged[kind] = _traced(both, seed, constants, upstream)
        outputs, gradients = self._nudged[kind](seed, constants, upstream)
        return outputs, gradients

    def _go_forward(self, arguments: Sequence[Any]) -> _Forward:
        import tensorflow as tf

        sources = [a for a, o in zip(arguments, self._operands, strict=True) if o.differentiate]
        with tf.GradientTape(watch_accessed_variables=False) as tape:
            tape.watch(sources)
            outputs = call(self._function, arguments)
        return _Forward(tape, sources, outputs)


class _Forward(NamedTuple):
    """A pass forward that was recorded."""

    tape: Any
    sources: list[Any]
    outputs: list[Any]


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
    # Most functions have one output, many one input: TensorFlow takes a tensor in place of a list,
    # without the cost of walking through structures.
    outputs, given, sources = (
        items[0] if len(items) == 1 else items
        for items in (forward.outputs, cotangents, forward.sources)
    )
    gradients = forward.tape.gradient(outputs, sources, output_gradients=given)
    if len(forward.sources) == 1:
        gradients = [gradients]
    return [_dense(gradient) for gradient in gradients]


def _dense(gradient: Any) -> Any:
    """A gradient as one tensor: the tape may give slices that stand for one."""
    import tensorflow as tf

    if gradient is None or isinstance(gradient, tf.Tensor):
        return gradient
    return tf.convert_to_tensor(gradient)


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
