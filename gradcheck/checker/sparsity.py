"""Which inputs reach which outputs, found with a few calls, and which can be moved together.

The idea is that of Curtis, Powell and Reid (1974): columns of a Jacobian that have no row in common
can be differenced in one evaluation. The pattern is not known here, so it is found by group tests:
along each axis of an input and for each bit of the index there, move all the elements whose bit is
one, then all whose bit is zero. An output that stands still in a test depends on no element of it.
For an elementwise function of n elements that takes 2·log₂ n calls, and then one colour suffices;
for a softmax along rows, as many colours as a row has elements. Where the bits do not tell (the
windows of a convolution overlap), each element is tested by itself.

A dependence that the tests miss would spoil the estimates, so whoever uses a colouring checks the
result along a random direction, and looks at single elements before calling a gradient wrong.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gradcheck.checker.draws import generator

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from gradcheck.checker.noise import Evaluate
    from gradcheck.checker.space import Elements
    from gradcheck.model import Array, Shape

WORTH_IT = 16
"""Coordinates from which on the tests pay for themselves where every point is a call."""

WORTH_IT_BATCHED = 2**16
"""Entries (coordinates times outputs) from which on they do where points share a call."""

LARGEST = 2**25
"""Colours times outputs up to which a pattern is worked out."""

CHUNK = 2**22
"""How many numbers (points and outputs) are held in memory at once."""

ONE_BY_ONE = (32, 1024)
"""Between so many elements of an input each is tested by itself where the bits do not tell."""


@dataclass(frozen=True, eq=False)
class Colouring:
    """Coordinates of one colour may be moved together."""

    colour: Array
    """By coordinate."""
    position: Array
    """By coordinate: the real number of the point that it moves."""
    owner: Array
    """(colours, outputs): the coordinate of that colour that the output depends on, or -1."""


class _Part(NamedTuple):
    """The colours of one input."""

    colour: Array
    """By coordinate of it, from zero."""
    owner: Array
    """As in Colouring."""


def find_colouring(
    evaluate: Evaluate,
    base: Array,
    space: Elements,
    inputs: Sequence[tuple[Array, Shape]],
    *,
    seed: int,
    batched: bool,
) -> Colouring | None:
    """A colouring that saves calls, or None.

    Args:
        evaluate: the function.
        base: its outputs at the point.
        space: one coordinate per element.
        inputs: for each input its coordinates, and the shape they form.
        seed: for the sizes of the moves.
        batched: whether many points share a call.
    """
    coordinates, outputs = len(space.unit), len(base)
    small = coordinates * outputs < WORTH_IT_BATCHED if batched else coordinates < WORTH_IT
    if small or not outputs or space.partners is not None:
        return None
    digits = [_bits(shape) for _, shape in inputs]
    groups = (
        columns[digit == value]
        for (columns, _), own in zip(inputs, digits, strict=True)
        for digit in own
        for value in (False, True)
    )
    moved = _run(evaluate, base, space, groups, seed)
    parts, start = [], 0
    for (columns, _), own in zip(inputs, digits, strict=True):
        stop = start + 2 * len(own)
        part = _by_bits(columns, own, moved[start:stop:2], moved[start + 1 : stop : 2])
        few = ONE_BY_ONE[0] <= len(columns) <= ONE_BY_ONE[1]
        if not batched and few and (part is None or 4 * len(part.owner) > 3 * len(columns)):
            singles = (columns[i : i + 1] for i in range(len(columns)))
            part = _greedy(columns, _run(evaluate, base, space, singles, seed))
        if part is None:
            return None
        parts.append(part)
        start = stop
    owner = np.concatenate([part.owner for part in parts])
    if 4 * len(owner) > 3 * coordinates:
        return None
    colour = np.empty(coordinates, dtype=np.int64)
    first = 0
    for (columns, _), part in zip(inputs, parts, strict=True):
        colour[columns] = first + part.colour
        first += len(part.owner)
    return Colouring(colour, space.position, owner)


def _bits(shape: Shape) -> Array:
    """(bits, elements): the bits of each element's index along each axis."""
    index = np.indices(shape).reshape(len(shape), -1)
    bits = [
        (index[axis] >> bit) & 1 == 1
        for axis, size in enumerate(shape)
        for bit in range(int(size - 1).bit_length())
    ]
    return np.array(bits) if bits else np.zeros((1, index.shape[1]), dtype=bool)


def _by_bits(columns: Array, digits: Array, zero: Array, one: Array) -> _Part | None:
    """Colours from the group tests of an input; None if they are too many.

    A bit that an output needs to have one value is known of the coordinates it depends on; one that
    moves the output either way is open. Coordinates that agree in all the bits that are open for
    any output have a colour in common: an output tells them apart by the others.

    Args:
        columns: the coordinates of the input.
        digits: (bits, coordinates).
        zero: (bits, outputs), whether moving those whose bit is zero moves the output.
        one: the same for those whose bit is one.
    """
    depends = (zero | one).all(axis=0)
    open_ = (zero & one & depends).any(axis=1)
    colours, colour = np.unique(_packed(digits[open_]), return_inverse=True)
    if len(colours) * zero.shape[1] > LARGEST:
        return None
    known = int((~open_).sum())
    place = np.full((len(colours), 2**known), -1)
    place[colour, _packed(digits[~open_])] = columns
    owner = place[:, _packed(one[~open_])]
    owner[:, ~depends] = -1
    return _Part(colour, owner)


def _packed(bits: Array) -> Array:
    """(bits, things): the bits of each thing as a number."""
    return np.asarray((1 << np.arange(len(bits))) @ bits)


def _run(
    evaluate: Evaluate, base: Array, space: Elements, members: Iterable[Array], seed: int
) -> Array:
    """(tests, outputs): which outputs each test moves."""
    rng = generator(seed, 0x73706172)
    move = np.minimum(space.unit / 8, np.maximum(space.room_up, space.room_down) / 2)
    move *= rng.uniform(0.5, 1.0, size=len(move)) * np.where(space.room_up > 0, 1.0, -1.0)
    at_once = max(1, CHUNK // (len(space.point) + len(base)))
    tests, moved = iter(members), []
    while groups := list(islice(tests, at_once)):
        points = np.repeat(space.point[np.newaxis], len(groups), axis=0)
        for point, columns in zip(points, groups, strict=True):
            point[space.position[columns]] += move[columns]
        outputs = evaluate(space.rounded(points))
        moved.append((outputs != base) & ~(np.isnan(outputs) & np.isnan(base)))
    return np.concatenate(moved)


def _greedy(columns: Array, reaches: Array) -> _Part:
    """Colours for any pattern: each coordinate takes the first that leaves its outputs alone."""
    owner = np.full((0, reaches.shape[1]), -1)
    colour = np.zeros(len(reaches), dtype=np.int64)
    for i, mine in enumerate(reaches):
        free = np.flatnonzero(~((owner >= 0) & mine).any(axis=1))
        if not len(free):
            owner = np.concatenate([owner, np.full((1, reaches.shape[1]), -1)])
        colour[i] = free[0] if len(free) else len(owner) - 1
        owner[colour[i], mine] = columns[i]
    return _Part(colour, owner)
