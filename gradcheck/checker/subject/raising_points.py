"""Points that share a call where it raises at some of them: there the function is not defined."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import limits
from gradcheck.checker.budget import current
from gradcheck.checker.subject.row_function import OneByOne

if TYPE_CHECKING:
    from gradcheck.checker.numerics.estimate import Evaluate
    from gradcheck.model import Array


class RaisingPoints:
    """Finds them by halving, so that the others go on sharing calls.

    Without it `test_points_that_raise_are_found_by_halving` fails. It is given who evaluates and
    keeps nobody: else `test_what_a_check_made_goes_with_it` fails.
    """

    def __init__(self, point: Array, width: int) -> None:
        """Nothing is called yet.

        Args:
            point: at which it does not raise.
            width: how many outputs there are.
        """
        self._point = point
        self._width = width
        self._seen = 0
        """At how many points it was seen that a call of their own raises too."""

    def outputs(self, points: Array, together: Evaluate, alone: Evaluate) -> Array:
        """A row for each of these, which raise together.

        Raises OneByOne where so many share no call, wherever they are: a batch may not fit where
        that of the probe did. Were who evaluates them kept instead of given each time,
        `test_what_a_check_made_goes_with_it` would fail.

        Args:
            points: these.
            together: outputs at points that share a call.
            alone: outputs at points with a call each, NaN where it raises.
        """
        try:
            together(np.repeat(self._point[np.newaxis], len(points), axis=0))
        except Exception as error:
            raise OneByOne from error
        return self._halved(points, together, alone)

    def _halved(self, points: Array, together: Evaluate, alone: Evaluate) -> Array:
        if len(points) == 1:
            return self._at(points, alone)
        current().must_be_left()
        half, rows = len(points) // 2, []
        for part in (points[:half], points[half:]):
            try:
                rows.append(together(part))
            except Exception:
                rows.append(self._halved(part, together, alone))
        return np.concatenate(rows)

    def _at(self, point: Array, alone: Evaluate) -> Array:
        if self._seen >= limits.RAISING_SEEN:
            return np.full((1, self._width), np.nan)
        told = alone(point)
        self._seen += bool(np.isnan(told).all())
        return told
