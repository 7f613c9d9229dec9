"""Which inputs reach which outputs, found with a few calls, and which can be moved together.

The idea is that of Curtis, Powell and Reid (1974): columns of a Jacobian that have no row in common
can be differenced in one evaluation. The pattern is not known here, so it is found by group tests:
along each axis of an input and for each bit of the index there, move all the elements whose bit is
one, then all whose bit is zero. An output that stands still in a test depends on no element of it.
For an elementwise function of n elements that takes 2·log₂ n calls, and then one colour suffices;
for a softmax along rows, as many colours as a row has elements.

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
"""Coordinates from which on the tests pay for themselves."""

LARGEST = 2**25
"""Entries (coordinates times outputs) up to which a pattern is worked out."""


@dataclass(frozen=True, eq=False)
class Colouring:
    """Coordinates of one colour may be moved together."""

    colour: Array
    """By coordinate."""
    position: Array
    """By coordinate: the real number of the point that it moves."""
    owner: Array
    """(colours, outputs): the coordinate of that colour that the output depends on, or -1."""


def find_colouring(
    evaluate: Evaluate,
    base: Array,
    space: Elements,
    inputs: Sequence[tuple[Array, Shape]],
    seed: int,
) -> Colouring | None:
    """A colouring that saves calls, or None.

    Args:
        evaluate: the function.
        base: its outputs at the point.
        space: one coordinate per element.
        inputs: for each input its coordinates, and the shape they form.
        seed: for the sizes of the moves.
    """
    coordinates, outputs = len(space.unit), len(base)
    small = coordinates < WORTH_IT or not outputs
    if small or coordinates * outputs > LARGEST or (space.weights[:, 1] != 0).any():
        return None
    tests = [_tests(columns, shape) for columns, shape in inputs]
    members = [group for groups, _ in tests for group in groups]
    moved = _run(evaluate, base, space, members, seed)
    colour, first_test = np.zeros(coordinates, dtype=np.int64), 0
    owner_rows: list[Array] = []
    for (columns, _), (_, digits) in zip(inputs, tests, strict=True):
        reaches = np.ones((len(columns), outputs), dtype=bool)
        for bit, digit in enumerate(digits):
            pair = moved[first_test + 2 * bit : first_test + 2 * bit + 2]
            reaches &= pair[digit]
        first_test += 2 * len(digits)
        # An output that depends on most of an input needs as many colours: no gain.
        if reaches.sum(axis=0).max(initial=0) > max(1, len(columns) // 2):
            return None
        classes = _classes(reaches)
        if classes is None:
            return None
        rank, count = classes
        colour[columns] = rank + len(owner_rows)
        for own in range(count):
            chosen = np.flatnonzero(rank == own)
            hit = reaches[chosen]
            owner = np.where(hit.any(axis=0), columns[chosen][hit.argmax(axis=0)], -1)
            owner_rows.append(owner)
    return Colouring(colour, space.positions[:, 0], np.array(owner_rows))


def _tests(columns: Array, shape: Shape) -> tuple[list[Array], list[Array]]:
    """For each axis and bit of the index: the two groups, and each coordinate's bit."""
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
    return [np.asarray(member) for member in members], digits


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
        point[space.positions[columns, 0]] += size
    outputs = evaluate(space.rounded(points))
    same = (outputs == base) | (np.isnan(outputs) & np.isnan(base))
    return np.asarray(~same)


def _classes(reaches: Array) -> tuple[Array, int] | None:
    """A number for each coordinate within those that reach the same outputs, and how many.

    None unless any two coordinates reach either the same outputs or none in common.
    """
    packed = np.packbits(reaches, axis=1)
    keys = np.ascontiguousarray(packed).view(f"V{packed.shape[1]}").ravel()
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    if reaches[first].sum(axis=0).max(initial=0) > 1:
        return None
    order = np.argsort(inverse, kind="stable")
    counts = np.bincount(inverse)
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    rank = np.empty(len(inverse), dtype=np.int64)
    rank[order] = np.arange(len(inverse)) - np.repeat(starts, counts)
    # Coordinates that reach nothing can share one colour.
    idle = ~reaches.any(axis=1)
    rank[idle] = 0
    return rank, int(rank.max(initial=0)) + 1
