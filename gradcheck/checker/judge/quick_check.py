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
from gradcheck.checker.subject.evaluator import OneByOne

if TYPE_CHECKING:
    from gradcheck.checker.reference.reference import Reference
    from gradcheck.checker.subject.tape import Backward
    from gradcheck.model import Array, Estimate


@dataclass(frozen=True, eq=False)
class Sight:
    """What the first look shows."""

    estimate: Estimate
    settled: Array
    """By coordinate: the derivative is known well, and the gradient agrees with it."""
    doubtful: Array
    """By coordinate: neither settled, nor is it one that stands still as the gradient says."""


def first_sight(reference: Reference, passed: Backward, analytic: Array) -> Sight | None:
    """Look at the gradient; None where this is no ordinary problem, and for what stands still.

    Args:
        reference: the numeric side.
        passed: the gradients.
        analytic: the same, along each coordinate.
    """
    if not _is_ordinary(reference, passed):
        return None
    space, directions = reference.coordinates.space, reference.coordinates.directions
    quick = reference.supposed_ideal(space)
    try:
        estimate = quick.glance(analytic)
    except OneByOne:
        quick = reference.supposed_ideal(space, one_by_one=True)
        estimate = quick.glance(analytic)
    sight = _judge(estimate, analytic)
    if sight.doubtful.any():
        sight = _judge(quick.refine(sight.doubtful), analytic)
    if not sight.estimate.scale.any():
        return None
    if quick.moves_together and not reference.is_consistent(sight.estimate):
        return None
    if directions is not None:
        gradient = reference.evaluator.inputs.flatten(
            [g for g in passed.gradients if g is not None]
        )
        claimed = directions.project(gradient)
        along = reference.supposed_ideal(directions, one_by_one=True).glance(claimed)
        if _judge(along, claimed).doubtful.any():
            return None
    return sight


def _is_ordinary(reference: Reference, passed: Backward) -> bool:
    """Whether there is a gradient of the right kind for every input, in double precision."""
    evaluator = reference.evaluator
    if reference.problem.tolerance is not None or evaluator.precision is not None:
        return False
    return bool(evaluator.base.size) and all(
        gradient is not None and gradient.shape == shape and gradient.dtype == evaluator.dtype(i)
        for i, (gradient, shape) in enumerate(
            zip(passed.gradients, evaluator.inputs.shapes, strict=True)
        )
    )


def _judge(estimate: Estimate, analytic: Array) -> Sight:
    good = tolerances.GOOD * np.maximum(
        np.abs(estimate.numeric), tolerances.GOOD_OF_PARTS * estimate.scale
    )
    settled = np.abs(analytic - estimate.numeric) <= tolerances.BOUND_SAFETY * estimate.bound
    settled &= (estimate.bound <= good) & ~estimate.kink
    still = (estimate.scale == 0) & (analytic == 0)
    return Sight(estimate, settled, ~(settled | still))
