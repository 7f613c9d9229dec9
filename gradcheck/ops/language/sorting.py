"""The functions of the formula language that put elements in order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.ops.language.bounds import numbers

if TYPE_CHECKING:
    from gradcheck.model import Array

__all__ = ["order", "ranks", "sort"]


def sort(x: Any, axis: int = -1) -> Array:
    """The elements from the smallest up along an axis."""
    return np.sort(numbers(x), axis=axis)


def order(x: Any, axis: int = -1) -> Array:
    """The places of the elements along an axis, that of the smallest first."""
    return np.argsort(numbers(x), axis=axis, kind="stable")


def ranks(x: Any, axis: int = -1) -> Array:
    """How many elements along the axis come before each one: the opposite of order."""
    return np.argsort(order(x, axis), axis=axis, kind="stable")
