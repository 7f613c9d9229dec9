"""Coordinates that look wrong, looked at again: each alone, closer, and from as far as it takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import stepping, tolerances
from gradcheck.checker.numerics.dependence import find_dependents
from gradcheck.checker.numerics.differentiator import sequence
from gradcheck.checker.numerics.estimate import Estimate
from gradcheck.checker.numerics.merge_sequences import merged_with
from gradcheck.checker.numerics.step_choice import HALVINGS, first_steps, past_kinks, roundoff_at
from gradcheck.model.frozen import altered

if TYPE_CHECKING:
    from gradcheck.checker.numerics.dependence import Dependents
    from gradcheck.checker.numerics.mover import Mover
    from gradcheck.model import Array


def confirm(
    mover: Mover, best: Estimate, columns: Array, claimed: Array, *, rounds: bool
) -> tuple[Estimate, Array]:
    """Look again at these coordinates, each alone, with ever smaller steps.

    Goes on while their round-off stays below what claim and finding, or a kink's sides, differ by.

    Without it `test_high_frequency`, `test_an_error_at_high_frequency` and
    `test_a_value_between_the_sides_of_a_kink_that_is_near` fail.

    Args:
        mover: of all the coordinates.
        best: what is known of them.
        columns: those to look at, ascending.
        claimed: their derivatives, as the gradient has them.
        rounds: the function may round, as most do.

    Returns:
        What is known then, and whether each claim is refuted: never if it needs shorter steps.
    """
    refuted, moved = np.zeros((2, len(columns)), dtype=bool)
    with np.errstate(all="ignore"):
        dependents = find_dependents(mover, columns)
        # What was known of these coordinates counts no more.
        known, best, rows = best.take(columns), best.copy(), np.arange(len(columns))
        best.put(columns, altered(Estimate.unknown(len(columns)), change=known.change))
        steps = first_steps(mover.space)[columns]
        for number in range(stepping.SEQUENCES):
            mine = columns[rows]
            told = sequence(mover, mine, steps, dependents=dependents)
            best = merged_with(best, mine, told)
            size = np.maximum(mover.size_of_parts, best.change[mine])
            refuted[rows] |= _refutes(told, claimed[rows], size, rounds=rounds)
            if not number:
                sure = rows[refuted & _is_plain(told, claimed)]
                best, sure = _at_the_end(mover, best, sure, columns, claimed, dependents)
                rows = np.delete(rows, sure)
            now = best.take(columns[rows])
            steps = np.where(now.kink, past_kinks(now), now.finest * stepping.SMALLER)
            useful = steps > stepping.SMALLEST_STEP * mover.space.unit[columns[rows]]
            useful &= roundoff_at(now, steps) < _resolved(now, claimed[rows])
            rows, steps = rows[useful], steps[useful]
            if not len(rows):
                break
        rows = _drowned(mover, best.take(columns), known, columns)
        if len(rows):
            mine, steps = columns[rows], _longest(known)[rows]
            told = sequence(mover, mine, steps, dependents=dependents)
            best = merged_with(best, mine, told)
            size = np.maximum(mover.size_of_parts, best.change[mine])
            refuted[rows] |= _refutes(told, claimed[rows], size, rounds=rounds)
            moved[rows] = told.scale > 0
    if not mover.can_refute and best.kink.any():
        # Nor does it keep enough to show a kink: the derivative may be that of either side.
        error = np.where(best.kink, np.fmax(best.error, best.contrast), best.error)
        best = altered(best, error=error, kink=np.zeros_like(best.kink))
    # (What moves over longer steps does not hide.)
    hidden = dependents.may_hide(claimed, mover.size) & ~moved
    refuted &= mover.can_refute & ~hidden
    return best, refuted | dependents.independent


def _is_plain(told: Estimate, claimed: Array) -> Array:
    """Whether a sequence of steps tells a derivative so well that the claim is far from it."""
    far = told.error <= stepping.RESOLVES * np.abs(claimed - told.value)
    return np.asarray(far & ~told.kink)


def _at_the_end(
    mover: Mover,
    best: Estimate,
    rows: Array,
    columns: Array,
    claimed: Array,
    dependents: Dependents,
) -> tuple[Estimate, Array]:
    """What the shortest steps that tell anything say, and where they leave nothing to look for.

    Where they say what the longest did, those in between say it too. Without it
    `test_what_is_plainly_wrong_takes_few_points` fails.
    """
    mine = columns[rows]
    now = best.take(mine)
    least = now.roundoff * now.step / (HALVINGS[-1] * _resolved(now, claimed[rows]))
    least = np.maximum(least, stepping.SMALLEST_STEP * mover.space.unit[mine])
    times = np.floor(np.log(least / now.finest) / np.log(stepping.SMALLER))
    rows, times = rows[times > 1], times[times > 1]
    if not len(rows):
        return best, rows
    mine, now = columns[rows], best.take(columns[rows])
    told = sequence(mover, mine, now.finest * stepping.SMALLER**times, dependents=dependents)
    apart = np.abs(told.value - claimed[rows])
    same = np.abs(told.value - now.value) <= told.error + now.error
    sure = np.flatnonzero(same & ~told.kink & (told.error < apart))
    return merged_with(best, mine[sure], told.take(sure)), rows[sure]


def _resolved(now: Estimate, claimed: Array) -> Array:
    """What the round-off of shorter steps must stay below to tell more."""
    # (Where a step leaves the range, shorter ones may not: else
    # `test_a_wrong_slope_close_to_the_largest_number` fails.)
    apart = np.where(np.isnan(now.value), np.inf, np.abs(claimed - now.value))
    # (A claim between the sides of a kink is right only if the kink is here, not near.)
    of_kinks = stepping.RESOLVES * now.contrast
    return np.where(now.kink, of_kinks, tolerances.REFUTES * apart)


def _refutes(told: Estimate, claimed: Array, size: Array, *, rounds: bool) -> Array:
    """Whether a sequence of steps contradicts each claim, and the claim would show in its steps.

    Without it `test_a_slope_that_no_step_could_show_is_not_refuted` fails. Nor does standing still
    contradict what is below the last digit of how far the function goes: who takes one from one
    stands still, and inside of a kernel nobody sees that (else
    `test_what_a_kernel_takes_from_one` fails).
    """
    shown = np.abs(claimed) * told.step
    within_reach = shown <= size
    if rounds:
        within_reach &= (told.scale > 0) | (shown >= tolerances.LAST_DIGIT * size)
    low, high = np.fmin(told.below, told.above), np.fmax(told.below, told.above)
    nearest = np.where(told.kink, np.clip(claimed, low, high), told.value)
    apart = ~(np.abs(claimed - nearest) <= told.error)
    return np.asarray(within_reach & apart & np.isfinite(told.error))


def _longest(known: Estimate) -> Array:
    """The first step of the sequence that something is known from."""
    return np.asarray(np.minimum(known.step / HALVINGS[-1], known.coarsest))


def _drowned(mover: Mover, now: Estimate, known: Estimate, columns: Array) -> Array:
    """Of which of these coordinates longer steps knew more than those that drown in round-off.

    (Of a kink too, where short steps would not show one. Else `test_one_outside_of_both_sides`
    fails.) Without it `test_what_longer_steps_knew_is_not_forgotten` fails.
    """
    drowned = ~(now.error <= known.error) & ~now.kink
    drowned &= ~known.kink | (now.error > known.contrast)
    return np.flatnonzero(drowned & (_longest(known) > first_steps(mover.space)[columns]))
