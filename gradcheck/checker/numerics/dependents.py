"""Which outputs depend on a coordinate at all, however little."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import limits
from gradcheck.checker.numerics.safe_norms import changed

if TYPE_CHECKING:
    from gradcheck.checker.numerics.coordinates import Space
    from gradcheck.checker.numerics.noise import Evaluate
    from gradcheck.model import Array


def dependents(evaluate: Evaluate, space: Space, columns: Array, base: Array) -> Array:
    """Which outputs a huge move of each of these coordinates reaches."""
    huge = limits.HUGE_MOVE if space.precision is None else limits.HUGE_MOVE_IN_LOW_PRECISION
    reached = np.zeros((len(columns), len(base)), dtype=bool)
    with np.errstate(all="ignore"):
        for move in (huge, -huge):
            points, _ = space.points(columns, np.full(len(columns), move))
            reached |= changed(evaluate(points), base)
    return reached
