"""Derivatives of a function that rounds off more than it shows, because little is left of it.

Where a distribution ends, the logarithm of one less a last digit is nearly zero, and does not move
until that digit does: over short steps there is no slope, and no noise that could be measured. What
the results on the way round off tells how long the steps have to be.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import tolerances
from gradcheck.model.frozen import altered

if TYPE_CHECKING:
    from gradcheck.checker.numerics.estimate import Estimate
    from gradcheck.checker.reference.derivatives import Derivatives


def listening(derivatives: Derivatives) -> Derivatives:
    """The same, with the noise that the function does not show; itself where there is none.

    Without it `test_what_is_one_but_for_its_last_digits` fails.
    """
    point, noise = derivatives.point, derivatives.noise
    if point.rounds or derivatives.is_rough:
        # (Who rounds to fewer digits has stairs, which polynomials are laid through.)
        return derivatives
    with np.errstate(all="ignore"):
        size = np.where(np.isfinite(point.base), np.abs(point.base), 0.0)
        shown = np.fmax(noise.level, noise.relative * size)
    hides = point.rounded_off > tolerances.HIDES * shown
    if not hides.any():
        return derivatives
    level = np.where(hides, point.rounded_off, noise.level)
    parts = np.where(hides, point.rounded_off / tolerances.LAST_DIGIT, 0.0)
    return altered(derivatives, noise=altered(noise, level=level, parts=parts))


def as_it_may_hide(derivatives: Derivatives, estimate: Estimate) -> tuple[Derivatives, Estimate]:
    """What is known of what stands still, once it is known what the function rounds off.

    Without it `test_zero_for_what_only_seems_to_stand_still` fails.
    """
    still = (estimate.scale == 0) & np.isfinite(estimate.error)
    louder = listening(derivatives) if still.any() else derivatives
    if louder is derivatives:
        return derivatives, estimate
    return louder, louder.by_element(estimate, still)
