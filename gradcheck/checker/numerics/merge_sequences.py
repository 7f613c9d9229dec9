"""What two sequences of steps tell together of some coordinates: the better of them, mostly.

Where they contradict each other, the one with the smaller steps is right: smaller steps can only
reduce the truncation, and the round-off is in the bound.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import stepping, tolerances
from gradcheck.checker.numerics.step_choice import roundoff_at
from gradcheck.model.frozen import altered

if TYPE_CHECKING:
    from gradcheck.checker.numerics.estimate import Estimate
    from gradcheck.model import Array


def merged_with(best: Estimate, columns: Array, told: Estimate) -> Estimate:
    """The best of what was known and of what a new sequence of steps tells of some coordinates.

    Without it `test_near_ties` and `test_no_false_alarm_at_any_magnitude` fail.
    """
    before = best.take(columns)
    finer = told.finest <= before.finest
    contradicts = np.abs(told.value - before.value) > tolerances.BOUND_SAFETY * (
        told.error + before.error
    )
    better = np.where(contradicts, finer, told.error < before.error)
    # A kink that smaller steps no longer show, though they could, was only near, not here.
    shows = roundoff_at(told, told.finest) < stepping.RESOLVES * before.contrast
    better |= finer & before.kink & ~told.kink & shows
    # Nor is it here if longer steps show it that shorter ones did not.
    near = told.kink & ~before.kink
    near &= before.roundoff < stepping.HALF_A_KINK * told.contrast
    better &= finer | ~near
    # Longer steps may reach across a kink: what shorter ones say against them, beyond half of their
    # round-off, counts.
    against = np.abs(told.value - before.value) - stepping.HALF_A_BAR * before.error
    told = altered(told, error=np.where(finer, told.error, np.fmax(told.error, against)))
    better &= finer | (told.error < before.error)
    take = ~np.isfinite(before.error) | (better & np.isfinite(told.error))
    kept = np.flatnonzero(~take)
    chosen = told
    if len(kept):
        chosen = told.copy()
        chosen.put(kept, before.take(kept))
    chosen = altered(
        chosen,
        finest=np.minimum(told.finest, before.finest),
        coarsest=np.maximum(told.coarsest, before.coarsest),
        change=np.fmax(told.change, before.change),
    )
    if len(columns) == len(best.value):
        return chosen
    merged = best.copy()
    merged.put(columns, chosen)
    return merged
