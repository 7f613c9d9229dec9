"""Why a derivative is not known well enough to judge by, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import tolerances
from gradcheck.checker.judge.agreement import INCONCLUSIVE, Agreement
from gradcheck.model import Verdict

if TYPE_CHECKING:
    from gradcheck.checker.numerics.estimate import Estimate
    from gradcheck.checker.reference.derivatives import Derivatives
    from gradcheck.checker.reference.point import Point


def on_the_unknown(derivatives: Derivatives, estimate: Estimate, agreement: Agreement) -> str:
    """Why some derivatives are not known well enough, where that is all there is to say."""
    unknown = agreement.grades == INCONCLUSIVE
    if not unknown.any() or agreement.overall is not Verdict.INCONCLUSIVE:
        return ""
    if agreement.excuse:  # which tells it
        return ""
    hidden = f"{int(np.count_nonzero(unknown))} of {len(unknown)} derivatives"
    lost = np.flatnonzero(~np.isfinite(derivatives.point.base))
    if len(lost):
        first = output_at(derivatives.point, int(lost[0]))
        return f"the function is not finite at this point ({first}), which hides {hidden}"
    raised = derivatives.point.evaluator.raised
    if raised and np.isnan(estimate.numeric[unknown]).all():
        return (
            f"the function raises beside this point, so nothing tells {hidden}: {raised}. Choose a "
            "point around which it is defined, or say what it takes with `low:` and `high:`"
        )
    if (estimate.kink & unknown).any():
        return (
            "the function has a kink there, and beside it the gradient varies more than the "
            "one-sided derivatives tell, as where more than two elements tie: choose another "
            "point"
        )
    on_purpose = (
        "if the function rounds on purpose, as one that quantises does, and its gradient passes "
        "straight through, say `expect: inconclusive` and why"
    )
    # (What stands still and jumps is stairs, whose slope nothing tells.)
    stairs = unknown & (estimate.numeric == 0) & np.isinf(estimate.bound)
    coarse = derivatives.noise.relative > tolerances.COARSE or bool(stairs.any())
    told = f"rounding in the function or its gradient hides {hidden}"
    return f"{told}; {on_purpose}" if coarse else told


def output_at(point: Point, flat: int) -> str:
    """An output by its index, and its value."""
    outputs = point.outputs
    which = int(np.searchsorted(outputs.offsets, flat, side="right")) - 1
    per_element = 2 if outputs.complex_[which] else 1
    within = (flat - outputs.offsets[which]) // per_element
    index = tuple(int(i) for i in np.unravel_index(within, outputs.shapes[which]))
    value = outputs.unflatten(point.base)[which][index]
    name = "the output" if len(outputs.shapes) == 1 else f"output {which}"
    return f"{name}{f' at {list(index)}' if index else ''} is {value:.6g}"
