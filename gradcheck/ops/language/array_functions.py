"""The functions of the formula language that shape, join, cut and move arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.ops.language.bounds import axes, bounded, numbers, sizes

if TYPE_CHECKING:
    from gradcheck.model import Array

__all__ = [
    "array",
    "band_part",
    "broadcast_to",
    "concatenate",
    "cross",
    "cumprod",
    "cumsum",
    "diag_matrix",
    "expand_dims",
    "flip",
    "one_hot",
    "ones",
    "ones_like",
    "ramp",
    "rank",
    "reshape",
    "roll",
    "shape",
    "size",
    "split",
    "squeeze",
    "stack",
    "tile",
    "unstack",
    "zeros",
    "zeros_like",
]


def array(x: Any) -> Array:
    """The list of numbers as an array, so that it can be calculated with."""
    return numbers(x)


def reshape(x: Any, shape: Any) -> Array:
    """The same elements in another shape; one size may be -1."""
    array = numbers(x)
    given = axes(shape)
    return array.reshape(() if given is None else given)


def expand_dims(x: Any, axis: Any) -> Array:
    """A new axis of size one."""
    along = axes(axis)
    if along is None:
        raise TypeError("expand_dims needs an axis")
    return np.expand_dims(numbers(x), along)


def squeeze(x: Any, axis: Any = None) -> Array:
    """The axes of size one taken away: those given, or all."""
    return np.squeeze(numbers(x), axes(axis))


def broadcast_to(x: Any, shape: Any) -> Array:
    """The elements repeated up to the shape."""
    return np.broadcast_to(numbers(x), sizes(shape))


def concatenate(arrays: Any, axis: int = 0) -> Array:
    """The arrays joined along an axis that they have."""
    parts = [numbers(array) for array in arrays]
    bounded((sum(array.size for array in parts),))
    return np.concatenate(parts, axis=axis)


def stack(arrays: Any, axis: int = 0) -> Array:
    """The arrays joined along a new axis."""
    parts = [numbers(array) for array in arrays]
    bounded((sum(array.size for array in parts),))
    return np.stack(parts, axis=axis)


def ones_like(x: Any) -> Array:
    """Ones of the shape of x."""
    return np.ones_like(numbers(x))


def zeros_like(x: Any) -> Array:
    """Zeros of the shape of x."""
    return np.zeros_like(numbers(x))


def ones(shape: Any) -> Array:
    """Ones of the shape."""
    return np.ones(sizes(shape))


def zeros(shape: Any) -> Array:
    """Zeros of the shape."""
    return np.zeros(sizes(shape))


def shape(x: Any) -> tuple[int, ...]:
    """The sizes of the axes."""
    return numbers(x).shape


def rank(x: Any) -> int:
    """The number of axes."""
    return numbers(x).ndim


def size(x: Any) -> np.int64:
    """The number of elements."""
    # A numpy number, so that dividing by the size of an empty array gives nan and does not raise.
    return np.int64(numbers(x).size)


def cumsum(x: Any, axis: int = 0) -> Array:
    """The running sum along an axis."""
    return np.cumsum(numbers(x), axis=axis)


def cumprod(x: Any, axis: int = 0) -> Array:
    """The running product along an axis."""
    return np.cumprod(numbers(x), axis=axis)


def tile(x: Any, multiples: Any) -> Array:
    """The whole of x repeated so many times along each axis."""
    x, times = numbers(x), sizes(multiples)
    bounded(tuple(n * m for n, m in zip(x.shape, times, strict=True)))
    return np.tile(x, times)


def split(x: Any, parts: Any, axis: int = 0) -> list[Array]:
    """X cut into so many equal parts, or into parts of these sizes, along an axis."""
    x = numbers(x)
    if isinstance(parts, list | tuple):
        return np.split(x, np.cumsum(parts)[:-1].tolist(), axis=axis)
    return np.split(x, parts, axis=axis)


def unstack(x: Any, axis: int = 0) -> list[Array]:
    """The slices of x along an axis."""
    x = numbers(x)
    return [np.take(x, i, axis=axis) for i in range(x.shape[axis])]


def cross(x: Any, y: Any) -> Array:
    """The cross product of vectors of three numbers, along the last axis."""
    x, y = numbers(x), numbers(y)
    bounded(np.broadcast_shapes(x.shape, y.shape))
    x, y = np.broadcast_arrays(x, y)
    (a, b, c), (d, e, f) = np.moveaxis(x, -1, 0), np.moveaxis(y, -1, 0)
    return np.stack([b * f - c * e, c * d - a * f, a * e - b * d], axis=-1)


def ramp(like: Any, count: int) -> Array:
    """So many numbers evenly from 0 to 1, along a new first axis."""
    (size,) = bounded((int(count),))
    return np.linspace(0.0, 1.0, size).reshape([size, *[1] * numbers(like).ndim])


def one_hot(indices: Any, count: int) -> Array:
    """1 at the index and 0 elsewhere, along a new last axis."""
    indices = numbers(indices)
    bounded((*indices.shape, count))
    return np.asarray(indices[..., np.newaxis] == np.arange(count), dtype=np.float64)


def band_part(x: Any, lower: int, upper: int) -> Array:
    """The diagonals from `lower` below to `upper` above the main one; negative numbers keep all."""
    x = numbers(x)
    kept = np.tril(x, upper) if upper >= 0 else x
    return np.triu(kept, -lower) if lower >= 0 else kept


def diag_matrix(x: Any) -> Array:
    """Matrices with the vectors of the last axis on their diagonals."""
    x = numbers(x)
    bounded((*x.shape, x.shape[-1]))
    return np.asarray(x[..., np.newaxis] * np.eye(x.shape[-1]))


def flip(x: Any, axis: Any = None) -> Array:
    """The elements in reverse order along an axis, several, or all."""
    return np.flip(numbers(x), axis=axes(axis))


def roll(x: Any, shift: Any, axis: Any = None) -> Array:
    """The elements moved along an axis; those that leave at one end come in at the other."""
    moved = axes(shift)
    if moved is None:
        raise TypeError("roll needs a shift")
    return np.roll(numbers(x), moved, axis=axes(axis))
