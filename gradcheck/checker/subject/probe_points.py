"""Other points than that of the check, at which calls that many points share are compared."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import limits
from gradcheck.checker.numerics.vectors import largest, somewhere_so

if TYPE_CHECKING:
    from collections.abc import Collection

    from gradcheck.model import Array

Domain = tuple["Array", "Array"] | None
"""The lowest and the highest value that each number may have; None where it may have any."""


def unrelated(point: Array, domain: Domain) -> Array:
    """Another point nearby at which no number is what it is at the point, if that can be.

    Zeros move too, inside of their domain: without that
    `test_at_zero_no_batch_is_taken_for_one` fails.
    """
    shares, is_zero = _shares(len(point)), point == 0
    elsewhere = point * (1 - 0.25 * shares)
    if not somewhere_so(is_zero):
        return np.asarray(elsewhere)
    away = limits.PROBE_FROM_ZERO * shares * (largest(point) or 1.0)
    if domain is not None:
        lows, highs = domain
        away = np.where(away <= highs, away, np.where(-away >= lows, -away, 0.0))
    return np.where(is_zero, away, elsewhere)


def just_beyond(point: Array, domain: Domain) -> Array:
    """Another point, close by and farther away from zero; the point where there is no room."""
    beyond = point * (1 + limits.PROBE_BEYOND)
    if domain is None:
        return np.asarray(beyond)
    lows, highs = domain
    return np.where((beyond < lows) | (beyond > highs), point, beyond)


def probe_rows(
    point: Array, other: Array, beyond: Array, points: Array, taken: Collection[int]
) -> Array:
    """The rows of a probe, and behind them other points.

    Args:
        point: that of the check, in most rows.
        other: an unrelated one, in a few.
        beyond: one close by, in one of them.
        points: those that come along.
        taken: how many rows there must not be: a batch is not to pass for an axis of that size.
    """
    count = limits.PROBE_ROWS
    while count + len(points) in taken:
        count += 1
    rows = np.empty((count + len(points), len(point)))
    rows[:count], rows[count:] = point, points
    rows[limits.PROBE_OTHERS, :] = other
    rows[limits.PROBE_NEAR, :] = beyond
    return rows


def rows_expected(outputs: Array, base: Array, alone: Array) -> Array:
    """What the outputs of a probe should be.

    Args:
        outputs: what they are.
        base: at the point.
        alone: at the unrelated one.
    """
    expected = np.empty(outputs.shape)
    expected[:] = base
    expected[limits.PROBE_OTHERS, :] = alone
    # (Of the one close by nothing is known.)
    expected[limits.PROBE_NEAR] = outputs[limits.PROBE_NEAR]
    return expected


@lru_cache(maxsize=64)
def _shares(count: int) -> Array:
    """So many numbers between zero and one, no two of them alike."""
    shares, _ = np.modf(limits.GOLDEN_RATIO * np.arange(1, count + 1))
    return np.asarray(shares)
