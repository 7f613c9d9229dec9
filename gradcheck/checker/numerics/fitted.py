"""The nouns of fits: a function that rounds, at its point, and what fits tell of coordinates."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import tolerances
from gradcheck.checker.numerics.dependence import reached_by_huge_moves
from gradcheck.checker.numerics.estimate import Estimate

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
    """Standard deviation of the rounding, by output, as far as it is known."""
    space: Space

    def dependents(self, columns: Array) -> Array:
        """Which outputs depend on each of these coordinates; all of them where that is unknown."""
        try:
            return reached_by_huge_moves(self.evaluate, self.space, columns, self.base)
        except Exception:  # some functions refuse NaN
            return np.ones((len(columns), len(self.base)), dtype=bool)

    def scalar(self, points: Array) -> Array:
        """By point: how much the scalar changed."""
        outputs = self.evaluate(points)
        return np.asarray(np.where(outputs == self.base, 0.0, outputs - self.base) @ self.weights)

    @cached_property
    def numbers(self) -> int:
        """How many numbers are held for each point."""
        return len(self.space.point) + 3 * len(self.base)


@dataclass(frozen=True, eq=False)
class Fitted:
    """What fits tell of some coordinates."""

    estimate: Estimate
    """Its bound is infinite where no fit could be believed."""
    quantum: Array
    """By coordinate: how far it moves, relative to its unit, while rounding hides that; NaN where
    no fit could be believed."""
    share: Array
    """By coordinate: how much of what the outputs move is rounding; NaN likewise."""
    scatter: Array
    """By coordinate: how much of the scalar is; NaN likewise."""
    hidden: Array
    """By coordinate: what all the outputs that depend on it round off the scalar."""
    level: Array
    """Standard deviation of the rounding, by output, where some coordinates climb many steps."""
    few: Array
    """(coordinates, outputs): the output depends on it, and climbs too few steps to say how high
    these are."""

    @classmethod
    def unknown(cls, count: int, outputs: int) -> Fitted:
        """No fit is believed."""
        quantum, share, scatter, hidden = np.full((4, count), np.nan)
        level, few = np.zeros(outputs), np.zeros((count, outputs), dtype=bool)
        return cls(Estimate.unknown(count), quantum, share, scatter, hidden, level, few)

    def put(self, rows: Array | slice, other: Fitted) -> None:
        """Replace what is known of some coordinates."""
        self.estimate.put(rows, other.estimate)
        for name in ("quantum", "share", "scatter", "hidden", "few"):
            getattr(self, name)[rows] = getattr(other, name)
        np.maximum(self.level, other.level, out=self.level)

    @property
    def known(self) -> Array:
        """By coordinate: whether a fit is believed."""
        return np.isfinite(self.estimate.error)

    @property
    def rounds(self) -> Array:
        """By coordinate: what is left of its fit is rounding, and nothing else.

        A function that varies over less than the points are apart scatters too, by as much as it
        moves. Rounding is far less, along some coordinates; what scatters no more along others,
        which matter little, is the same.
        """
        surely = self.known & (self.share <= tolerances.NOISE_SHARE)
        # (Nor is it as little as what double precision rounds off.)
        surely &= self.share >= tolerances.LOST_ON_THE_WAY
        most = tolerances.PLATEAU * np.max(self.scatter[surely], initial=-1.0)
        return np.asarray(self.known & (surely | (self.scatter <= most)))
