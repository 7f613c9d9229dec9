"""The derivative of a function that rounds to few bits inside, from many points at once.

A function that computes in bfloat16 climbs in steps of a 256th. A difference quotient over a short
step is rounding and little else; over a long one it is not the derivative. So a polynomial is laid
through many points around the element, which averages the rounding, and its slope at the point is
taken. The scatter of the points around the polynomial tells how good that is, and a polynomial of
higher degree tells whether the first one bends enough. Rounding is averaged only where an output
climbs many steps: one that climbs few, or none though it depends on the element, may be off by half
a step throughout, and does not scatter at all.

A polynomial is no picture of a function that switches between its points. So a fit is believed only
if what it leaves of every output is no more than that output scatters around its own neighbours,
and if points that reach half as far tell the same; else shorter reaches are tried. What may be a
kink at the point itself, which looks the same over every reach, widens the bound.

Without it `test_few_bits` fails.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gradcheck.checker import limits, stepping, tolerances
from gradcheck.checker.numerics.estimate import Estimate
from gradcheck.checker.numerics.fit_basis import (
    Polynomials,
    distinct,
    local_noise,
    spread_places,
)
from gradcheck.checker.numerics.fitted import Fitted, Rough
from gradcheck.checker.numerics.hidden_steps import Reaches
from gradcheck.checker.numerics.rng import generator

if TYPE_CHECKING:
    from gradcheck.model import Array


def smoothed(estimate: Estimate, rough: Rough, seed: int) -> Estimate:
    """The estimate, with the derivatives that a fit knows better taken from it.

    Args:
        estimate: what difference quotients said.
        rough: the function.
        seed: for where the points lie.
    """
    columns = np.flatnonzero(~estimate.kink)
    if not 0 < len(columns) <= stepping.FITTED:
        return estimate
    told, best = fit(rough, columns, seed), estimate.copy()
    with_few_steps(rough, columns, told, 0.0, seed)
    with np.errstate(all="ignore"):
        # Outputs that stood still may have hidden a change: quotients know nothing of these.
        hidden = tolerances.ROUNDOFF_SAFETY * told.hidden / estimate.step[columns]
    best.error[columns] = np.fmax(best.error[columns], np.where(np.isfinite(hidden), hidden, 0.0))
    better = np.flatnonzero(told.estimate.error < best.error[columns])
    best.put(columns[better], told.estimate.take(better))
    return best


def fit(rough: Rough, columns: Array, seed: int) -> Fitted:
    """Fit polynomials along these coordinates, over the reaches that suit each best."""
    places = spread_places(generator(seed, 0x636F61))
    told = Fitted.unknown(len(columns), len(rough.base))
    size = max(1, limits.NUMBERS_AT_ONCE // (len(places) * rough.numbers))
    for start in range(0, len(columns), size):
        rows = slice(start, start + size)
        told.put(rows, _fit_some(rough, columns[rows], places))
    return told


def with_few_steps(rough: Rough, columns: Array, told: Fitted, least: float, seed: int) -> Array:
    """Fit again where an output climbs few of its steps: it scatters as along other coordinates.

    Without it `test_few_steps_along_some_coordinates` fails.

    Args:
        rough: the function.
        columns: the coordinates.
        told: what fits along them tell, which is replaced.
        least: what an output must scatter the scalar to count.
        seed: for where the points lie.

    Returns:
        The rounding of each output that is known then.
    """
    heights = np.where(told.level * np.abs(rough.weights) > least, told.level, 0.0)
    again = np.flatnonzero((told.few & (heights > rough.level)).any(axis=1))
    level = np.fmax(rough.level, heights)
    if len(again):
        told.put(again, fit(replace(rough, level=level), columns[again], seed))
    return level


def scatter_within(rough: Rough, columns: Array, reach: Array | float, seed: int) -> Array:
    """By coordinate: how the scalar scatters over moves that reach so far, in units."""
    places = spread_places(generator(seed, 0x636C6F))
    deltas = np.outer(rough.space.unit[columns] * reach, places)
    points, _ = rough.space.points(np.repeat(columns, len(places)), deltas.ravel())
    with np.errstate(all="ignore"):
        change = rough.scalar(points)
        return local_noise(places[np.newaxis], change.reshape(*deltas.shape, 1))[:, 0]


@dataclass(frozen=True, eq=False)
class _Over:
    """What points that reach so far tell, by coordinate."""

    slope: Array
    deviation: Array
    bound: Array
    """Infinite where the fit is not to be believed."""
    kink: Array
    kink_deviation: Array
    """How much the slope would change at the point, if it did."""
    step: Array
    size: Array
    """How much the outputs moved."""
    rounding: Array
    """The standard deviation of the scalar's rounding."""
    noise: Array
    """(coordinates, outputs): that of each output."""

    def take(self, rows: Array) -> _Over:
        """Some of the coordinates."""
        return _Over(*(getattr(self, field.name)[rows] for field in fields(self)))


