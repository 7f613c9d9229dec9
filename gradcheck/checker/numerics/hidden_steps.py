"""Steps that are larger than the reach of a fit, and what they may hide from it.

Along one coordinate several numbers may be rounded, some to finer steps than others. Over a short
reach the fine ones climb many steps, and a fit through those is a good one; the others stand still.
Over longer reaches what a polynomial leaves is as high as the larger steps are, however long these
are. (Beside a switch it grows with the reach, and in a smooth function faster.)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import stepping, tolerances

if TYPE_CHECKING:
    from gradcheck.model import Array


class Reaches:
    """What fits over ever shorter reaches leave, by coordinate.

    Without it `test_steps_that_are_larger_than_the_reach` fails.
    """

    def __init__(self, count: int) -> None:
        """Nothing is known of so many coordinates."""
        self._steps, self._left = np.full((2, stepping.FIT_HALVINGS, count), np.nan)

    def note(self, halving: int, rows: Array, step: Array, left: Array) -> None:
        """Over this reach so much is left."""
        self._steps[halving, rows], self._left[halving, rows] = step, left

    def hidden_slope(self, step: Array, left: Array) -> Array:
        """By coordinate: how steep what a fit of this reach does not see may be; zero if nothing.

        Args:
            step: the reach of the fit that was chosen.
            left: what it leaves.
        """
        first, second, third = (self._at(step * 2.0**doubling) for doubling in (1, 2, 3))
        with np.errstate(all="ignore"):
            grows = np.sqrt(np.where(np.isnan(third), second**2 / first, third) / first)
            # (Where there is but one longer reach, nobody can tell.)
            grows = np.where(np.isnan(grows), 1.0, grows)
            hides = (first > tolerances.HIDDEN_ABOVE * left) & (grows <= tolerances.HIDDEN_ALIKE)
            steep = first / tolerances.ROUNDING_SHARE / (2 * step)
        return np.where(hides, steep, 0.0)

    def _at(self, step: Array) -> Array:
        """What is left over the reach that is this long; NaN where there was none."""
        there = np.isclose(self._steps, step, rtol=1e-6)
        return np.where(there.any(axis=0), np.where(there, self._left, -np.inf).max(axis=0), np.nan)
