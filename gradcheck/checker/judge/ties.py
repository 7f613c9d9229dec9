"""Ties: kinks that elements make together, and that vanish when they move together.

At a = b each gradient of maximum(a, b) may be anything between nothing and the upstream. But the
two have to add up to it: along the line on which both move alike there is no kink, and the function
has a derivative that refutes a gradient of 0 and 0, or of 1 and 1.

Without it `test_the_wrong_one_is_a_mismatch_there` fails.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import limits
from gradcheck.checker.judge.agreement import compare
from gradcheck.checker.judge.evidence import OfInput, Tie
from gradcheck.model import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcheck.checker.numerics.estimate import Estimate
    from gradcheck.checker.reference.derivatives import Derivatives
    from gradcheck.model import Array


def with_ties(
    derivatives: Derivatives,
    inputs: Sequence[OfInput],
    analytic: Array,
    estimate: Estimate,
) -> tuple[OfInput, ...]:
    """The inputs; those at a kink with what tied elements do together, if that refutes them.

    Args:
        derivatives: the numeric side.
        inputs: what is known of each.
        analytic: the derivative along each coordinate, from TensorFlow.
        estimate: the numeric one.
    """
    judged = list(inputs)
    bent = [i for i, own in enumerate(inputs) if own.suggestion[0] is Verdict.KINK]
    if not bent:
        return tuple(judged)
    for group in _ties(derivatives, analytic, estimate):
        found = _refuted(derivatives, group, analytic)
        if found is None:
            continue
        for i in bent:
            mine = np.intersect1d(inputs[i].part.columns, group)
            if len(mine):
                tie = replace(found, elements=len(mine)).and_(judged[i].tie)
                judged[i] = replace(judged[i], tie=tie)
    return tuple(judged)


def _ties(derivatives: Derivatives, analytic: Array, estimate: Estimate) -> list[Array]:
    """Coordinates at a kink, by their value: what ties is equal."""
    space = derivatives.plan.coordinates.space
    if space.partners is not None:
        return []
    bent = np.flatnonzero(estimate.kink & np.isfinite(analytic))
    values = space.point[space.position[bent]]
    groups = [bent[values == value] for value in np.unique(values)]
    return [group for group in groups if len(group) > 1][: limits.TIES]


def _refuted(derivatives: Derivatives, group: Array, analytic: Array) -> Tie | None:
    """What is wrong with the gradients of a group together, and by how much."""
    space = derivatives.plan.coordinates.space
    length = float(space.unit[group].min())
    vector = np.zeros((1, len(space.point)))
    vector[0, space.position[group]] = length
    claimed = length * analytic[group].sum()
    together = derivatives.along(vector)
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
    return Tie(text, error, error / max(abs(claimed / length), abs(numeric)), len(group))
