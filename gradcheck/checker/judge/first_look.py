"""The first look at a gradient, which is all that an ordinary one needs.

Measuring a function's noise costs as much as a small check. So at first an ideal function is
supposed, with noise in the last digit only. That makes the bounds tighter, never wider: a gradient
that lies within them, where they are good, is right. What is not settled so gets a closer look.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import limits, tolerances
from gradcheck.checker.numerics.differentiator import glance, refine
from gradcheck.checker.numerics.estimate import Noise
from gradcheck.checker.numerics.mover import Mover
from gradcheck.checker.numerics.vectors import everywhere_so, largest, somewhere_so
from gradcheck.checker.reference.plan import Plan, along_coordinates, at_first_sight, with_tests
from gradcheck.checker.subject.row_function import OneByOne
from gradcheck.model.frozen import altered, frozen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcheck.checker.numerics.coordinates import Space
    from gradcheck.checker.numerics.estimate import Estimate
    from gradcheck.checker.reference.point import Point
    from gradcheck.checker.subject.tape import Backward
    from gradcheck.model import Array


@frozen()
class Look:
    """What the first look shows."""

    estimate: Estimate
    settled: Array
    """By coordinate: the derivative is known well, and the gradient agrees with it."""
    doubtful: Array
    """By coordinate: neither settled, nor is it one that stands still as the gradient says."""

    @cached_property
    def all_settled(self) -> bool:
        """Whether nothing is left to know."""
        return everywhere_so(self.settled)

    def doubtful_with(self, noise: Noise) -> Array:
        """By coordinate: what deserves a closer look now that the noise is known.

        Where outputs turn out to depend on nothing, the bars of what stands still were made of
        them.
        """
        if noise.ceiling is None:
            return self.doubtful
        return np.asarray(self.doubtful | (self.estimate.scale == 0))


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
    space = plan.coordinates.space
    mover = _ideal_mover(point, plan, space, together=not plan.tested)
    try:
        estimate = glance(mover, analytic)
    except OneByOne:
        quick = _first_sight(point, passed)
        if quick is not None:
            return quick
        plan = with_tests(point, plan)
        mover = _ideal_mover(point, plan, space, together=False)
        estimate = glance(mover, analytic, sparing=True)
    look = _refined(point, estimate, analytic, plan)
    moves = somewhere_so(look.estimate.scale)
    if not (moves and everywhere_so(look.settled | look.doubtful)):
        if point.is_exact:
            look = _standing_still(look)
        elif not moves:
            return plan, None
    look = _unless_it_hides(look, point)
    if plan.coordinates.directions is not None and not _directions_agree(point, plan, passed):
        return plan, None
    return plan, look


def _first_sight(point: Point, passed: Backward) -> tuple[Plan, Look] | None:
    """What directions and a few elements tell, if the directions leave no doubt."""
    plan = at_first_sight(point, passed)
    if plan is not None:
        directions, singly = limits.DIRECTIONS, len(plan.coordinates.space.unit)
        point.evaluator.expect(limits.CALLS_PER_NUMBER * (directions + singly))
    if plan is None or not _directions_agree(point, plan, passed):
        return None
    mover = _ideal_mover(point, plan, plan.coordinates.space, together=False)
    analytic = along_coordinates(point, plan, passed)
    estimate = glance(mover, analytic, sparing=True)
    look = _refined(point, estimate, analytic, plan)
    return plan, _unless_it_hides(look, point)


def _refined(point: Point, estimate: Estimate, analytic: Array, plan: Plan) -> Look:
    """What the estimate shows, with more steps for what it leaves in doubt."""
    spans = [part.span for part in plan.coordinates.parts]
    look = _judge(estimate, analytic, spans)
    if somewhere_so(look.doubtful):
        # (More points may share no call though few of them did: without this
        # `test_few_points_share_a_call_and_more_do_not` fails.)
        mover = _ideal_mover(point, plan, plan.coordinates.space, together=False)
        refined = refine(mover, estimate, look.doubtful, rounds=point.rounds)
        look = _judge(refined, analytic, spans)
    return look


def _standing_still(look: Look) -> Look:
    """The look at what rounds nothing, and so hides nothing: what stands still does, and is known.

    Without it `test_what_rounds_nothing_and_stands_still_is_known_at_first_sight` and
    `test_a_relu_is_flat_however_near_its_corner_is` fail.
    """
    still = ~(look.settled | look.doubtful)
    estimate = altered(
        look.estimate,
        error=np.where(still, 0.0, look.estimate.error),
        roundoff=np.where(still, 0.0, look.estimate.roundoff),
    )
    return altered(look, estimate=estimate, settled=~look.doubtful)


def _unless_it_hides(look: Look, point: Point) -> Look:
    """The look; what stands still is in doubt where the function rounds off what it would show.

    Without it `test_zero_beside_what_moves` fails.
    """
    still = (look.estimate.scale == 0) & ~look.doubtful
    if point.rounds or not somewhere_so(still):
        return look
    hidden = tolerances.ROUNDOFF_SAFETY * float(np.linalg.norm(point.weights * point.rounded_off))
    with np.errstate(all="ignore"):
        bar = hidden / look.estimate.step
        known = tolerances.GOOD * largest(np.where(look.settled, look.estimate.numeric, 0.0))
        hides = still & (bar > np.fmax(tolerances.HIDES * look.estimate.bound, known))
    return altered(look, settled=look.settled & ~hides, doubtful=look.doubtful | hides)


def _directions_agree(point: Point, plan: Plan, passed: Backward) -> bool:
    """Whether the gradient is right along random directions, beyond doubt."""
    directions = plan.coordinates.directions
    if directions is None:
        return True
    gradient = point.inputs.flatten([g for g in passed.gradients if g is not None])
    claimed = directions.project(gradient)
    mover = _ideal_mover(point, plan, directions, together=False)
    along = glance(mover, claimed, sparing=plan.near)
    look = _judge(along, claimed)
    if look.doubtful.any():
        look = _judge(refine(mover, along, look.doubtful), claimed)
    return not look.doubtful.any()


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


def _judge(estimate: Estimate, analytic: Array, spans: Sequence[slice] = ()) -> Look:
    """What is settled.

    Args:
        estimate: the numeric derivatives.
        analytic: what they are said to be.
        spans: the coordinates of each input. Without them `test_what_stands_still_is_known` fails.
    """
    parts = tolerances.GOOD_OF_PARTS * estimate.scale
    good = tolerances.GOOD * np.maximum(np.abs(estimate.numeric), parts)
    settled = np.abs(analytic - estimate.numeric) <= tolerances.BOUND_SAFETY * estimate.bound
    settled &= (estimate.bound <= good) & ~estimate.kink
    if everywhere_so(settled):
        return Look(estimate, settled, ~settled)
    # (Not where the smallest step alone stands still, beside a switch that the others cross.)
    still = (estimate.scale == 0) & (estimate.numeric == 0) & (analytic == 0)
    # Without it `test_what_stands_still_beside_a_switch_is_known` fails.
    crosses = estimate.error > tolerances.BOUND_SAFETY * estimate.roundoff
    still &= ~(crosses & (estimate.change > 0))
    for span in spans if still.any() else ():
        # A derivative that is zero, to a bar that would show the others, is known to be.
        known = tolerances.GOOD * largest(np.where(settled[span], estimate.numeric[span], 0.0))
        settled[span] |= still[span] & (estimate.bound[span] <= known)
    return Look(estimate, settled, ~(settled | still))
