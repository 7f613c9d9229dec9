"""The derivative of a function that rounds to few bits inside, from many points at once.

A function that computes in bfloat16 climbs in steps of a 256th. A difference quotient over a short
step is rounding and little else; over a long one it is not the derivative. So a polynomial is laid
through many points around the element, which averages the rounding, and its slope at the point is
taken. The scatter of the points around the polynomial tells how good that is, and a polynomial of
higher degree tells whether the first one bends enough. Rounding is averaged only where an output
climbs many steps: one that climbs few, or none though it depends on the element, may be off by half
a step throughout, and does not scatter at all.

Without it `test_few_bits` fails.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import limits, tolerances
from gradcheck.checker.numerics.dependence import reached_by_huge_moves
from gradcheck.checker.numerics.estimate import Estimate
from gradcheck.checker.numerics.rng import generator

if TYPE_CHECKING:
    from gradcheck.checker.numerics.coordinates import Space
    from gradcheck.checker.numerics.estimate import Evaluate
    from gradcheck.model import Array


@dataclass(frozen=True, eq=False)
class Rough:
    """A function that rounds inside, at its point."""

    evaluate: Evaluate
    base: Array
    weights: Array
    level: Array
    """Standard deviation of the rounding, by output."""
    space: Space

    def dependents(self, columns: Array) -> Array:
        """Which outputs depend on each of these coordinates; all of them where that is unknown."""
        try:
            return reached_by_huge_moves(self.evaluate, self.space, columns, self.base)
        except Exception:  # some functions refuse NaN
            return np.ones((len(columns), len(self.base)), dtype=bool)


def smoothed(estimate: Estimate, rough: Rough, seed: int) -> Estimate:
    """The estimate, with the derivatives that a fit knows better taken from it.

    Args:
        estimate: what difference quotients said.
        rough: the function.
        seed: for where the points lie.
    """
    columns = np.flatnonzero(~estimate.kink)
    if not 0 < len(columns) <= limits.FITTED:
        return estimate
    rng, count = generator(seed, 0x636F61), limits.FIT_POINTS
    # One in each of equal parts: evenly spread, and yet at no regular distance from the steps.
    places = (np.arange(count) + rng.uniform(size=count)) * 2 / count - 1
    size = max(1, limits.NUMBERS_AT_ONCE // (count * _numbers(rough)))
    best, bound = estimate.copy(), estimate.bound.copy()
    for start in range(0, len(columns), size):
        chosen = columns[start : start + size]
        depends = rough.dependents(chosen)
        typical, own = 2 * rough.space.reach[chosen], rough.space.unit[chosen]
        steps = [reach * typical for reach in limits.FIT_REACHES]
        if (own < typical).any():
            steps += [reach * own for reach in limits.FIT_REACHES]
        for step in steps:
            fit = _fit(rough, chosen, depends, step, places)
            better = np.flatnonzero(fit.error < bound[chosen])
            best.put(chosen[better], fit.take(better))
            bound[chosen[better]] = fit.error[better]
    return best


def _numbers(rough: Rough) -> int:
    """How many numbers are held for each point."""
    return len(rough.space.point) + 2 * len(rough.base)


def _fit(rough: Rough, columns: Array, depends: Array, step: Array, places: Array) -> Estimate:
    """The slopes of polynomials through points that reach so far to both sides."""
    space = rough.space
    room = np.minimum(space.room_down, space.room_up)[columns]
    step = np.minimum(step, room / 2)
    usable = step > 0
    deltas = np.where(usable, step, 0.0)[:, np.newaxis] * places
    points, actual = space.points(np.repeat(columns, len(places)), deltas.ravel())
    with np.errstate(all="ignore"):
        outputs = rough.evaluate(points)
        change = np.where(outputs == rough.base, 0.0, outputs - rough.base)
        moved = (change @ rough.weights).reshape(deltas.shape)
        size = (np.abs(change) @ np.abs(rough.weights)).reshape(deltas.shape).max(axis=1)
        # (The places are in order.)
        by_output = change.reshape(*deltas.shape, len(rough.base))
        climbs = np.count_nonzero(np.diff(by_output, axis=1), axis=1)
        rounding = np.abs(rough.weights) * rough.level * (depends | (climbs > 0))
        rounding = np.where(np.isfinite(rounding), rounding, 0.0) / np.sqrt(np.maximum(climbs, 1))
        floor = np.sqrt((rounding**2).sum(axis=1))
        # The points lie where rounding put them, hardly elsewhere than they were sent.
        t = actual.reshape(deltas.shape) / np.where(usable, step, 1.0)[:, np.newaxis]
        slope, deviation = _slopes(t, moved, limits.FIT_DEGREE, floor)
        control, _ = _slopes(t, moved, limits.FIT_CONTROL, floor)
        bound = (tolerances.FIT_SIGMAS * deviation + np.abs(slope - control)) / step
        # Where nothing moves, no scatter is no proof of knowledge.
        known = usable & np.isfinite(bound) & (size > 0)
        bound = np.where(known, bound, np.inf)
        return Estimate.smooth(slope / step, bound, bound, step, size / step, step, size)


def _slopes(t: Array, values: Array, degree: int, floor: Array) -> tuple[Array, Array]:
    """The slope at zero of a polynomial through each row, and its standard deviation.

    Args:
        t: where the values are.
        values: a row for each polynomial.
        degree: of the polynomials.
        floor: by row, what the mean of the values is off at least.
    """
    slopes, deviations = np.full(len(t), np.nan), np.full(len(t), np.nan)
    for row, (x, y) in enumerate(zip(t, values, strict=True)):
        terms = np.polynomial.legendre.legvander(x, degree)
        if not (np.isfinite(y).all() and np.isfinite(terms).all()):
            continue
        gram = np.linalg.pinv(terms.T @ terms)
        fitted = gram @ (terms.T @ y)
        rest = y - terms @ fitted
        variance = float(rest @ rest) / (len(y) - degree - 1)
        variance = max(variance, len(y) * float(floor[row]) ** 2)
        # The slope at zero of each Legendre polynomial: of the odd ones alone.
        at_zero = np.array(
            [np.polynomial.legendre.Legendre.basis(k).deriv()(0.0) for k in range(degree + 1)]
        )
        slopes[row] = at_zero @ fitted
        deviations[row] = np.sqrt(variance * (at_zero @ gram @ at_zero))
    return slopes, deviations
