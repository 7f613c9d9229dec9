"""Which elements of a gradient that look wrong in low precision are only as wrong as the function.

Many elements are asked for together where their points share a call. Where each point costs a call
of its own, asking ends with the first element that is to blame: without that
`test_asking_ends_with_the_first_to_blame` fails.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import limits, tolerances
from gradcheck.checker.subject.row_function import OneByOne

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gradcheck.checker.precision.function_slope import FunctionSlopes
    from gradcheck.model import Array

Index = tuple[int, ...]


class Excuses:
    """What the function's own slopes excuse; an element that was excused stays so."""

    def __init__(self, slopes: FunctionSlopes) -> None:
        """Nothing is asked yet."""
        self._slopes = slopes
        self._excused: dict[tuple[int, bool], set[Index]] = {}

    def off_by_itself(
        self,
        wrong: Array,
        error: Array,
        allowed: Array,
        position: int,
        to_blame: Callable[[Index], bool] | None = None,
    ) -> Array:
        """Those of the wrong elements whose error is not that of the function's own slope.

        Where the worst of them are all excused, the others are too.

        Args:
            wrong: the elements that look wrong.
            error: what each is off.
            allowed: what each may be off.
            position: of the input.
            to_blame: whether an element that is not excused is enough, so that no others need be
                asked for; where there is none, the slope must show the error, and not only leave
                room for it.
        """
        left = np.array(wrong)  # (of a scalar a copy would be no array)
        if np.iscomplexobj(error):
            return left  # (Only one direction of the complex plane would be moved along.)
        known = self._excused.setdefault((position, to_blame is None), set())
        worst = _worst(wrong, error, allowed)
        asked = [index for index in worst if index not in known]
        while asked:
            group = asked[: self._slopes.at_once]
            try:
                known |= self._among(group, error, allowed, position, shown=to_blame is None)
            except OneByOne:
                continue
            asked = asked[len(group) :]
            if to_blame is not None and any(to_blame(i) for i in group if i not in known):
                break
        for index in known.intersection(worst):
            left[index] = False
        return left if any(left[index] for index in worst) else np.zeros_like(left)

    def _among(
        self, group: Sequence[Index], error: Array, allowed: Array, position: int, *, shown: bool
    ) -> set[Index]:
        """Those of these elements that are excused."""
        excused: set[Index] = set()
        for reach in limits.SLOPE_REACHES:
            asked = [index for index in group if index not in excused]
            if not asked:
                break
            slopes = self._slopes.along(position, asked, reach)
            for index, (off, deviation) in zip(asked, slopes, strict=True):
                unexplained = abs(error[index] - off)
                most = tolerances.SLOPE_SHOWN * abs(error[index])
                possible = unexplained <= allowed[index] + deviation < np.inf
                farthest = reach == limits.SLOPE_REACHES[0] and not shown
                if max(unexplained, deviation) <= most or (possible and farthest):
                    excused.add(index)
        return excused


def _worst(wrong: Array, error: Array, allowed: Array) -> list[Index]:
    """The elements that are farthest beyond what they may be off, the farthest first."""
    ratio = np.where(wrong, np.abs(error) / np.where(allowed > 0, allowed, 1.0), -1.0)
    places = np.argsort(-ratio.ravel())[: min(limits.SLOPES, int(wrong.sum()))]
    return [tuple(int(i) for i in np.unravel_index(place, wrong.shape)) for place in places]
