"""What a gradient in its own precision is off, at the point and at some neighbours of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.checker import tolerances
from gradcheck.checker.numerics.vectors import epsilon_of, largest, range_of, to_double
from gradcheck.checker.precision.error_statistics import common_factor, statistics, ulps_off

if TYPE_CHECKING:
    from gradcheck.checker.precision.own_precision import Pair
    from gradcheck.model import Array


@dataclass(frozen=True, eq=False)
class Errors:
    """What the gradient is off, at the point and at its neighbours."""

    mine: Array
    """The gradient at the point, in its own precision."""
    theirs: Array
    """In double precision."""
    double: Array
    """(points, elements): the same at all of them."""
    at_all: Array
    """(points, elements): what it is off."""
    mean: Array
    scatter: Array
    """By element, over the points."""
    ulps: float
    """Units in the last place that errors may have in common."""
    epsilon: float
    """The unit in the last place of one."""
    smallest: float
    highest: float
    """The smallest normal and the largest number."""
    largest: float
    """The largest element."""
    unexplained: Array
    """Which elements are off by a share of themselves that nothing explains."""

    @classmethod
    def of(
        cls,
        own: Array,
        double: Array,
        pairs: list[Pair],
        precision: np.dtype[Any],
        unexplained: Array,
    ) -> Errors:
        """Those of a gradient, from what it is at all these points in both precisions."""
        known = [(a, b) for a, b in pairs if a is not None and b is not None]
        both = (np.array([pair[i] for pair in known]) for i in (0, 1))
        found, should_be = map(to_double, both)
        at_all = found - should_be
        theirs = to_double(double)
        mean, scatter = statistics(at_all)
        smallest, highest = range_of(precision)
        return cls(
            mine=to_double(own),
            theirs=theirs,
            double=should_be,
            at_all=at_all,
            mean=mean,
            scatter=scatter,
            ulps=tolerances.ULPS[precision.name],
            epsilon=epsilon_of(precision),
            smallest=smallest,
            highest=highest,
            largest=largest(theirs),
            unexplained=unexplained,
        )

    @property
    def at_point(self) -> Array:
        """What each element is off at the point."""
        return np.asarray(self.at_all[0])

    @property
    def allowed(self) -> Array:
        """What each element may be off at every point alike."""
        own = self.ulps * self.epsilon * np.abs(self.theirs)
        # Below the smallest normal number there are no relative digits to keep.
        parts = np.where(self.unexplained, 0.0, self.epsilon * self.largest)
        return np.asarray(own + tolerances.LARGEST_ULPS * (parts + self.smallest))

    @property
    def in_ulps(self) -> Array:
        """What each element is off at the point, in units in its last place."""
        return ulps_off(self.at_point, self.theirs, self.epsilon)

    def common_factor(self, among: Array | bool = True) -> bool:
        """Whether these elements are all off by the same share, beyond chance and a few ulps."""
        factor = common_factor(self.at_all, self.double, self.epsilon, self.smallest, among)
        return factor > self.ulps * self.epsilon
