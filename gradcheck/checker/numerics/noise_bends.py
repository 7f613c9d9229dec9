"""Bends on a line: a switch beside the point, which high-order differences take for noise.

A line that runs across a switch is no polynomial, and what its differences leave looks like noise
as high as the bend. But noise is there however closely one looks, and so are the stairs of what
rounds. A bend is straight on either side of one place, and over ever shorter pieces around that
nothing is left of it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gradcheck.checker import limits, stepping, tolerances
from gradcheck.model import Array

Along = Callable[[Array], Array]
"""Places on a line, in units, to rows of outputs."""


def without_bends(
    along: Along, level: Array, base: Array, lines: Array, steps: Array, among: Array
) -> Array:
    """The noise of each output, once it is known of which a bend was taken for noise.

    Without it `test_a_switch_beside_the_point_is_no_noise` fails.

    Args:
        along: the function.
        level: the noise of each output, as the lines have it.
        base: the outputs at the point.
        lines: the outputs at these steps along the lines.
        steps: those of all the lines, but for the point that they have in common.
        among: which outputs count.
    """
    suspects = np.flatnonzero(among & (level > tolerances.LOOKS_LIKE_MORE * _least(base)))
    asked = suspects[np.argsort(-level[suspects], kind="stable")][: limits.BENDS_LOOKED_FOR]
    if not len(asked):
        return level
    places = np.concatenate(
        [np.zeros((steps.size // _OTHERS, 1)), steps.reshape(-1, _OTHERS)], axis=1
    )
    values = lines.reshape(len(places), _OTHERS, -1)[:, :, asked]
    start = np.broadcast_to(base[asked], (len(places), 1, len(asked)))
    bends = np.abs(np.diff(np.concatenate([start, values], axis=1), n=2, axis=1))
    high = bends.max(axis=1)
    shows = high >= level[asked]
    line, rows = shows.argmax(axis=0), np.arange(len(asked))
    at = bends[line, :, rows].argmax(axis=1)
    most, typical = _left(along, asked, places[line, at], places[line, at + 2])
    told = level.copy()
    bent = shows.any(axis=0) & (most <= tolerances.JUMPS_OF_NOISE * level[asked])
    told[asked[bent]] = np.maximum(typical, _least(base)[asked])[bent]
    if bent.all() and len(asked) > 1:
        # (Where all of many are bent that were asked, so are the others.)
        rest = suspects[~np.isin(suspects, asked)]
        told[rest] = np.minimum(level[rest], told[asked].max())
    return told


_OTHERS = limits.LINE_POINTS - 1


def _least(base: Array) -> Array:
    """What the last digits of the outputs are."""
    return np.asarray(tolerances.LAST_DIGIT * np.where(np.isfinite(base), np.abs(base), 0.0))


def _left(along: Along, outputs: Array, low: Array, high: Array) -> tuple[Array, Array]:
    """By output: what is left of its largest bend between places that come ever closer.

    And what bends are there typically: that is noise. (Between places that are next to each other
    there are no others, and nothing moves.)
    """
    rows, shares = np.arange(len(outputs)), np.linspace(0.0, 1.0, stepping.JUMP_POINTS)
    most, typical = np.zeros((2, len(outputs)))
    while (np.abs(high - low) > stepping.CLOSEST_BEND).any():
        # (All of them closer alike: one that is close enough stays.)
        places = low[:, np.newaxis] + (high - low)[:, np.newaxis] * shares
        values = along(places.ravel()).reshape(*places.shape, -1)[rows, :, outputs]
        bends = np.abs(np.diff(values, n=2, axis=1))
        bends = np.where(np.isfinite(bends), bends, 0.0)
        at = bends.argmax(axis=1)
        most, typical = bends[rows, at], np.median(bends, axis=1)
        wide = np.abs(high - low) > stepping.CLOSEST_BEND
        low = np.where(wide, places[rows, at], low)
        high = np.where(wide, places[rows, at + 2], high)
    return most, typical
