"""Whether all that rounding was granted is off by one factor, which rounding is not.

Of a function that rounds inside, the gradient is granted some times what it changes by with other
last digits: element by element that hides a factor of 1.05 in bfloat16. But rounding is another one
in each element, and at each neighbour of the point. A factor is the same in all of them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import tolerances
from gradcheck.checker.judge.agreement import KINK, MISMATCH
from gradcheck.checker.judge.rounding import in_place
from gradcheck.model import Stage

if TYPE_CHECKING:
    from gradcheck.checker.judge.evidence import OfInput
    from gradcheck.checker.judge.gradient_spread import Spread
    from gradcheck.checker.judge.rounding import Roundings
    from gradcheck.checker.reference.derivatives import Derivatives
    from gradcheck.model import Array

OFF_TOGETHER = (
    "what each element is off could be rounding, but all of them are off by one factor, and so are "
    "those beside the point"
)


def unless_off_together(derivatives: Derivatives, roundings: Roundings, own: OfInput) -> OfInput:
    """What is known of an input, with elements that only pass since all may round so much.

    Without it `test_a_factor_that_rounding_hides_in_each_element` fails.

    Args:
        derivatives: the numeric side.
        roundings: what rounding does to the gradients.
        own: judged.
    """
    agreement, estimate = own.agreement, own.estimate
    if agreement is None or agreement.excuse or agreement.failing.any():
        return own
    if not derivatives.noise.rounds_to or derivatives.point.problem.tolerance is not None:
        return own
    granted = agreement.error > tolerances.BOUND_SAFETY * estimate.bound + own.last_place
    granted &= agreement.grades != KINK
    if not granted.any():
        return own
    asked = [roundings.of_inputs, *([roundings.on_the_way] if agreement.rounding else [])]
    if not all(_is_factor(derivatives, own, spreads[own.part.position]) for spreads in asked):
        return own
    grades = np.where(granted, MISMATCH, agreement.grades)
    told = replace(agreement, grades=grades, rounding=False, excuse=OFF_TOGETHER)
    return replace(own, agreement=told, stage=Stage.CONFIRMATION)


def _is_factor(derivatives: Derivatives, own: OfInput, spread: Spread) -> bool:
    """Whether the gradients beside the point are the numeric derivative times a factor not one.

    Args:
        derivatives: the numeric side.
        own: judged.
        spread: what the gradient is beside the point.
    """
    point, space = derivatives.point, derivatives.plan.coordinates.space
    part, estimate, rounds_to = own.part, own.estimate, derivatives.noise.rounds_to
    beside = [space.project(in_place(point, part.position, each))[part.span] for each in spread.all]
    shares = np.array([*beside, own.analytic]) - estimate.numeric
    usable = np.isfinite(shares).all(axis=0) & np.isfinite(estimate.bound) & ~estimate.kink
    if not beside or not usable.any():
        return False
    shares, slope, bound = shares[:, usable], estimate.numeric[usable], estimate.bound[usable]
    scatter = shares[:-1].std(axis=0, ddof=1)
    weight = slope * _per(bound**2 + scatter**2 + (rounds_to * slope) ** 2)
    size = float(weight @ slope)
    if not size > 0:
        return False
    *factors, here = shares @ weight / size
    known = float(np.abs(weight) @ bound) / size
    # (What the draws do not move is rounded once for all of them, in each element otherwise.)
    known += rounds_to / np.sqrt(len(slope))
    chance = tolerances.COMMON_FACTOR_SIGMAS * np.std(factors, ddof=1)
    there = float(np.mean(factors))
    least = known + chance / np.sqrt(len(factors))
    return bool(abs(there) > least and abs(here) > known and there * here > 0)


def _per(square: Array) -> Array:
    return np.divide(1.0, square, out=np.zeros_like(square), where=square > 0)
