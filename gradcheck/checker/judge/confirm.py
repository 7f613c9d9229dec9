"""Judging one input's derivatives, and looking twice before any of them is called wrong.

What looks wrong is moved again, alone and with smaller steps; and what the rounding of the inputs,
and on the way to the gradient, makes of it is granted.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import limits, tolerances
from gradcheck.checker.judge.agreement import MISMATCH, Agreement, compare, some_of
from gradcheck.checker.judge.nonfinite import reach_nonfinite
from gradcheck.checker.judge.rounding import Roundings, as_slack, in_place
from gradcheck.checker.numerics.safe_norms import largest
from gradcheck.model import Array, Estimate, Verdict

if TYPE_CHECKING:
    from gradcheck.checker.judge.describe import Part
    from gradcheck.checker.judge.gradient_spread import Spread
    from gradcheck.checker.numerics.coordinates import Directions
    from gradcheck.checker.reference.reference import Reference


def judge_elements(
    reference: Reference,
    roundings: Roundings,
    part: Part,
    analytic: Array,
    estimate: Estimate,
    size: float,
) -> tuple[Estimate, Agreement]:
    """Compare element by element; what looks wrong is looked at again, alone and closer."""
    tolerance = reference.problem.tolerance
    excused = ~reference.point_is_finite[part.span]
    # What only reaches outputs that are not finite cannot be seen to move.
    unseen = np.zeros(len(analytic), dtype=bool)
    if not np.isfinite(reference.evaluator.base).all():
        moves = estimate.scale * reference.coordinates.space.unit[part.span]
        still = moves <= tolerances.STILL * largest(reference.weights * reference.evaluator.base)
        unseen = (still & (analytic != 0)) | np.isnan(estimate.numeric)
        broken = np.flatnonzero(~np.isfinite(analytic) & ~unseen)
        unseen[broken] = reach_nonfinite(reference, part.columns[broken])
    slack: Array | float = 0.0
    confirmed, nudged = np.zeros(len(analytic), dtype=bool), False
    while True:
        agreement = compare(
            analytic,
            estimate,
            reference=size,
            slack=slack,
            tolerance=tolerance,
            excused=excused,
            beyond_reach=unseen,
            vacuous=tolerances.VACUOUS_IF_COARSE if reference.is_coarse else tolerances.VACUOUS,
        )
        wrong = agreement.grades == MISMATCH
        surely = wrong & confirmed
        if not wrong.any() or (surely.any() and nudged):
            return estimate, replace(agreement, rounding=nudged and not wrong.any())
        if surely.any():
            unit = reference.coordinates.space.unit[part.span]
            most = _most_to_lose(reference, size, unit)
            if (agreement.error > most)[surely].any():
                return estimate, agreement
            nudged = True
            spread = roundings.on_the_way[part.position]
            slack = np.maximum(slack, _slack(reference, part, spread, analytic, estimate))
            continue
        suspects = np.flatnonzero(wrong)
        suspects = np.sort(suspects[np.argsort(-agreement.error[suspects])][: limits.CONFIRMED])
        # (Smaller steps would show nothing but rounding of a coarse function, and of an empty one
        # nothing at all.)
        if not reference.is_coarse and len(reference.evaluator.base):
            refuted = reference.elements.confirm(part.columns[suspects], analytic[suspects])
            unseen[suspects] |= ~refuted
            estimate = some_of(reference.elements.estimate(), part.span)
        confirmed[suspects] = True
        spread = roundings.of_inputs[part.position]
        slack = np.maximum(slack, _slack(reference, part, spread, analytic, estimate))


def judge_directions(
    reference: Reference,
    roundings: Roundings,
    part: Part,
    space: Directions,
    full: Array,
    along: Estimate,
    size: float,
) -> Agreement:
    """Compare along the random directions that stand for the elements of a large input."""
    tolerance = reference.problem.tolerance
    analytic, estimate = space.project(full)[part.directions], some_of(along, part.directions)
    agreement = compare(analytic, estimate, reference=size, tolerance=tolerance)
    if agreement.overall is not Verdict.MISMATCH:
        return agreement
    slack = _along(space, reference, part, roundings.of_inputs)
    agreement = compare(analytic, estimate, reference=size, tolerance=tolerance, slack=slack)
    most = _most_to_lose(reference, size, space.unit[part.directions])
    if agreement.overall is Verdict.MISMATCH and not (agreement.error > most).any():
        slack = _along(space, reference, part, roundings.on_the_way)
        agreement = compare(analytic, estimate, reference=size, tolerance=tolerance, slack=slack)
    return agreement


def _most_to_lose(reference: Reference, size: float, unit: Array) -> Array:
    """By coordinate: an error that no rounding on the way explains, at a glance.

    What that does is dear to find out: the gradient has to be traced.
    """
    weights, base = reference.weights, reference.evaluator.base
    output = largest(weights * base)
    # (A function that rounds to fewer digits inside loses more.)
    share = tolerances.LOST_ON_THE_WAY * max(1.0, reference.noise.rounds_to * 2.0**52)
    return share * (max(size, output, largest(weights)) + output / unit)


def _along(space: Directions, reference: Reference, part: Part, spreads: list[Spread]) -> Array:
    """By direction: what the gradient may be off by rounding."""
    rounding = as_slack(reference, part.position, spreads[part.position])
    return space.project_size(rounding)[part.directions]


def _slack(
    reference: Reference, part: Part, spread: Spread, analytic: Array, estimate: Estimate
) -> Array:
    """By coordinate: what the gradient may be off by rounding."""
    rounding = as_slack(reference, part.position, spread)
    slack = reference.coordinates.space.project_size(rounding)[part.span]
    # Beside a kink the gradient is another one, which excuses no value that it has nowhere.
    slack[estimate.kink & _beyond(reference, part, spread, analytic)] = 0.0
    return slack


def _beyond(reference: Reference, part: Part, spread: Spread, analytic: Array) -> Array:
    """By coordinate: whether the gradient is outside of all that it is at the point's neighbours.

    Where elements move in pairs, nobody can tell.
    """
    space = reference.coordinates.space
    if space.partners is not None:
        return np.zeros(len(analytic), dtype=bool)
    low, high = (
        space.project(in_place(reference, part.position, end))[part.span] for end in spread.ends
    )
    margin = tolerances.ARITHMETIC * np.maximum(np.abs(low), np.abs(high))
    return np.asarray((analytic < low - margin) | (analytic > high + margin))
