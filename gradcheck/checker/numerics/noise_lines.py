"""What values at equally spaced points on short lines tell about the noise of outputs.

High-order differences of a smooth function vanish, so what is left in them is noise. Where an
output climbs in steps, the height of a step is seen directly.
"""

from __future__ import annotations

from math import factorial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gradcheck.checker import limits, tolerances

if TYPE_CHECKING:
    from gradcheck.checker.numerics.estimate import Evaluate
    from gradcheck.model import Array


# Noise of unit variance makes differences of variance (2k)!/(k!)² at order k.
_ORDERS = range(1, limits.LINE_POINTS - 1)
_GAMMA = [factorial(k) ** 2 / factorial(2 * k) for k in _ORDERS]


class Told(NamedTuple):
    """What lines tell of each output."""

    level: Array
    """Its noise. Where the lines could not tell, not more than this; NaN where there is no saying
    even that."""
    seen: Array
    """Whether they could tell."""
    wild: Array
    """Whether it varies over less than the spacing of the shortest line."""
    fast: Array
    """Whether it may vary over little more."""
    most: Array
    """The most that looks like noise on any of the lines."""


def line_steps(spacings: tuple[float, ...]) -> Array:
    """Steps to the points of lines with these spacings, but for the one they have in common."""
    # To alternating sides: a singularity that one line runs into, its neighbours run away from.
    sides = np.array(spacings) * (-1.0) ** np.arange(len(spacings))
    steps: Array = sides[:, np.newaxis] * np.arange(1, limits.LINE_POINTS)
    return steps.ravel()


def over_lines(base: Array, outputs: Array, count: int) -> Told:
    """What the values on so many lines tell, output by output.

    Args:
        base: the outputs at the point that all the lines have in common.
        outputs: at the other points of each line, those of `line_steps`.
        count: how many lines there are.
    """
    # Outputs have nothing to do with each other here: a part at a time keeps the memory bounded.
    parts = [
        _over_lines_of(
            base[i : i + limits.NOISY_OUTPUTS_AT_ONCE],
            outputs[:, i : i + limits.NOISY_OUTPUTS_AT_ONCE],
            count,
        )
        for i in range(0, len(base), limits.NOISY_OUTPUTS_AT_ONCE)
    ]
    return Told(*(np.concatenate(part) for part in zip(*parts, strict=True)))


def _over_lines_of(base: Array, outputs: Array, count: int) -> Told:
    lines = np.empty((count, limits.LINE_POINTS, len(base)))
    lines[:, 0], lines[:, 1:] = base, outputs.reshape(count, limits.LINE_POINTS - 1, len(base))
    # By powers of two to the size of one: squares of very large or small numbers are no numbers.
    _, exponent = np.frexp(np.where(np.isfinite(base), base, 1.0))
    told = _noise_of(np.ldexp(lines, -exponent))
    return told._replace(
        level=np.ldexp(told.level, exponent),
        seen=told.seen | ~np.isfinite(base),
        most=np.ldexp(told.most, exponent),
    )


def _noise_of(lines: Array) -> Told:
    """What the values on the lines tell, output by output: (lines, points, outputs)."""
    level, smooth, increments = _difference_table(lines)
    moving = increments != 0
    moves = moving.sum(axis=1) > limits.LINE_POINTS // 2
    straight = ~_bend_once(increments)
    usable = moves & ~smooth & straight & (level <= tolerances.NOISE_SHARE * np.ptp(lines, axis=1))
    levels = np.where(usable, level, np.nan)
    # What the shortest line that moves shows is noise. What a longer one shows on top may be a
    # function that varies too fast for it, unless the next longer line shows the same. No noise
    # at all, on one line, may be steps of just one quantum each: believed if all lines agree. What
    # is more than such a quantum is none of it, but a kink that the longer line runs across.
    noise = np.full(lines.shape[2], np.nan)
    steps, quantum = np.abs(increments).max(axis=1), np.full(lines.shape[2], np.inf)
    for line, most in zip(levels, steps, strict=True):
        believed = (np.isnan(noise) | (noise == 0)) & (line <= quantum)
        noise = np.where(believed, line, noise)
        quantum = np.where(line == 0, np.minimum(quantum, most), quantum)
    # (Lines go to alternating sides, of which one may round more: those of a side agree as well.
    # Without it `test_either_side_and_between_is_right` fails.)
    for apart in (1, 2):
        low, high = (side(levels[:-apart], levels[apart:]) for side in (np.fmin, np.maximum))
        plateaus = np.where(high <= tolerances.PLATEAU * low, high, -1.0).max(axis=0, initial=-1.0)
        noise = np.where(plateaus >= 0, np.fmax(noise, plateaus), noise)

    noise = np.fmax(noise, tolerances.ROUNDING_SHARE * _step_height(lines, increments))

    # Whatever it is that a line shows, the noise is not more; nor what it shows without the point
    # itself, where the function may jump.
    beside, _, _ = _difference_table(lines[:, 1:])
    limit = np.where(moves & straight & (level > 0), np.fmin(level, beside), np.inf).min(axis=0)
    limit = np.where(np.isfinite(limit), limit, np.nan)
    varies, last = np.ptp(lines, axis=1), tolerances.FAST
    return Told(
        level=np.where(np.isnan(noise), limit, noise),
        seen=~np.isnan(noise),
        # (What varies by its last digits alone is constant but for rounding; and where a longer
        # line shows more, the shortest is too short for a function that has noise.)
        wild=moves[0]
        & ~smooth[0]
        & (level[0] > tolerances.NOISE_SHARE * varies.max(axis=0))
        & (varies[0] > last),
        fast=moves[0] & (level[0] > tolerances.FAST),
        most=np.where(moves, level, 0.0).max(axis=0),
    )


