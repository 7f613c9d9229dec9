"""The functions of the formula language on segments: rows that belong together by a number each.

An id below 0 belongs to no segment, as TensorFlow has it: its rows are left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.ops.language.bounds import bounded, numbers

if TYPE_CHECKING:
    from gradcheck.model import Array

__all__ = [
    "of_segment",
    "others_in_segment",
    "segment_max",
    "segment_min",
    "segment_prod",
    "segment_sum",
    "unsorted_max",
    "unsorted_min",
]


def segment_sum(x: Any, ids: Any, count: int) -> Array:
    """The sum of the slices of x that belong to each segment."""
    return _gathered(np.add, x, ids, count, 0.0)


def segment_prod(x: Any, ids: Any, count: int) -> Array:
    """The product of the slices of x that belong to each segment; 1 where there are none."""
    return _gathered(np.multiply, x, ids, count, 1.0)


def segment_max(x: Any, ids: Any, count: int) -> Array:
    """The largest x of each segment; 0 where there is none."""
    return _with_empty(_gathered(np.maximum, x, ids, count, -np.inf), 0.0)


def segment_min(x: Any, ids: Any, count: int) -> Array:
    """The smallest x of each segment; 0 where there is none."""
    return _with_empty(_gathered(np.minimum, x, ids, count, np.inf), 0.0)


def unsorted_max(x: Any, ids: Any, count: int) -> Array:
    """The largest x of each segment; the lowest number there is where there is none."""
    return _with_empty(_gathered(np.maximum, x, ids, count, -np.inf), np.finfo(np.float64).min)


def unsorted_min(x: Any, ids: Any, count: int) -> Array:
    """The smallest x of each segment; the highest number there is where there is none."""
    return _with_empty(_gathered(np.minimum, x, ids, count, np.inf), np.finfo(np.float64).max)


def of_segment(values: Any, ids: Any) -> Array:
    """At each place what its segment has; 0 where it belongs to none."""
    values, ids = numbers(values), numbers(ids)
    bounded((*ids.shape, *values.shape[1:]))
    if not values.shape[0]:
        return np.zeros((*ids.shape, *values.shape[1:]), values.dtype)
    inside = (ids >= 0).reshape(*ids.shape, *(1,) * (values.ndim - 1))
    return np.asarray(np.where(inside, values[np.maximum(ids, 0)], 0))


def others_in_segment(x: Any, ids: Any, count: int) -> Array:
    """At each element the product of all the others of its segment, also where some are 0."""
    x, ids = numbers(x), numbers(ids)
    is_zero = x == 0
    zeros = of_segment(segment_sum(is_zero.astype(np.float64), ids, count), ids)
    rest = of_segment(segment_prod(np.where(is_zero, 1, x), ids, count), ids)
    # One zero is left out where it stands; beside another the product is 0.
    return np.asarray(np.where(zeros - is_zero > 0, 0, rest / np.where(is_zero, 1, x)))


def _gathered(ufunc: Any, x: Any, ids: Any, count: int, start: float) -> Array:
    x, ids = numbers(x), numbers(ids)
    x = x.astype(np.float64) if x.dtype.kind in "biu" else x
    rest = x.shape[ids.ndim :]
    result = np.full(bounded((int(count), *rest)), start, x.dtype)
    flat, slices = ids.reshape(-1), x.reshape(-1, *rest) if x.size else x.reshape(ids.size, *rest)
    kept = flat >= 0
    ufunc.at(result, flat[kept].astype(np.int64), slices[kept])
    return result


def _with_empty(found: Array, empty: float) -> Array:
    return np.asarray(np.where(np.isinf(found), empty, found))
