"""The coordinates along which a point is moved, and the steps that suit them.

Mostly a coordinate is one element of one input. Where an input has a structure (a symmetric matrix)
a coordinate moves the elements that belong together, and where an input has too many elements it is
a random direction that moves them all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from gradcheck.model import Array


class Space(Protocol):
    """Coordinates around a point, numbered from zero."""

    point: Array
    unit: Array
    """By coordinate: the length over which the function may be expected to vary, a power of two."""
    reach: Array
    """By coordinate: how long a step may become where short ones drown in round-off."""
    room_down: Array
    room_up: Array
    """By coordinate: how far it may move before it leaves the domain."""

    def points(self, columns: Array, deltas: Array) -> tuple[Array, Array]:
        """A row per move: the moved points, and how far the coordinate really moved in each."""

    def project(self, gradient: Array) -> Array:
        """The derivative along each coordinate, from the gradient by element."""


def power_of_two(values: Array) -> Array:
    """The largest power of two that is not above each (positive) value."""
    _, exponent = np.frexp(values)
    return np.ldexp(1.0, exponent - 1)


@dataclass(frozen=True, eq=False)
class Elements:
    """Coordinates that move one element, or a few that belong together, each by its weight."""

    point: Array
    positions: Array
    """(coordinates, k): which elements each coordinate moves."""
    weights: Array
    """(coordinates, k): 0 fills up the rows that have fewer."""
    unit: Array
    reach: Array
    room_down: Array
    room_up: Array
    precision: np.dtype[np.generic] | None = None
    """Points are rounded to this precision when the function is evaluated in it."""

    def points(self, columns: Array, deltas: Array) -> tuple[Array, Array]:
        """See Space.points."""
        rows = np.arange(len(columns))
        moved = np.repeat(self.point[np.newaxis], len(columns), axis=0)
        for position, weight in zip(self.positions.T, self.weights.T, strict=True):
            moved[rows, position[columns]] += weight[columns] * deltas
        if self.precision is not None:
            moved = moved.astype(self.precision).astype(np.float64)
        first = self.positions[columns, 0]
        actual = (moved[rows, first] - self.point[first]) / self.weights[columns, 0]
        return moved, actual

    def project(self, gradient: Array) -> Array:
        """See Space.project."""
        projected: Array = (gradient[self.positions] * self.weights).sum(axis=1)
        return projected


@dataclass(frozen=True, eq=False)
class Directions:
    """Coordinates that move every element at once, each along its own vector."""

    point: Array
    vectors: Array
    """(coordinates, elements)."""
    unit: Array
    reach: Array
    room_down: Array
    room_up: Array
    precision: np.dtype[np.generic] | None = None

    def points(self, columns: Array, deltas: Array) -> tuple[Array, Array]:
        """See Space.points."""
        moved = self.point + deltas[:, np.newaxis] * self.vectors[columns]
        if self.precision is not None:
            moved = moved.astype(self.precision).astype(np.float64)
        return moved, deltas

    def project(self, gradient: Array) -> Array:
        """See Space.project."""
        projected: Array = self.vectors @ gradient
        return projected
