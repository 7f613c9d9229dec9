"""Ops that no declaration describes, as steps that stay closed: a symbol for each Jacobian.

Of a complex op the real and the imaginary part are steps of their own, and so are their Jacobians.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from gradcheck.checker.subject.private_names import Absent, Private, private
from gradcheck.explainer import trees
from gradcheck.explainer.traced.opaque_steps import Jacobian, key_of, opaque_step, part_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gradcheck.explainer.derive.read_graph import Reader
    from gradcheck.explainer.traced.complex_steps import ComplexSteps
    from gradcheck.explainer.traced.ran_ops import Ran
    from gradcheck.model import Array, Shape

__all__ = ["ClosedSteps", "TooLarge", "is_float"]

LARGEST_JACOBIAN = 20_000
"""Elements of a Jacobian that stands on a page as a symbol: its value is computed for a proof."""
PARTS = ("real", "imag")


class TooLarge(Exception):  # noqa: N818  (an answer: the ops are listed)
    """There is too much of it for a page; the text says of what."""


class _Page(Protocol):
    reader: Reader

    @property
    def values(self) -> Mapping[int, ast.expr]:
        """By id of a real tensor that depends on the inputs: how it is written."""

    def add(self, symbol: str, shape: Shape, told: str) -> None:
        """A name that stands for an array beside the inputs."""

    def fresh(self, letter: str) -> str:
        """A name that nothing has."""

    def x(self, tensor: Any, *, typed: bool = True) -> str:
        """A real tensor as it is written."""


class ClosedSteps:
    """The steps that were closed, and those values through which nothing comes back."""

    def __init__(self, page: _Page, complex_: ComplexSteps) -> None:
        self.page, self.complex = page, complex_
        self.jacobians: list[Jacobian] = []
        self.held: dict[str, Array] = {}

    def step(self, ran: Ran, place: int, half: int | None = None) -> ast.expr:
        """A symbol for what an op gives, and one for each of its Jacobians.

        Args:
            ran: the op.
            place: which of its outputs.
            half: of a complex output, whether it is the real or the imaginary part.
        """
        reader, out = self.page.reader, ran.outputs[place]
        given = self._given(ran)
        moving = is_float(out) or half is not None
        name = f"{reader.prefix}{len(reader.steps) + 1}"
        found = [
            Jacobian("", ran, place, i, name, ast.unparse(operand), half, of)
            for (i, of), operand in given.items()
        ]
        if not moving or not found or _is_flat(ran.kind) or all(j.is_nothing() for j in found):
            return self._hold(ran, out, half)
        found = [self._with_symbol(each) for each in found]
        self.jacobians += found
        operands = {key_of(*key): operand for key, operand in given.items()}
        step = opaque_step(name, ran, place, operands, found, self._shown(ran, half))
        reader.steps.append(step)
        reader.shapes[name] = step.shape
        return ast.Name(name)

    def _with_symbol(self, jacobian: Jacobian) -> Jacobian:
        named = jacobian.called(self.page.fresh("J"))
        if int(np.prod(named.shape)) > LARGEST_JACOBIAN:
            raise TooLarge(f"the Jacobian of {named.ran.kind} has {named.shape} elements")
        self.page.add(named.symbol, named.shape, f"{named.title}: no rule here")
        return named

    def _given(self, ran: Ran) -> dict[tuple[int, int | None], ast.expr]:
        """What the op is given that has a gradient: by place, and by part if it is complex."""
        found: dict[tuple[int, int | None], ast.expr | None] = {}
        for i, tensor in enumerate(ran.inputs):
            if tensor in self.complex:
                found |= {(i, h): x for h, x in enumerate(self.complex.pairs[id(tensor)])}
            elif is_float(tensor):
                found[i, None] = self.page.values.get(id(tensor))
        return {
            key: x for key, x in found.items() if isinstance(x, ast.Name) and x.id not in self.held
        }

    def _hold(self, ran: Ran, out: Any, half: int | None) -> ast.expr:
        shown = ast.unparse(self._shown(ran, half))
        value = part_of(np.asarray(out.numpy()), half)
        return ast.Name(self.hold(value, f"{shown}: no gradient goes through it"))

    def hold(self, value: Array, told: str) -> str:
        """A name for a number that no gradient goes through."""
        symbol = self.page.fresh("k")
        self.held[symbol] = value
        self.page.add(symbol, value.shape, told)
        return symbol

    def _shown(self, ran: Ran, half: int | None) -> ast.expr:
        shown = ast.Call(ast.Name(ran.kind), [self._written(each) for each in ran.inputs], [])
        return shown if half is None else trees.call(PARTS[half], shown)

    def _written(self, tensor: Any) -> ast.expr:
        if tensor not in self.complex:
            return ast.Name(self.page.x(tensor, typed=False))
        halves = (x or ast.Constant(0) for x in self.complex.pairs[id(tensor)])
        return trees.call("complex", *halves)


def is_float(tensor: Any) -> bool:
    """Whether it holds real numbers that are not whole."""
    return bool(tensor.dtype.is_floating)


def _is_flat(kind: str) -> bool:
    """Whether TensorFlow registers the op as one that no gradient goes through."""
    try:
        return private(Private.REGISTRY).lookup(kind) is None
    except (Absent, LookupError):
        return False
