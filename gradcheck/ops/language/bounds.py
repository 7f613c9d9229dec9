"""What keeps the formula language harmless: numbers only, and no array beyond a fixed size.

A formula may come from anyone's spec, so each function looks at its arguments here before numpy
allocates anything.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from gradcheck.model import Array, Shape

MAX_ELEMENTS = 2**27
"""One GiB of float64: more than any check needs, and it is held several times."""

MAX_RANK = 32
"""As many axes as every numpy has: numpy 1 ends there, numpy 2 at 64."""


def numbers(value: Any) -> Array:
    """The value as an array of numbers or booleans; TypeError for anything else."""
    array = np.asarray(value)
    if array.dtype.kind not in "biufc" and array.dtype.name != "bfloat16":
        raise TypeError(f"expected numbers, got {type(value).__name__}")
    return array


def bounded(shape: Shape) -> Shape:
    """The shape itself, or ValueError where an array of it would be too large."""
    size = 1
    for extent in shape:
        if extent < 0:
            raise ValueError(f"a size is not negative, got {list(shape)}")
        size *= extent
    if size > MAX_ELEMENTS or len(shape) > MAX_RANK:
        raise ValueError(
            f"an array of shape {list(shape)} is too large: "
            f"the limit is {MAX_ELEMENTS} elements and rank {MAX_RANK}"
        )
    return shape


def sizes(value: Any) -> Shape:
    """A size or a list of sizes as a shape that is not too large."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    items = value if isinstance(value, list | tuple) else (value,)
    return bounded(tuple(operator.index(item) for item in items))


def axes(value: Any) -> int | tuple[int, ...] | None:
    """An axis as numpy takes it: None, a whole number or a tuple of them."""
    if value is None:
        return None
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return tuple(operator.index(item) for item in value)
    return operator.index(value)
