"""The gradient that comes from above."""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import limits
from gradcheck.checker.numerics.rng import generator
from gradcheck.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcheck.model import Array, Shape, Upstream


def draw_upstream(
    upstream: Upstream, shapes: Sequence[Shape], complex_: Sequence[bool], seed: int
) -> list[Array]:
    """The cotangent of each output, in double precision.

    Drawn ones are signed and keep away from zero, so that no output counts for nothing; they are
    multiples of 1/64, so that every precision represents them exactly. They do not add up to zero:
    what all outputs lack alike would not be seen.
    """
    if isinstance(upstream, tuple):
        if len(upstream) != len(shapes):
            raise UsageError(
                f"`upstream` has {len(upstream)} arrays, but the function has "
                f"{len(shapes)} floating-point outputs"
            )
        for given, shape in zip(upstream, shapes, strict=True):
            if given.shape != shape:
                raise UsageError(
                    f"`upstream` has shape {list(given.shape)}, but the output it belongs to has "
                    f"shape {list(shape)}"
                )
        return [np.asarray(given) for given in upstream]
    if upstream == "ones":
        return [np.ones(shape) for shape in shapes]
    is_small = sum(map(prod, shapes)) <= limits.DRAWN_ONCE
    return list((_drawn_once if is_small else _drawn)(tuple(shapes), tuple(complex_), seed))


def _drawn(shapes: Sequence[Shape], complex_: Sequence[bool], seed: int) -> list[Array]:
    """A cotangent of each output, which nobody may change."""
    rng = generator(seed, 0x6374)

    def draw(shape: Shape) -> Array:
        size = np.array(rng.integers(32, 97, size=shape) / 64)
        drawn = np.asarray(size * (2.0 * rng.integers(0, 2, size=shape) - 1.0))
        if drawn.size and not drawn.sum():
            drawn.flat[0] *= -1
        return drawn

    drawn = [
        np.asarray(draw(shape) + 1j * draw(shape)) if is_complex else draw(shape)
        for shape, is_complex in zip(shapes, complex_, strict=True)
    ]
    for array in drawn:
        array.flags.writeable = False
    return drawn


_drawn_once = lru_cache(maxsize=256)(_drawn)
"""Cases of a suite have the same few shapes, and a generator costs more than a sine."""
