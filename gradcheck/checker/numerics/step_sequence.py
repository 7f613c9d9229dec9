"""What one sequence of halving steps tells: a derivative with its bound, a kink, a jump, a pole."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from operator import attrgetter
from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import limits, tolerances
from gradcheck.checker.numerics.estimate import Estimate
from gradcheck.checker.numerics.richardson import Extrapolated, extrapolate

if TYPE_CHECKING:
    from gradcheck.model import Array


@dataclass(frozen=True, eq=False)
class Moves:
    """How the scalar moves when coordinates move: a row per coordinate, a column per step."""

    first: Array
    """By coordinate: the step that the sequence was to start with."""
    right: Array
    left: Array
    """Change of the scalar to either side; NaN where that side is not to be entered."""
    up: Array
    down: Array
    """How far the coordinate really moved (`down` is negative)."""
    size: Array
    """How much the outputs moved, without cancelling."""
    noise: Array
    """A bound on the noise of a change."""

    @cached_property
    def slopes(self) -> tuple[Array, Array]:
        """The quotients to the right and to the left."""
        return self.right / self.up, self.left / self.down

    @cached_property
    def central(self) -> Array:
        """The quotients across."""
        return np.asarray((self.right - self.left) / (self.up - self.down))

    @cached_property
    def ladder(self) -> Array:
        """The steps."""
        return np.asarray(np.fmax(self.up, -self.down))

    @cached_property
    def roundoff(self) -> Array:
        """A bound on the noise of a quotient."""
        return self.noise / self.ladder

    def join(self, other: Moves) -> Moves:
        """These coordinates with more steps."""
        pairs = zip(_BY_STEP(self), _BY_STEP(other), strict=True)
        return Moves(self.first, *[np.concatenate(pair, axis=1) for pair in pairs])

    def take(self, rows: Array | slice) -> Moves:
        """Some of the coordinates."""
        return Moves(self.first[rows], *[array[rows] for array in _BY_STEP(self)])


_BY_STEP = attrgetter(*(field.name for field in fields(Moves) if field.name != "first"))


def as_claimed(moves: Moves, claimed: Array) -> tuple[Estimate, Array]:
    """What a single step tells where it gives the derivatives that are claimed; and where it does.

    A step has a truncation error, but for a function that is linear. A claim that were wrong by
    just that, to all its digits, and on both sides, would be made of the same step.

    Without it `test_a_linear_function_takes_one_step` fails.
    """
    right, left = (slopes[:, 0] for slopes in moves.slopes)
    value, noise, step = moves.central[:, 0], moves.roundoff[:, 0], moves.ladder[:, 0]
    settled = np.abs(right - left) <= tolerances.AS_CLAIMED * noise
    settled &= np.abs(value - claimed) <= noise
    # (Of its own, so that what is put there later changes nothing else.)
    own = (value.copy(), noise.copy(), noise.copy(), step.copy(), moves.size[:, 0] / step)
    return Estimate.smooth(*own, moves.first.copy(), moves.size.max(axis=1)), settled


def judge(moves: Moves) -> Estimate:
    """Extrapolate the quotients of one sequence and see what kind of point this is."""
    count = len(moves.up)
    if count <= limits.COORDINATES_AT_ONCE:
        return _judge(moves)
    estimate = Estimate.unknown(count)
    for start in range(0, count, limits.COORDINATES_AT_ONCE):
        block = slice(start, start + limits.COORDINATES_AT_ONCE)
        estimate.put(block, _judge(moves.take(block)))
    return estimate


def _judge(moves: Moves) -> Estimate:
    (right, left), ladder, noise = moves.slopes, moves.ladder, moves.roundoff
    value, error, level = extrapolate(moves.central, noise, ratio=4)
    rows = np.arange(len(value))
    # The two sides of a smooth function differ by an amount that halves with the step.
    apart = np.abs(right - left)
    halves = (apart[:, 1:] <= tolerances.HALVES * apart[:, :-1] + 2 * noise[:, 1:]).all(axis=1)
    # And so does the change itself, even where the two sides of a jump are alike.
    first, last = (np.abs(moves.right[:, i] - moves.left[:, i]) for i in (0, -1))
    halves &= ~(last > tolerances.JUMPS * first)
    estimate = Estimate.smooth(
        value,
        error,
        noise[rows, level],
        ladder[rows, level],
        moves.size[:, -1] / ladder[:, -1],
        moves.first.copy(),
        moves.size.max(axis=1),
    )
    special = np.flatnonzero(~halves)
    if len(special):
        estimate.put(special, _look_closer(estimate.take(special), moves.take(special)))
    return estimate


def _look_closer(estimate: Estimate, moves: Moves) -> Estimate:
    """Tell the kinks, the jumps and the edges of a domain from what is smooth after all."""
    (right, left), noise = moves.slopes, moves.roundoff
    only_right, only_left = np.isnan(left[:, -1]), np.isnan(right[:, -1])
    both = ~(only_right | only_left)
    from_right, from_left = _both_sides(right, left, 2 * noise)
    if not both.all():
        estimate = _at_edges(estimate, moves, from_right, from_left, only_right, only_left)
    gap = np.abs(from_right.value - from_left.value)
    gap_bound = from_right.bound + from_left.bound
    least = tolerances.KINK_BOUNDS * gap_bound + tolerances.KINK_NOISES * noise[:, -1]
    kink = both & (gap > least) & (gap > tolerances.KINK_SHARE * estimate.scale)
    # At a kink the central quotient means nothing: what counts are the two sides.
    middle = (from_left.value + from_right.value) / 2
    estimate = replace(
        estimate,
        value=np.where(kink, middle, estimate.value),
        error=np.where(kink, np.fmax(from_right.bound, from_left.bound), estimate.error),
        below=from_left.value,
        above=from_right.value,
        kink=kink,
        contrast=gap,
    )
    change = np.abs(moves.right - moves.left)
    jump = both & (change[:, -1] > tolerances.JUMPS * change[:, 0])
    jump &= change[:, -1] > tolerances.SURELY_JUMPS * moves.noise[:, -1]
    rows = np.flatnonzero(jump)
    # (It takes three steps to difference each side within itself.)
    if len(rows) and change.shape[1] > 2:
        estimate = estimate.copy()
        estimate.put(rows, _across_jumps(estimate.take(rows), moves.take(rows)))
    return estimate


def _at_edges(
    estimate: Estimate,
    moves: Moves,
    from_right: Extrapolated,
    from_left: Extrapolated,
    only_right: Array,
    only_left: Array,
) -> Estimate:
    """The estimate, where only one side may be entered, by what the quotients of that side say.

    Without it `test_infinite_at_an_edge` fails.
    """
    (right, left), ladder, noise = moves.slopes, moves.ladder, moves.roundoff
    both, rows = ~(only_right | only_left), np.arange(len(ladder))
    value, error, level = (
        np.where(only_right, r, s) for r, s in zip(from_right, from_left, strict=True)
    )
    outward = np.where(only_left[:, np.newaxis], left, right)
    growth = tolerances.DIVERGES ** (ladder.shape[1] - 1)
    return replace(
        estimate,
        value=np.where(both, estimate.value, value),
        error=np.where(both, estimate.error, error),
        step=np.where(both, estimate.step, ladder[rows, level]),
        roundoff=np.where(both, estimate.roundoff, noise[rows, level]),
        diverges=~both & (np.abs(outward[:, -1]) > growth * np.abs(outward[:, 0])),
    )


def _both_sides(right: Array, left: Array, noise: Array) -> tuple[Extrapolated, Extrapolated]:
    """One-sided derivatives, both in one go.

    Without it `test_the_sides_of_a_kink_may_be_curved` fails.
    """
    count = len(right)
    sides = extrapolate(np.concatenate([right, left]), np.concatenate([noise, noise]), ratio=2)
    return (
        Extrapolated(*(part[:count] for part in sides)),
        Extrapolated(*(part[count:] for part in sides)),
    )


def _across_jumps(estimate: Estimate, moves: Moves) -> Estimate:
    """Where the function jumps, take each side's derivative between points of that side.

    Without it `test_a_jump` fails.
    """
    right = np.diff(moves.right, axis=1) / np.diff(moves.up, axis=1)
    left = np.diff(moves.left, axis=1) / np.diff(moves.down, axis=1)
    noise = 2 * moves.noise[:, 1:] / moves.up[:, 1:]
    from_right, from_left = _both_sides(right, left, noise)
    return replace(
        estimate,
        value=(from_left.value + from_right.value) / 2,
        error=np.fmax(from_left.bound, from_right.bound),
        roundoff=noise[:, -1],
        step=moves.up[:, -1],
        below=from_left.value,
        above=from_right.value,
        kink=np.ones(len(right), dtype=bool),
        contrast=np.full(len(right), np.inf),
    )
