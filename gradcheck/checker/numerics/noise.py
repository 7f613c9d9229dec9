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

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import limits, stepping, tolerances
from gradcheck.checker.numerics.estimate import Noise
from gradcheck.checker.numerics.few_bits import few_bits, is_short, only_switches
from gradcheck.checker.numerics.line_jumps import with_jumps
from gradcheck.checker.numerics.noise_bends import without_bends
from gradcheck.checker.numerics.noise_lines import along_line, line_steps, over_lines
from gradcheck.checker.numerics.noise_shares import shared, shares_of
from gradcheck.checker.numerics.rng import generator
from gradcheck.model.frozen import altered

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradcheck.checker.numerics.estimate import Evaluate
    from gradcheck.checker.numerics.noise_lines import Told
    from gradcheck.model import Array


def measure_noise(
    evaluate: Evaluate,
    point: Array,
    base: Array,
    scale: Array,
    seed: int,
    *,
    exact: bool = False,
    rounds: bool = False,
) -> Noise:
    """Measure the noise of each output.

    Args:
        evaluate: the function.
        point: where.
        base: the outputs there.
        scale: by element of the point, the length over which it may be moved.
        seed: for the direction of the lines.
        exact: it is known to compute in double precision throughout.
        rounds: it was seen to compute in less: others look for its jumps.
    """
    if not base.size or not point.size:  # (of nothing, or with nothing to move)
        return Noise(np.zeros(base.shape), tolerances.UNIT_ROUNDOFF)
    rng = generator(seed, 0x6E6F697365)
    if len(base) <= limits.NOISY_OUTPUTS:
        return _measure(evaluate, point, base, scale, rng, exact=exact, rounds=rounds)
    chosen = np.sort(rng.choice(len(base), limits.NOISY_OUTPUTS, replace=False))

    def chosen_ones(points: Array) -> Array:
        return evaluate(points)[:, chosen]

    some = _measure(chosen_ones, point, base[chosen], scale, rng, exact=exact, rounds=rounds)
    with np.errstate(all="ignore"):
        size = _size(base[chosen])
        relative, absolute = shared(some.level, size, some.level / size)
        level = tolerances.UNSEEN * np.maximum(absolute, relative * _size(base))
    level[chosen] = some.level
    ceiling = None
    if some.ceiling is not None:
        ceiling = np.full(base.shape, np.inf)
        ceiling[chosen] = some.ceiling
    return altered(some, level=level, ceiling=ceiling)


