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
    if steps < 2:
        return Extrapolated(
            np.full(rows, np.nan), np.full(rows, np.inf), np.zeros(rows, dtype=np.int64)
        )
    # The quotients themselves: the next smaller step tells how far off each of them is.
    finer, coarser = quotients[:, 1:], quotients[:, :-1]
    gap = np.maximum(np.abs(coarser - finer), _contradicted(quotients, roundoff)[:, :-1])
    values = [coarser]
    bounds = [gap * (ratio / (ratio - 1)) + roundoff[:, :-1] + roundoff[:, 1:]]
    levels = list(range(steps - 1))

    column, noise, power = quotients, roundoff, ratio
    for order in range(1, steps):
        finer, coarser = column[:, 1:], column[:, :-1]
        column = finer + (finer - coarser) / (power - 1)
        noise = (power * noise[:, 1:] + noise[:, :-1]) / (power - 1)
        gap = np.maximum(np.abs(column - finer), np.abs(column - coarser))
        if order < steps - 1:
            gap = np.maximum(gap, _contradicted(column, noise))
        values.append(column)
        bounds.append(gap + noise)
        levels += range(order, steps)
        power *= ratio

    every_value, every_bound = np.concatenate(values, axis=1), np.concatenate(bounds, axis=1)
    # Neighbours may agree by chance at low order; the highest order then tells another story.
    apart = np.abs(every_value - column) - noise
    every_bound = np.fmax(every_bound, apart)
    if not np.isfinite(every_bound).all():
        every_bound = np.where(np.isfinite(every_bound), every_bound, np.inf)
    best, row = np.argmin(every_bound, axis=1), np.arange(rows)
    bound = every_bound[row, best]
    value = np.where(np.isfinite(bound), every_value[row, best], np.nan)
    return Extrapolated(value, bound, np.array(levels)[best])


def _contradicted(column: Array, noise: Array) -> Array:
    """How far each entry is from those of smaller steps, beyond what the noise explains.

    Two neighbours can agree by chance, where two terms of the series cancel between their steps.
    """
    far = np.zeros(column.shape)
    for ahead in range(1, column.shape[1]):
        here, finer = (slice(None), slice(None, -ahead)), (slice(None), slice(ahead, None))
        excess = np.abs(column[here] - column[finer]) - noise[here] - noise[finer]
        far[here] = np.fmax(far[here], excess)
    return far
