"""The first look at a gradient, which is all that an ordinary one needs.

Measuring a function's noise costs as much as a small check. So at first an ideal function is
supposed, with noise in the last digit only. That makes the bounds tighter, never wider: a gradient
that lies within them, where they are good, is right. What is not settled so gets a closer look.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import tolerances
from gradcheck.checker.numerics.differentiator import glance, refine
from gradcheck.checker.numerics.estimate import Noise
from gradcheck.checker.numerics.mover import Mover
from gradcheck.checker.reference.plan import Plan, with_tests
from gradcheck.checker.subject.row_function import OneByOne

if TYPE_CHECKING:
    from gradcheck.checker.numerics.coordinates import Space
    from gradcheck.checker.numerics.estimate import Estimate
    from gradcheck.checker.reference.point import Point
    from gradcheck.checker.subject.tape import Backward
    from gradcheck.model import Array


@dataclass(frozen=True, eq=False)
class Look:
    """What the first look shows."""

    estimate: Estimate
    settled: Array
    """By coordinate: the derivative is known well, and the gradient agrees with it."""
    doubtful: Array
    """By coordinate: neither settled, nor is it one that stands still as the gradient says."""


def look_at(
    point: Point, plan: Plan, passed: Backward, analytic: Array
) -> tuple[Plan, Look | None]:
    """Look at the gradient; None where this is no ordinary problem, and for what stands still.

    Args:
        point: where.
        plan: what is moved.
        passed: the gradients.
        analytic: the derivative along each coordinate that follows from them.

    Returns:
        The plan, with what was found out about it on the way, and what the look shows.
    """
    if not _is_ordinary(point, passed):
        return plan, None
    space, directions = plan.coordinates.space, plan.coordinates.directions
    mover = _ideal_mover(point, plan, space, together=not plan.tested)
    try:
        estimate = glance(mover, analytic)
    except OneByOne:
        plan = with_tests(point, plan)
        mover = _ideal_mover(point, plan, space, together=False)
        estimate = glance(mover, analytic)
    look = _judge(estimate, analytic)
    if look.doubtful.any():
        look = _judge(refine(mover, estimate, look.doubtful), analytic)
    if not look.estimate.scale.any():
        return plan, None
    if directions is not None:
        gradient = point.inputs.flatten([g for g in passed.gradients if g is not None])
        claimed = directions.project(gradient)
        along = glance(_ideal_mover(point, plan, directions, together=False), claimed)
        if _judge(along, claimed).doubtful.any():
            return plan, None
    return plan, look


def _is_ordinary(point: Point, passed: Backward) -> bool:
    """Whether there is a gradient of the right kind for every input, in double precision."""
    if point.problem.tolerance is not None or point.precision is not None:
        return False
    return bool(point.base.size) and all(
        gradient is not None and gradient.shape == shape and gradient.dtype == point.dtypes[i]
        for i, (gradient, shape) in enumerate(
            zip(passed.gradients, point.inputs.shapes, strict=True)
        )
    )


def _ideal_mover(point: Point, plan: Plan, space: Space, *, together: bool) -> Mover:
    """Moves coordinates as if the function did everything right.

    Args:
        point: where.
        plan: which of the elements move together, if `space` is that of the elements.
        space: the coordinates.
        together: all the points are to share calls; evaluating raises OneByOne if they cannot.
    """
    evaluate = point.evaluator.together if together else point.evaluator
    colouring = plan.colouring if space is plan.coordinates.space else None
    noise = Noise.ideal(point.base)
    return Mover(evaluate, point.base, point.weights, noise, space, colouring)


def _judge(estimate: Estimate, analytic: Array) -> Look:
    parts = tolerances.GOOD_OF_PARTS * estimate.scale
    good = tolerances.GOOD * np.maximum(np.abs(estimate.numeric), parts)
    settled = np.abs(analytic - estimate.numeric) <= tolerances.BOUND_SAFETY * estimate.bound
    settled &= (estimate.bound <= good) & ~estimate.kink
    # (Not where the smallest step alone stands still, beside a switch that the others cross.)
    still = (estimate.scale == 0) & (estimate.numeric == 0) & (analytic == 0)
    return Look(estimate, settled, ~(settled | still))
