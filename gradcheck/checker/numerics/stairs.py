"""Jumps of a function along a coordinate, which are there however closely one looks.

What rounds on its way is made of pieces with jumps between them. Nothing else is both still over
the shortest moves and changed as much over ones that are hardly longer: what varies fast is smooth
from close by, and the noise of an ill condition is there at every distance.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import limits, stepping, tolerances
from gradcheck.checker.numerics.polynomial_fit import scatter_within

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradcheck.checker.numerics.fitted import Rough
    from gradcheck.model import Array


def jumps_along(rough: Rough, columns: Array, reach: Array, seed: int) -> Array:
    """By coordinate: the height of a jump of the scalar within reach; zero if there is none.

    Among some points, two neighbours are looked at again, with as many points between them, and so
    on until they are next to each other: those between which most is climbed, or lost, or those
    which differ most from their neighbours.

    Without it `test_stairs_under_a_slope` and `test_what_is_rounded_meets_what_is_not` fail.

    Args:
        rough: the function.
        columns: the coordinates.
        reach: how far each is moved, to both sides.
        seed: for where the points lie that must show no noise.
    """
    found = np.zeros(len(columns))
    size = max(1, limits.NUMBERS_AT_ONCE // (stepping.FIT_POINTS * rough.numbers))
    for start in range(0, len(columns), size):
        some = slice(start, start + size)
        found[some] = _jumps_along_some(rough, columns[some], reach[some], seed)
    return found


def _jumps_along_some(rough: Rough, columns: Array, reach: Array, seed: int) -> Array:
    low = -np.minimum(reach, rough.space.room_down[columns] / 2)
    high = np.minimum(reach, rough.space.room_up[columns] / 2)
    heights = [_closer(rough, columns, low, high, which) for which in (_most, _least, _apart)]
    noise = scatter_within(rough, columns, stepping.FIT_CLOSE_BY, seed)
    height = np.max(heights, axis=0)
    return np.where(height > tolerances.SURELY_JUMPS * noise, height, 0.0)


def _closer(
    rough: Rough, columns: Array, low: Array, high: Array, which: Callable[[Array], Array]
) -> Array:
    """By coordinate: what is left of a difference between neighbours that come ever closer."""
    space, rows = rough.space, np.arange(len(columns))
    places, height = np.linspace(0.0, 1.0, stepping.JUMP_POINTS), np.zeros(len(columns))
    while (high - low > stepping.FIT_CLOSE_BY * space.unit[columns]).any():
        deltas = low[:, np.newaxis] + np.outer(high - low, places)
        points, _ = space.points(np.repeat(columns, len(places)), deltas.ravel())
        with np.errstate(all="ignore"):
            steps = np.diff(rough.scalar(points).reshape(deltas.shape), axis=1)
        steps = np.where(np.isfinite(steps), steps, 0.0)
        next_ = which(steps)
        low, high = deltas[rows, next_], deltas[rows, next_ + 1]
        height = np.abs(steps[rows, next_] - np.median(steps, axis=1))
    return height


def stands_still_on_a_side(rough: Rough, columns: Array, reach: Array) -> Array:
    """By coordinate: whether no output changes on one of its sides, as far as it reaches.

    There the derivative is zero. A slope that rounding hides shows on both sides, if one goes far
    enough; a switch, as of a maximum, on one. Where the other side climbs but a step or two, it may
    be that the next one is beyond the reach. Without it `test_beside_a_switch_of_what_rounds`
    fails.
    """
    space, shares = rough.space, np.linspace(0.0, 1.0, stepping.JUMP_POINTS + 1)[1:]
    steps = []
    for room, sign in ((space.room_down, -1.0), (space.room_up, 1.0)):
        far = np.minimum(reach, room[columns] / 2)
        points, _ = space.points(
            np.repeat(columns, len(shares)), sign * np.outer(far, shares).ravel()
        )
        values = rough.evaluate(points).reshape(len(columns), len(shares), len(rough.base))
        before = np.concatenate([np.broadcast_to(rough.base, values[:, :1].shape), values], axis=1)
        changed = (before[:, 1:] != before[:, :-1]).any(axis=2)
        steps.append(np.where(far >= reach / 2, changed.sum(axis=1), 1))
    down, up = steps
    climbs = np.minimum(down, up) == 0
    return np.asarray(climbs & (np.maximum(down, up) >= stepping.CLIMBS))


def _most(steps: Array) -> Array:
    return np.asarray(steps.argmax(axis=1))


def _least(steps: Array) -> Array:
    return np.asarray(steps.argmin(axis=1))


def _apart(steps: Array) -> Array:
    """Which differs most from those beside it."""
    beside = np.pad(steps, [(0, 0), (1, 1)], mode="reflect")
    return np.asarray(np.abs(steps - (beside[:, :-2] + beside[:, 2:]) / 2).argmax(axis=1))
