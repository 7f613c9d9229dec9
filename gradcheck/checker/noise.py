"""How noisy a function really is, output by output.

The round-off of a difference quotient is noise / step, so the noise decides how good a numeric
derivative can be, and it must not be assumed to be one unit in the last place: a function may
compute in float32 inside, or cancel. The method is ECnoise (Moré and Wild, SIAM J. Sci. Comput.
33, 2011): take the function at equally spaced points on a short line through the point. High-order
differences of a smooth function vanish, so what is left in them is noise.

One spacing does not serve all functions. Over too short a line a function that rounds to float32
inside stands still; over too long a line a function that varies fast looks like noise. So there are
several lines, and each output is judged by those that suit it. Where an output climbs in steps, the
height of a step is seen directly.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import factorial

import numpy as np

from gradcheck.checker.draws import generator
from gradcheck.model import Array

Evaluate = Callable[[Array], Array]
"""Points, one a row, to outputs, one row each; all real float64."""

Lines = tuple[Array, Array, Array, Array, Array]
"""What lines tell of each output: see `_over_lines`."""

POINTS = 8
"""Values on one line: differences up to order six, two of the highest."""

SPACINGS = (2.0**-40, 2.0**-34, 2.0**-24, 2.0**-20, 2.0**-16, 2.0**-12)
"""Relative spacings of the first lines, for arithmetic of 24 bits and more."""

FINE_SPACINGS = (2.0**-50, 2.0**-47, 2.0**-44, 2.0**-42)
"""For outputs that vary too fast for the first lines: those with a singularity close by."""

FAST = 2.0**-45
"""Relative noise on the shortest of the first lines that may be such an output."""

QUIET = 1 / 16
"""How much less than on the first lines it must be on all the shorter ones."""

COARSE_SPACINGS = (2.0**-12, 2.0**-8, 2.0**-5)
"""For outputs that stand still on the first lines: arithmetic of 8 to 11 bits."""

NOISE_SHARE = 1 / 64
"""Noise is at most this share of a line's variation; more is a function that was undersampled."""

PLATEAU = 3.0
"""Noise on two neighbouring lines differs at most by this factor."""

ROUNDING_SHARE = 12**-0.5
"""Standard deviation of rounding to steps, as a share of their height."""

STEPS_SEEN = 3
"""How many steps an output must climb to be one that rounds: fewer may be jumps, as of floor."""

BITS = (8, 11, 24)
"""Precisions that a function may round to inside: bfloat16, float16, float32."""

COARSEST = 2.0**-7
"""Relative spacing of the coarsest values that a function may round to: what an output may hide
that depends on the inputs and stands still all the same."""

NEGLIGIBLE = 2.0**-40
"""Outputs below this share of the largest one say nothing about the noise of the others."""

OUTPUTS = 2**15
"""How many outputs are looked at together."""

MOST_OUTPUTS = 2**16
"""Of more outputs than this a sample is looked at."""

UNSEEN = 2.0
"""How much worse than those of the sample the other outputs may be."""

CHUNK = 2**22
"""How many numbers the points hold that are evaluated together."""

WILD = 0.1
"""Share of wild outputs from which on a function is hopeless."""

ASSUMED = 2.0**-52
"""Relative noise of a function that computes in double precision and loses nothing."""

SCATTERED = 6
"""How many points tell how many bits a function's values have."""

_UNIT_ROUNDOFF = 2.0**-53

# Noise of unit variance makes differences of variance (2k)!/(k!)² at order k.
_ORDERS = range(1, POINTS - 1)
_GAMMA = [factorial(k) ** 2 / factorial(2 * k) for k in _ORDERS]


@dataclass(frozen=True, eq=False)
class Noise:
    """The noise of a function around a point."""

    level: Array
    """Standard deviation, by output."""
    relative: float
    """The share of an output's size that is noise, typical of this function."""
    lost: float = 0.0
    """The same of the outputs as they are, which may cancel: how ill-conditioned all this is."""
    rounds_to: float = 0.0
    """The relative spacing of the values that the function rounds to inside, if it does."""
    assumed: bool = False
    """Not measured."""


