"""An analytic gradient against a numeric one with error bars: coordinate by coordinate.

The tolerance is the numeric derivative's own bound, plus what the arithmetic of the analytic
gradient itself may lose. There is no fixed absolute tolerance: where a gradient is 1e-12, an error
of 1e-13 is an error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import tolerances
from gradcheck.errors import UsageError
from gradcheck.model import Verdict
from gradcheck.model.frozen import frozen

if TYPE_CHECKING:
    from gradcheck.checker.numerics.estimate import Estimate
    from gradcheck.model import Array, Tolerance

VERDICTS = (
    Verdict.PASS,
    Verdict.KINK,
    Verdict.INCONCLUSIVE,
    Verdict.NONFINITE,
    Verdict.MISMATCH,
)
"""What a coordinate can be, from the mildest to the gravest."""

PASS, KINK, INCONCLUSIVE, NONFINITE, MISMATCH = range(len(VERDICTS))


@frozen()
class Agreement:
    """How each coordinate fared."""

    grades: Array
    """By coordinate: the place of its verdict in VERDICTS."""
    error: Array
    tolerance: Array
    rounding: bool = False
    """Whether they only agree since the gradient's own arithmetic is known to lose so much."""
    excuse: str = ""
    """Why some pass that do not agree, in words; empty where none does."""

    @property
    def overall(self) -> Verdict:
        """The verdict of all the coordinates together."""
        return VERDICTS[int(self.grades.max(initial=PASS))]

    def worst(self, count: int) -> Array:
        """Which of the coordinates that look wrong are the worst, in their order."""
        suspects = np.flatnonzero(self.grades == MISMATCH)
        return np.sort(suspects[np.argsort(-self.error[suspects])][:count])

    @property
    def failing(self) -> Array:
        """By coordinate: whether it is neither right nor at a kink."""
        return np.asarray(self.grades > KINK)


def compare(
    analytic: Array,
    estimate: Estimate,
    *,
    reference: float,
    slack: Array | float = 0.0,
    tolerance: Tolerance | None = None,
    excused: Array | None = None,
    beyond_reach: Array | None = None,
    vacuous: Array | float = tolerances.VACUOUS,
) -> Agreement:
    """Compare coordinate by coordinate.

    Args:
        analytic: the derivative along each coordinate, from TensorFlow.
        estimate: the numeric one.
        reference: the size of a derivative that matters for this input.
        slack: what the analytic gradient's own noise was measured to be.
        tolerance: given by hand, in place of the error bars.
        excused: coordinates that cannot be moved (infinite inputs) and so are not judged.
        beyond_reach: coordinates whose claimed derivative would show only at smaller steps than
            there are, and so cannot be refuted.
        vacuous: the share of `reference` above which a bound judges nothing.
    """
    with np.errstate(all="ignore"):
        numeric = estimate.numeric
        nearest = numeric
        if estimate.kink.any():
            low = np.minimum(estimate.left, estimate.right)
            high = np.maximum(estimate.left, estimate.right)
            nearest = np.where(estimate.kink, np.clip(analytic, low, high), numeric)
        # (Equal infinities are no error.)
        error = np.where(analytic == nearest, 0.0, np.abs(analytic - nearest))
        allowed = tolerances.BOUND_SAFETY * estimate.bound + slack
        allowed = allowed + tolerances.ARITHMETIC * np.maximum(np.abs(numeric), estimate.scale)
        if tolerance is not None:
            allowed = tolerance.atol + tolerance.rtol * np.abs(nearest)
        infinite = np.isinf(numeric)
        matters = vacuous * np.maximum(reference, np.abs(numeric))
        unknown = ~infinite & ~(estimate.bound + slack <= matters)
        # (Where the derivative is infinite, so is the gradient, and of the same sign.)
        broken = np.isnan(analytic) | (np.isinf(analytic) & ~infinite)
        wrong = np.where(infinite, analytic != numeric, error > allowed)
    # The last that applies stays.
    grades = np.where(estimate.kink, KINK, PASS)
    grades[wrong] = MISMATCH
    grades[unknown] = INCONCLUSIVE
    grades[broken] = NONFINITE
    if beyond_reach is not None:
        # (An infinite one shows at every step, by its sign.)
        hidden = beyond_reach & ~(infinite & np.isinf(analytic))
        grades[hidden & (broken | wrong)] = INCONCLUSIVE
    if excused is not None and excused.any():
        grades[excused & (grades != NONFINITE)] = PASS
        error = np.where(excused, 0.0, error)
    return Agreement(grades, error, allowed)


def must_be_able_to_fail(tolerance: Tolerance | None, size: float, name: str) -> None:
    """Refuse a tolerance given by hand that every derivative of this size would pass.

    Args:
        tolerance: if one was given.
        size: of the largest derivative of the input.
        name: of the input.
    """
    if tolerance is not None and 0 < size < tolerance.atol:
        raise UsageError(
            f"the tolerance cannot fail: atol {tolerance.atol:g} is above the largest derivative "
            f"of {name}, {size:.3g}"
        )


def relative_error(error: Array, analytic: Array, estimate: Estimate) -> Array:
    """The error relative to the element; zero where the element cannot be told from zero."""
    with np.errstate(all="ignore"):
        size = np.maximum(np.abs(analytic), np.abs(estimate.numeric))
        told = (size > estimate.bound) & np.isfinite(error) & (size > 0)
        return np.where(told, error / size, 0.0)
