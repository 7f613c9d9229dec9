"""Richardson extrapolation of difference quotients, with a bound for what it returns.

A difference quotient over the step h is the derivative plus a power series in h. Quotients over
h, h/2, h/4, … are combined so that the leading terms cancel. Each combination comes with a bound:
how far it is from the combinations it was made of, which estimates the truncation error, plus the
round-off of the quotients carried through the combination. The combination with the smallest bound
is kept, element by element.
"""

from __future__ import annotations

from functools import cache
from itertools import accumulate
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
    table = _table(steps)
    values, noise = _combinations(quotients, roundoff, table, ratio)
    kept, kept_noise = values[:, table.kept], noise[:, table.kept]

    def apart(others: Array) -> Array:
        return np.asarray(np.abs(kept[..., np.newaxis] - values[:, others]))

    gap = apart(table.made_of).max(axis=2)
    # Two neighbours can agree by chance, where two terms of the series cancel between their steps:
    # so the others of the same order have a say, beyond what the noise explains.
    said = apart(table.finer) - kept_noise[..., np.newaxis] - noise[:, table.finer]
    gap = np.maximum(gap, np.fmax.reduce(said, axis=2, initial=0.0))
    # A quotient itself is judged by the next smaller step, which makes only part of the way.
    plain = steps - 1
    gap[:, :plain] *= ratio / (ratio - 1)
    bounds = gap + kept_noise
    bounds[:, :plain] += noise[:, 1:steps]
    # Neighbours may agree by chance at low order; the highest order then tells another story.
    highest, its_noise = values[:, -1:], noise[:, -1:]
    bounds = np.fmax(bounds, np.abs(kept - highest) - its_noise)
    finite = np.isfinite(bounds)
    if not finite.all():
        bounds = np.where(finite, bounds, np.inf)
    best, row = bounds.argmin(axis=1), np.arange(rows)
    bound = bounds[row, best]
    value = kept[row, best]
    if not finite.all():
        value = np.where(np.isfinite(bound), value, np.nan)
    return Extrapolated(value, bound, table.level[best])


class _Table(NamedTuple):
    """The combinations of so many quotients: first those, then the ones of order one, and so on."""

    starts: list[int]
    """Where each order starts, and their number at the end."""
    kept: Array
    """Which of them are candidates: all but the quotient of the smallest step."""
    made_of: Array
    """By candidate: the two it was made of; for a quotient, the next one (twice)."""
    finer: Array
    """By candidate: those of its order from smaller steps, padded with itself."""
    level: Array
    """By candidate: the index of the smallest step that it uses."""


@cache
def _table(steps: int) -> _Table:
    starts = [0, *accumulate(range(steps, 0, -1))]
    kept, made_of, finer, level = [], [], [], []
    for order in range(steps):
        for i in range(steps - order):
            own = starts[order] + i
            if order == 0 and i == steps - 1:
                continue
            kept.append(own)
            below = starts[order - 1] + i
            made_of.append([below, below + 1] if order else [own + 1, own + 1])
            others = [starts[order] + j for j in range(i + 1, steps - order)]
            finer.append(others + [own] * (steps - 1 - len(others)))
            level.append(i + order)
    return _Table(starts, *(np.array(part) for part in (kept, made_of, finer, level)))


def _combinations(
    quotients: Array, roundoff: Array, table: _Table, ratio: int
) -> tuple[Array, Array]:
    """All the combinations, order after order, and the round-off that they carry."""
    values = np.empty((len(quotients), table.starts[-1]))
    noise = np.empty_like(values)
    steps = quotients.shape[1]
    values[:, :steps], noise[:, :steps] = quotients, roundoff
    power = ratio
    for start, stop, end in zip(table.starts, table.starts[1:], table.starts[2:], strict=False):
        coarser, finer = slice(start, stop - 1), slice(start + 1, stop)
        new = slice(stop, end)
        values[:, new] = values[:, finer] + (values[:, finer] - values[:, coarser]) / (power - 1)
        noise[:, new] = (power * noise[:, finer] + noise[:, coarser]) / (power - 1)
        power *= ratio
    return values, noise
