"""Which inputs reach outputs that are not finite.

Where the function overflows there is no derivative, and an infinite gradient is no fault. But only
of the elements that the infinite output depends on: a gradient of another element has to be finite.
Small moves do not tell, since what is infinite stays so. So elements are taken far away, to where
the function may be finite, or something else that is not.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import limits

if TYPE_CHECKING:
    from gradcheck.checker.reference.reference import Reference
    from gradcheck.model import Array

PLACES = (1.0, 0.0, np.nan)
"""Values that show a dependence: powers, products and exponentials of one and of zero are finite,
and what is infinite does not stay so if it depends on what is no number."""

CLOSER = 2.0**-10
"""A share of the element itself, for functions that are not defined there."""


def reach_nonfinite(reference: Reference, columns: Array) -> Array:
    """Whether some output that is not finite depends on the element of each of these coordinates.

    Args:
        reference: the function at its point.
        columns: the coordinates.
    """
    base = reference.evaluator.base
    open_, reached = np.flatnonzero(~np.isfinite(base)), np.zeros(len(columns), dtype=bool)
    if not len(open_):
        return reached
    size = max(1, limits.NUMBERS_AT_ONCE // (len(reference.evaluator.point) + len(base)))
    for place in (*PLACES, None):
        for start in range(0, len(columns), size):
            rows = np.arange(start, min(start + size, len(columns)))
            points = _elsewhere(reference, columns[rows], place)
            with suppress(Exception):  # some functions refuse such values; then nothing is learnt
                outputs = reference.evaluator(points)[:, open_]
                same = (outputs == base[open_]) | (np.isnan(outputs) & np.isnan(base[open_]))
                reached[rows] |= ~same.all(axis=1)
    return reached


def _elsewhere(reference: Reference, columns: Array, place: float | None) -> Array:
    """A row for each coordinate: the point with the coordinate's element at this place."""
    layout, point = reference.evaluator.inputs, reference.evaluator.point
    position = reference.coordinates.space.position[columns]
    points, rows = np.repeat(point[np.newaxis], len(columns), axis=0), np.arange(len(columns))
    owner = np.searchsorted(layout.offsets, position, side="right") - 1
    starts, is_complex = np.array(layout.offsets)[owner], np.array(layout.complex_)[owner]
    # Both parts of a complex element move; the first stands for its size.
    first = np.where(is_complex, position - (position - starts) % 2, position)
    second = np.where(is_complex, first + 1, first)
    if place is None:
        points[rows, second] = CLOSER * point[second]
        points[rows, first] = CLOSER * point[first]
    else:
        points[rows, second] = 0.0
        points[rows, first] = place
    return points
