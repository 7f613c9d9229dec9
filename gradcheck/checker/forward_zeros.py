"""Forward derivatives that cancel to nothing, against which no bar is small."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import tolerances
from gradcheck.checker.judge.agreement import INCONCLUSIVE, PASS, Agreement
from gradcheck.checker.numerics.vectors import largest
from gradcheck.model import Verdict

if TYPE_CHECKING:
    from gradcheck.checker.duality import Dual
    from gradcheck.checker.numerics.estimate import Estimate, Noise
    from gradcheck.checker.reference.point import Point
    from gradcheck.model import Array


def granted_zeros(
    agreement: Agreement,
    estimate: Estimate,
    dual: Dual,
    point: Point,
    noise: Noise,
    unit: Array | None,
) -> tuple[Agreement, Dual]:
    """What nobody could judge passes where both derivatives are zero but for rounding.

    As on the way back (`judge/confirm.py: _granted_zeros`): the bar is small against what the
    outputs are, and neither mode says more than what outputs of that size round off.

    Without it `test_a_derivative_that_cancels_to_nothing` fails.

    Args:
        agreement: of forward mode with the numeric derivative.
        estimate: that.
        dual: what forward and reverse mode say.
        point: the function there.
        noise: of the function.
        unit: how many times each vector was moved, if it was not as it is.

    Returns:
        How it compares then, and what both modes say but for the rounding of what is zero.
    """
    small = np.abs(estimate.numeric) <= tolerances.BOUND_SAFETY * estimate.bound
    times = 1.0 if unit is None else unit
    output = largest(point.weights * noise.counted(point.base))
    size = np.maximum(np.abs(dual.forward), np.abs(dual.reverse))
    rounding = max(tolerances.ARITHMETIC, tolerances.BOUND_SAFETY * noise.relative) * output
    least = tolerances.VACUOUS * output
    if not output and not size.any():
        least = tolerances.GOOD * largest(point.weights)
    with np.errstate(all="ignore"):
        known = (size * times <= rounding) & (estimate.bound * times <= least)
    zero = small & known & ~estimate.kink
    # (What an output of that size rounds off moves it as well: else
    # `test_modes_that_differ_by_what_the_outputs_round_off` fails.)
    dual = dual.without(zero, tolerances.LAST_DIGIT * output / times)
    unknown = agreement.grades == INCONCLUSIVE
    # (Beside derivatives that are known, a bound is what it is against these.)
    if agreement.overall is not Verdict.INCONCLUSIVE or (~unknown & ~small).any():
        return agreement, dual
    return replace(agreement, grades=np.where(unknown & zero, PASS, agreement.grades)), dual