def _measure(
    evaluate: Evaluate,
    point: Array,
    base: Array,
    scale: Array,
    rng: np.random.Generator,
    *,
    exact: bool,
    rounds: bool,
) -> Noise:
    direction = _direction(point, scale, rng)
    away = rng.uniform(2.0**-6, 2.0**-3, size=(limits.SCATTERED_POINTS, len(point)))
    away *= rng.choice([-1.0, 1.0], size=away.shape)
    along = partial(along_line, evaluate, point, direction)
    with np.errstate(all="ignore"):
        steps = line_steps(_odd(limits.SPACINGS))
        outputs = along(steps, away * scale)
        lines, scattered = outputs[: len(steps)], outputs[len(steps) :]
        told = over_lines(base, lines, len(limits.SPACINGS))
        level, seen, wild = told.level, told.seen, told.wild
        size = _size(base)
        counts = size > tolerances.NEGLIGIBLE * size.max(initial=0.0)
        fast = told.fast & counts
        if fast.any():
            # What rounds to few bits stands still on such lines, and what is noise looks the same
            # on all of them: so an output that looks quiet here is one that varies fast.
            fine_lines = along(line_steps(limits.FINE_SPACINGS))
            fine = over_lines(base, fine_lines, len(limits.FINE_SPACINGS))
            quiet = fast & (fine.level > 0) & (fine.most <= tolerances.QUIET * level)
            quiet &= _moves_where_it_is_noisy(fine_lines)
            level, seen, wild = np.where(quiet, fine.level, level), seen | quiet, wild & ~quiet
        seen |= ~counts | (exact & (scattered == base).all(axis=0))
        if (scattered == base).all():
            # Nothing moves over the size of the inputs: look over the size of one.
            scattered = evaluate(point + 4 * away * np.maximum(scale, 1.0))
        unit = np.full(base.shape, np.nan) if exact else few_bits(base, scattered)
        if not seen.all():
            coarse_steps = line_steps(_odd(limits.COARSE_SPACINGS))
            coarse_lines = along(coarse_steps)
            lines, steps = np.concatenate([lines, coarse_lines]), np.append(steps, coarse_steps)
            level, unit = _with_coarse_lines(base, coarse_lines, level, seen, unit, exact=exact)
        level = np.where(np.isnan(level), 0.0, level)
        if not rounds:
            level = with_jumps(along, level, told.most, counts | _loud_at_zero(size, lines, told))
            smooth = counts & np.isnan(unit)
            level = without_bends(along, level, base, lines, steps, smooth)
        level = np.fmax(level, tolerances.ROUNDING_SHARE * unit)
        shares = shares_of(evaluate, point, scale, away, direction, scattered, level, size)
        relative, absolute = shared(level, size, shares)
        rounds_to = float(np.max((unit / size)[np.isfinite(unit) & counts], initial=0.0))
    level = np.maximum(level, np.maximum(absolute, relative * size))
    lost = float(np.median(np.fmax(shares, relative)[counts])) if counts.any() else 0.0
    if wild.mean() > tolerances.WILD:
        lost = 1.0
    noise = Noise(level, relative, lost, min(rounds_to, tolerances.FEWEST_BITS_SPACING))
    still = (outputs == base).all(axis=0) & (scattered == base).all(axis=0) & (size > 0)
    short = np.zeros(base.shape, dtype=bool) if exact else is_short(base)
    return _with_what_stands_still(
        noise, still, size, short, lambda: _depend(evaluate, point, base)
    )


def _direction(point: Array, scale: Array, rng: np.random.Generator) -> Array:
    """That of the lines: signed powers of two, so that their points are nearly exact, and no noise.

    What is zero is exact anywhere, and may be added to one: only all the digits show that. Without
    it `test_either_side_and_between_is_right` fails.
    """
    direction = rng.choice([-1.0, -0.5, 0.5, 1.0], size=point.shape) * scale
    return np.where(point == 0, stepping.ALL_BITS * direction, direction)


def _moves_where_it_is_noisy(fine_lines: Array) -> Array:
    """Which outputs move on the side of the first line: of the sides of a kink one may stand still.

    Without it `test_of_the_sides_of_a_kink_one_may_round_more` fails.
    """
    of_line = fine_lines.reshape(len(limits.FINE_SPACINGS), -1, fine_lines.shape[1])
    return np.asarray((np.diff(of_line[2], axis=0) != 0).all(axis=0))


def _loud_at_zero(size: Array, lines: Array, told: Told) -> Array:
    """Which outputs are zero here, and show more noise than the last digits they have elsewhere."""
    last = tolerances.LAST_DIGIT * np.abs(lines).max(axis=0, initial=0.0)
    return np.asarray((size == 0) & (told.most > tolerances.LOOKS_LIKE_MORE * last))


def _with_coarse_lines(
    base: Array, lines: Array, level: Array, seen: Array, unit: Array, *, exact: bool
) -> tuple[Array, Array]:
    """The noise, and the spacing of few bits, where lines of longer spacing were needed.

    What is added and taken away again leaves few digits in double precision, too: without that
    `test_zero_for_what_only_seems_to_stand_still` fails. Long stairs are the function's own, there:
    else `test_fine_levels_are_levels_too` fails.
    """
    coarse = over_lines(base, lines, len(limits.COARSE_SPACINGS))
    if exact:
        seen = seen | (coarse.level > tolerances.PLAINLY * _size(base))
    switches = only_switches(base, lines, unit)
    level = np.where(seen, level, np.fmin(level, coarse.level))
    return np.where(switches & ~seen, 0.0, level), np.where(switches, np.nan, unit)


