"""Which outputs depend on a coordinate at all, however little.

An output may depend on a coordinate and yet stand still over small steps, where its last digit is
larger than its change: a softmax that is sure, 1 − cos x close to zero. Far moves tell, and where
even those do not, huge ones.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import stepping, tolerances
from gradcheck.checker.numerics.vectors import changed, largest

if TYPE_CHECKING:
    from gradcheck.checker.numerics.coordinates import Space
    from gradcheck.checker.numerics.estimate import Evaluate
    from gradcheck.checker.numerics.mover import Mover
    from gradcheck.model import Array


@dataclass(frozen=True, eq=False)
class Dependents:
    """Who depends on some coordinates, a row for each."""

    columns: Array
    """The coordinates."""
    reached: Array
    """(coordinates, outputs): whether a far move of the one changes the other."""
    independent: Array
    """By coordinate: nothing depends on it, as even a huge move shows."""
    hidden_within: Array
    """By coordinate: how far it was moved without any change, though outputs depend on it; infinite
    where something changed."""

    def rows(self, columns: Array) -> Array:
        """The rows of these coordinates, which are some of them in their order."""
        return np.searchsorted(self.columns, columns)

    def may_hide(self, claimed: Array, size: float) -> Array:
        """Whether a derivative might be lost in a function that does not move at all.

        Without it `test_a_change_that_is_lost_inside` fails.

        Args:
            claimed: the derivative, by coordinate.
            size: of the terms of the scalar.
        """
        least = tolerances.LAST_DIGITS * max(1.0, size)
        return np.asarray(np.abs(claimed) * self.hidden_within <= least)


def find_dependents(mover: Mover, columns: Array) -> Dependents:
    """See which outputs far moves of these coordinates reach; those ascend.

    Without it `test_a_product_with_zero_hides_nothing` and `test_an_element_that_a_huge_one_hides`
    fail.
    """
    space, base = mover.space, mover.base
    allowed = np.stack([space.room_down[columns], space.room_up[columns]], axis=1)
    moves = _far(space.unit[columns], 2 * largest(space.point))
    moves = np.clip(moves, -0.5 * allowed[:, :1], 0.5 * allowed[:, 1:])
    points, _ = space.points(np.repeat(columns, moves.shape[1]), moves.ravel())
    seen = mover.see(points, len(columns))
    reached, independent = seen.moved, np.zeros(len(columns), dtype=bool)
    sizes = (seen.sizes @ mover.weight_sizes).reshape(moves.shape).max(axis=1)
    noise = seen.noise.reshape(-1, len(base)).max(axis=0)
    # Outputs that stand still and are so large that they might hide a change.
    loud = noise > tolerances.NEGLIGIBLE * sizes[:, np.newaxis]
    hiding = np.flatnonzero((~reached & loud).any(axis=1) | (sizes == 0))
    if len(hiding):
        with suppress(Exception):  # some functions refuse it; then nothing is learnt
            reached[hiding] |= reached_by_huge_moves(mover.evaluate, space, columns[hiding], base)
            independent[hiding] = ~reached[hiding].any(axis=1)
    hidden = (sizes == 0) & reached.any(axis=1)
    within = np.where(hidden, np.abs(moves).max(axis=1), np.inf)
    return Dependents(columns, reached, independent, within)


def _far(unit: Array, beyond: float) -> Array:
    """Far moves, a row for each unit: the last ones past the largest number, which may hide others.

    And some between these and the others: what is sure stands still past its switch as it did
    before. Without it `test_what_stands_still_on_either_side_of_a_switch` fails.

    Args:
        unit: how long a move is, by coordinate.
        beyond: the last move.
    """
    moves = np.outer(unit, stepping.FAR_MOVES)
    farthest = np.abs(moves).max(axis=1, keepdims=True)
    ratio = np.fmax(1.0, beyond / farthest)
    count = int(np.clip(np.ceil(np.log2(ratio.max()) / 2), 1, stepping.MOST_BETWEEN))
    lengths = farthest * ratio ** (np.arange(1, count) / count)
    last = np.full((len(unit), 1), beyond)
    return np.concatenate([moves, last, -last, lengths, -lengths], axis=1)


def reached_by_huge_moves(evaluate: Evaluate, space: Space, columns: Array, base: Array) -> Array:
    """(coordinates, outputs): which outputs a huge move of each of these coordinates reaches.

    Without it `test_an_output_that_is_too_large_to_show_a_change` fails.
    """
    low = space.precision is not None
    huge = stepping.HUGE_MOVE_IN_LOW_PRECISION if low else stepping.HUGE_MOVE
    reached = np.zeros((len(columns), len(base)), dtype=bool)
    with np.errstate(all="ignore"):
        for move in (huge, -huge):
            points, _ = space.points(columns, np.full(len(columns), move))
            reached |= changed(evaluate(points), base)
    return reached
