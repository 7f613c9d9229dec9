"""How noisy a function really is, output by output.

The round-off of a difference quotient is noise / step, so the noise decides how good a numeric
derivative can be, and it must not be assumed to be one unit in the last place: a function may
compute in float32 inside, or cancel. The method is ECnoise (Moré and Wild, SIAM J. Sci. Comput.
33, 2011): take the function at equally spaced points on a short line through the point. High-order
differences of a smooth function vanish, so what is left in them is noise.

One spacing does not serve all functions. Over too short a line a function that rounds to float32
inside stands still; over too long a line a function that varies fast looks like noise. So there are
several lines, and each output is judged by those that suit it (`lines.py`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import limits, tolerances
from gradcheck.checker.numerics.estimate import Noise
from gradcheck.checker.numerics.noise_lines import line_steps, over_lines

if TYPE_CHECKING:
    from gradcheck.checker.numerics.estimate import Evaluate
    from gradcheck.model import Array
from gradcheck.checker.numerics.rng import generator


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
        return Noise(np.zeros(0), tolerances.UNIT_ROUNDOFF)
    rng = generator(seed, 0x6E6F697365)
    if len(base) <= limits.NOISY_OUTPUTS:
        return _measure(evaluate, point, base, scale, rng)
    chosen = np.sort(rng.choice(len(base), limits.NOISY_OUTPUTS, replace=False))
    some = _measure(lambda points: evaluate(points)[:, chosen], point, base[chosen], scale, rng)
    with np.errstate(all="ignore"):
        relative, absolute = _shared(some.level, _size(base[chosen]))
        level = tolerances.UNSEEN * np.maximum(absolute, relative * _size(base))
    level[chosen] = some.level
    return replace(some, level=level)


def _measure(
    evaluate: Evaluate, point: Array, base: Array, scale: Array, rng: np.random.Generator
) -> Noise:
    # Signed powers of two: the points of a line are then nearly exact, and no noise themselves.
    direction = rng.choice([-1.0, -0.5, 0.5, 1.0], size=point.shape) * scale
    away = rng.uniform(2.0**-6, 2.0**-3, size=(limits.SCATTERED_POINTS, len(point)))
    away *= rng.choice([-1.0, 1.0], size=away.shape)
    with np.errstate(all="ignore"):
        steps = _odd(line_steps(limits.SPACINGS))
        outputs = _along(evaluate, point, direction, steps, away * scale)
        lines, scattered = outputs[: len(steps)], outputs[len(steps) :]
        told = over_lines(base, lines, len(limits.SPACINGS))
        level, seen, wild = told.level, told.seen, told.wild
        size = _size(base)
        counts = size > tolerances.NEGLIGIBLE * size.max(initial=0.0)
        fast = told.fast & counts
        if fast.any():
            # What rounds to few bits stands still on such lines, and what is noise looks the same
            # on all of them: so an output that looks quiet here is one that varies fast.
            fine_lines = _along(evaluate, point, direction, line_steps(limits.FINE_SPACINGS))
            fine = over_lines(base, fine_lines, len(limits.FINE_SPACINGS))
            quiet = fast & (fine.level > 0) & (fine.most <= tolerances.QUIET * level)
            level, seen, wild = np.where(quiet, fine.level, level), seen | quiet, wild & ~quiet
        seen |= ~counts
        if (scattered == base).all():
            # Nothing moves over the size of the inputs: look over the size of one.
            scattered = evaluate(point + 4 * away * np.maximum(scale, 1.0))
        unit = _few_bits(base, scattered)
        if not seen.all():
            afar = _odd(line_steps(limits.COARSE_SPACINGS))
            coarse_lines = _along(evaluate, point, direction, afar)
            coarse = over_lines(base, coarse_lines, len(limits.COARSE_SPACINGS))
            level = np.where(seen, level, np.fmin(level, coarse.level))
            switches = _switches(base, coarse_lines, unit)
            unit = np.where(switches, np.nan, unit)
            level = np.where(switches & ~seen, 0.0, level)
        level = np.where(np.isnan(level), 0.0, level)
        level = np.fmax(level, tolerances.ROUNDING_SHARE * unit)
        relative, absolute = _shared(level, size)
        rounded = np.isfinite(unit) & counts
        rounds_to = float(np.max(unit[rounded] / size[rounded], initial=0.0))
    level = np.maximum(level, np.maximum(absolute, relative * size))
    lost = float(np.median(level[counts] / size[counts])) if counts.any() else 0.0
    if wild.mean() > tolerances.WILD:
        lost = 1.0
    if counts.any() and (outputs == base).all() and (scattered == base).all():
        # Nothing moves, so nothing tells how many bits there are.
        hidden = _depend(evaluate, point, base)
        level = np.where(
            hidden,
            np.fmax(level, tolerances.ROUNDING_SHARE * tolerances.FEWEST_BITS_SPACING * size),
            level,
        )
    return Noise(level, relative, lost, min(rounds_to, tolerances.FEWEST_BITS_SPACING))


def _odd(steps: Array) -> Array:
    """The steps, but those that a precision people round to may show, by no power of two.

    Points that are powers of two apart all round alike, and what they round off shows nowhere.

    Without it `test_all_inputs_are_rounded` fails.
    """
    seen = np.abs(steps) >= limits.SPACING_OF_SINGLE
    return np.where(seen, tolerances.ODD * steps, steps)


def _size(base: Array) -> Array:
    return np.where(np.isfinite(base), np.abs(base), 0.0)


def _along(
    evaluate: Evaluate, point: Array, direction: Array, steps: Array, away: Array | None = None
) -> Array:
    """The outputs at these steps along a direction, and at other moves after them."""
    away = np.zeros((0, len(point))) if away is None else away
    some = max(1, limits.NUMBERS_AT_ONCE // len(point))
    if some >= len(steps) + len(away):
        return evaluate(point + np.concatenate([steps[:, np.newaxis] * direction, away]))
    # Large points are not all held in memory at once.
    parts = np.array_split(steps[:, np.newaxis], range(some, len(steps), some))
    outputs = [evaluate(point + part * direction) for part in parts]
    return np.concatenate([*outputs, evaluate(point + away)])


def _depend(evaluate: Evaluate, point: Array, base: Array) -> Array:
    """Which outputs depend on the inputs at all, though they may stand still.

    Without it `test_an_offset_that_leaves_few_bits_no_digit` fails.
    """
    # A huge move shows in whatever depends on it; times zero it is zero.
    try:
        outputs = evaluate(np.stack([point + limits.HUGE_MOVE, point - limits.HUGE_MOVE]))
    except Exception:  # some functions refuse it
        return np.zeros(len(base), dtype=bool)
    return np.asarray(((outputs != base) & ~np.isnan(base)).any(axis=0))


def _few_bits(base: Array, values: Array) -> Array:
    """The unit in the last place of outputs whose values have few bits; NaN for the others.

    At points with all their bits a function that computes in double precision gives values with
    all their bits. One whose values all fit into 24, 11 or 8 bits rounds to them.

    Without it `test_rounding_inside_is_told` fails.
    """
    unit = np.full(base.shape, np.nan)
    mantissa, exponent = np.frexp(np.concatenate([base[np.newaxis], values]))
    exponent = np.where(mantissa == 0, -1000, exponent)
    scaled = np.ldexp(mantissa, max(limits.BITS))
    open_ = (scaled == np.rint(scaled)).all(axis=0) & (values != base).any(axis=0)
    # Whole numbers are no rounding but the function's own steps, as of floor or sign.
    open_ &= ~(values == np.rint(values)).all(axis=0)
    if not open_.any():
        return unit
    for bits in limits.BITS:
        scaled = np.ldexp(mantissa, bits)
        short = open_ & (scaled == np.rint(scaled)).all(axis=0)
        unit = np.where(short, np.ldexp(1.0, exponent.max(axis=0) - bits), unit)
        open_ &= ~short
    return unit


def _switches(base: Array, coarse_lines: Array, unit: Array) -> Array:
    """Which outputs jump, on lines that one which rounds would climb in steps of a few units.

    They only happen to have few bits: a gradient of pooling does, whose upstream has few.

    Without it `test_a_switch_is_no_rounding` fails.
    """
    lines = coarse_lines.reshape(len(limits.COARSE_SPACINGS), limits.LINE_POINTS - 1, len(base))
    # (Over the longest one climbs more at a time.)
    start = np.broadcast_to(base, (len(lines) - 1, 1, len(base)))
    increments = np.abs(np.diff(lines[:-1], axis=1, prepend=start))
    least = np.where(increments > 0, increments, np.inf).min(axis=(0, 1))
    return np.asarray(np.isfinite(least) & (least > tolerances.SWITCHES * unit))


def _shared(level: Array, size: Array) -> tuple[float, float]:
    """The relative and the absolute noise that the outputs have in common.

    A few values can agree by chance, so one output borrows from the others. Either the relative
    noise of the outputs is alike, or the absolute one (where large terms cancel): whichever
    spreads less.

    Without it `test_rounding_inside_is_told` fails.
    """
    # Outputs that are zero but for rounding are all noise, and no measure for the others.
    seen = (level > 0) & (size > tolerances.NEGLIGIBLE * size.max(initial=0.0))
    if not seen.any():
        return tolerances.UNIT_ROUNDOFF, 0.0
    ratios, levels = level[seen] / size[seen], level[seen]
    relative, absolute = float(np.quantile(ratios, 0.75)), 0.0
    if np.std(np.log(levels)) < np.std(np.log(ratios)):
        absolute, relative = float(np.quantile(levels, 0.75)), float(np.min(ratios))
    return max(min(relative, 1.0), tolerances.UNIT_ROUNDOFF), absolute
