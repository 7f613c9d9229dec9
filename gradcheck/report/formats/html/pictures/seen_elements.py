"""The elements of a comparison that can be drawn: all of them, or the worst that a report tells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from gradcheck.model import Array, Comparison


@dataclass(frozen=True, slots=True, eq=False)
class SeenElements:
    """Numbers by element, as flat arrays of real ones: of complex ones both parts, in turn."""

    analytic: Array
    numeric: Array
    bound: Array
    parts: int
    """How many numbers an element has: of complex ones two."""
    all_of_them: bool
    """Whether these are all the elements, and not only the worst."""

    @property
    def outside(self) -> Array:
        """Where the gradient is not within the error bar; NaN is not."""
        with np.errstate(all="ignore"):
            return np.asarray(~(np.abs(self.analytic - self.numeric) <= self.bound))


def seen_elements(comparison: Comparison) -> SeenElements | None:
    """What is known by element; None if nothing is."""
    arrays = (comparison.analytic, comparison.numeric, comparison.bound)
    known = [array for array in arrays if array is not None and array.size]
    if len(known) == len(arrays) and len({array.size for array in known}) == 1:
        analytic, numeric, bound = known
        whole = True
    elif comparison.worst:
        analytic, numeric = (
            np.array([getattr(element, name) for element in comparison.worst])
            for name in ("analytic", "numeric")
        )
        bound, whole = np.array([element.bound for element in comparison.worst]), False
    else:
        return None
    parts = 2 if np.iscomplexobj(analytic) or np.iscomplexobj(numeric) else 1
    return SeenElements(
        _real(analytic, parts),
        _real(numeric, parts),
        np.repeat(np.abs(bound).astype(np.float64).ravel(), parts),
        parts,
        whole,
    )


def _real(array: Array, parts: int) -> Array:
    if parts == 1:
        return np.asarray(array.astype(np.float64).ravel())
    return np.ascontiguousarray(array.ravel(), np.complex128).view(np.float64)
