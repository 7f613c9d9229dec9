"""A short walk along a random direction, which tells whether derivatives by element add up.

A dependence that a colouring missed spoils the derivatives of the elements that were moved
together, and shows as a large error here: two steps and one extrapolation are accurate enough.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import tolerances
from gradcheck.checker.numerics.rng import generator

if TYPE_CHECKING:
    from gradcheck.checker.numerics.coordinates import Elements
    from gradcheck.checker.numerics.estimate import Estimate, Evaluate
    from gradcheck.model import Array


_PACES = np.array([-1.0, -0.5, 0.5, 1.0])

_SIZES = np.array([[2.0**-8], [-(2.0**-8)], [2.0**-9], [-(2.0**-9)]])


@dataclass(frozen=True, eq=False)
class Walk:
    """Both ways along a direction that moves many elements, in two sizes."""

    steps: Array
    """By coordinate: how far it goes for each unit of the direction; zero if it stays."""
    points: Array
    outputs: Array
    """At the points; empty while nobody was there."""

    @classmethod
    def along(cls, space: Elements, seed: int, among: Array | None = None) -> Walk:
        """A random direction, among these coordinates, of those that have room."""
        moving = (space.room_up > space.unit) & (space.room_down > space.unit)
        if among is not None:
            moving &= among
        rng = generator(seed, 0x636F6E73)
        steps = _PACES[rng.integers(0, len(_PACES), size=len(moving))] * space.unit * moving
        vector = np.zeros(len(space.point))
        vector[space.position] = steps
        points = space.rounded(space.point + _SIZES * vector)
        return cls(steps, points, np.zeros((0, 0)))

    def evaluated(self, evaluate: Evaluate) -> Walk:
        """The same walk, with the outputs along it."""
        return replace(self, outputs=evaluate(self.points))

    def agrees(self, estimate: Estimate, base: Array, weights: Array) -> bool:
        """Whether the derivatives add up to what the outputs do."""
        with np.errstate(all="ignore"):
            moves = np.where(self.outputs == base, 0.0, self.outputs - base)
            first, second = (moves @ weights).reshape(2, 2) @ [1.0, -1.0] * [2.0**7, 2.0**8]
            sizes = np.abs(self.steps)
            known = self.steps != 0
            numeric, bound = estimate.numeric, estimate.bound
            if not known.all():
                numeric, bound = np.where(known, numeric, 0.0), np.where(known, bound, 0.0)
            allowed = (
                sizes @ bound
                + abs(second - first)
                + tolerances.CONSISTENT * (sizes @ np.abs(numeric))
            )
            return not abs((4 * second - first) / 3 - self.steps @ numeric) > allowed


class Ride:
    """A function that takes a walk along with the first points that it is given."""

    def __init__(self, evaluate: Evaluate, walk: Walk) -> None:
        """Nobody was there yet."""
        self._evaluate = evaluate
        self._walk = walk
        self.walked: Walk | None = None
        """The walk, with the outputs along it, once there was a call."""

    def __call__(self, points: Array) -> Array:
        """Rows of outputs for rows of points."""
        if self.walked is not None:
            return self._evaluate(points)
        outputs = self._evaluate(np.concatenate([points, self._walk.points]))
        self.walked = replace(self._walk, outputs=outputs[len(points) :])
        return outputs[: len(points)]