def _bend_once(increments: Array) -> Array:
    """By line and output: whether it is straight but for one kink, which is no noise.

    The increments change at one place, or twice in the same sense at two places next to each other.
    Of what rounds they go up and down again.

    Without it `test_a_kink_on_a_line_is_no_noise` fails.
    """
    turns = np.diff(increments, axis=1)
    once, twice = np.abs(turns), turns[:, :-1] + turns[:, 1:]
    at_a_kink = np.maximum(once.max(axis=1), np.abs(twice).max(axis=1))
    rest = once.sum(axis=1) - at_a_kink
    return np.asarray((at_a_kink > 0) & (rest <= tolerances.NOISE_SHARE * at_a_kink))


def _step_height(lines: Array, increments: Array) -> Array:
    """The height of the steps that each output climbs in; NaN for those that do not.

    Without it `test_what_quantises_on_purpose_is_told_what_to_say` fails.
    """
    height = np.full(lines.shape[2], np.nan)
    # The first increment may be a jump at the point itself, which is no rounding.
    moving = increments[:, 1:] != 0
    suspects = np.flatnonzero(~moving.all(axis=(0, 1)) & moving.any(axis=(0, 1)))
    if not len(suspects):
        return height
    moving, sizes = moving[:, :, suspects], np.abs(increments[:, 1:, suspects])
    climbs = (moving.sum(axis=(0, 1)) >= limits.STAIRS_SEEN) & _stops(moving)
    smallest = np.where(moving, sizes, np.inf).min(axis=(0, 1))
    height[suspects] = np.where(climbs, smallest, np.nan)
    return height


def _stops(moving: Array) -> Array:
    """Which outputs stop between climbs, or climb between stops, on any line.

    One that stands still and then climbs, or climbs and then stands still, has a kink.

    Without it `test_a_kink_is_no_staircase` fails.
    """
    before = np.logical_or.accumulate(moving, axis=1)[:, :-2]
    after = np.logical_or.accumulate(moving[:, ::-1], axis=1)[:, ::-1][:, 2:]
    middle = moving[:, 1:-1]
    stops = ~middle & before & after
    climbs = middle & ~moving[:, :-2] & ~moving[:, 2:]
    return np.asarray((stops | climbs).any(axis=(0, 1)))


def _difference_table(lines: Array) -> tuple[Array, Array, Array]:
    """By line and output: the noise in high-order differences, whether that is smooth, increments.

    Smooth means that what looks like noise may be a function that varies fast.
    """
    differences, by_order = lines, []
    for gamma in _GAMMA:
        differences = differences[:, 1:] - differences[:, :-1]
        by_order.append((differences, gamma))
    first, fourth = by_order[0][0], by_order[3][0]
    four, five, six = (
        np.sqrt(gamma / d.shape[1] * np.einsum("lpk,lpk->lk", d, d)) for d, gamma in by_order[3:]
    )
    # A derivative keeps its sign over a short line; noise does not.
    changes_sign = (fourth.max(axis=1) > 0) & (fourth.min(axis=1) < 0)
    high = np.maximum(five, six)
    level = np.where(four <= 3 * high, np.maximum(four, high), high)
    shrinking = (six < five / 2.5) & (five < four / 2.5)
    return level, (level > 0) & (shrinking | ~changes_sign), first


def along_line(
    evaluate: Evaluate, point: Array, direction: Array, steps: Array, away: Array | None = None
) -> Array:
    """The outputs at these steps along a direction, and at other moves after them."""
    away = np.zeros((0, len(point))) if away is None else away
    some = max(1, limits.NUMBERS_AT_ONCE // max(1, len(point)))
    if some >= len(steps) + len(away):
        return evaluate(point + np.concatenate([steps[:, np.newaxis] * direction, away]))
    # Large points are not all held in memory at once.
    parts = np.array_split(steps[:, np.newaxis], range(some, len(steps), some))
    outputs = [evaluate(point + part * direction) for part in parts]
    return np.concatenate([*outputs, evaluate(point + away)])
