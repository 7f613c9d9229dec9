"""Jumps of a function along a coordinate, which are there however closely one looks.

What rounds on its way is made of pieces with jumps between them. Nothing else is both still over
the shortest moves and changed as much over ones that are hardly longer: what varies fast is smooth
from close by, and the noise of an ill condition is there at every distance.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import stepping, tolerances
from gradcheck.checker.numerics.polynomial_fit import scatter_within

if TYPE_CHECKING:
    from gradcheck.checker.numerics.fitted import Rough
    from gradcheck.model import Array


def jumps_along(rough: Rough, columns: Array, reach: Array, seed: int) -> Array:
    """By coordinate: the height of a jump of the scalar within reach; zero if there is none.

    Among many points, the two neighbours that differ most from the others are looked at again, with
    as many points between them, and so on until they are next to each other.

    Without it `test_stairs_under_a_slope` fails.

    Args:
        rough: the function.
        columns: the coordinates.
        reach: how far each is moved, to both sides.
        seed: for where the points lie that must show no noise.
    """
    space, unit = rough.space, rough.space.unit[columns]
    low = -np.minimum(reach, space.room_down[columns] / 2)
    high = np.minimum(reach, space.room_up[columns] / 2)
    rows, height = np.arange(len(columns)), np.zeros(len(columns))
    places = np.linspace(0.0, 1.0, stepping.JUMP_POINTS)
    while len(columns) and (high - low > stepping.FIT_CLOSE_BY * unit).any():
        deltas = low[:, np.newaxis] + np.outer(high - low, places)
        points, _ = space.points(np.repeat(columns, len(places)), deltas.ravel())
        with np.errstate(all="ignore"):
            values = rough.scalar(points).reshape(deltas.shape)
            steps = np.diff(values, axis=1)
            steps = np.abs(steps - np.median(steps, axis=1, keepdims=True))
        steps = np.where(np.isfinite(steps), steps, 0.0)
        most = steps.argmax(axis=1)
        low, high, height = deltas[rows, most], deltas[rows, most + 1], steps[rows, most]
    noise = scatter_within(rough, columns, stepping.FIT_CLOSE_BY, seed)
    return np.where(height > tolerances.SURELY_JUMPS * noise, height, 0.0)
