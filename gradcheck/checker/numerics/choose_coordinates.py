"""Which coordinates of which inputs are moved: every element, or a sample and random directions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Protocol

import numpy as np

from gradcheck.checker import limits, stepping
from gradcheck.checker.numerics.coordinates import Directions, Elements, power_of_two
from gradcheck.checker.numerics.matrix_kinds import Moved, all_partners, moved_elements
from gradcheck.checker.numerics.rng import generator
from gradcheck.checker.numerics.vectors import everywhere_so
from gradcheck.model.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcheck.checker.numerics.vectors import Layout
    from gradcheck.model import Array


class Movable(Protocol):
    """What is to be known of an input before it is moved."""

    @property
    def low(self) -> float:
        """The least value in its domain."""

    @property
    def high(self) -> float:
        """The largest."""

    @property
    def structure(self) -> str:
        """`symmetric` and `lower` matrices are only moved to matrices of the same kind."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """Which inputs are sampled, and how many elements of each are moved by themselves."""

    whole: int
    """Up to so many real numbers all are moved."""
    size: int
    """At most; of very large inputs fewer."""


@frozen()
class Part:
    """One input's share of the coordinates."""

    position: int
    """Of the input among those that are differentiated."""
    span: slice
    """Its coordinates in the space of elements, which follow each other."""
    count: int
    """How many they are."""
    directions: Array
    """Its coordinates in the space of directions."""

    @property
    def columns(self) -> Array:
        """Its coordinates in the space of elements, one by one."""
        return np.arange(self.span.start, self.span.stop)


@frozen()
class Coordinates:
    """The coordinates of all the inputs that are differentiated, in one space."""

    space: Elements
    parts: tuple[Part, ...]
    """By input: its share of them."""
    element: Array
    """By coordinate: the flat real index within its input of the (first) element it moves."""
    scale: Array
    """By real number of the point: the length over which it may be moved."""
    directions: Directions | None = None
    """Random directions for the inputs that have too many elements; None if none has."""


def choose(
    inputs: Sequence[Movable],
    layout: Layout,
    point: Array,
    seed: int,
    precision: np.dtype[np.generic] | None,
    *,
    sample: Sampling | None = None,
    singly: Sequence[Array | None] = (),
) -> Coordinates:
    """Choose the coordinates for these inputs.

    Args:
        inputs: what is known of each.
        layout: of their numbers.
        point: where they are.
        seed: for what is drawn.
        precision: what the function is evaluated in, if not in double precision.
        sample: which inputs a sample and random directions stand for; None for none.
        singly: by input, the coordinates that are moved by themselves beside directions, which are
            given then and not drawn; None for all without directions.
    """
    scale, typical = _scales(layout, point)
    reach = np.maximum(scale, typical) / 2
    is_boundless = not any(_has_ends(given) for given in inputs)
    down = up = np.full(len(point), np.inf)
    if not is_boundless:
        down, up = _rooms(inputs, layout, point)
    moved = [
        moved_elements(given.structure, shape, size)
        for given, shape, size in zip(inputs, layout.shapes, layout.sizes, strict=True)
    ]
    large = _large(moved, sample, singly)
    directions = None
    if large:
        drawn = generator(seed, 0x636F), singly, sample.size if sample else 0
        moved, vectors = _sample(moved, large, layout, scale, *drawn)
        directions = _directions(vectors, point, down, up, precision)
    element, position = _positions(moved, layout)
    unit, partners = scale, all_partners(moved, layout)
    if partners is not None or len(position) < len(point):
        unit, reach, down, up = (by_number[position] for by_number in (scale, reach, down, up))
    return Coordinates(
        space=Elements(
            point=point,
            position=position,
            partners=partners,
            unit=unit,
            reach=reach,
            room_down=down,
            room_up=up,
            precision=precision,
            is_boundless=is_boundless,
        ),
        parts=_parts(moved, large, shared=bool(singly)),
        element=element,
        scale=scale,
        directions=directions,
    )


def _positions(moved: Sequence[Moved], layout: Layout) -> tuple[Array, Array]:
    """By coordinate: where what it moves stands in its input, and in the point."""
    if len(moved) == 1:
        return moved[0].position, moved[0].position
    element = np.concatenate([own.position for own in moved])
    starts = zip(moved, layout.offsets, strict=False)
    return element, np.concatenate([own.position + start for own, start in starts])


def _large(
    moved: Sequence[Moved], sample: Sampling | None, singly: Sequence[Array | None]
) -> list[int]:
    """The inputs that get directions."""
    if sample is None or singly:
        return [i for i, rows in enumerate(singly) if rows is not None]
    return [i for i, own in enumerate(moved) if len(own.position) > sample.whole]


