"""Arrays by their elements: give indices, get the expression of that element."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np

from gradcheck.explainer.calculus.einstein import (
    Apply,
    Array,
    Delta,
    Grid,
    Node,
    NotDerivable,
    Number,
    Product,
    Sum,
    Tensor,
)
from gradcheck.ops.language.vocabulary import FUNCTIONS

if TYPE_CHECKING:
    from gradcheck.explainer.calculus.indices import Index, Space
    from gradcheck.model import Shape

__all__ = [
    "At",
    "Rule",
    "Translator",
    "Value",
    "as_value",
    "elementwise",
    "filled",
    "opaque",
    "plus",
    "tensor",
    "times",
]

MOST_CONSTANTS = 64
"""A constant array with more elements than this would not be read."""

At: TypeAlias = Callable[[tuple["Index", ...]], Node]


@dataclass(frozen=True)
class Value:
    """An array, its shape and the expression of each element."""

    shape: Shape
    at: At

    def fitted(self, indices: tuple[Index, ...]) -> Node:
        """The element that broadcasting puts at these indices of a larger array."""
        own = indices[len(indices) - len(self.shape) :]
        return self.at(tuple(0 if n == 1 else i for n, i in zip(self.shape, own, strict=True)))


class Translator(Protocol):
    """What a rule may ask of the translation that applies it."""

    space: Space

    def call(self, name: str, args: list[Any]) -> Any:
        """What a function of the language gives for values that are translated already."""


Rule: TypeAlias = Callable[..., Any]
"""A function of the language: from the translator and the arguments to the value."""


def tensor(name: str, shape: Shape) -> Value:
    """A named array."""
    return Value(shape, lambda indices: Tensor(name, indices))


def as_value(found: Any) -> Value:
    """A plain value as an array; whole numbers and fractions stay exact."""
    if isinstance(found, Value):
        return found
    if isinstance(found, bool | int | float | np.integer | np.floating | Fraction):
        number = _exact(found)
        return Value((), lambda _: number)
    array = np.asarray(found)
    if array.dtype.kind not in "iufb" or array.size > MOST_CONSTANTS:
        raise NotDerivable("a constant array")
    text = repr(array.tolist())
    return Value(array.shape, lambda indices: Array("constant", (text,), indices, array.shape))


def _exact(value: Any) -> Number:
    if isinstance(value, Fraction):
        return Number(value)
    return Number(Fraction(int(value)) if float(value).is_integer() else float(value))


def plus(left: Any, right: Any) -> Value:
    """The sum of two arrays, which are broadcast."""
    a, b = as_value(left), as_value(right)
    shape = np.broadcast_shapes(a.shape, b.shape)
    return Value(shape, lambda ix: Sum((a.fitted(ix), b.fitted(ix))))


def times(left: Any, right: Any) -> Value:
    """The product of two arrays element by element, which are broadcast."""
    a, b = as_value(left), as_value(right)
    shape = np.broadcast_shapes(a.shape, b.shape)
    return Value(shape, lambda ix: Product((a.fitted(ix), b.fitted(ix))))


def elementwise(function: str, args: list[Any]) -> Value:
    """A function of numbers, applied to each element of arrays that are broadcast."""
    values = [as_value(arg) for arg in args]
    shape = np.broadcast_shapes(*(value.shape for value in values))
    return Value(shape, lambda ix: Apply(function, tuple(v.fitted(ix) for v in values)))


def filled(space: Space, name: str, args: list[Any]) -> Value:
    """What `ones`, `zeros` and `eye` give."""
    if name == "eye":
        return _identity(space, args)
    shape = tuple(args[0]) if isinstance(args[0], list | tuple) else (args[0],)
    number = Number(Fraction(1 if name == "ones" else 0))
    return Value(shape, lambda _: number)


def _identity(space: Space, args: list[Any]) -> Value:
    shape = (args[0], args[1] if len(args) > 1 and args[1] is not None else args[0])
    if shape == (1, 1):
        return filled(space, "ones", [shape])
    if shape[0] != shape[1]:
        return opaque(space, "eye", args)
    return Value(shape, lambda ix: Delta(ix[0], ix[1]))


def opaque(space: Space, name: str, args: list[Any]) -> Value:
    """A function of whole arrays, which the calculus does not look into."""
    parts: list[Grid | str] = []
    examples: list[Any] = []
    for arg in args:
        if isinstance(arg, Value):
            indices = space.axes(arg.shape)
            parts.append(Grid(arg.at(indices), indices, arg.shape))
            examples.append(np.zeros(arg.shape, dtype=np.int64))
        elif isinstance(arg, list) and any(isinstance(a, Value) for a in arg):
            raise NotDerivable(name)
        else:
            parts.append(repr(arg))
            examples.append(arg)
    shape = _shape_after(name, examples)
    frozen = tuple(parts)
    return Value(shape, lambda ix: Array(name, frozen, ix, shape))


def _shape_after(name: str, args: list[Any]) -> Shape:
    """The shape of a result, found by trying: indices, zeros, invertible matrices."""
    tries: tuple[Callable[[Any], Any], ...] = (
        lambda a: a,
        lambda a: a.astype(np.float64),
        lambda a: np.broadcast_to(np.eye(*a.shape[-2:]), a.shape) if a.ndim >= 2 else a,
    )
    failure: Exception | None = None
    for change in tries:
        ready = [change(a) if isinstance(a, np.ndarray) else a for a in args]
        try:
            with np.errstate(all="ignore"):
                return np.shape(FUNCTIONS[name](*ready))
        except (np.linalg.LinAlgError, ValueError, TypeError, OverflowError) as error:
            failure = error
    raise NotDerivable(name) from failure
