"""The helpers of formulas that carry an upstream gradient back to an input's shape.

Each undoes what one kind of op did to the shape: broadcasting, reducing, indexing, joining.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.ops.language.bounds import axes, bounded, numbers, sizes
from gradcheck.ops.language.index_text import parse_index

if TYPE_CHECKING:
    from gradcheck.model import Array

__all__ = [
    "gather_nd",
    "one_hot_max",
    "part",
    "pick",
    "prod_others",
    "put_slice",
    "scatter_add",
    "scatter_in_batches",
    "scatter_max",
    "scatter_min",
    "scatter_nd",
    "scatter_update",
    "take",
    "take_along",
    "take_in_batches",
    "unbroadcast",
    "unreduce",
]


def unbroadcast(array: Any, shape: Any) -> Array:
    """Sum over the axes that broadcasting added or stretched, back to `shape`."""
    array = numbers(array)
    target = sizes(shape)
    extra = array.ndim - len(target)
    fits = extra >= 0 and all(
        want in (1, have) for have, want in zip(array.shape[extra:], target, strict=True)
    )
    if not fits:
        raise ValueError(f"shape {list(array.shape)} is not one that {list(target)} broadcasts to")
    stretched = tuple(
        axis
        for axis in range(array.ndim)
        if axis < extra or (target[axis - extra] == 1 and array.shape[axis] != 1)
    )
    return np.asarray(np.sum(array, axis=stretched)).reshape(target) if stretched else array


def unreduce(array: Any, shape: Any, axis: Any = None, keepdims: bool = False) -> Array:
    """What a reduction gave, repeated along the axes that it took away."""
    array = numbers(array)
    target = sizes(shape)
    reduced = axes(axis)
    if reduced is None:
        reduced = tuple(range(len(target)))
    if not keepdims:
        gone = _normal(reduced, len(target))
        array = array.reshape([1 if i in gone else n for i, n in enumerate(target)])
    return np.broadcast_to(array, target)


def one_hot_max(x: Any, axis: Any = None) -> Array:
    """1 at the largest element along the axis and 0 elsewhere; k ties get 1/k each."""
    x = numbers(x)
    along = axes(axis)
    x = x.astype(np.float64) if x.dtype.kind in "biu" else x
    hits = (x == np.max(x, axis=along, keepdims=True, initial=-np.inf)).astype(np.float64)
    return np.asarray(hits / np.sum(hits, axis=along, keepdims=True))


def prod_others(x: Any, axis: Any = None) -> Array:
    """At each element the product of all the others along the axis, also where some are 0."""
    x = numbers(x)
    along = axes(axis)
    inner = _normal(tuple(range(x.ndim)) if along is None else along, x.ndim)
    order = [*(i for i in range(x.ndim) if i not in inner), *inner]
    if not x.size or not inner:
        return np.ones_like(x)
    moved = np.transpose(x, order)
    flat = moved.reshape(*moved.shape[: x.ndim - len(inner)], -1)
    one = np.ones_like(flat[..., :1])
    before = np.cumprod(np.concatenate([one, flat[..., :-1]], axis=-1), axis=-1)
    after = np.cumprod(np.concatenate([one, flat[..., :0:-1]], axis=-1), axis=-1)[..., ::-1]
    return np.transpose((before * after).reshape(moved.shape), np.argsort(order))


def scatter_add(like: Any, indices: Any, values: Any, axis: int = 0) -> Array:
    """Zeros of the shape of the first, the values added at the indices along the axis."""
    like, indices, values = numbers(like), _places(indices), numbers(values)
    (along,) = _normal(axes(axis), like.ndim)
    rows = np.moveaxis(np.zeros(like.shape, values.dtype), along, 0)
    spread = np.moveaxis(values, range(along, along + indices.ndim), range(indices.ndim))
    np.add.at(rows, indices, spread)
    return np.moveaxis(rows, 0, along)


def gather_nd(x: Any, indices: Any) -> Array:
    """The elements or slices of x at the indices, one index per row of the last axis."""
    x, indices = numbers(x), numbers(indices)
    return np.asarray(x[tuple(np.moveaxis(indices, -1, 0))])


def scatter_nd(indices: Any, values: Any, shape: Any) -> Array:
    """Zeros of the shape, the values added at the indices, one per row of the last axis."""
    indices, values = numbers(indices), numbers(values)
    result = np.zeros(sizes(shape), values.dtype)
    np.add.at(result, tuple(np.moveaxis(indices, -1, 0)), values)
    return result


def scatter_max(x: Any, indices: Any, values: Any) -> Array:
    """X, at the indices the larger of it and of the values."""
    return _compared(np.maximum, x, indices, values)


def scatter_min(x: Any, indices: Any, values: Any) -> Array:
    """X, at the indices the smaller of it and of the values."""
    return _compared(np.minimum, x, indices, values)


def scatter_update(x: Any, indices: Any, values: Any) -> Array:
    """X, at the indices the values in its place."""
    result, indices = np.array(numbers(x)), numbers(indices)
    result[tuple(np.moveaxis(indices, -1, 0))] = numbers(values)
    return result


def _compared(ufunc: Any, x: Any, indices: Any, values: Any) -> Array:
    result, indices = np.array(numbers(x)), numbers(indices)
    ufunc.at(result, tuple(np.moveaxis(indices, -1, 0)), numbers(values))
    return result


def put_slice(like: Any, index: Any, values: Any) -> Array:
    """Zeros of the shape of the first, with the values put at the index."""
    values = numbers(values)
    result = np.zeros(numbers(like).shape, values.dtype)
    result[parse_index(index)] = values
    return result


def pick(x: Any, index: Any) -> Array:
    """The part of x at the index."""
    return np.asarray(numbers(x)[parse_index(index)])


def part(x: Any, axis: int, start: int, size: int) -> Array:
    """The slices of x along an axis: from which on, and how many."""
    x = numbers(x)
    (along,) = _normal(axes(axis), x.ndim)
    return np.asarray(x[(slice(None),) * along + (slice(start, start + size),)])


def take(x: Any, indices: Any, axis: int = 0) -> Array:
    """The slices of x at the indices along the axis."""
    x, indices = numbers(x), _places(indices)
    (along,) = _normal(axes(axis), x.ndim)
    bounded((*x.shape[:along], *indices.shape, *x.shape[along + 1 :]))
    return np.asarray(np.take(x, indices, axis=along))


def take_in_batches(x: Any, indices: Any, axis: int, batch_dims: int) -> Array:
    """The slices of x at the indices along the axis, each batch of x at the indices of its own."""
    x, indices = numbers(x), numbers(indices)
    (along,) = _normal(axes(axis), x.ndim)
    batch = x.shape[:batch_dims]
    parts = [np.take(x[i], indices[i], axis=along - batch_dims) for i in np.ndindex(batch)]
    inner = (*x.shape[batch_dims:along], *indices.shape[batch_dims:], *x.shape[along + 1 :])
    bounded((*batch, *inner))
    return np.asarray(parts, dtype=x.dtype).reshape(*batch, *inner)


def scatter_in_batches(like: Any, indices: Any, values: Any, axis: int, batch_dims: int) -> Array:
    """Zeros of the shape of the first, the values added at the indices of their own batch."""
    like, indices, values = numbers(like), numbers(indices), numbers(values)
    (along,) = _normal(axes(axis), like.ndim)
    result = np.zeros(like.shape, values.dtype)
    for i in np.ndindex(like.shape[:batch_dims]):
        result[i] = scatter_add(result[i], indices[i], values[i], along - batch_dims)
    return result


def take_along(x: Any, indices: Any, axis: int = -1) -> Array:
    """The elements of x at the indices, one index per place of the result."""
    return np.take_along_axis(numbers(x), numbers(indices), axis=axis)


def _places(indices: Any) -> Array:
    """Whole numbers, also where a formula has computed them: `where(i < 0, i + 5, i)`."""
    found = numbers(indices)
    if found.dtype.kind != "f":
        return found
    if not np.array_equal(found, np.round(found)):
        raise ValueError("an index is a whole number")
    return found.astype(np.int64)


def _normal(axis: int | tuple[int, ...] | None, rank: int) -> tuple[int, ...]:
    """Axes counted from the front; ValueError where one is out of range."""
    listed = axis if isinstance(axis, tuple) else () if axis is None else (axis,)
    for one in listed:
        if not -rank <= one < rank:
            raise ValueError(f"axis {one} is out of range for rank {rank}")
    return tuple(one % rank for one in listed)