def _fit_some(rough: Rough, columns: Array, places: Array) -> Fitted:
    """Shrink the reach of each coordinate while that makes its bound smaller."""
    space, count = rough.space, len(columns)
    depends = rough.dependents(columns)
    typical, own = 2 * space.reach[columns], space.unit[columns]
    farthest = np.maximum(typical, own)
    told = Fitted.unknown(count, len(rough.base))
    best = told.estimate
    sizes = np.abs(rough.weights) * np.where(np.isfinite(rough.level), rough.level, 0.0)
    told.hidden[:] = np.sqrt((depends * sizes**2).sum(axis=1))
    persistent = np.zeros(count)  # a kink that two reaches agree on
    stairs = np.zeros((count, len(rough.base)))  # rounding that two reaches agree on
    rows = np.arange(count)
    before: _Over | None = None
    reaches = Reaches(count)
    for halving in range(stepping.FIT_HALVINGS):
        step = farthest[rows] * 0.5**halving
        # Where an output climbs few steps, or none, its values say little of their height.
        noise = None if before is None else np.maximum(before.noise, stairs[rows])
        over = _over(rough, columns[rows], depends[rows], step, places, noise)
        reaches.note(halving, rows, over.step, over.rounding)
        if before is not None:
            bound = _believed(before, over, persistent[rows])
            better = np.flatnonzero(bound < best.error[rows])
            best.put(rows[better], _estimate(before, bound).take(better))
            told.scatter[rows[better]] = before.rounding[better]
            with np.errstate(all="ignore"):
                share = before.rounding / before.size
                # (Numbers that are farther away are farther apart.)
                unit = np.maximum(own[rows], before.step)
                moved = share * before.step / unit / tolerances.ROUNDING_SHARE
            told.share[rows[better]], told.quantum[rows[better]] = share[better], moved[better]
            persistent[rows] = _persistent(before, over, persistent[rows])
            alike = (over.noise > 0) & (before.noise <= tolerances.PLATEAU * over.noise)
            stairs[rows] = np.where(alike, over.noise, stairs[rows])
        # Shorter reaches only make rounding count for more.
        going = ~(over.bound > stepping.FIT_WORSE * best.error[rows])
        going &= step > stepping.FIT_SHORTEST * own[rows]
        rows, before = rows[going], over.take(going)
        if not len(rows):
            break
    best.error[:] = np.maximum(best.error, reaches.hidden_slope(best.step, told.scatter))
    told.level[:], told.few[:] = stairs.max(axis=0, initial=0.0), depends & (stairs == 0)
    return told


def _estimate(over: _Over, bound: Array) -> Estimate:
    step = over.step
    slopes = over.slope.copy(), bound, bound.copy()
    return Estimate.smooth(*slopes, step.copy(), over.size / step, step.copy(), over.size.copy())


def _believed(wide: _Over, near: _Over, persistent: Array) -> Array:
    """The bound of a fit, once points that reach half as far are known too."""
    apart = np.abs(wide.slope - near.slope)
    scatter = np.hypot(wide.deviation, near.deviation)
    alike = ~(apart > tolerances.FIT_SIGMAS * scatter + wide.bound)
    # A kink that longer reaches agree on, and that this one cannot exclude.
    refuted = np.abs(wide.kink - persistent) > tolerances.FIT_SIGMAS * wide.kink_deviation
    # What differs between the two reaches, beyond what rounding does, may differ once more.
    more = np.maximum(apart - stepping.HALF_A_BAR * tolerances.FIT_SIGMAS * scatter, 0.0)
    bound = wide.bound + more + np.where(refuted, 0.0, np.abs(persistent) / 2)
    return np.where(alike, bound, np.inf)


def _persistent(wide: _Over, near: _Over, known: Array) -> Array:
    """The kink at the point itself that two reaches agree on, or the one that was known before."""
    surely = np.abs(near.kink) > stepping.FIT_KINK_SIGMAS * near.kink_deviation
    surely &= np.abs(wide.kink) > stepping.FIT_KINK_SIGMAS * wide.kink_deviation
    alike = np.abs(wide.kink - near.kink) <= stepping.FIT_KINK_ALIKE * np.abs(near.kink)
    return np.where(surely & alike, near.kink, known)


