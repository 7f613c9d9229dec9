"""Which share of an output is noise, and what the outputs of one function have in common of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import limits, tolerances
from gradcheck.checker.numerics.noise_lines import along_line, line_steps, over_lines

if TYPE_CHECKING:
    from gradcheck.checker.numerics.estimate import Evaluate
    from gradcheck.model import Array


def shares_of(
    evaluate: Evaluate,
    point: Array,
    scale: Array,
    away: Array,
    direction: Array,
    scattered: Array,
    level: Array,
    size: Array,
) -> Array:
    """By output: which share of itself is noise.

    Where parts cancel at the point and not around it, that is no share of what it is elsewhere:
    so it is measured at another point too; of what is tiny itself, over the size of one.

    Without it `test_what_cancels_at_the_point_alone` fails.

    Args:
        evaluate: the function.
        point: where.
        scale: by element, the length over which it may be moved.
        away: moves to some points that are far from it, in units of that.
        direction: of lines through the point.
        scattered: the outputs at these points.
        level: the noise at the point.
        size: of the outputs there.
    """
    shares = np.where(size > 0, level / size, 0.0)
    noisy = shares > tolerances.FAST
    if not noisy.any():
        return shares
    for reach in (scale, np.maximum(scale, 1.0)):
        outputs = scattered if reach is scale else evaluate(point + away * reach)
        there = np.where(np.isfinite(outputs), np.abs(outputs), 0.0)
        suspects = noisy & (np.median(there, axis=0) > tolerances.ELSEWHERE * size)
        if suspects.any():
            break
    else:
        return shares
    far = int(np.argmax(np.median(there[:, suspects] / size[suspects], axis=1)))
    spacings = limits.SPACINGS[:2]
    steps, through = line_steps(spacings), point + away[far] * reach
    lines = along_line(evaluate, through, direction * (reach / scale), steps)
    told = over_lines(outputs[far], lines, len(spacings)).level / there[far]
    return np.where(suspects, np.fmin(shares, np.fmax(told, tolerances.UNIT_ROUNDOFF)), shares)


def shared(level: Array, size: Array, shares: Array) -> tuple[float, float]:
    """The relative and the absolute noise that the outputs have in common.

    A few values can agree by chance, so one output borrows from the others. Either the relative
    noise of the outputs is alike, or the absolute one (where large terms cancel): whichever
    spreads less.

    Without it `test_rounding_inside_is_told` fails.

    Args:
        level: the noise of each.
        size: of each.
        shares: of each that is noise, also elsewhere.
    """
    # Outputs that are zero but for rounding are all noise, and no measure for the others.
    seen = (level > 0) & (size > tolerances.NEGLIGIBLE * size.max(initial=0.0))
    if not seen.any():
        return tolerances.UNIT_ROUNDOFF, 0.0
    ratios, levels = shares[seen], level[seen]
    relative, absolute = float(np.quantile(ratios, 0.75)), 0.0
    if np.std(np.log(levels)) < np.std(np.log(ratios)):
        absolute, relative = float(np.quantile(levels, 0.75)), float(np.min(ratios))
    return max(min(relative, 1.0), tolerances.UNIT_ROUNDOFF), absolute
