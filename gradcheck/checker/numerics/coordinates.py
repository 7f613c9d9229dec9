"""The coordinates along which a point is moved, and the steps that suit them.

Mostly a coordinate is one element of one input. Where an input has a structure (a symmetric matrix)
a coordinate moves the elements that belong together, and where an input has too many elements it is
a random direction that moves them all.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.checker import stepping
from gradcheck.model.frozen import frozen

if TYPE_CHECKING:
    from gradcheck.model import Array


def power_of_two(values: Array) -> Array:
    """The largest power of two that is not above each (positive) value."""
    return np.asarray(np.ldexp(1.0, np.frexp(values)[1] - 1))


def as_slice(places: Array) -> Array | slice:
    """Places that ascend, as a slice if they follow each other: that needs no copy."""
    if len(places) and places[-1] - places[0] + 1 == len(places):
        return slice(int(places[0]), int(places[-1]) + 1)
    return places


@frozen(kw_only=True)
class Space(ABC):
    """Coordinates around a point, numbered from zero."""

    point: Array
    unit: Array
    """By coordinate: the length over which the function may be expected to vary, a power of two."""
    reach: Array
    """By coordinate: how long a step may become where short ones drown in round-off."""
    room_down: Array
    room_up: Array
    """By coordinate: how far it may move before it leaves the domain."""
    precision: np.dtype[Any] | None = None
    """Points are rounded to this precision when the function is evaluated in it."""
    is_boundless: bool = False
    """Whether there is no domain to leave: then the rooms are infinite."""

    @property
    def least_room(self) -> Array:
        """By coordinate: how far it may move to either side."""
        return np.minimum(self.room_down, self.room_up)

    @abstractmethod
    def points(self, columns: Array, deltas: Array) -> tuple[Array, Array]:
        """A row per move: the moved points, and how far the coordinate really moved in each."""

    @property
    @abstractmethod
    def far(self) -> Array:
        """By coordinate: a step that moves something by the size of one, or `reach`."""

    @abstractmethod
    def project(self, gradient: Array) -> Array:
        """The derivative along each coordinate, from the gradient by element."""

    @abstractmethod
    def project_size(self, sizes: Array) -> Array:
        """The most that sizes by element make along each coordinate, whatever the signs are."""

    def rounded(self, points: Array) -> Array:
        """The points as the function will see them."""
        if self.precision is None:
            return points
        return points.astype(self.precision).astype(np.float64)


@frozen()
class Partners:
    """By coordinate: a second element that moves with the first, and by how much for each unit."""

    position: Array
    weight: Array
    """Zero for a coordinate that moves only one."""


@frozen(kw_only=True)
class Elements(Space):
    """Coordinates that move one element, or two that belong together."""

    position: Array
    """By coordinate: the element that it moves."""
    partners: Partners | None = None
    """What moves along with them; None if nothing does."""

    def points(self, columns: Array, deltas: Array) -> tuple[Array, Array]:
        """A row per move: the moved points, and how far the coordinate really moved in each."""
        first, rows = self.position.take(columns), np.arange(len(columns))
        moved = self.point[np.newaxis].repeat(len(columns), axis=0)
        # (By one number for each: by two it takes twice as long.)
        place = rows * len(self.point) + first
        moved.ravel()[place] += deltas
        if self.partners is not None:
            second = self.partners.position[columns]
            moved[rows, second] += self.partners.weight[columns] * deltas
        moved = self.rounded(moved)
        return moved, moved.take(place) - self.point.take(first)

    @property
    def far(self) -> Array:
        """By coordinate: a step of the size of one, or `reach`."""
        return np.maximum(self.reach, stepping.ODD * stepping.UNIT_STEP)

    def project(self, gradient: Array) -> Array:
        """The derivative along each coordinate, from the gradient by element."""
        along: Array = gradient.take(self.position)
        if self.partners is None:
            return along
        # A gradient may be infinite: an element with weight zero must not come in as NaN.
        weight = self.partners.weight
        theirs = np.where(weight == 0, 0.0, gradient[self.partners.position] * weight)
        return np.asarray(along + theirs)

    def project_size(self, sizes: Array) -> Array:
        """The most that sizes by element make along each coordinate, whatever the signs are."""
        along: Array = sizes[self.position]
        if self.partners is None:
            return along
        return np.asarray(along + sizes[self.partners.position] * np.abs(self.partners.weight))


@frozen(kw_only=True)
class Directions(Space):
    """Coordinates that move every element at once, each along its own vector."""

    vectors: Array
    """(coordinates, elements)."""

    def points(self, columns: Array, deltas: Array) -> tuple[Array, Array]:
        """A row per move: the moved points, and how far the coordinate really moved in each."""
        return self.rounded(self.point + deltas[:, np.newaxis] * self.vectors[columns]), deltas

    @property
    def far(self) -> Array:
        """By coordinate: a step that moves what it moves most by the size of one, or `reach`."""
        most = np.abs(self.vectors).max(axis=1, initial=0.0)
        steps = stepping.ODD * stepping.UNIT_STEP / np.where(most > 0, most, 1.0)
        return np.maximum(self.reach, steps)

    def project(self, gradient: Array) -> Array:
        """The derivative along each coordinate, from the gradient by element."""
        return np.asarray(self.vectors @ gradient)

    def project_size(self, sizes: Array) -> Array:
        """The most that sizes by element make along each coordinate, whatever the signs are."""
        return np.asarray(np.abs(self.vectors) @ sizes)


def everywhere(space: Space, vectors: Array, unit: Array | None = None) -> Directions:
    """Directions through the same point, with no domain to mind.

    Args:
        space: has the point.
        vectors: a row each.
        unit: by direction, how many times its vector the function may be expected to vary over;
            once, if it is not said.
    """
    unit = np.ones(len(vectors)) if unit is None else unit
    boundless = np.full(len(vectors), np.inf)
    return Directions(
        point=space.point,
        vectors=vectors,
        unit=unit,
        reach=unit / 2,
        room_down=boundless,
        room_up=boundless,
        precision=space.precision,
        is_boundless=True,
    )
