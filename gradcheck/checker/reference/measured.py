"""Measuring a function's noise at a point, and its derivatives along every element with that."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import tolerances
from gradcheck.checker.budget import Spent
from gradcheck.checker.numerics.estimate import Noise
from gradcheck.checker.numerics.fit_evidence import contested
from gradcheck.checker.numerics.noise import measure_noise
from gradcheck.checker.reference.derivatives import Derivatives
from gradcheck.checker.reference.plan import with_tests
from gradcheck.model.frozen import altered

if TYPE_CHECKING:
    from gradcheck.checker.numerics.estimate import Estimate
    from gradcheck.checker.reference.plan import Plan
    from gradcheck.checker.reference.point import Point
    from gradcheck.model import Array


def with_measured_noise(point: Point, plan: Plan, noise: Noise | None = None) -> Derivatives:
    """Measure how noisy the function is, unless that is known."""
    if noise is None and point.is_exact:
        noise = Noise(np.zeros(len(point.base)), tolerances.UNIT_ROUNDOFF)
    if noise is None:
        evaluator, scale = point.evaluator, plan.coordinates.scale
        at = (point.at, point.base, scale, point.problem.seed)
        exact, rounds = point.keeps_its_digits, point.rounds
        noise = measure_noise(evaluator, *at, exact=exact, rounds=rounds)
    return Derivatives(point, plan, noise)


def along_elements(
    derivatives: Derivatives,
    claimed: Array | None = None,
    known: Estimate | None = None,
    doubtful: Array | None = None,
) -> tuple[Derivatives, Estimate]:
    """The derivatives along every element.

    Args:
        derivatives: what is asked.
        claimed: what they are said to be; where that is contested, the function may round.
        known: an estimate that is good for all but some elements.
        doubtful: which those are.

    Returns:
        The derivatives, with what was found out about who may be moved together, and an estimate.
    """
    if not derivatives.is_rough:
        derivatives = altered(derivatives, plan=with_tests(derivatives.point, derivatives.plan))
    estimate = derivatives.by_fit(derivatives.by_element(known, doubtful))
    if claimed is None or derivatives.is_coarse:
        return derivatives, estimate
    try:
        return derivatives.where_it_rounds(estimate, claimed)
    except Spent:
        # (Who has not been seen to round, or not to, is not blamed.)
        estimate.error[contested(estimate, claimed, rough=derivatives.is_rough)] = np.inf
        return derivatives, estimate
