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
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcheck.checker.noise import Evaluate
    from gradcheck.checker.space import Elements
    from gradcheck.model import Array, Shape

WORTH_IT = 16
"""Coordinates from which on the tests pay for themselves where every point is a call."""

WORTH_IT_BATCHED = 2**16
"""Entries (coordinates times outputs) from which on they do where points share a call."""

LARGEST = 2**25
"""Entries up to which a pattern is worked out."""

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


@dataclass(frozen=True, eq=False)
class _Tests:
    """The group tests of one input."""

    members: list[Array]
    """Two groups for each bit: those of zero and those of one."""
    digits: list[Array]
    """For each bit, that of each coordinate."""


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
    if small or not outputs or coordinates * outputs > LARGEST or space.partners is not None:
        return None
    tests = [_bits(columns, shape) for columns, shape in inputs]
    members = [group for test in tests for group in test.members]
    moved = iter(_run(evaluate, base, space, members, seed))
    colour = np.zeros(coordinates, dtype=np.int64)
    owners: list[Array] = []
    for (columns, _), test in zip(inputs, tests, strict=True):
        reaches = np.ones((len(columns), outputs), dtype=bool)
        for digit in test.digits:
            reaches &= np.stack([next(moved), next(moved)])[digit]
        chosen = _classes(reaches)
        if chosen is None and not batched and ONE_BY_ONE[0] <= len(columns) <= ONE_BY_ONE[1]:
            singles = [columns[i : i + 1] for i in range(len(columns))]
            reaches = _run(evaluate, base, space, singles, seed)
            chosen = _greedy(reaches)
        if chosen is None:
            chosen = np.arange(len(columns))
        colour[columns] = chosen + len(owners)
        for own in range(int(chosen.max(initial=-1)) + 1):
            group = np.flatnonzero(chosen == own)
            hit = reaches[group]
            owners.append(np.where(hit.any(axis=0), columns[group][hit.argmax(axis=0)], -1))
    if 4 * len(owners) > 3 * coordinates:
        return None
    return Colouring(colour, space.position, np.array(owners))


def _bits(columns: Array, shape: Shape) -> _Tests:
    """For each axis and bit of the index there, the coordinates with either value."""
    index = np.indices(shape).reshape(len(shape), -1)
    members, digits = [], []
    for axis, size in enumerate(shape):
        for bit in range(int(size - 1).bit_length()):
            digit = (index[axis] >> bit) & 1
            digits.append(digit)
            members += [columns[digit == 0], columns[digit == 1]]
    if not digits:
        digits.append(np.zeros(len(columns), dtype=np.int64))
        members += [columns, columns[:0]]
    return _Tests(members, digits)


def _run(
    evaluate: Evaluate, base: Array, space: Elements, members: Sequence[Array], seed: int
) -> Array:
    """(tests, outputs): which outputs each test moves."""
    rng = np.random.default_rng([seed, 0x73706172])
    points = np.repeat(space.point[np.newaxis], len(members), axis=0)
    room = np.minimum(space.unit / 8, np.maximum(space.room_up, space.room_down) / 2)
    towards = np.where(space.room_up > 0, 1.0, -1.0)
    for point, columns in zip(points, members, strict=True):
        size = room[columns] * rng.uniform(0.5, 1.0, size=len(columns)) * towards[columns]
        point[space.position[columns]] += size
    outputs = evaluate(space.rounded(points))
    same = (outputs == base) | (np.isnan(outputs) & np.isnan(base))
    return np.asarray(~same)


def _classes(reaches: Array) -> Array | None:
    """Colours where any two coordinates reach either the same outputs or none in common."""
    # An output that depends on most of an input needs as many colours: no gain.
    if reaches.sum(axis=0).max(initial=0) > max(1, len(reaches) // 2):
        return None
    packed = np.packbits(reaches, axis=1)
    keys = np.ascontiguousarray(packed).view(f"V{packed.shape[1]}").ravel()
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    if reaches[first].sum(axis=0).max(initial=0) > 1:
        return None
    # Within those that reach the same outputs, each has a colour of its own.
    order = np.argsort(inverse, kind="stable")
    counts = np.bincount(inverse)
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    rank = np.empty(len(inverse), dtype=np.int64)
    rank[order] = np.arange(len(inverse)) - np.repeat(starts, counts)
    # Coordinates that reach nothing can share one.
    rank[~reaches.any(axis=1)] = 0
    return rank


def _greedy(reaches: Array) -> Array:
    """Colours for any pattern: each coordinate takes the first that leaves its outputs alone."""
    taken = np.zeros((0, reaches.shape[1]), dtype=bool)
    colour = np.zeros(len(reaches), dtype=np.int64)
    for coordinate, mine in enumerate(reaches):
        free = np.flatnonzero(~(taken & mine).any(axis=1))
        if not len(free):
            taken = np.concatenate([taken, mine[np.newaxis]])
            colour[coordinate] = len(taken) - 1
        else:
            colour[coordinate] = free[0]
            taken[free[0]] |= mine
    return colour
