"""Finding the wrong element of a large input by halving a direction that shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import tolerances
from gradcheck.checker.judge.figures import index_of
from gradcheck.checker.judge.rounding import in_place
from gradcheck.model import Element

if TYPE_CHECKING:
    from gradcheck.checker.judge.evidence import Evidence, OfInput
    from gradcheck.checker.reference.derivatives import Derivatives
    from gradcheck.model import Array


def find_wrong_element(evidence: Evidence, own: OfInput) -> Element | None:
    """The element where gradient and derivative differ most, along the direction that shows it.

    None when the difference is spread out so that no single element stands out.
    """
    derivatives, directed = evidence.derivatives, own.directed
    space, point, part = evidence.plan.coordinates.directions, evidence.point, own.part
    if derivatives is None or directed is None or space is None:
        return None
    worst = int(part.directions[np.argmax(directed.error / directed.tolerance)])
    vector = space.vectors[worst]
    gradient = in_place(point, part.position, np.asarray(own.gradient))
    where = _bisected(derivatives, gradient, vector)
    if where is None:
        return None
    alone = np.zeros((1, len(vector)))
    alone[0, where] = vector[where]
    estimate = derivatives.along(alone)
    index = index_of(where - point.inputs.offsets[part.position], point, part.position)
    return Element(
        index=index,
        value=point.inputs.unflatten(point.at)[part.position][index].item(),
        analytic=float(gradient[where]),
        numeric=float(estimate.numeric[0] / vector[where]),
        bound=float(estimate.bound[0] / abs(vector[where])),
    )


def _bisected(derivatives: Derivatives, gradient: Array, vector: Array) -> int | None:
    """The number of the point where the two differ most; None if no single one stands out.

    Without it `test_the_wrong_element_is_named` fails.

    Args:
        derivatives: the numeric side.
        gradient: the analytic one, by real number of the point.
        vector: a direction along which they differ.
    """
    candidates = np.flatnonzero(vector)
    while len(candidates) > 1:
        halves = np.array_split(candidates, 2)
        vectors = np.zeros((2, len(vector)))
        for row, half in zip(vectors, halves, strict=True):
            row[half] = vector[half]
        estimate = derivatives.along(vectors)
        excess = np.abs(vectors @ gradient - estimate.numeric)
        excess -= tolerances.BOUND_SAFETY * estimate.bound
        if not np.nanmax(excess) > 0:
            return None
        candidates = halves[int(np.nanargmax(excess))]
    return int(candidates[0])
