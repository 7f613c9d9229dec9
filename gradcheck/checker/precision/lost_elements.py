"""Elements that low precision takes from a gradient because others are so much larger.

What parts lose before they cancel is lost, and an element may be off by some units in the last
place of the largest. But that is so only where its own parts are as large: then the element also
changes by as much when the inputs and the upstream change in their last digits; or the outputs that
it reaches are as large. One of which neither is true, and which is off by a good share of itself,
was lost by the way its gradient is computed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import limits, tolerances
from gradcheck.checker.numerics.vectors import epsilon_of, largest, range_of, to_double

if TYPE_CHECKING:
    from gradcheck.checker.precision.own_precision import OwnPrecision
    from gradcheck.model import Array


def lost_elements(
    precision: OwnPrecision, position: int, gradient: Array, double: Array, bound: Array | None
) -> Array:
    """Which elements are off by a share of themselves that no last digits explain.

    Only where rounding leaves most digits: in bfloat16 two terms that nearly cancel leave none.

    Without it `test_an_element_that_is_lost_beside_a_large_one` fails.

    Args:
        precision: has the gradients.
        position: of the input.
        gradient: in its own precision.
        double: in double precision.
        bound: by element, of the numeric derivative in double precision; NaN where there is none.
    """
    epsilon, (smallest, _) = epsilon_of(gradient.dtype), range_of(gradient.dtype)
    if epsilon > tolerances.COARSE or double.dtype.kind == "c":
        # (Nor where the function's own slope, which may excuse it, is not to be had.)
        return np.zeros(double.shape, dtype=bool)
    mine, theirs = to_double(gradient), to_double(double)
    with np.errstate(all="ignore"):
        error, size = np.abs(mine - theirs), np.abs(theirs)
        lost = np.isfinite(error) & (error > tolerances.LOST_SHARE * size)
        lost &= size > smallest / epsilon
        # (What is off by more is seen by itself: without this
        # `test_a_fault_of_a_layer_takes_few_calls` fails.)
        lost &= error <= tolerances.LARGEST_ULPS * epsilon * largest(theirs)
        if bound is not None:
            lost &= ~(tolerances.VACUOUS * size <= bound)
        if lost.any():
            explained = tolerances.ROUNDING_SAFETY * precision.conditioning(position)
            lost &= error > explained + tolerances.ULPS[gradient.dtype.name] * epsilon * size
        if lost.any():
            lost = beyond_the_outputs(precision, position, lost, error, epsilon)
    return np.asarray(lost)


def beyond_the_outputs(
    precision: OwnPrecision, position: int, lost: Array, error: Array, epsilon: float
) -> Array:
    """The worst of those whose error is more than what the outputs that they reach round off.

    Where softmax is all but one, its gradient is zero but for the rounding of that one: without
    this `test_what_the_outputs_round_off_is_not_lost` fails.
    """
    flat = np.where(lost, error, -1.0).ravel()
    worst = np.argsort(-flat)[: min(limits.SLOPES, int(lost.sum()))]
    allowed = tolerances.LARGEST_ULPS * epsilon * precision.steepness(position, worst)
    beyond = np.zeros(flat.shape, dtype=bool)
    beyond[worst] = flat[worst] > allowed
    return beyond.reshape(lost.shape)