def assumed_noise(base: Array) -> Noise:
    """The noise of an ordinary function: the last digits of its outputs."""
    return Noise(ASSUMED * _size(base), ASSUMED, assumed=True)


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
    rng = generator(seed, 0x6E6F697365)
    if len(base) <= MOST_OUTPUTS:
        return _measure(evaluate, point, base, scale, rng)
    chosen = np.sort(rng.choice(len(base), MOST_OUTPUTS, replace=False))
    some = _measure(lambda points: evaluate(points)[:, chosen], point, base[chosen], scale, rng)
    with np.errstate(all="ignore"):
        relative, absolute = _shared(some.level, _size(base[chosen]))
        level = UNSEEN * np.maximum(absolute, relative * _size(base))
    level[chosen] = some.level
    return replace(some, level=level)


def _measure(
    evaluate: Evaluate, point: Array, base: Array, scale: Array, rng: np.random.Generator
) -> Noise:
    # Signed powers of two: the points of a line are then nearly exact, and no noise themselves.
    direction = rng.choice([-1.0, -0.5, 0.5, 1.0], size=point.shape) * scale
    away = rng.uniform(2.0**-6, 2.0**-3, size=(SCATTERED, len(point)))
    away *= rng.choice([-1.0, 1.0], size=away.shape)
    with np.errstate(all="ignore"):
        steps = _line_steps(SPACINGS)
        outputs = _along(evaluate, point, direction, steps, away * scale)
        lines, scattered = outputs[: len(steps)], outputs[len(steps) :]
        level, seen, wild, fast, _ = _over_lines(base, lines, len(SPACINGS))
        size = _size(base)
        counts = size > NEGLIGIBLE * size.max(initial=0.0)
        fast &= counts
        if fast.any():
            # What rounds to few bits stands still on such lines, and what is noise looks the same
            # on all of them: so an output that looks quiet here is one that varies fast.
            fine_lines = _along(evaluate, point, direction, _line_steps(FINE_SPACINGS))
            fine, _, _, _, most = _over_lines(base, fine_lines, len(FINE_SPACINGS))
            told = fast & (fine > 0) & (most <= QUIET * level)
            level, seen, wild = np.where(told, fine, level), seen | told, wild & ~told
        seen |= ~counts
        if not seen.all():
            coarse_lines = _along(evaluate, point, direction, _line_steps(COARSE_SPACINGS))
            coarse, _, _, _, _ = _over_lines(base, coarse_lines, len(COARSE_SPACINGS))
            level = np.where(seen, level, np.fmin(level, coarse))
        level = np.where(np.isnan(level), 0.0, level)
        if (scattered == base).all():
            # Nothing moves over the size of the inputs: look over the size of one.
            scattered = evaluate(point + 4 * away * np.maximum(scale, 1.0))
        unit = _few_bits(base, scattered)
        level = np.fmax(level, ROUNDING_SHARE * unit)
        relative, absolute = _shared(level, size)
        rounded = np.isfinite(unit) & counts
        rounds_to = float(np.max(unit[rounded] / size[rounded], initial=0.0))
    level = np.maximum(level, np.maximum(absolute, relative * size))
    lost = float(np.median(level[counts] / size[counts])) if counts.any() else 0.0
    if wild.mean() > WILD:
        lost = 1.0
    if counts.any() and (outputs == base).all() and (scattered == base).all():
        # Nothing moves, so nothing tells how many bits there are.
        hidden = _depend(evaluate, point, base)
        level = np.where(hidden, np.fmax(level, ROUNDING_SHARE * COARSEST * size), level)
    return Noise(level, relative, lost, min(rounds_to, 2.0**-7))


