"""Which steps to take: the first ones, and others where those leave much to be desired."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import stepping
from gradcheck.checker.numerics.coordinates import power_of_two

if TYPE_CHECKING:
    from gradcheck.checker.numerics.coordinates import Space
    from gradcheck.checker.numerics.estimate import Estimate
    from gradcheck.model import Array


HALVINGS = 0.5 ** np.arange(stepping.STEPS)
"""The steps of a sequence, relative to its first."""


def first_steps(space: Space) -> Array:
    """By coordinate: a step inside the domain; at an edge it is meant for one side only."""
    down, up, steps = space.room_down, space.room_up, space.unit * stepping.FIRST_STEP
    if not space.is_boundless and (np.isfinite(down).any() or np.isfinite(up).any()):
        room = np.where((down > 0) & (up > 0), np.minimum(down, up), np.maximum(down, up))
        # Half the room at most: right at the edge a function is at its worst.
        limit = np.where(room > 0, room / 2, np.inf)
        steps = power_of_two(np.minimum(steps, limit))
    # (In low precision there are few points, and those are a power of two apart.)
    return steps * stepping.ODD if space.precision is None else steps


def next_steps(best: Estimate, space: Space, size: float, among: Array) -> tuple[Array, Array]:
    """Those of these coordinates that deserve another sequence, and its first step for each.

    Args:
        best: what is known of each coordinate.
        space: where they are.
        size: of the terms of the scalar.
        among: which of them count.
    """
    # Where nothing moves, there is only the size of the outputs to measure the bound by.
    # (For an element that is tiny beside others, over the size of those.)
    moves = (best.scale != 0) | (best.value != 0)
    still = np.where(moves, 0.0, size / np.maximum(space.unit, space.reach))
    reference = np.maximum(stepping.CANCELLATION * best.scale, still)
    goal = stepping.GOAL * np.maximum(np.abs(best.value), reference)
    poor = ~(best.error <= goal)
    unsettled = (poor | best.kink) & among
    if not unsettled.any():
        nobody = np.zeros(0, dtype=np.int64)
        return nobody, np.zeros(0)
    # As much smaller as it takes, if the bound shrinks with the sixth power of the step; it is
    # the round-off that grows.
    enough = (goal / best.error) ** (1 / 6)
    enough = np.fmin(np.fmax(enough, stepping.SMALLER), stepping.SLIGHTLY_SMALLER)
    down = np.where(best.kink, past_kinks(best), best.finest * power_of_two(enough))
    # Smaller steps help while their round-off stays below what they are to resolve.
    roundoff = roundoff_at(best, down)
    resolvable = np.where(
        best.kink,
        roundoff < stepping.RESOLVES * best.contrast,
        ~(roundoff >= stepping.STILL_SHRINKS * best.error),
    )
    go_down = unsettled & resolvable & (down >= stepping.SMALLEST_STEP * space.unit)
    # As much larger as half of the digits that are missing ask for.
    larger = np.fmax(power_of_two(np.sqrt(best.roundoff / goal)), stepping.LARGER)
    noisy = best.roundoff > stepping.MOSTLY_ROUNDOFF * best.error
    go_up = unsettled & poor & ~go_down & ~best.kink & noisy
    up = np.minimum(best.coarsest * larger, space.reach)
    beyond = go_up & (best.coarsest >= space.reach) & (best.error > stepping.FAR_GOAL * goal)
    if beyond.any():
        # (What is tiny itself need not vary over that. Without it
        # `test_what_is_tiny_varies_over_the_size_of_one` fails.)
        up = np.where(beyond, np.minimum(best.coarsest * larger, space.far), up)
    room = space.least_room
    go_up &= (up > best.coarsest) & (up <= room / 2)
    columns = np.flatnonzero(go_down | go_up)
    return columns, np.where(go_down, down, up)[columns]


def past_kinks(best: Estimate) -> Array:
    """The first step of a sequence that tells a kink that is here from one that is near.

    Much smaller, or as much as the round-off allows: beside a switch a function that rounds shows
    which side it is on over the steps between its stairs and that. Without it
    `test_beside_a_switch_of_what_rounds` fails.
    """
    least = roundoff_at(best, best.finest) / (stepping.RESOLVES * best.contrast)
    shrinks = np.fmax(2 * power_of_two(least), stepping.MUCH_SMALLER)
    worthwhile = shrinks <= stepping.SLIGHTLY_SMALLER
    return best.finest * np.where(worthwhile, shrinks, stepping.MUCH_SMALLER)


def roundoff_at(best: Estimate, first: Array) -> Array:
    """What the round-off would be in a sequence that starts with these steps."""
    return np.asarray(best.roundoff * best.step / (first * HALVINGS[-1]))
