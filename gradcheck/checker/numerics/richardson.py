"""Richardson extrapolation of difference quotients, with a bound for what it returns.

A difference quotient over the step h is the derivative plus a power series in h. Quotients over
h, h/2, h/4, … are combined so that the leading terms cancel. Each combination comes with a bound:
how far it is from the combinations it was made of, which estimates the truncation error, plus the
round-off of the quotients carried through the combination. The combination with the smallest bound
is kept, element by element.

All of this is linear in the quotients and in their round-off but for a few absolute values, so it
is worked out once for so many steps, as tables of coefficients.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gradcheck.checker import stepping
from gradcheck.checker.numerics.vectors import everywhere_so

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
    sizes = np.abs(quotients)
    if not everywhere_so(sizes <= stepping.HUGE_SLOPE):
        huge = sizes.max(axis=1, where=np.isfinite(quotients), initial=0.0) > stepping.HUGE_SLOPE
        if huge.any():
            # Weights of more than one would leave the range. Without it
            # `test_derivatives_close_to_the_largest_number` fails.
            smaller = np.where(huge, 1 / stepping.HUGE_SLOPE, 1.0)
            by_row = smaller[:, np.newaxis]
            told = extrapolate(quotients * by_row, roundoff * by_row, ratio=ratio)
            return Extrapolated(told.value / smaller, told.bound / smaller, told.level)
    table = _table(steps, ratio)
    # (Of matrices as small as these `@` takes twice as long.)
    limits = np.abs(table.gaps.dot(quotients.T))
    limits += table.noise.dot(roundoff.T)
    bounds = np.maximum.reduceat(limits, table.starts)
    best = bounds.argmin(axis=0)
    place = best * rows + np.arange(rows)
    found = Extrapolated(
        table.candidates.dot(quotients.T).take(place), bounds.take(place), table.level.take(best)
    )
    finite = np.isfinite(found.bound)
    if not everywhere_so(finite):
        _without_what_is_missing(found, np.flatnonzero(~finite), quotients, roundoff, ratio)
    return found


def _without_what_is_missing(
    found: Extrapolated, rows: Array, quotients: Array, roundoff: Array, ratio: int
) -> None:
    """Extrapolate rows that lack a quotient from fewer of them: at one end, then at the other.

    Without it `test_quotients_that_are_not_there` fails.
    """
    at_end = ~np.isfinite(quotients[rows, -1] + roundoff[rows, -1])
    for some, steps, dropped in (
        (rows[at_end], slice(None, -1), 0),
        (rows[~at_end], slice(1, None), 1),
    ):
        if len(some):
            value, bound, level = extrapolate(
                quotients[some, steps], roundoff[some, steps], ratio=ratio
            )
            found.value[some], found.bound[some] = value, bound
            found.level[some] = level + dropped


class _Combination(NamedTuple):
    """A weighted sum of quotients, made from those of neighbouring steps."""

    weights: Array
    level: int
    """The index of the smallest step that it uses."""

    @property
    def noise(self) -> Array:
        """What it makes of their round-off."""
        return np.abs(self.weights)


class _Table(NamedTuple):
    """What becomes of so many quotients: a row of coefficients for each thing to be known."""

    candidates: Array
    """The combinations that may be kept."""
    level: Array
    """By candidate: the index of the smallest step that it uses."""
    gaps: Array
    noise: Array
    """The bound of a candidate is the largest of several: the size of a gap, a sum of quotients,
    and with it some of their round-off."""
    starts: Array
    """By candidate: where its gaps start."""


@cache
def _table(steps: int, ratio: int) -> _Table:
    orders = _combinations(steps, ratio)
    (highest,) = orders[-1]
    candidates: list[_Combination] = []
    gaps: list[Array] = []
    noise: list[Array] = []
    starts: list[int] = []
    for order, combinations in enumerate(orders):
        for i, own in enumerate(combinations):
            finer = combinations[i + 1 :]
            if order:
                made_of, factor, carried = orders[order - 1][i : i + 2], 1.0, own.noise
            elif finer:
                # A quotient itself is judged by the next smaller step, which makes only part of
                # the way.
                made_of, factor = finer[:1], ratio / (ratio - 1)
                carried = own.noise + finer[0].noise
            else:
                continue  # and the one of the smallest step by none
            candidates.append(own)
            starts.append(len(gaps))
            gaps += [factor * (own.weights - other.weights) for other in made_of]
            noise += [carried] * len(made_of)
            # Two neighbours can agree by chance, where two terms of the series cancel between
            # their steps: so the others of the same order have a say, beyond what the noise
            # explains.
            gaps += [factor * (own.weights - other.weights) for other in finer]
            noise += [carried - factor * (own.noise + other.noise) for other in finer]
            # They may all agree by chance at low order; the highest then tells another story.
            gaps.append(own.weights - highest.weights)
            noise.append(-highest.noise)
    return _Table(
        np.array([own.weights for own in candidates]),
        np.array([own.level for own in candidates]),
        np.array(gaps),
        np.array(noise),
        np.array(starts),
    )


def _combinations(steps: int, ratio: int) -> list[list[_Combination]]:
    """By order: the quotients themselves, what cancels one term of the series, and so on."""
    orders = [[_Combination(weights, i) for i, weights in enumerate(np.eye(steps))]]
    power = ratio
    while len(orders) < steps:
        pairs = zip(orders[-1], orders[-1][1:], strict=False)
        orders.append(
            [
                _Combination((power * fine.weights - coarse.weights) / (power - 1), fine.level)
                for coarse, fine in pairs
            ]
        )
        power *= ratio
    return orders