def _over(
    rough: Rough, columns: Array, depends: Array, step: Array, places: Array, noise: Array | None
) -> _Over:
    """The slopes of polynomials through points that reach so far to both sides."""
    space = rough.space
    room = space.least_room[columns]
    step = np.minimum(step, room / 2)
    usable = step > 0
    deltas = np.where(usable, step, 0.0)[:, np.newaxis] * places
    points, actual = space.points(np.repeat(columns, len(places)), deltas.ravel())
    with np.errstate(all="ignore"):
        outputs = rough.evaluate(points)
        change = np.where(outputs == rough.base, 0.0, outputs - rough.base)
        change = change.reshape(*deltas.shape, len(rough.base))
        if space.precision is None:
            # (But for what the points round in double precision, all lie at the same places.)
            t = places[np.newaxis]
        else:
            t = actual.reshape(deltas.shape) / np.where(usable, step, 1.0)[:, np.newaxis]
        # (Of many outputs few move with each input.)
        some = np.flatnonzero((change != 0).any(axis=(0, 1)) | depends.any(axis=0))
        told = _told(
            replace(rough, weights=rough.weights[some], level=rough.level[some]),
            depends[:, some],
            step,
            t,
            change[..., some],
            None if noise is None else noise[:, some],
        )
        every = np.zeros((len(columns), len(rough.base)))
        every[:, some] = told.noise
        return replace(told, noise=every)


def _told(
    rough: Rough, depends: Array, step: Array, t: Array, change: Array, noise: Array | None
) -> _Over:
    """What changes of the outputs tell at places, in units of the step."""
    sizes, count = np.abs(rough.weights), t.shape[1]
    size = (np.abs(change) @ sizes).max(axis=1)
    own = local_noise(t, change)
    level = np.maximum(own, np.where(np.isfinite(rough.level), rough.level, 0.0))
    if noise is not None:
        level = np.maximum(level, noise)
    climbs = np.count_nonzero(np.diff(change, axis=1), axis=1)
    rounding = sizes * level * (depends | (climbs > 0))
    floor = np.sqrt((rounding**2 / np.maximum(climbs, 1)).sum(axis=1))
    scalar = (change @ rough.weights)[..., np.newaxis]
    # (Places that coincide round alike.)
    repeats = np.sqrt(count / distinct(t))

    def along(fitted: Polynomials) -> _Line:
        of_scalar = fitted.rest(scalar)[..., 0]
        variance = (of_scalar**2).sum(axis=1) / (count - fitted.basis.shape[2])
        spread = np.sqrt(np.maximum(variance, count * floor**2)) * repeats
        gain = np.sqrt((fitted.slope**2).sum(axis=1))
        slope = (fitted.slope * scalar[..., 0]).sum(axis=1)
        return _Line(slope / step, spread * gain / step, np.sqrt(variance))

    def believed(fitted: Polynomials) -> Array:
        rest = fitted.rest(change)
        left = np.sqrt(np.einsum("rpo,rpo->ro", rest, rest) / (count - fitted.basis.shape[2]))
        whole = np.sqrt(((sizes * level) ** 2).sum(axis=1, keepdims=True))
        most = np.maximum(sizes * level, stepping.FIT_MATTERS * whole)
        switches = (sizes * left > tolerances.FIT_LEAVES * most).any(axis=1)
        return np.asarray(fitted.full & ~switches)

    # Where nothing moves, no scatter is no proof of knowledge, unless rounding is known.
    known = (step > 0) & ((size > 0) | (floor > 0))
    best = _Line(*np.full((3, len(step)), np.nan))
    bound, scatter = np.full((2, len(step)), np.inf)
    fits = {degree: Polynomials.of(t, degree) for degree in {*stepping.FIT_DEGREES}}
    for degree, control in pairwise(stepping.FIT_DEGREES):
        line, other = along(fits[degree]), along(fits[control])
        mine = tolerances.FIT_SIGMAS * line.deviation + np.abs(line.slope - other.slope)
        mine = np.where(known & np.isfinite(mine) & believed(fits[control]), mine, np.inf)
        # (Where none is believed, the last stands for what was seen.)
        better = (mine < bound) | ~np.isfinite(bound)
        best = _Line(*(np.where(better, a, b) for a, b in zip(line, best, strict=True)))
        bound = np.minimum(bound, mine)
        # (A line may be best, and yet leave a bend that is no rounding.)
        scatter = np.fmin(scatter, np.fmin(line.scatter, other.scatter))
    kink = along(Polynomials.of(t, stepping.FIT_DEGREES[-1], kink=True))
    return _Over(
        best.slope, best.deviation, bound, kink.slope, kink.deviation, step, size, scatter, own
    )


class _Line(NamedTuple):
    """What a polynomial tells, by coordinate."""

    slope: Array
    deviation: Array
    scatter: Array
