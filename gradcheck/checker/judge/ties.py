"""Ties: kinks that elements make together, and that vanish when they move together.

At a = b each gradient of maximum(a, b) may be anything between nothing and the upstream. But the
two have to add up to it: along the line on which both move alike there is no kink, and the function
has a derivative that refutes a gradient of 0 and 0, or of 1 and 1.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import limits
from gradcheck.checker.judge.agreement import compare
from gradcheck.model import Comparison, Diagnosis, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcheck.checker.reference.reference import Reference
    from gradcheck.model import Array, Estimate


def judge_ties(
    comparisons: Sequence[Comparison], reference: Reference, analytic: Array, estimate: Estimate
) -> list[Comparison]:
    """The comparisons, those at a kink again by what tied elements do together.

    Args:
        comparisons: one for each input that is differentiated.
        reference: the numeric side.
        analytic: the derivative along each coordinate, from TensorFlow.
        estimate: the numeric one.
    """
    judged = list(comparisons)
    if not any(comparison.verdict is Verdict.KINK for comparison in judged):
        return judged
    coordinates = reference.coordinates
    for group in _ties(reference, analytic, estimate):
        found = _refuted(reference, group, analytic)
        if found is None:
            continue
        text, error, relative = found
        for position, comparison in enumerate(comparisons):
            mine = np.intersect1d(coordinates.columns(position), group)
            if comparison.verdict is Verdict.KINK and len(mine):
                before = judged[position]
                judged[position] = replace(
                    before,
                    verdict=Verdict.MISMATCH,
                    failing=before.failing + len(mine),
                    max_abs_error=max(error, before.max_abs_error or 0.0),
                    max_rel_error=max(relative, before.max_rel_error or 0.0),
                    diagnosis=Diagnosis("tie", text),
                )
    return judged


def _ties(reference: Reference, analytic: Array, estimate: Estimate) -> list[Array]:
    """Coordinates at a kink, by their value: what ties is equal."""
    space = reference.coordinates.space
    if space.partners is not None:
        return []
    bent = np.flatnonzero(estimate.kink & np.isfinite(analytic))
    values = space.point[space.position[bent]]
    groups = [bent[values == value] for value in np.unique(values)]
    return [group for group in groups if len(group) > 1][: limits.TIES]


def _refuted(
    reference: Reference, group: Array, analytic: Array
) -> tuple[str, float, float] | None:
    """What is wrong with the gradients of a group together, and by how much."""
    space = reference.coordinates.space
    length = float(space.unit[group].min())
    vector = np.zeros((1, len(space.point)))
    vector[0, space.position[group]] = length
    claimed = length * analytic[group].sum()
    together = reference.along(vector)
    # Where a kink is left, it is of another kind: the elements need not add up.
    if together.kink[0]:
        return None
    # (The sum may be small by chance, its parts are what has to be known well.)
    size = float(np.max(np.abs([claimed, together.numeric[0], together.scale[0]])))
    agreement = compare(np.array([claimed]), together, reference=size)
    if agreement.overall is not Verdict.MISMATCH:
        return None
    numeric, bound = together.numeric[0] / length, together.bound[0] / length
    text = (
        f"{len(group)} tied elements have gradients that do not fit together: each lies between "
        "its one-sided derivatives, but where the elements move alike there is no kink, and the "
        f"derivative is {numeric:.6g} ± {bound:.1g}; theirs add up to {claimed / length:.6g}"
    )
    error = abs(claimed / length - numeric)
    return text, error, error / max(abs(claimed / length), abs(numeric))
