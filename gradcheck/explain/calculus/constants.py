"""Plain values beside the arrays of a formula: exact numbers, axes, shapes."""

from __future__ import annotations

import ast
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.explain.calculus.einstein import Index, Node, NotDerivable, Number, Total
from gradcheck.ops.language.vocabulary import FUNCTIONS

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradcheck.model import Shape

__all__ = ["arithmetic", "counted", "exact", "flat", "left_after", "shape_after", "total_over"]


def exact(value: Any) -> Number:
    """Whole numbers and fractions stay exact."""
    if isinstance(value, Fraction):
        return Number(value)
    return Number(Fraction(int(value)) if float(value).is_integer() else float(value))


def total_over(indices: list[Index], body: Node) -> Node:
    """The sum over those of the indices that are names."""
    names = tuple(index for index in indices if isinstance(index, str))
    return Total(names, body) if names else body


def counted(axis: Any, rank: int) -> tuple[int, ...]:
    """Axes counted from the front; None means all."""
    if axis is None:
        return tuple(range(rank))
    listed = [axis] if isinstance(axis, int) else list(axis)
    return tuple(one % rank for one in listed)


def left_after(shape: Shape, gone: tuple[int, ...], keepdims: bool) -> Shape:
    """What a reduction leaves of a shape."""
    if keepdims:
        return tuple(1 if i in gone else size for i, size in enumerate(shape))
    return tuple(size for i, size in enumerate(shape) if i not in gone)


def flat(args: list[Any]) -> list[Any]:
    """The arguments, lists among them opened."""
    return [item for arg in args for item in (arg if isinstance(arg, list) else [arg])]


def arithmetic(op: ast.operator, a: Any, b: Any) -> Any:
    """An operator on plain values; whole numbers give exact fractions."""
    if isinstance(op, ast.Add):
        return a + b
    if isinstance(op, ast.Sub):
        return a - b
    if isinstance(op, ast.Mult):
        return a * b
    if isinstance(op, ast.Div):
        return (
            Fraction(a) / Fraction(b) if isinstance(a, int) and isinstance(b, int) and b else a / b
        )
    if isinstance(op, ast.Pow):
        return a**b
    raise NotDerivable(type(op).__name__)


def shape_after(name: str, args: list[Any]) -> Shape:
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
