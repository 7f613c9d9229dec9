"""Which steps to take: the first ones, and others where those leave much to be desired."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker.numerics.coordinates import power_of_two

if TYPE_CHECKING:
    from gradcheck.checker.numerics.coordinates import Space
    from gradcheck.checker.numerics.step_sequence import Stage
    from gradcheck.model import Array

FIRST_STEP = 2.0**-4
"""The first step, in units of the coordinate: with three halvings and extrapolation the truncation
is near 2⁻⁴⁷ for a function with a singularity one unit away, the round-off near 2⁻⁴⁵."""

STEPS = 4
"""Steps of one stage."""

ODD = 868_667 / 2**20
"""Steps are so many times a power of two. Mere powers of two would meet a function that rounds to
multiples of 1/128 only where that is exact, and not see its stairs. With twenty binary digits a
step is a multiple of no quantum that people round to, and yet so short a number that it can be
added to most others without rounding: what a function rounds off at the point it rounds off after
the step too, and the difference knows nothing of it."""

GOAL = 2.0**-31
"""Relative bound that ends the search for better steps, well below an error of 1e-8."""

CANCELLATION = 2.0**-10
"""Elements that cancel to less than this share of their parts are not pursued to `GOAL`."""

A_LITTLE_SMALLER, SMALLER, LARGER, MUCH_SMALLER = 2.0**-2, 2.0**-6, 2.0**4, 2.0**-10
"""By what the steps change from stage to stage: truncation (two), round-off, kink."""

RESOLVES = 0.05
"""A kink shows where the round-off is below this share of the difference between its sides."""

SMALLEST_STEP = 2.0**-46
"""In units of the coordinate; below, a step has no digits left."""

UNIT_STEP = 0.25
"""First step for a function that stands still over the size of its inputs."""

HALVINGS = 0.5 ** np.arange(STEPS)
"""The steps of a stage, relative to its first."""


def first_steps(space: Space) -> Array:
    """By coordinate: a step inside the domain; at an edge it is meant for one side only."""
    down, up, steps = space.room_down, space.room_up, space.unit * FIRST_STEP
    if np.isfinite(down).any() or np.isfinite(up).any():
        room = np.where((down > 0) & (up > 0), np.minimum(down, up), np.maximum(down, up))
        # Half the room at most: right at the edge a function is at its worst.
        limit = np.where(room > 0, room / 2, np.inf)
        steps = power_of_two(np.minimum(steps, limit))
    # (In low precision there are few points, and those are a power of two apart.)
    return steps * ODD if space.precision is None else steps


def next_steps(
    best: Stage, finest: Array, coarsest: Array, space: Space, size: float, among: Array
) -> tuple[Array, Array]:
    """Those of these coordinates that deserve another stage, and its first step for each.

    Args:
        best: what is known of each coordinate.
        finest: the smallest first step it had.
        coarsest: the largest.
        space: where they are.
        size: of the terms of the scalar.
        among: which of them count.
    """
    # Where nothing moves, there is only the size of the outputs to measure the bound by.
    still = np.where(best.scale == 0, size / space.unit, 0.0)
    reference = np.maximum(CANCELLATION * best.scale, still)
    goal = GOAL * np.maximum(np.abs(best.value), reference)
    poor = ~(best.bound <= goal)
    unsettled = (poor | best.kink) & among
    if not unsettled.any():
        nobody = np.zeros(0, dtype=np.int64)
        return nobody, np.zeros(0)
    # Smaller steps help while their round-off stays below what they are to resolve.
    # As much smaller as it takes, if the bound shrinks with the sixth power of the step; it is
    # the round-off that grows.
    enough = np.fmin(np.fmax((goal / best.bound) ** (1 / 6), SMALLER), A_LITTLE_SMALLER)
    down = finest * np.where(best.kink, MUCH_SMALLER, power_of_two(enough))
    roundoff = roundoff_at(best, down)
    resolvable = np.where(
        best.kink, roundoff < RESOLVES * best.contrast, ~(roundoff >= 0.5 * best.bound)
    )
    go_down = unsettled & resolvable & (down >= SMALLEST_STEP * space.unit)
    up = np.minimum(coarsest * LARGER, space.reach)
    go_up = unsettled & poor & ~go_down & ~best.kink & (best.roundoff > 0.25 * best.bound)
    room = np.minimum(space.room_down, space.room_up)
    go_up &= (up > coarsest) & (up <= room / 2)
    columns = np.flatnonzero(go_down | go_up)
    return columns, np.where(go_down, down, up)[columns]


def roundoff_at(best: Stage, first: Array) -> Array:
    """What the round-off would be in a stage that starts with these steps."""
    return np.asarray(best.roundoff * best.step / (first * HALVINGS[-1]))
