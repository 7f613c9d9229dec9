"""An op without a rule as a step of its own: its Jacobian stays a symbol, and has a value.

The Jacobian J[out, in] is an array of the page like any other, so that the chain rule goes through
it by one sum. Its value is what the tape gives for that op alone.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.checker.subject.tensors import explain_exception
from gradcheck.errors import UsageError
from gradcheck.explainer import trees
from gradcheck.explainer.derive.call_graph import Step
from gradcheck.explainer.style import UNICODE
from gradcheck.explainer.traced.single_op import run_op
from gradcheck.ops.declaration import Call, Op, Parameter

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from gradcheck.explainer.traced.ran_ops import Ran
    from gradcheck.model import Array, Shape

__all__ = ["Jacobian", "OpaqueStep", "key_of", "opaque_step", "part_of"]

_LETTERS = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True)
class OpaqueStep(Step):
    """A step that the page cannot look into: its value is a symbol."""

    shown_as: ast.expr = field(default_factory=lambda: ast.Name("?"))
    changes: Mapping[str, str] = field(default_factory=dict)
    """By input: J times the change `d` of it, as text."""

    @property
    def forward(self) -> ast.expr:
        """Its own name: nothing else is known of it."""
        return ast.Name(self.name)

    @property
    def shown(self) -> ast.expr:
        """The op, as a function of what it is given."""
        return self.shown_as

    @property
    def through(self) -> Callable[[str, ast.expr], ast.expr] | None:
        """J times the change."""
        return lambda name, change: trees.substitute(trees.read(self.changes[name]), {"d": change})


@dataclass(frozen=True, eq=False)
class Jacobian:
    """The derivative of one output of an op by one of its inputs, which the tape knows."""

    symbol: str
    ran: Ran
    output: int
    given: int
    of: str
    by: str
    """The names of the output and the input on the page."""
    out_half: int | None = None
    given_half: int | None = None
    """Of complex numbers: whether it is the real (0) or the imaginary part (1) of each."""

    @property
    def key(self) -> str:
        """The input, as the step calls it."""
        return key_of(self.given, self.given_half)

    @property
    def title(self) -> str:
        """∂v₂/∂x."""
        return f"∂{UNICODE.symbol(self.of)}/∂{UNICODE.symbol(self.by)}"

    @property
    def shape(self) -> Shape:
        """That of the output, then that of the input."""
        return (*self.ran.outputs[self.output].shape, *self.ran.inputs[self.given].shape)

    def called(self, symbol: str) -> Jacobian:
        """The same with a name."""
        return replace(self, symbol=symbol)

    @property
    def gives(self) -> Array:
        """What the op gave there."""
        return part_of(np.asarray(self.ran.outputs[self.output].numpy()), self.out_half)

    def value(self) -> Array:
        """What the tape gives at the point; UsageError where it has nothing to give."""
        try:
            tape, out, watched = self._taped()
            found = tape.jacobian(out, watched, experimental_use_pfor=False)
        except LookupError as error:
            raise UsageError(f"TensorFlow has no gradient for {self.ran.kind}: {error}") from error
        except UsageError:
            raise
        except Exception as error:  # it needs more than its inputs: a state, a function in Python
            raise UsageError(
                f"{self.ran.kind} cannot be run by itself, so that {self.title} has no value to "
                f"prove formulas with: {explain_exception(error)}"
            ) from error
        return np.zeros(self.shape) if found is None else np.asarray(found)

    def is_nothing(self) -> bool:
        """Whether the gradient that is registered gives nothing back: of a step, as of rounding."""
        try:
            tape, out, watched = self._taped()
            return tape.gradient(out, watched) is None
        except Exception:  # no gradient is registered, or the op cannot be called by itself
            return False

    def _taped(self) -> tuple[Any, Any, Any]:
        """A tape around the op alone, its output and the input that is watched."""
        import tensorflow as tf

        ran = self.ran
        with tf.GradientTape(persistent=True) as tape:
            given = ran.inputs[self.given]
            halves = (
                [given] if self.given_half is None else [tf.math.real(given), tf.math.imag(given)]
            )
            watched = tf.identity(halves[self.given_half or 0])
            tape.watch(watched)
            halves[self.given_half or 0] = watched
            moved = watched if self.given_half is None else tf.complex(*halves)
            inputs = [moved if i == self.given else x for i, x in enumerate(ran.inputs)]
            out = run_op(ran.kind, inputs, ran.attributes)[self.output]
            if self.out_half is not None:
                out = (tf.math.real, tf.math.imag)[self.out_half](out)
            return tape, out, watched


def opaque_step(
    name: str,
    ran: Ran,
    output: int,
    operands: Mapping[str, ast.expr],
    jacobians: Sequence[Jacobian],
    shown: ast.expr,
) -> OpaqueStep:
    """The step of one output, with a sum over J for each input that has a gradient.

    Args:
        name: of the step.
        ran: the op.
        output: which of its outputs.
        operands: by key, the inputs that have a gradient.
        jacobians: one for each of these.
        shown: how the page writes it.
    """
    shape = tuple(ran.outputs[output].shape)
    formulas = {j.key: _through(j.symbol, len(shape), len(j.shape) - len(shape)) for j in jacobians}
    op = Op(
        name=ran.kind,
        tf=f"tf.raw_ops.{ran.kind}",
        family="traced",
        summary="no rule",
        inputs=tuple(Parameter(key) for key in operands),
        formula=formulas,
        shape=lambda _: shape,
        pitfalls=(),
        related=(),
    )
    shapes = {j.key: tuple(ran.inputs[j.given].shape) for j in jacobians}
    changes = {j.key: _along(j.symbol, len(shape), len(j.shape)) for j in jacobians}
    return OpaqueStep(name, op, Call(shapes, {}), operands, shape, shown_as=shown, changes=changes)


def key_of(given: int, half: int | None = None) -> str:
    """What an op without a rule calls an input, or a part of a complex one."""
    return f"p{given}" if half is None else f"p{given}_{half}"


def part_of(value: Array, half: int | None) -> Array:
    """The real (0) or the imaginary part (1); all of a real one."""
    return value if half is None else (value.imag if half else value.real)


def _along(symbol: str, out: int, whole: int) -> str:
    """`Σ J[out, in]·d[in]`, as an einsum."""
    letters = _LETTERS[:whole]
    return f"einsum('{letters},{letters[out:]}->{letters[:out]}', {symbol}, d)"


def _through(symbol: str, out: int, own: int) -> str:
    """`Σ G[out]·J[out, in]`, as an einsum."""
    before, behind = _LETTERS[:out], _LETTERS[out : out + own]
    return f"einsum('{before},{before}{behind}->{behind}', G, {symbol})"