def _with_what_stands_still(
    noise: Noise, still: Array, size: Array, short: Array, depend: Callable[[], Array | None]
) -> Noise:
    """The noise, of outputs that stand still as well: some hide something, others are constant.

    Without it `test_what_depends_on_nothing_hides_nothing` fails.

    Args:
        noise: as it was measured.
        still: by output, whether it does not move.
        size: of each.
        short: by output, whether it may have been rounded to few bits.
        depend: tells which outputs depend on the inputs; None where it cannot be told.
    """
    moving = float(size[~still].max(initial=0.0))
    # (What is not larger than what moves hides no more.)
    loud = still & (tolerances.NEGLIGIBLE * size > moving)
    if not loud.any():
        return noise
    told = depend()
    if told is None:
        return noise
    level, ceiling = noise.level, np.full(size.shape, np.inf)
    if still.all():
        # Nothing moves, so nothing tells how many bits there are.
        coarse = tolerances.ROUNDING_SHARE * tolerances.FEWEST_BITS_SPACING * size
        level = np.where(told & short, np.fmax(level, coarse), level)
    # (A bounded function stands still for huge moves too, beside an offset that swallows it: only
    # what is as large as numbers can be, while others move.)
    constant = loud & ~told & _is_largest(size) & (moving > 0)
    if not constant.any():
        return altered(noise, level=level)
    depending = float(size[~still | told].max(initial=0.0)) or 1.0
    ceiling[constant] = depending
    level = np.where(constant, np.minimum(level, noise.relative * depending), level)
    return altered(noise, level=level, ceiling=ceiling)


def _is_largest(size: Array) -> Array:
    """Whether each is the largest number of a precision, as the minimum of nothing is."""
    return np.asarray((size >= stepping.LARGEST_MOVE) | np.isin(size, stepping.LARGEST))


def _odd(spacings: tuple[float, ...]) -> tuple[float, ...]:
    """The spacings, by no powers of two, but with as many digits as leave the points exact.

    Points that are powers of two apart all round alike, and what they round off shows nowhere. (Nor
    does it at some others: so each line has a factor of its own.)

    Without it `test_all_inputs_are_rounded` fails; with a few digits of one factor for all,
    `test_of_the_sides_of_a_kink_one_may_round_more`.
    """
    shares, _ = np.modf(limits.GOLDEN_RATIO * np.arange(1, 1 + len(spacings)))
    digits = np.array(spacings) * (stepping.ODD + shares / 8) / stepping.LINE_DIGIT
    return tuple((np.rint(digits) * stepping.LINE_DIGIT).tolist())


def _size(base: Array) -> Array:
    return np.where(np.isfinite(base), np.abs(base), 0.0)


def _depend(evaluate: Evaluate, point: Array, base: Array) -> Array | None:
    """Which outputs depend on the inputs at all, though they may stand still; None: no saying.

    Without it `test_an_offset_that_leaves_few_bits_no_digit` fails.
    """
    # A huge move shows in whatever depends on it; times zero it is zero. (Not the same move for
    # all: their difference would not show it.)
    shares, _ = np.modf(limits.GOLDEN_RATIO * np.arange(1, len(point) + 1))
    reached = np.zeros(len(base), dtype=bool)
    among = ~np.isnan(base)
    for size in (stepping.HUGE_MOVE, stepping.LARGEST_MOVE):
        huge = size * (1 + shares)
        try:
            outputs = evaluate(np.stack([point + huge, point - huge]))
        except Exception:  # some functions refuse it
            return None
        reached |= ((outputs != base) & among).any(axis=0)
        among &= ~reached & (tolerances.UNIT_ROUNDOFF * np.abs(base) > size)
        if not among.any():
            break
    return reached
