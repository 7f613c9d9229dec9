"""Which coordinates of which inputs are moved: every element, or a sample and random directions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker.space import Directions, Elements, power_of_two

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcheck.checker.layout import Layout
    from gradcheck.checker.problem import Operand
    from gradcheck.model import Array

BUDGET = 4096
"""Real numbers of one input up to which each is moved by itself."""

SAMPLED, FEWEST = 256, 16
"""How many of a larger input's elements are moved by themselves, drawn at random: so many, and
fewer down to this the larger it is."""

SAMPLED_NUMBERS = 2**23
"""How many numbers the points that move a sample hold at most, all together."""

SMALLEST = 2.0**-1000
"""Below this an element is taken for zero when steps are chosen."""

DIRECTIONS = 8
"""How many random directions are added for a larger input."""


@dataclass(frozen=True, eq=False)
class Coordinates:
    """The coordinates of all the inputs that are differentiated, in one space."""

    space: Elements
    owner: Array
    """By coordinate: the position of its input among those that are differentiated."""
    element: Array
    """By coordinate: the flat real index within its input of the (first) element it moves."""
    directions: Directions
    direction_owner: Array
    scale: Array
    """By real number of the point: the length over which it may be moved."""


def choose(
    operands: Sequence[Operand],
    layout: Layout,
    point: Array,
    seed: int,
    precision: np.dtype[np.generic] | None,
) -> Coordinates:
    """Choose the coordinates for these inputs, which are all differentiated."""
    rng = np.random.default_rng([seed, 0x636F])
    scale, typical = _scales(layout, point)
    rows: list[tuple[Array, Array]] = []
    owner, direction_rows, direction_owner = [], [], []
    for i, operand in enumerate(operands):
        positions, weights = _structured(operand, layout.complex_[i])
        if len(positions) > BUDGET:
            count = int(np.clip(SAMPLED_NUMBERS // len(positions), FEWEST, SAMPLED))
            chosen = np.sort(rng.choice(len(positions), count, replace=False))
            for _ in range(DIRECTIONS):
                signs = rng.choice([-1.0, 1.0], size=len(positions))
                vector = np.zeros(len(point))
                np.add.at(vector, positions + layout.offsets[i], weights * signs[:, np.newaxis])
                direction_rows.append(vector * scale)
                direction_owner.append(i)
            positions, weights = positions[chosen], weights[chosen]
        rows.append((positions + layout.offsets[i], weights))
        owner += [i] * len(positions)
    positions = np.concatenate([p for p, _ in rows])
    weights = np.concatenate([w for _, w in rows])
    first = positions[:, 0]
    low, high = _limits(operands, layout)
    owners = np.array(owner, dtype=np.int64)
    vectors = np.array(direction_rows).reshape(len(direction_rows), len(point))
    down, up = _direction_rooms(vectors, point - low, high - point)
    ones = np.ones(len(vectors))
    return Coordinates(
        space=Elements(
            point=point,
            positions=positions,
            weights=weights,
            unit=scale[first],
            reach=np.maximum(scale, typical)[first] / 2,
            room_down=(point - low)[first],
            room_up=(high - point)[first],
            precision=precision,
        ),
        owner=owners,
        element=first - np.array(layout.offsets)[owners],
        directions=Directions(
            point=point,
            vectors=vectors,
            unit=ones,
            reach=ones / 2,
            room_down=down,
            room_up=up,
            precision=precision,
        ),
        direction_owner=np.array(direction_owner, dtype=np.int64),
        scale=scale,
    )


def _scales(layout: Layout, point: Array) -> tuple[Array, Array]:
    """By real number: its own size, and the typical size in its input; powers of two."""
    scale, typical = np.ones(len(point)), np.ones(len(point))
    for i, array in enumerate(layout.unflatten(point)):
        size = np.abs(array).ravel()
        if layout.complex_[i]:
            size = np.repeat(size, 2)
        # Subnormal numbers are zero to much of the arithmetic.
        usable = (size > SMALLEST) & np.isfinite(size)
        middle = float(np.median(size[usable])) if usable.any() else 1.0
        part = slice(layout.offsets[i], layout.offsets[i + 1])
        scale[part] = power_of_two(np.where(usable, size, middle))
        typical[part] = power_of_two(np.array(middle))
    return scale, typical


def _structured(operand: Operand, is_complex: bool) -> tuple[Array, Array]:
    """The real positions that move together, one row a coordinate, and their weights."""
    count = operand.value.size
    if operand.structure not in ("symmetric", "lower"):
        alone = np.arange(count * (2 if is_complex else 1))
        return np.stack([alone, alone], axis=1), np.tile([1.0, 0.0], (len(alone), 1))
    index = np.arange(count).reshape(operand.value.shape)
    rows, columns = np.tril_indices(operand.value.shape[-1])
    below, above = index[..., rows, columns].ravel(), index[..., columns, rows].ravel()
    if operand.structure == "lower":
        above = below
    partner = (above != below).astype(np.float64)
    positions = np.stack([below, above], axis=1)
    weights = np.stack([np.ones(len(below)), partner], axis=1)
    if not is_complex:
        return positions, weights
    # Hermitian: the imaginary parts mirror with the other sign, and vanish on the diagonal.
    imaginary = partner > 0 if operand.structure != "lower" else np.ones(len(below), dtype=bool)
    return (
        np.concatenate([2 * positions, 2 * positions[imaginary] + 1]),
        np.concatenate([weights, (weights * [1.0, -1.0])[imaginary]]),
    )


def _limits(operands: Sequence[Operand], layout: Layout) -> tuple[Array, Array]:
    """By real number: the ends of its input's domain; a complex plane has none."""
    low, high = np.full(layout.offsets[-1], -np.inf), np.full(layout.offsets[-1], np.inf)
    for i, operand in enumerate(operands):
        if not layout.complex_[i]:
            part = slice(layout.offsets[i], layout.offsets[i + 1])
            low[part], high[part] = operand.low, operand.high
    return low, high


def _direction_rooms(vectors: Array, down: Array, up: Array) -> tuple[Array, Array]:
    """How far each direction can be followed backwards and forwards before an element leaves."""
    with np.errstate(divide="ignore", invalid="ignore"):
        forward = np.where(
            vectors > 0, up / vectors, np.where(vectors < 0, down / -vectors, np.inf)
        )
        back = np.where(vectors > 0, down / vectors, np.where(vectors < 0, up / -vectors, np.inf))
    return back.min(axis=1, initial=np.inf), forward.min(axis=1, initial=np.inf)
