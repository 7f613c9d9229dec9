"""How noisy a function really is, output by output.

The round-off of a difference quotient is noise / step, so the noise decides how good a numeric
derivative can be, and it must not be assumed to be one unit in the last place: a function may
compute in float32 inside, or cancel. The method is ECnoise (Moré and Wild, SIAM J. Sci. Comput.
33, 2011): take the function at equally spaced points on a short line through the point. High-order
differences of a smooth function vanish, so what is left in them is noise.

One spacing does not serve all functions. Over too short a line a function that rounds to float32
inside stands still; over too long a line a function that varies fast looks like noise. So there are
several lines, and each output is judged by those that suit it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from math import factorial

import numpy as np

from gradcheck.model import Array

Evaluate = Callable[[Array], Array]
"""Points, one a row, to outputs, one row each; all real float64."""

POINTS = 8
"""Values on one line: differences up to order six, two of the highest."""

SPACINGS = (2.0**-40, 2.0**-34, 2.0**-27, 2.0**-20, 2.0**-16, 2.0**-12)
"""Relative spacings of the first lines, for arithmetic of 24 bits and more."""

COARSE_SPACINGS = (2.0**-8, 2.0**-5)
"""For outputs that stand still on the first lines: arithmetic of 8 to 11 bits."""

NOISE_SHARE = 1 / 64
"""Noise is at most this share of a line's variation; more is a function that was undersampled."""

PLATEAU = 3.0
"""Noise on two neighbouring lines differs at most by this factor."""

_UNIT_ROUNDOFF = 2.0**-53


@dataclass(frozen=True, eq=False)
class Noise:
    """The noise of a function around a point."""

    level: Array
    """Standard deviation, by output."""
    relative: float
    """The share of an output's size that is noise, typical of this function."""


def measure_noise(evaluate: Evaluate, point: Array, base: Array, scale: Array, seed: int) -> Noise:
    """Measure the noise of each output.

    Args:
        evaluate: the function.
        point: where.
        base: the outputs there.
        scale: by element of the point, the length over which it may be moved.
        seed: for the direction of the lines.
    """
    if not base.size:
        return Noise(np.zeros(0), _UNIT_ROUNDOFF)
    rng = np.random.default_rng([seed, 0x6E6F697365])
    # Signed powers of two: the points of a line are then nearly exact, and no noise themselves.
    direction = rng.choice([-1.0, -0.5, 0.5, 1.0], size=point.shape) * scale
    with np.errstate(all="ignore"):
        level, seen = _over_lines(evaluate, point, base, direction, SPACINGS)
        if not seen.all():
            coarse, _ = _over_lines(evaluate, point, base, direction, COARSE_SPACINGS)
            level = np.where(seen, level, np.where(level > 0, np.fmin(level, coarse), coarse))
        size = np.where(np.isfinite(base), np.abs(base), 0.0)
        relative, absolute = _shared(level, size)
    return Noise(np.maximum(level, np.maximum(absolute, relative * size)), relative)


def _over_lines(
    evaluate: Evaluate, point: Array, base: Array, direction: Array, spacings: tuple[float, ...]
) -> tuple[Array, Array]:
    """The noise of each output, and whether the lines could tell."""
    # To alternating sides: a singularity that one line runs into, its neighbours run away from.
    sides = [(-1.0) ** i * spacing for i, spacing in enumerate(spacings)]
    steps = np.concatenate([side * np.arange(1, POINTS) for side in sides])
    outputs = evaluate(point + steps[:, np.newaxis] * direction)
    levels, limit = [], np.full(base.shape, np.nan)
    for line in outputs.reshape(len(spacings), POINTS - 1, len(base)):
        values = np.concatenate([base[np.newaxis], line])
        noise, smooth = _difference_table(values)
        moves = (np.diff(values, axis=0) != 0).sum(axis=0) > POINTS // 2
        usable = moves & ~smooth & (noise <= NOISE_SHARE * np.ptp(values, axis=0))
        levels.append(np.where(usable, noise, np.nan))
        limit = np.fmin(limit, np.where(moves & (noise > 0), noise, np.nan))
    # What the shortest line that moves shows is noise. What a longer one shows on top may be a
    # function that varies too fast for it, unless the next longer line shows the same. No noise
    # at all, on one line, may be steps of just one quantum each: believed if all lines agree.
    level = np.full(base.shape, np.nan)
    for noise in levels:
        level = np.where((np.isnan(level) | (level == 0)) & ~np.isnan(noise), noise, level)
    for shorter, longer in pairwise(levels):
        low, high = np.minimum(shorter, longer), np.maximum(shorter, longer)
        level = np.where(high <= PLATEAU * low, np.fmax(level, high), level)
    seen = ~np.isnan(level) | ~np.isfinite(base)
    # Whatever it is that a line shows, the noise is not more.
    return np.nan_to_num(np.where(seen, level, limit), nan=0.0), seen


def _shared(level: Array, size: Array) -> tuple[float, float]:
    """The relative and the absolute noise that the outputs have in common.

    A few values can agree by chance, so one output borrows from the others. Either the relative
    noise of the outputs is alike, or the absolute one (where large terms cancel): whichever
    spreads less.
    """
    seen = (level > 0) & (size > 0)
    if not seen.any():
        return _UNIT_ROUNDOFF, 0.0
    ratios, levels = level[seen] / size[seen], level[seen]
    relative, absolute = float(np.quantile(ratios, 0.75)), 0.0
    if np.std(np.log(levels)) < np.std(np.log(ratios)):
        absolute, relative = float(np.quantile(levels, 0.75)), float(np.min(ratios))
    return max(min(relative, 1.0), _UNIT_ROUNDOFF), absolute


def _difference_table(values: Array) -> tuple[Array, Array]:
    """The noise that high-order differences show, and whether it may be a smooth function's."""
    by_order = {}
    differences = values
    changes_sign: Array = np.zeros(values.shape[1:], dtype=bool)
    for order in range(1, POINTS - 1):
        differences = np.diff(differences, axis=0)
        # Noise of unit variance makes differences of variance (2k)!/(k!)² at order k.
        gamma = factorial(order) ** 2 / factorial(2 * order)
        by_order[order] = np.sqrt(gamma * np.mean(differences**2, axis=0))
        if order == 4:
            # A derivative keeps its sign over a short line; noise does not.
            up, down = (differences > 0).any(axis=0), (differences < 0).any(axis=0)
            changes_sign = np.asarray(up & down)
    high = np.maximum(by_order[5], by_order[6])
    level = np.where(by_order[4] <= 3 * high, np.maximum(by_order[4], high), high)
    shrinking = (by_order[6] < by_order[5] / 2.5) & (by_order[5] < by_order[4] / 2.5)
    return level, (level > 0) & (shrinking | ~changes_sign)
