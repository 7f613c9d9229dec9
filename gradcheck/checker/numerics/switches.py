"""Switches beside the point: what looks like a kink, and is a little way off.

Over steps that reach across a switch a function has a kink, and either of its sides may be the
derivative. Steps that end before it tell which, but where the switch is only some last digits away
they drown in round-off. The values do not: if the kink were at the point, those beyond it would
begin where the function is. If it is beside, they begin lower or higher, by as much as its distance
makes of the difference of the slopes; and between the point and the switch there are numbers at
which the function goes on as on the other side.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gradcheck.checker import limits, stepping, tolerances
from gradcheck.checker.numerics.coordinates import power_of_two
from gradcheck.checker.numerics.estimate import Estimate
from gradcheck.checker.numerics.merge_sequences import merged_with
from gradcheck.checker.numerics.richardson import extrapolate
from gradcheck.checker.numerics.step_choice import HALVINGS, first_steps

if TYPE_CHECKING:
    from gradcheck.checker.numerics.estimate import Moves
    from gradcheck.checker.numerics.mover import Mover
    from gradcheck.model import Array


def beside_switches(
    mover: Mover, estimate: Estimate, among: Array | None = None
) -> tuple[Estimate, Array]:
    """The estimate, where what looks like a kink may be a switch beside the point.

    Without it `test_beside_a_switch` fails.

    Args:
        mover: of all the coordinates.
        estimate: what is known of them.
        among: by coordinate, whether it is meant; None for all.

    Returns:
        What is known then, and of which coordinates it is something else.
    """
    moved = np.zeros(len(estimate.value), dtype=bool)
    suspects = estimate.kink | _poor(mover, estimate)
    asked = np.flatnonzero(suspects if among is None else suspects & among)
    if not len(asked):
        return estimate, moved
    best = estimate.copy()
    numbers = len(mover.space.point) + 4 * len(mover.base)
    size = max(1, limits.NUMBERS_AT_ONCE // (4 * len(_FIRSTS) * len(HALVINGS) * numbers))
    with np.errstate(all="ignore"):
        for start in range(0, len(asked), size):
            columns = asked[start : start + size]
            told, found = _told(mover, best.take(columns), columns)
            best.put(columns[found], told.take(found))
            moved[columns[found]] = True
    return best, moved


def _poor(mover: Mover, estimate: Estimate) -> Array:
    """Of which coordinates little is known, though the function keeps its digits."""
    parts = tolerances.GOOD_OF_PARTS * estimate.scale
    good = tolerances.GOOD * np.maximum(np.abs(estimate.numeric), parts)
    poor = (estimate.change > 0) & ~estimate.diverges & ~(estimate.bound <= good)
    return np.asarray(poor & mover.is_fine)


_FIRSTS = 0.5 ** np.array(stepping.SIDE_HALVINGS)


def _told(mover: Mover, estimate: Estimate, columns: Array) -> tuple[Estimate, Array]:
    """What is known of these kinks, and which of them are none."""
    down = _ladder(mover.space.unit[columns], estimate.coarsest)
    sides = _sides(mover, estimate, columns)
    # (All of it in one call: `test_switches_are_looked_for_in_one_call`.)
    moved = mover.moves(columns, np.concatenate([down, sides], axis=1))
    moves, beside = moved.steps(slice(down.shape[1])), moved.steps(slice(down.shape[1], None))
    above, below = (_one_sided(estimate, beside, sides, slopes) for slopes in beside.slopes)
    apart = np.abs(above.value - below.value)
    bent = estimate.kink | (apart > tolerances.KINK_BOUNDS * (above.error + below.error))
    slopes = above.value, below.value
    right = bent & _Side(moves.right, moves.up, moves.noise).begins_beyond(*slopes)
    left = bent & _Side(moves.left, moves.down, moves.noise).begins_beyond(*slopes[::-1])
    told = _between(estimate, moves)
    for rows, side in ((right & ~left, below), (left & ~right, above)):
        told.put(np.flatnonzero(rows), side.take(np.flatnonzero(rows)))
    return told, np.flatnonzero(right | left)


def _ladder(unit: Array, coarsest: Array) -> Array:
    """By coordinate: moves from the longest that was tried down to a last digit; zero for none."""
    top = np.maximum(unit, np.where(np.isfinite(coarsest), power_of_two(coarsest), 0.0))
    octaves = np.log2(top / unit).max() + stepping.SWITCH_LAST_HALVINGS[0]
    ladder = np.outer(
        top, 0.5 ** np.arange(stepping.SWITCH_FIRST, octaves, stepping.SWITCH_HALVINGS)
    )
    last = np.outer(unit, 0.5 ** np.array(stepping.SWITCH_LAST_HALVINGS))
    return np.concatenate([np.where(ladder > last[:, :1], ladder, 0.0), last], axis=1)


class _Side(NamedTuple):
    """What the scalar does on one side of the point, by coordinate and step."""

    change: Array
    moved: Array
    """How far the coordinate really moved."""
    noise: Array

    def begins_beyond(self, own: Array, other: Array) -> Array:
        """By coordinate: whether this side begins only beyond some numbers that are of the other.

        Args:
            own: the slope of this side.
            other: that of the other side.
        """
        usable = (self.moved != 0) & np.isfinite(self.change)
        # What the values are off the line of this side is the same wherever the side is straight.
        # (What its own curve does shrinks with every step.)
        off = np.where(usable, self.change - own[:, np.newaxis] * self.moved, np.nan)
        stays = np.abs(np.diff(off, axis=1)) <= (
            tolerances.STAYS_OFF * np.abs(off[:, 1:]) + self.noise[:, 1:]
        )
        seen = stays & (np.abs(off[:, 1:]) > tolerances.SEEN_OFF * self.noise[:, 1:])
        last = off.shape[1] - 1 - seen[:, ::-1].argmax(axis=1)
        rows = np.arange(len(off))
        with np.errstate(all="ignore"):
            away = (off[rows, last] / (other - own))[:, np.newaxis]
        # (Where the function jumps there, nothing tells how far away that is.)
        finest = usable & (np.cumsum(usable[:, ::-1], axis=1)[:, ::-1] == 1)
        before = finest | (usable & (np.abs(self.moved) <= np.abs(away) / 2))
        before &= finest | (away * self.moved > 0)
        goes_on = np.abs(self.change - other[:, np.newaxis] * self.moved) <= self.noise
        return np.asarray(seen.any(axis=1) & (goes_on | ~before).all(axis=1))


def _sides(mover: Mover, estimate: Estimate, columns: Array) -> Array:
    """By coordinate: the steps that tell the derivative on a side where nothing is in the way."""
    first = np.fmax(first_steps(mover.space)[columns], estimate.coarsest)
    return np.asarray(first[:, np.newaxis] * np.outer(_FIRSTS, HALVINGS).ravel())


def _one_sided(estimate: Estimate, moves: Moves, ladder: Array, slopes: Array) -> Estimate:
    """What the quotients of one side tend to, where nothing is in the way.

    Args:
        estimate: what is known of these coordinates.
        moves: along these steps.
        ladder: the steps.
        slopes: the quotients of that side.
    """
    noise, rows = 2 * moves.roundoff, np.arange(len(slopes))
    best = Estimate.unknown(len(rows))
    for start in range(0, ladder.shape[1], len(HALVINGS)):
        steps = slice(start, start + len(HALVINGS))
        value, error, level = extrapolate(slopes[:, steps], noise[:, steps], ratio=2)
        told = Estimate.smooth(
            value,
            error,
            noise[:, steps][rows, level],
            moves.ladder[:, steps][rows, level],
            estimate.scale,
            ladder[:, start],
            np.fmax(estimate.change, moves.size.max(axis=1)),
        )
        best = merged_with(best, rows, told)
    return best


def _between(estimate: Estimate, moves: Moves) -> Estimate:
    """The derivative between two switches, as well as so short a piece tells it."""
    above, below = moves.slopes
    error = np.abs(above - below) + 2 * moves.roundoff
    error = np.where(np.isfinite(error), error, np.inf)
    best, rows = error.argmin(axis=1), np.arange(len(error))
    return Estimate.smooth(
        moves.central[rows, best],
        error[rows, best],
        moves.roundoff[rows, best],
        moves.ladder[rows, best],
        estimate.scale,
        estimate.finest,
        estimate.change,
    )