def _size(base: Array) -> Array:
    return np.where(np.isfinite(base), np.abs(base), 0.0)


def _along(
    evaluate: Evaluate, point: Array, direction: Array, steps: Array, away: Array | None = None
) -> Array:
    """The outputs at these steps along a direction, and at other moves after them."""
    away = np.zeros((0, len(point))) if away is None else away
    some = max(1, CHUNK // len(point))
    if some >= len(steps) + len(away):
        return evaluate(point + np.concatenate([steps[:, np.newaxis] * direction, away]))
    # Large points are not all held in memory at once.
    parts = np.array_split(steps[:, np.newaxis], range(some, len(steps), some))
    outputs = [evaluate(point + part * direction) for part in parts]
    return np.concatenate([*outputs, evaluate(point + away)])


def _depend(evaluate: Evaluate, point: Array, base: Array) -> Array:
    """Which outputs depend on the inputs at all, though they may stand still."""
    # A huge move shows in whatever depends on it; times zero it is zero.
    try:
        outputs = evaluate(np.stack([point + 2.0**500, point - 2.0**500]))
    except Exception:  # some functions refuse it
        return np.zeros(len(base), dtype=bool)
    return np.asarray(((outputs != base) & ~np.isnan(base)).any(axis=0))


def _line_steps(spacings: tuple[float, ...]) -> Array:
    """Steps to the points of lines with these spacings, but for the one they have in common."""
    # To alternating sides: a singularity that one line runs into, its neighbours run away from.
    sides = np.array(spacings) * (-1.0) ** np.arange(len(spacings))
    steps: Array = sides[:, np.newaxis] * np.arange(1, POINTS)
    return steps.ravel()


def _over_lines(base: Array, outputs: Array, count: int) -> Lines:
    """The noise of each output, whether the lines could tell, whether it is wild, or fast.

    Where they could not, the noise is not more than this; NaN where there is no saying even that.
    Wild is one that varies over less than the spacing of the shortest line, and fast one that may
    vary over little more. At last the most that looks like noise on any of the lines.
    """
    # Outputs have nothing to do with each other here: a part at a time keeps the memory bounded.
    parts = [
        _over_lines_of(base[i : i + OUTPUTS], outputs[:, i : i + OUTPUTS], count)
        for i in range(0, len(base), OUTPUTS)
    ]
    level, seen, wild, fast, most = (np.concatenate(part) for part in zip(*parts, strict=True))
    return level, seen, wild, fast, most


def _over_lines_of(base: Array, outputs: Array, count: int) -> Lines:
    lines = np.empty((count, POINTS, len(base)))
    lines[:, 0], lines[:, 1:] = base, outputs.reshape(count, POINTS - 1, len(base))
    # By powers of two to the size of one: squares of very large or small numbers are no numbers.
    _, exponent = np.frexp(np.where(np.isfinite(base), base, 1.0))
    noise, seen, wild, fast, most = _noise_of(np.ldexp(lines, -exponent))
    seen |= ~np.isfinite(base)
    return np.ldexp(noise, exponent), seen, wild, fast, np.ldexp(most, exponent)


def _noise_of(lines: Array) -> Lines:
    """The same from the values: (lines, points, outputs)."""
    level, smooth, increments = _difference_table(lines)
    moving = increments != 0
    moves = moving.sum(axis=1) > POINTS // 2
    usable = moves & ~smooth & (level <= NOISE_SHARE * np.ptp(lines, axis=1))
    levels = np.where(usable, level, np.nan)
    # What the shortest line that moves shows is noise. What a longer one shows on top may be a
    # function that varies too fast for it, unless the next longer line shows the same. No noise
    # at all, on one line, may be steps of just one quantum each: believed if all lines agree.
    noise = np.full(lines.shape[2], np.nan)
    for line in levels:
        noise = np.where((np.isnan(noise) | (noise == 0)) & ~np.isnan(line), line, noise)
    low, high = np.fmin(levels[:-1], levels[1:]), np.maximum(levels[:-1], levels[1:])
    plateaus = np.where(high <= PLATEAU * low, high, -1.0).max(axis=0)
    noise = np.where(plateaus >= 0, np.fmax(noise, plateaus), noise)

    noise = np.fmax(noise, ROUNDING_SHARE * _step_height(lines, increments))

    # Whatever it is that a line shows, the noise is not more; nor what it shows without the point
    # itself, where the function may jump.
    beside, _, _ = _difference_table(lines[:, 1:])
    limit = np.where(moves & (level > 0), np.fmin(level, beside), np.inf).min(axis=0)
    limit = np.where(np.isfinite(limit), limit, np.nan)
    wild = moves[0] & ~smooth[0] & (level[0] > NOISE_SHARE * np.ptp(lines[0], axis=0))
    fast = moves[0] & (level[0] > FAST)
    most = np.where(moves, level, 0.0).max(axis=0)
    return np.where(np.isnan(noise), limit, noise), ~np.isnan(noise), wild, fast, most


def _step_height(lines: Array, increments: Array) -> Array:
    """The height of the steps that each output climbs in; NaN for those that do not."""
    height = np.full(lines.shape[2], np.nan)
    # The first increment may be a jump at the point itself, which is no rounding.
    moving = increments[:, 1:] != 0
    suspects = np.flatnonzero(~moving.all(axis=(0, 1)) & moving.any(axis=(0, 1)))
    if not len(suspects):
        return height
    moving, sizes = moving[:, :, suspects], np.abs(increments[:, 1:, suspects])
    climbs = moving.sum(axis=(0, 1)) >= STEPS_SEEN
    smallest = np.where(moving, sizes, np.inf).min(axis=(0, 1))
    height[suspects] = np.where(climbs, smallest, np.nan)
    return height


def _few_bits(base: Array, values: Array) -> Array:
    """The unit in the last place of outputs whose values have few bits; NaN for the others.

    At points with all their bits a function that computes in double precision gives values with
    all their bits. One whose values all fit into 24, 11 or 8 bits rounds to them.
    """
    unit = np.full(base.shape, np.nan)
    mantissa, exponent = np.frexp(np.concatenate([base[np.newaxis], values]))
    exponent = np.where(mantissa == 0, -1000, exponent)
    scaled = np.ldexp(mantissa, max(BITS))
    open_ = (scaled == np.rint(scaled)).all(axis=0) & (values != base).any(axis=0)
    # Whole numbers are no rounding but the function's own steps, as of floor or sign.
    open_ &= ~(values == np.rint(values)).all(axis=0)
    if not open_.any():
        return unit
    for bits in BITS:
        scaled = np.ldexp(mantissa, bits)
        short = open_ & (scaled == np.rint(scaled)).all(axis=0)
        unit = np.where(short, np.ldexp(1.0, exponent.max(axis=0) - bits), unit)
        open_ &= ~short
    return unit


def _shared(level: Array, size: Array) -> tuple[float, float]:
    """The relative and the absolute noise that the outputs have in common.

    A few values can agree by chance, so one output borrows from the others. Either the relative
    noise of the outputs is alike, or the absolute one (where large terms cancel): whichever
    spreads less.
    """
    # Outputs that are zero but for rounding are all noise, and no measure for the others.
    seen = (level > 0) & (size > NEGLIGIBLE * size.max(initial=0.0))
    if not seen.any():
        return _UNIT_ROUNDOFF, 0.0
    ratios, levels = level[seen] / size[seen], level[seen]
    relative, absolute = float(np.quantile(ratios, 0.75)), 0.0
    if np.std(np.log(levels)) < np.std(np.log(ratios)):
        absolute, relative = float(np.quantile(levels, 0.75)), float(np.min(ratios))
    return max(min(relative, 1.0), _UNIT_ROUNDOFF), absolute


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
