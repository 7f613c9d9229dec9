"""What one sequence of halving steps tells: a derivative and its bound, if `kinks` sees nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import limits, tolerances
from gradcheck.checker.numerics.estimate import Estimate
from gradcheck.checker.numerics.kinks import look_closer
from gradcheck.checker.numerics.richardson import extrapolate
from gradcheck.checker.numerics.vectors import everywhere_so

if TYPE_CHECKING:
    from gradcheck.checker.numerics.estimate import Moves
    from gradcheck.model import Array


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


def twice_as_claimed(moves: Moves, claimed: Array) -> tuple[Estimate, Array]:
    """What two steps tell where their extrapolation is what is claimed; and where it is.

    Two steps make an estimate and no bound. But they were chosen without knowing the claim: one
    that were wrong, and yet as far from the truth as what they leave out, would be made of the same
    steps. The difference of the two quotients is of second order, and what is left of fourth, its
    square in size. Without it `test_few_calls_where_each_is_dear` fails.
    """
    central, noise = moves.central, moves.roundoff
    value = (4 * central[:, 1] - central[:, 0]) / 3
    gap = np.abs(central[:, 1] - central[:, 0])
    error = (4 * noise[:, 1] + noise[:, 0]) / 3 + gap**2 / np.abs(value)
    settled = np.abs(value - claimed) <= error
    settled &= error <= tolerances.GOOD * np.abs(value)
    right, left = moves.slopes
    apart = np.abs(right - left)
    settled &= apart[:, 1] <= tolerances.HALVES * apart[:, 0] + 2 * noise[:, 1]
    step = moves.ladder[:, 1].copy()
    own = (value, error, noise[:, 1].copy(), step, moves.size[:, 1] / step)
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
    (right, left), ladder = moves.slopes, moves.ladder
    noise = moves.noise / ladder
    value, error, level = extrapolate(moves.central, noise, ratio=4)
    # (By one number for each: by two it takes five times as long.)
    place = np.arange(len(value)) * ladder.shape[1] + level
    # The two sides of a smooth function differ by an amount that halves with the step.
    apart = np.abs(right - left)
    more = tolerances.HALVES * apart[:, :-1] + 2 * noise[:, 1:]
    halves = np.logical_and.reduce(apart[:, 1:] <= more, axis=1)
    # And so does the change itself, even where the two sides of a jump are alike.
    across = np.abs(moves.right - moves.left)
    halves &= ~(across[:, -1] > tolerances.JUMPS * across[:, 0])
    estimate = Estimate.smooth(
        value,
        error,
        noise.take(place),
        ladder.take(place),
        moves.size[:, -1] / ladder[:, -1],
        moves.first.copy(),
        np.maximum.reduce(moves.size, axis=1),
    )
    if not everywhere_so(halves):
        special = np.flatnonzero(~halves)
        estimate.put(special, look_closer(estimate.take(special), moves.take(special)))
    return estimate
