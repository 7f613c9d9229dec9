"""Which inputs reach outputs that are not finite.

Where the function overflows there is no derivative, and an infinite gradient is no fault. But only
of the elements that the infinite output depends on: a gradient of another element has to be finite.
Small moves do not tell, since what is infinite stays so. So elements are taken far away, to where
the function may be finite, or something else that is not.

Without it `test_beside_an_infinite_output_a_gradient_must_be_finite` fails.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import limits
from gradcheck.checker.numerics.vectors import changed

if TYPE_CHECKING:
    from gradcheck.checker.reference.point import Point
    from gradcheck.model import Array


def reach_nonfinite(point: Point, positions: Array) -> Array:
    """Whether some output that is not finite depends on each of these numbers of the point.

    Args:
        point: the function at its point.
        positions: of the numbers.
    """
    base = point.base
    open_, reached = np.flatnonzero(~np.isfinite(base)), np.zeros(len(positions), dtype=bool)
    if not len(open_):
        return reached
    size = max(1, limits.NUMBERS_AT_ONCE // (len(point.at) + len(base)))
    for place in limits.TELLING_VALUES:
        for start in range(0, len(positions), size):
            rows = np.arange(start, min(start + size, len(positions)))
            points = _elsewhere(point, positions[rows], place)
            with suppress(Exception):  # some functions refuse such values; then nothing is learnt
                outputs = point.evaluator(points)[:, open_]
                reached[rows] |= changed(outputs, base[open_]).any(axis=1)
    return reached


def _elsewhere(point: Point, positions: Array, place: float) -> Array:
    """A row for each number: the point with the number's element at this place."""
    layout, at = point.inputs, point.at
    points, rows = np.repeat(at[np.newaxis], len(positions), axis=0), np.arange(len(positions))
    owner = np.searchsorted(layout.offsets, positions, side="right") - 1
    starts, is_complex = np.array(layout.offsets)[owner], np.array(layout.complex_)[owner]
    # Both parts of a complex element move; the first stands for its size.
    first = np.where(is_complex, positions - (positions - starts) % 2, positions)
    second = np.where(is_complex, first + 1, first)
    points[rows, second] = 0.0
    points[rows, first] = place
    return points
