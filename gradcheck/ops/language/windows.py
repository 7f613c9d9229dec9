"""The functions of the formula language on windows: what convolutions and pooling slide over.

Arrays are laid out as TensorFlow lays them by default: batch, then space, then channels.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.ops.language.bounds import axes, bounded, numbers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gradcheck.model import Array, Shape

__all__ = ["output_sizes", "unwindows", "windows"]


def windows(x: Any, size: Any, strides: Any, padding: str, fill: float = 0.0) -> Array:
    """At each place of the output the window of x that it sees: batch, places, window, channels."""
    x = numbers(x)
    window, steps = _pair(size, x), _pair(strides, x)
    places, before, after = output_sizes(x.shape[1:-1], window, steps, padding)
    bounded((x.shape[0], *places, *window, x.shape[-1]))
    around = [(0, 0), *zip(before, after, strict=True), (0, 0)]
    padded = np.pad(x, around, constant_values=fill)
    result = np.empty((x.shape[0], *places, *window, x.shape[-1]), padded.dtype)
    for offset, part in _parts(window, steps, places):
        result[(slice(None),) * (1 + len(places)) + offset] = padded[(slice(None), *part)]
    return result


def unwindows(values: Any, like: Any, size: Any, strides: Any, padding: str) -> Array:
    """Each window's values added back to where they came from: the opposite of windows."""
    values, like = numbers(values), numbers(like)
    window, steps = _pair(size, like), _pair(strides, like)
    places, before, after = output_sizes(like.shape[1:-1], window, steps, padding)
    space = [n + a + b for n, a, b in zip(like.shape[1:-1], before, after, strict=True)]
    padded = np.zeros((like.shape[0], *space, like.shape[-1]), values.dtype)
    for offset, part in _parts(window, steps, places):
        padded[(slice(None), *part)] += values[(slice(None),) * (1 + len(places)) + offset]
    inner = tuple(slice(a, a + n) for a, n in zip(before, like.shape[1:-1], strict=True))
    return padded[(slice(None), *inner)]


def _parts(
    window: Shape, steps: Shape, places: Shape
) -> Iterator[tuple[tuple[int, ...], tuple[slice, ...]]]:
    """Each offset in the window, and the elements that it meets as the window slides."""
    for offset in itertools.product(*(range(n) for n in window)):
        yield (
            offset,
            tuple(
                slice(o, o + step * n, step)
                for o, step, n in zip(offset, steps, places, strict=True)
            ),
        )


def output_sizes(
    space: Shape, window: Shape, steps: Shape, padding: str
) -> tuple[Shape, Shape, Shape]:
    """How many places the window has along each axis, and how much is padded before and after."""
    places, before, after = [], [], []
    for n, k, s in zip(space, window, steps, strict=True):
        if padding == "SAME":
            count = -(-n // s)
            total = max((count - 1) * s + k - n, 0)
        elif padding == "VALID":
            count, total = (n - k) // s + 1, 0
        else:
            raise ValueError(f"padding is 'SAME' or 'VALID', not {padding!r}")
        places.append(max(count, 0))
        before.append(total // 2)
        after.append(total - total // 2)
    return tuple(places), tuple(before), tuple(after)


def _pair(value: Any, x: Array) -> Shape:
    """A size for each axis of space; one number stands for all."""
    given = axes(value)
    if isinstance(given, int):
        return (given,) * (x.ndim - 2)
    return tuple(given or ())
