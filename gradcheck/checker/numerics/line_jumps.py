"""Jumps on a line: what tells the noise of cancellation from a function that varies fast.

Where large parts cancel, a function is made of short pieces with jumps between them, and on a piece
it is smooth: on lines that are shorter than a piece no noise shows. On longer ones it looks just as
a function does that varies over less than they are long. But that has no jumps.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gradcheck.checker import stepping, tolerances
from gradcheck.model import Array

Along = Callable[[Array], Array]
"""Places on a line, in units, to rows of outputs."""


def with_jumps(along: Along, level: Array, most: Array, among: Array) -> Array:
    """The noise of each output, once it is known which of them jump wherever one looks.

    Without it `test_what_cancels_is_smooth_from_close_by` fails.

    Args:
        along: the function.
        level: the noise of each output, as short lines have it.
        most: the most that looks like noise on any line.
        among: which outputs count.
    """
    suspects = np.flatnonzero(among & (most > tolerances.LOOKS_LIKE_MORE * level))
    if not len(suspects):
        return level
    asked = suspects[np.argsort(-most[suspects], kind="stable")][: stepping.JUMPING_OUTPUTS]
    heights = _least_jumps(along, asked)
    jumps = heights > most[asked] * tolerances.JUMPS_OF_NOISE
    told = level.copy()
    told[asked[jumps]] = np.maximum(level[asked[jumps]], heights[jumps] / 2)
    if jumps.all():
        # (Where all of many jump that were asked, so may the others.)
        rest = suspects[~np.isin(suspects, asked)]
        told[rest] = np.maximum(level[rest], most[rest])
    return told


def _least_jumps(along: Along, outputs: Array) -> Array:
    """By output: the height of a jump that there is on each of some short pieces of one side.

    A function may jump once, or switch, and yet have no noise; and of the sides of a kink one may
    round more than the other. On each piece the largest climb
    between neighbours is looked at, ever closer, and the largest fall: between jumps up a function
    that cancels may slope down as far.
    """
    shape = len(outputs), len(stepping.JUMPING_PLACES), 2
    low = np.broadcast_to(np.array(stepping.JUMPING_PLACES)[:, np.newaxis], shape).ravel()
    sign = np.broadcast_to([1.0, -1.0], shape).ravel()
    output = np.broadcast_to(outputs[:, np.newaxis, np.newaxis], shape).ravel()
    rows, height = np.arange(len(low)), np.zeros(len(low))
    shares, length = np.linspace(0.0, 1.0, stepping.JUMP_POINTS), stepping.JUMPING_PIECE
    while length > stepping.NEXT_TO_EACH_OTHER:
        places = low[:, np.newaxis] + length * shares
        with np.errstate(all="ignore"):
            values = along(places.ravel()).reshape(*places.shape, -1)[rows, :, output]
            steps = sign[:, np.newaxis] * np.diff(values, axis=1)
        steps = np.where(np.isfinite(steps), steps, 0.0)
        most = steps.argmax(axis=1)
        low, length = places[rows, most], length / (len(shares) - 1)
        height = np.maximum(steps[rows, most] - np.median(steps, axis=1), 0.0)
    pieces = height.reshape(shape).max(axis=2)
    below = np.array(stepping.JUMPING_PLACES) < 0
    sides = [pieces[:, which].min(axis=1) for which in (below, ~below)]
    return np.asarray(np.maximum(*sides))
