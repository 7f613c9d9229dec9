"""Which inputs reach which outputs, found with a few calls, and which can be moved together.

The idea is that of Curtis, Powell and Reid (1974): columns of a Jacobian that have no row in common
can be differenced in one evaluation. The pattern is not known here, so it is found by group tests:
along each axis of an input and for each bit of the index there, move all the elements whose bit is
one, then all whose bit is zero. An output that stands still in a test depends on no element of it.
For an elementwise function of n elements that takes 2·log₂ n calls, and then one colour suffices;
for a softmax along rows, as many colours as a row has elements. Where the bits do not tell (the
windows of a convolution overlap), each element is tested by itself.

Moves are of random size, so that changes do not cancel. A dependence that the tests missed all the
same would spoil an estimate, but no gradient is blamed for it: what looks wrong is moved alone.

Without it `test_elements_that_do_not_interfere_are_all_judged` fails.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from gradcheck.checker import limits
from gradcheck.checker.numerics.coordinates import as_slice
from gradcheck.checker.numerics.rng import generator
from gradcheck.checker.numerics.vectors import changed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gradcheck.checker.numerics.coordinates import Elements
    from gradcheck.checker.numerics.estimate import Evaluate
    from gradcheck.model import Array, Shape


@dataclass(frozen=True, eq=False)
class Colouring:
    """Coordinates of one colour may be moved together."""

    colour: Array
    """By coordinate."""
    position: Array
    """By coordinate: the real number of the point that it moves."""
    owner: Array
    """(colours, outputs): the coordinate of that colour that the output depends on, or -1."""


_Tests: TypeAlias = "tuple[Array, Array]"
"""The coordinates of an input, and a row for each test: which of them it moves."""


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
    small = (
        coordinates * outputs < limits.TESTS_PAY_BATCHED
        if batched
        else coordinates < limits.TESTS_PAY_ONE_BY_ONE
    )
    # (A single output tells nobody apart.)
    if small or outputs < 2 or space.partners is not None:
        return None
    digits = [_bits(shape) for _, shape in inputs]
    tests = [
        (columns, digit)
        for (columns, _), own in zip(inputs, digits, strict=True)
        for digit in (~own, own)
    ]
    moved = _run(evaluate, base, space, tests, seed)
    parts, start = [], 0
    for (columns, _), own in zip(inputs, digits, strict=True):
        middle, stop = start + len(own), start + 2 * len(own)
        part = _by_bits(columns, own, moved[start:middle], moved[middle:stop])
        few = limits.TESTED_SINGLY[0] <= len(columns) <= limits.TESTED_SINGLY[1]
        if not batched and few and (part is None or 4 * len(part.owner) > 3 * len(columns)):
            singles = (columns, np.eye(len(columns), dtype=bool))
            part = _greedy(columns, _run(evaluate, base, space, [singles], seed))
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
    count = math.prod(shape)
    index, bits, stride = np.arange(count), [], count
    for size in shape:
        stride //= max(1, size)
        along = index // stride % size
        bits += [(along & (1 << bit)) != 0 for bit in range(int(size - 1).bit_length())]
    return np.stack(bits) if bits else np.zeros((1, count), dtype=bool)


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
    told = ~open_
    same = _packed(digits[open_])
    colours = np.zeros(2 ** int(np.count_nonzero(open_)), dtype=np.int64)
    colours[same] = 1
    count = int(colours.sum())
    if count * zero.shape[1] > limits.LARGEST_PATTERN:
        return None
    colour = (np.cumsum(colours) - 1)[same]
    place = np.full((count, 2 ** int(np.count_nonzero(told))), -1)
    place[colour, _packed(digits[told])] = columns
    owner = place[:, _packed(one[told])]
    owner[:, ~depends] = -1
    return _Part(colour, owner)


def _packed(bits: Array) -> Array:
    """(bits, things): the bits of each thing as a number."""
    return np.asarray((1 << np.arange(len(bits))) @ bits)


def _run(
    evaluate: Evaluate, base: Array, space: Elements, tests: Sequence[_Tests], seed: int
) -> Array:
    """(tests, outputs): which outputs each test moves."""
    rng = generator(seed, 0x73706172)
    move = np.minimum(space.unit / 8, np.maximum(space.room_up, space.room_down) / 2)
    move *= rng.uniform(0.5, 1.0, size=len(move)) * np.where(space.room_up > 0, 1.0, -1.0)
    moved = []
    for batch in _batches(tests, max(1, limits.NUMBERS_AT_ONCE // (len(space.point) + len(base)))):
        points = np.repeat(space.point[np.newaxis], sum(len(own) for _, own in batch), axis=0)
        row = 0
        for columns, own in batch:
            points[row : row + len(own), as_slice(space.position[columns])] += own * move[columns]
            row += len(own)
        moved.append(changed(evaluate(space.rounded(points)), base))
    return moved[0] if len(moved) == 1 else np.concatenate(moved)


def _batches(tests: Sequence[_Tests], size: int) -> Iterator[Sequence[_Tests]]:
    """All of them together if they are so many or fewer, else a few at a time."""
    if sum(len(own) for _, own in tests) <= size:
        yield tests
        return
    for columns, own in tests:
        for start in range(0, len(own), size):
            yield [(columns, own[start : start + size])]


def _greedy(columns: Array, reaches: Array) -> _Part:
    """Colours for any pattern: each coordinate takes the first that leaves its outputs alone.

    Without it `test_moving_together_gives_what_moving_alone_gives` fails.
    """
    owner = np.full((0, reaches.shape[1]), -1)
    colour = np.zeros(len(reaches), dtype=np.int64)
    for i, mine in enumerate(reaches):
        free = np.flatnonzero(~((owner >= 0) & mine).any(axis=1))
        if not len(free):
            owner = np.concatenate([owner, np.full((1, reaches.shape[1]), -1)])
        colour[i] = free[0] if len(free) else len(owner) - 1
        owner[colour[i], mine] = columns[i]
    return _Part(colour, owner)
