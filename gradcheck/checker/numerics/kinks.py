"""Kinks, jumps and edges: what a sequence of halving steps shows where a function is not smooth.

`step_sequence` asks here about the coordinates whose two sides do not draw near to each other as
the steps halve. (Kinks that equal elements make together are looked at in `judge/ties`.)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import tolerances
from gradcheck.checker.numerics.richardson import Extrapolated, extrapolate
from gradcheck.model.frozen import altered

if TYPE_CHECKING:
    from gradcheck.checker.numerics.estimate import Estimate, Moves
    from gradcheck.model import Array


def look_closer(estimate: Estimate, moves: Moves) -> Estimate:
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
    # Sides that do not draw near, and yet are no kink that is told well, belong to one close by:
    # either of them may be the derivative.
    apart = np.where(both, np.abs(right[:, -1] - left[:, -1]) / 2, 0.0)
    error = np.fmax(estimate.error, np.where(np.isfinite(apart), apart, 0.0))
    estimate = altered(
        estimate,
        value=np.where(kink, middle, estimate.value),
        error=np.where(kink, np.fmax(from_right.bound, from_left.bound), error),
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
    return altered(
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
    return altered(
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
