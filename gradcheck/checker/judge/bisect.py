"""Finding the wrong element of a large input by halving a direction that shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker.judge.describe import index_of
from gradcheck.model import Element

if TYPE_CHECKING:
    from gradcheck.checker.reference.reference import Reference
    from gradcheck.model import Array


def find_wrong_element(
    reference: Reference, position: int, gradient: Array, vector: Array
) -> Element | None:
    """The element where gradient and derivative along the vector differ most, by bisection.

    Args:
        reference: the numeric side.
        position: of the input among those that are differentiated.
        gradient: the analytic one, by real number of the point.
        vector: a direction along which they differ.

    Returns:
        None when the difference is spread out so that no single element stands out.
    """
    candidates = np.flatnonzero(vector)
    while len(candidates) > 1:
        halves = np.array_split(candidates, 2)
        vectors = np.zeros((2, len(vector)))
        for row, half in zip(vectors, halves, strict=True):
            row[half] = vector[half]
        estimate = reference.along(vectors)
        excess = np.abs(vectors @ gradient - estimate.numeric) - 2 * estimate.bound
        if not np.nanmax(excess) > 0:
            return None
        candidates = halves[int(np.nanargmax(excess))]
    where = int(candidates[0])
    alone = np.zeros((1, len(vector)))
    alone[0, where] = vector[where]
    estimate = reference.along(alone)
    numeric, bound = estimate.numeric[0] / vector[where], estimate.bound[0] / abs(vector[where])
    layout = reference.evaluator.inputs
    index = index_of(where - layout.offsets[position], reference, position)
    return Element(
        index=index,
        value=layout.unflatten(reference.evaluator.point)[position][index].item(),
        analytic=float(gradient[where]),
        numeric=float(numeric),
        bound=float(bound),
    )
