"""What the errors of a gradient at several points have in common, and what they scatter.

Rounding is another one at every point, while a fault is the same: one that is in all the elements,
a factor, shows in all of them together where it is below the rounding of each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.checker import limits, tolerances
from gradcheck.checker.numerics.vectors import epsilon_of, largest, name_of, to_double

if TYPE_CHECKING:
    from gradcheck.model import Array


def statistics(errors: Array) -> tuple[Array, Array]:
    """Mean and standard deviation over the points where there is an error to speak of.

    Infinite where there are too few of them.
    """
    known = np.isfinite(errors)
    points = known.sum(axis=0)
    count = np.maximum(points, 1)
    mean = np.where(known, errors, 0).sum(axis=0) / count
    rest = np.where(known, errors - mean, 0)
    scatter = np.sqrt((np.abs(rest) ** 2).sum(axis=0) / count)
    return mean, np.where(points >= limits.FEWEST_NEIGHBOURS, scatter, np.inf)


def ulps_off(error: Array, size: Array, epsilon: float) -> Array:
    """What each element is off, in units in the last place of its size, or of the largest's noise.

    Args:
        error: what it is off.
        size: what it should be.
        epsilon: the unit in the last place of one.
    """
    unit = epsilon * np.maximum(np.abs(size), largest(size) * epsilon)
    return np.where(unit > 0, np.abs(error) / unit, 0.0)


def common_factor(
    errors: Array,
    double: Array,
    epsilon: float,
    smallest: float,
    among: Array | bool = True,
) -> float:
    """By what share of themselves all the elements are off together, beyond chance.

    One element's rounding hides a factor of 1.01 in bfloat16; that of all of them, at all the
    points, does not. Elements count by how little their relative errors scatter; small ones not
    at all, for they may be off by what larger parts lost before they cancelled.

    Without it `test_one_per_cent_shows` fails.

    Args:
        errors: (points, elements), what they are off.
        double: the same shape, what they should be.
        epsilon: the unit in the last place of one.
        smallest: normal number.
        among: which elements are meant.
    """
    size = np.where(np.isfinite(double), np.abs(double), 0.0)
    usable = np.isfinite(errors) & (
        size > np.maximum(smallest, tolerances.COUNTS_FOR_FACTOR * size.max(initial=0.0))
    )
    usable = usable.all(axis=0) & among
    if np.count_nonzero(usable) * len(errors) < limits.POOLED:
        return 0.0
    shares = errors[:, usable] / double[:, usable]
    # (As `mean` and `var` of an array have it, in a third of the time.)
    centre = shares.sum(axis=0) / len(shares)
    own = (np.abs(shares - centre) ** 2).sum(axis=0) / (len(shares) - 1)
    mean = centre.real
    # A gradient that is the same number at several points was rounded once, whatever it took.
    found = np.sort((errors + double)[:, usable], axis=0)
    roundings = 1 + (found[1:] != found[:-1]).sum(axis=0)
    variance = (own + (tolerances.LEAST_SCATTER * epsilon) ** 2) / roundings
    apart = min(_apart(mean, variance), (tolerances.ROUNDED_ONCE * epsilon) ** 2)
    weight = 1 / (variance + apart)
    factor = float((weight * mean).sum() / weight.sum())
    return abs(factor) - tolerances.COMMON_FACTOR_SIGMAS * float(weight.sum() ** -0.5)


def _apart(shares: Array, variance: Array) -> float:
    """The variance of what elements are off, beyond their own: a factor is the same in all of them.

    A number on the way that is the same at all the points is rounded once, for some elements in one
    way and for some in another. (The estimate of DerSimonian and Laird.) Without it
    `test_what_is_off_differently_is_no_factor` fails.
    """
    weight = 1 / variance
    mean = (weight * shares).sum() / weight.sum()
    beyond = (weight * (shares - mean) ** 2).sum() - (len(shares) - 1)
    spread = weight.sum() - (weight**2).sum() / weight.sum()
    return float(max(0.0, beyond / spread)) if spread > 0 else 0.0


def right_to_the_last_places(gradient: Array, double: Array, precision: np.dtype[Any]) -> bool:
    """Whether every element is right to the last places that errors may have in common.

    Then neighbours would not make it worse. Without it `test_a_few_ulp_need_no_neighbours` fails.
    """
    theirs, ulps = to_double(double), tolerances.ULPS[name_of(precision)] * epsilon_of(precision)
    return bool((np.abs(to_double(gradient) - theirs) <= ulps * np.abs(theirs)).all())


def as_good_as_it_can_be(gradient: Array, double: Array, precision: np.dtype[Any]) -> bool:
    """Whether no neighbours are needed though some elements are off by more than that.

    Where parts cancelled they may be; the large ones must not be so all alike.
    """
    mine, theirs, epsilon = to_double(gradient), to_double(double), epsilon_of(precision)
    ulps = tolerances.ULPS[name_of(precision)] * epsilon
    error, size, top = np.abs(mine - theirs), np.abs(theirs), largest(theirs)
    if (
        epsilon > tolerances.COARSE
        or not (error <= ulps * size + tolerances.LARGEST_ULPS * epsilon * top).all()
    ):
        return False
    counts = size >= tolerances.COUNTS_FOR_FACTOR * top
    return bool(np.abs(np.mean((mine - theirs)[counts] / theirs[counts])) <= ulps / 2)
