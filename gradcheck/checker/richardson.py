"""Richardson extrapolation of difference quotients, with a bound for what it returns.

A difference quotient over the step h is the derivative plus a power series in h. Quotients over
h, h/2, h/4, … are combined so that the leading terms cancel. Each combination comes with a bound:
how far it is from the combinations it was made of, which estimates the truncation error, plus the
round-off of the quotients carried through the combination. The combination with the smallest bound
is kept, element by element.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from gradcheck.model import Array


class Extrapolated(NamedTuple):
    """One value per row of quotients."""

    value: Array
    bound: Array
    """Infinite where no two quotients were finite."""
    level: Array
    """The index of the smallest step that the value uses."""


def extrapolate(quotients: Array, roundoff: Array, *, ratio: int) -> Extrapolated:
    """Extrapolate each row to step zero.

    Args:
        quotients: shape (rows, steps), each step half the one before; NaN where there is none.
        roundoff: same shape, a bound on the error of each quotient that is not truncation.
        ratio: by what the leading error term shrinks when the step is halved: 4 for central
            quotients (a series in h²), 2 for one-sided ones (a series in h).
    """
    rows, steps = quotients.shape
    power = ratio  # ratio ** order
    best = Extrapolated(
        np.full(rows, np.nan), np.full(rows, np.inf), np.zeros(rows, dtype=np.int64)
    )
    column, noise = quotients, roundoff
    # The quotients themselves: the next smaller step tells how far off each of them is.
    if steps > 1:
        gap = np.abs(column[:, :-1] - column[:, 1:]) * (ratio / (ratio - 1))
        gap = np.maximum(gap, _contradicted(column, noise)[:, :-1] * (ratio / (ratio - 1)))
        best = _better(best, column[:, :-1], gap + noise[:, :-1] + noise[:, 1:], first_level=0)
    for order in range(1, steps):
        finer, coarser = column[:, 1:], column[:, :-1]
        combined = finer + (finer - coarser) / (power - 1)
        noise = (power * noise[:, 1:] + noise[:, :-1]) / (power - 1)
        gap = np.maximum(np.abs(combined - finer), np.abs(combined - coarser))
        gap = np.maximum(gap, _contradicted(combined, noise))
        best = _better(best, combined, gap + noise, first_level=order)
        column, power = combined, power * ratio
    return best


def _contradicted(column: Array, noise: Array) -> Array:
    """How far each entry is from those of smaller steps, beyond what the noise explains.

    Two neighbours can agree by chance, where two terms of the series cancel between their steps.
    """
    far = np.zeros(column.shape)
    for entry in range(column.shape[1] - 1):
        here, finer = slice(entry, entry + 1), slice(entry + 1, None)
        excess = np.abs(column[:, here] - column[:, finer]) - noise[:, here] - noise[:, finer]
        far[:, entry] = np.fmax(excess, 0.0).max(axis=1)
    return far


def _better(best: Extrapolated, values: Array, bounds: Array, *, first_level: int) -> Extrapolated:
    """Replace each row's best by the best of these columns where that has a smaller bound."""
    bounds = np.where(np.isfinite(values) & np.isfinite(bounds), bounds, np.inf)
    pick = np.argmin(bounds, axis=1)
    row = np.arange(len(bounds))
    better = bounds[row, pick] < best.bound
    return Extrapolated(
        np.where(better, values[row, pick], best.value),
        np.where(better, bounds[row, pick], best.bound),
        np.where(better, pick + first_level, best.level),
    )
