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
    from gradcheck.checker.numerics.estimate import Estimate
    from gradcheck.checker.reference.point import Point
    from gradcheck.model import Array


def nobody_sees(
    point: Point, positions: Array | None, analytic: Array, estimate: Estimate, least: Array | float
) -> Array:
    """By coordinate: it only reaches outputs that are not finite: nobody can see it move.

    Without it `test_outputs_that_are_nan_and_belong_to_an_input` fails.

    Args:
        point: the function at its point.
        positions: of the numbers that the coordinates move; None if each moves many.
        analytic: their gradient.
        estimate: and their numeric derivative.
        least: a slope that the finite outputs may seem to have by rounding alone.
    """
    if np.isfinite(point.base).all():
        return np.zeros(len(analytic), dtype=bool)
    still = estimate.scale <= least
    unseen = np.asarray((still & (analytic != 0)) | np.isnan(estimate.numeric))
    broken = np.flatnonzero(~np.isfinite(analytic) & ~unseen)
    unseen[broken] = positions is None or reach_nonfinite(point, positions[broken])
    return unseen


def reach_nonfinite(point: Point, positions: Array) -> Array:
    """Whether some output that is not finite depends on each of these numbers of the point.

    Args:
        point: the function at its point.
        positions: of the numbers.
    """
    base = point.base
    open_ = np.flatnonzero(~np.isfinite(base))
    if not len(open_):
        return np.zeros(len(positions), dtype=bool)
    reached = _reaches(point, point.at, base, positions, open_)
    if not reached.all():
        # What is not finite by another element stays so, whatever this one does: so they all are
        # taken to where they do no harm. Without it
        # `test_what_reaches_an_infinite_output_as_well` fails.
        tame = np.clip(np.nan_to_num(point.at), -1.0, 1.0)
        with suppress(Exception):
            there = point.evaluator(tame[np.newaxis])[0]
            rest = np.flatnonzero(~reached)
            reached[rest] = _reaches(point, tame, there, positions[rest], open_)
    return reached


def _reaches(point: Point, at: Array, base: Array, positions: Array, open_: Array) -> Array:
    """By number: whether some of these outputs change where its element is taken far from there.

    Args:
        point: the function.
        at: the point that everything else stays at.
        base: the outputs there.
        positions: of the numbers.
        open_: of the outputs.
    """
    reached = np.zeros(len(positions), dtype=bool)
    size = max(1, limits.NUMBERS_AT_ONCE // (len(at) + len(base)))
    for place in limits.TELLING_VALUES:
        for start in range(0, len(positions), size):
            rows = np.arange(start, min(start + size, len(positions)))
            points = _elsewhere(point, at, positions[rows], place)
            with suppress(Exception):  # some functions refuse such values; then nothing is learnt
                outputs = point.evaluator(points)[:, open_]
                reached[rows] |= changed(outputs, base[open_]).any(axis=1)
    return reached


def _elsewhere(point: Point, at: Array, positions: Array, place: float) -> Array:
    """A row for each number: a point with the number's element at this place."""
    layout = point.inputs
    points, rows = np.repeat(at[np.newaxis], len(positions), axis=0), np.arange(len(positions))
    owner = np.searchsorted(layout.offsets, positions, side="right") - 1
    starts, is_complex = np.array(layout.offsets)[owner], np.array(layout.complex_)[owner]
    # Both parts of a complex element move; the first stands for its size.
    first = np.where(is_complex, positions - (positions - starts) % 2, positions)
    second = np.where(is_complex, first + 1, first)
    points[rows, second] = 0.0
    points[rows, first] = place
    return points
