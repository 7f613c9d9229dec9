"""Along what forward mode moves an input: each element by itself, or random directions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import limits

if TYPE_CHECKING:
    from gradcheck.checker.numerics.matrix_kinds import Moved
    from gradcheck.checker.reference.derivatives import Derivatives
    from gradcheck.model import Array


def vectors_of(
    derivatives: Derivatives,
    elements: Moved,
    start: int,
    size: int,
    rng: np.random.Generator | None,
) -> tuple[Array, Array | None]:
    """Along what an input is moved, a row each, and how many times each: by element, or by chance.

    Args:
        derivatives: know how long the steps are.
        elements: the coordinates of the input.
        start: where the input begins among all of them.
        size: how many real numbers it has.
        rng: for random directions; None for one element after the other.
    """
    scale = derivatives.plan.coordinates.scale[start : start + size][elements.position]
    if rng is None:
        block, unit = _one_by_one(elements, size), scale
    else:
        signs = rng.choice([-1.0, 1.0], size=(limits.DIRECTIONS, len(elements.position)))
        block, unit = _together(elements, signs * scale, size), None
        # (What is infinite cannot be moved.)
        here = derivatives.point.at[start : start + size]
        block = np.where(np.isfinite(here), block, 0.0)
    vectors = np.zeros((len(block), derivatives.point.inputs.offsets[-1]))
    vectors[:, start : start + size] = block
    return vectors, unit


def _one_by_one(elements: Moved, size: int) -> Array:
    """A row for each coordinate, which moves by one, so that what is told is a derivative.

    A matrix of a kind stays one: without it `test_a_symmetric_matrix_stays_one` fails.
    """
    return _together(elements, np.eye(len(elements.position)), size)


def _together(elements: Moved, moves: Array, size: int) -> Array:
    """Rows of elements of the input, from rows of moves of its coordinates."""
    rows = np.zeros((len(moves), size))
    rows[:, elements.position] = moves
    if elements.partners is not None:
        np.add.at(rows.T, elements.partners.position, (elements.partners.weight * moves).T)
    return rows