def _sample(
    moved: list[Moved],
    large: list[int],
    layout: Layout,
    scale: Array,
    rng: np.random.Generator,
    singly: Sequence[Array | None],
    size: int,
) -> tuple[list[Moved], Array]:
    """A few elements of the large inputs in place of all, and random directions of all of them."""
    sampled, vectors = list(moved), []
    for i in large:
        own, given = moved[i], singly[i] if singly else None
        if given is None:
            given = rng.choice(len(own.position), min(size, _sampled(len(own.position))), False)
        for _ in range(limits.DIRECTIONS):
            signs = rng.choice([-1.0, 1.0], size=len(own.position))
            # (Of few digits, so that they can be added without rounding.)
            sizes = rng.integers(32, 65, size=len(own.position)) / 64
            vectors.append(_direction(own, layout.offsets[i], signs * sizes, scale))
        sampled[i] = own.take(np.sort(given))
    if singly:
        # One look for all the inputs: whose fault it is, others will tell.
        return sampled, np.reshape(vectors, (len(large), limits.DIRECTIONS, -1)).sum(axis=0)
    return sampled, np.array(vectors)


_NONE = np.zeros(0, dtype=np.int64)


def _parts(
    moved: Sequence[Moved], large: Sequence[int], *, shared: bool = False
) -> tuple[Part, ...]:
    """By input: its coordinates, and its directions if it is a large one."""
    parts, start = [], 0
    for i, own in enumerate(moved):
        stop = start + len(own.position)
        directions = _NONE
        if i in large:
            first = 0 if shared else large.index(i) * limits.DIRECTIONS
            directions = np.arange(first, first + limits.DIRECTIONS)
        parts.append(Part(i, slice(start, stop), len(own.position), directions))
        start = stop
    return tuple(parts)


def sample_size(layout: Layout) -> int | None:
    """How many coordinates and directions a sample takes; None where no input needs one."""
    large = [size for size in layout.sizes if size > limits.BUDGET]
    if not large:
        return None
    small = sum(size for size in layout.sizes if size <= limits.BUDGET)
    return small + sum(_sampled(size) + limits.DIRECTIONS for size in large)


def _sampled(size: int) -> int:
    """How many elements of an input over the budget are moved by themselves."""
    return int(np.clip(limits.SAMPLED_NUMBERS // size, limits.FEWEST_SAMPLED, limits.SAMPLED))


def _direction(own: Moved, start: int, signs: Array, scale: Array) -> Array:
    """A random direction that moves all the elements of one input, within its structure."""
    vector = np.zeros(len(scale))
    vector[own.position + start] = signs
    if own.partners is not None:
        np.add.at(vector, own.partners.position + start, own.partners.weight * signs)
    return vector * scale


def _directions(
    vectors: Array, point: Array, down: Array, up: Array, precision: np.dtype[np.generic] | None
) -> Directions:
    down, up = _direction_rooms(vectors, down, up)
    ones = np.ones(len(vectors))
    return Directions(
        point=point,
        vectors=vectors,
        unit=ones * stepping.DIRECTION_UNIT,
        reach=ones / 2,
        room_down=down,
        room_up=up,
        precision=precision,
    )


def _scales(layout: Layout, point: Array) -> tuple[Array, Array]:
    """By real number: its own size, and the typical size in its input; powers of two."""
    size, typical = np.abs(point), np.empty(len(point))
    for i, is_complex in enumerate(layout.complex_):
        if is_complex:
            part = slice(layout.offsets[i], layout.offsets[i + 1])
            size[part] = np.repeat(np.abs(point[part].view(np.complex128)), 2)
    # Subnormal numbers are zero to much of the arithmetic.
    usable = (size > stepping.SMALLEST_SIZE) & (size < np.inf)
    all_usable = everywhere_so(usable)
    for start, stop in pairwise(layout.offsets):
        own = size[start:stop] if all_usable else size[start:stop][usable[start:stop]]
        half = len(own) // 2
        middle = float(np.partition(own, half)[half] if half else own[0]) if len(own) else 1.0
        typical[start:stop] = math.ldexp(1.0, math.frexp(middle)[1] - 1)
    if not all_usable:
        size = np.where(usable, size, typical)
    return power_of_two(size), typical


def _has_ends(given: Movable) -> bool:
    return given.low > -math.inf or given.high < math.inf


def _rooms(inputs: Sequence[Movable], layout: Layout, point: Array) -> tuple[Array, Array]:
    """By real number: how far it may go down and up in its input's domain.

    Without it `test_room_is_what_is_left_of_the_domain` fails.
    """
    down, up = np.full((2, len(point)), np.inf)
    for i, given in enumerate(inputs):
        # (A complex plane has no ends.)
        if not layout.complex_[i] and _has_ends(given):
            part = slice(layout.offsets[i], layout.offsets[i + 1])
            down[part], up[part] = point[part] - given.low, given.high - point[part]
    return down, up


def _direction_rooms(vectors: Array, down: Array, up: Array) -> tuple[Array, Array]:
    """How far each direction can be followed backwards and forwards before an element leaves."""
    with np.errstate(divide="ignore", invalid="ignore"):
        forward = np.where(
            vectors > 0, up / vectors, np.where(vectors < 0, down / -vectors, np.inf)
        )
        back = np.where(vectors > 0, down / vectors, np.where(vectors < 0, up / -vectors, np.inf))
    return back.min(axis=1, initial=np.inf), forward.min(axis=1, initial=np.inf)
