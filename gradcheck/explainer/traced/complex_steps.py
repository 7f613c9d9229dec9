"""Complex numbers that a function computes with on its way, each as two real steps of the page."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from gradcheck.explainer.traced.complex_rules import pair_of_op

if TYPE_CHECKING:
    from gradcheck.explainer.traced.op_given import Given
    from gradcheck.explainer.traced.pair_texts import Half, Pair
    from gradcheck.explainer.traced.ran_ops import Ran
    from gradcheck.model import Array, Shape

__all__ = ["ComplexSteps", "Written", "has_complex"]


class Written(Protocol):
    """What the steps of a page are written with."""

    def given(self, ran: Ran) -> Given:
        """An op, for rules."""

    def read(self, text: str, shape: Shape) -> ast.expr:
        """The steps of a text; NoRule where it has another shape."""

    def constant(self, value: Array, *, typed: bool = True, told: str = "", code: str = "") -> str:
        """An array as it is written: its numbers, or its name."""


def has_complex(ran: Ran) -> bool:
    """Whether an op takes complex numbers or gives them."""
    return any(tensor.dtype.is_complex for tensor in (*ran.inputs, *ran.outputs))


class ComplexSteps:
    """The complex tensors that depend on the inputs, and their two parts."""

    def __init__(self, page: Written) -> None:
        self.page = page
        self.pairs: dict[int, tuple[ast.expr | None, ast.expr | None]] = {}

    def __contains__(self, tensor: Any) -> bool:
        return id(tensor) in self.pairs

    def add(self, ran: Ran, place: int) -> ast.expr | None:
        """Write the steps of one output; what is real is given back. NoRule where none are known.

        Args:
            ran: the op.
            place: which of its outputs.
        """
        out = ran.outputs[place]
        pair = pair_of_op(ran.kind, _Pairs(self, ran, self.page.given(ran)), place)
        shape = tuple(out.shape)
        real, imaginary = (None if h is None else self.page.read(h, shape) for h in pair)
        if not out.dtype.is_complex:
            return real or self.page.read(f"tf.zeros({list(shape)}, G.dtype)", shape)
        self.pairs[id(out)] = real, imaginary
        return None

    def same(self, given: Any, out: Any) -> None:
        """What an op passes on as it is."""
        self.pairs[id(out)] = self.pairs[id(given)]

    def pair(self, tensor: Any, real: str) -> Pair:
        """The two parts of a tensor; of a real one that is itself.

        Args:
            tensor: a real or a complex one.
            real: how it is written where it is real.
        """
        if not tensor.dtype.is_complex:
            return real, None
        if id(tensor) in self.pairs:
            a, b = (None if x is None else ast.unparse(x) for x in self.pairs[id(tensor)])
            return a, b
        value = np.asarray(tensor.numpy())
        return self._constant(value.real), self._constant(value.imag)

    def _constant(self, value: Array) -> Half:
        return self.page.constant(value) if np.any(value) else None


@dataclass(frozen=True, slots=True, eq=False)
class _Pairs:
    """An op for the rules of complex numbers."""

    steps: ComplexSteps
    ran: Ran
    given: Given

    @property
    def count(self) -> int:
        """How many inputs it has."""
        return self.given.count

    def x(self, place: int) -> str:
        """A real input."""
        return self.given.x(place)

    def plain(self, place: int) -> Any:
        """An input's value."""
        return self.given.plain(place)

    def shape(self, place: int) -> Shape:
        """The shape of an input."""
        return self.given.shape(place)

    def out_shape(self, place: int) -> Shape:
        """The shape of an output."""
        return self.given.out_shape(place)

    def attribute(self, name: str, default: Any = None) -> Any:
        """An attribute of the op."""
        return self.given.attribute(name, default)

    def moves(self, place: int) -> bool:
        """Whether an input depends on those of the function."""
        return bool(self.given.moves(place))

    def value(self, place: int) -> Array:
        """What it was given."""
        return np.asarray(self.ran.inputs[place].numpy())

    def is_complex(self, place: int) -> bool:
        """Whether an input is complex."""
        return bool(self.ran.inputs[place].dtype.is_complex)

    def pair(self, place: int) -> Pair:
        """The real and the imaginary part of an input."""
        real = "" if self.is_complex(place) else self.given.x(place)
        return self.steps.pair(self.ran.inputs[place], real)

    def constant(self, value: Array, told: str, code: str = "") -> str:
        """The name of an array that stands still, what it is, and what makes it."""
        return self.steps.page.constant(value, told=told, code=code)
