"""A function that is another one each time has no derivative."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import tolerances
from gradcheck.checker.numerics.vectors import largest
from gradcheck.checker.subject.ended import Ended
from gradcheck.checker.subject.quantile import REPARAMETERISED
from gradcheck.model import Stage, Verdict

if TYPE_CHECKING:
    from gradcheck.model import Array


def must_be_the_same(again: Array, first: Array, last_digit: float) -> None:
    """End the check unless each of these rows of outputs is what the first call gave.

    Args:
        again: outputs, a row for each call.
        first: those of the first call.
        last_digit: relative to a number, in the precision of the function.
    """
    with np.errstate(all="ignore"):
        same = (again == first) | (np.isnan(again) & np.isnan(first))
        apart = float(np.max(np.abs(np.where(same, 0.0, again - first)), initial=0.0))
    # (Sums may be taken in another order from call to call: that is rounding.)
    share = tolerances.SAME_AGAIN * last_digit / tolerances.LAST_DIGIT
    if apart <= share * largest(first):
        return
    if apart > 0 and (again == again[0]).all():
        raise Ended(
            Verdict.INCONCLUSIVE,
            "where its gradient is wanted, the function gives another result than else: they "
            f"differ by {apart:.3g}. Samplers do that: {REPARAMETERISED}",
            Stage.REPEATABILITY,
        )
    if apart > 0:
        raise Ended(
            Verdict.INCONCLUSIVE,
            "the function is not deterministic: calls with the same inputs differ by "
            f"{apart:.3g}. Fix its seed (tf.random.stateless_…), or switch the randomness off "
            "for the check. If nothing in it is random, an op leaves its result undefined, as "
            "tf.linalg.cholesky does of a matrix that is not positive definite: give the "
            "input a sample it can take (`sample: spd`)",
            Stage.REPEATABILITY,
        )


def are_equal(found: Array, expected: Array, allowed: float) -> bool:
    """Whether all numbers are what is expected, to so much; NaN is NaN."""
    with np.errstate(invalid="ignore"):
        same = np.abs(found - expected) <= allowed
        if same.all():
            return True
        same |= (found == expected) | (np.isnan(found) & np.isnan(expected))
    return bool(same.all())
