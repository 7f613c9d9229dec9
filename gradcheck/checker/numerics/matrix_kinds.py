"""Which elements move together where an input is a matrix of a kind: symmetric, or triangular."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker.numerics.coordinates import Partners
from gradcheck.model.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcheck.checker.numerics.vectors import Layout
    from gradcheck.model import Array, Shape


@frozen()
class Moved:
    """The elements of one input that its coordinates move, by their real index in it."""

    position: Array
    partners: Partners | None = None

    def take(self, rows: Array) -> Moved:
        """Some of them."""
        partners = self.partners
        if partners is not None:
            partners = Partners(partners.position[rows], partners.weight[rows])
        return Moved(self.position[rows], partners)


def moved_elements(structure: str, shape: Shape, size: int) -> Moved:
    """Every element by itself, unless the input has a structure.

    Without it `test_hermitian_matrices_stay_hermitian` fails.

    Args:
        structure: of the input.
        shape: of the input.
        size: how many real numbers it has.
    """
    if structure not in ("symmetric", "lower"):
        return Moved(np.arange(size))
    elements = math.prod(shape)
    index = np.arange(elements).reshape(shape)
    rows, columns = np.tril_indices(shape[-1])
    below, above = index[..., rows, columns].ravel(), index[..., columns, rows].ravel()
    if structure == "lower":
        above = below
    weight = (above != below).astype(np.float64)
    if size == elements:
        return Moved(below, Partners(above, weight))
    # Hermitian: the imaginary parts mirror with the other sign, and vanish on the diagonal.
    imaginary = weight > 0 if structure != "lower" else np.ones(len(below), dtype=bool)
    return Moved(
        np.concatenate([2 * below, 2 * below[imaginary] + 1]),
        Partners(
            np.concatenate([2 * above, 2 * above[imaginary] + 1]),
            np.concatenate([weight, -weight[imaginary]]),
        ),
    )


def all_partners(moved: Sequence[Moved], layout: Layout) -> Partners | None:
    """The partners of all the inputs, by real number of the point."""
    if all(own.partners is None for own in moved):
        return None
    positions, weights = [], []
    for own, start in zip(moved, layout.offsets, strict=False):
        nobody = Partners(own.position, np.zeros(len(own.position)))
        partners = own.partners or nobody
        positions.append(partners.position + start)
        weights.append(partners.weight)
    return Partners(np.concatenate(positions), np.concatenate(weights))
