"""Whether what several elements are off, together, is what other last digits make of them.

Labels that add up to one but for their rounding make the gradients of a row off by one number times
the probabilities. Element by element that could hide a fault of the same size. Two elements of a
row tell more: they are off by shares that no last digits change, and a fault has other shares.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import tolerances
from gradcheck.checker.numerics.vectors import epsilon_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcheck.model import Array


@dataclass(frozen=True)
class Explained:
    """What other last digits say of what is off."""

    fits: bool
    """Whether what is off is one of those that they make."""
    hides: float
    """The share of the gradient by which all its elements could be wrong, and that would not show.

    Without it `test_what_is_hidden_by_few_bits_is_no_pass` fails.
    """


def explained(here: Array, slope: Array, beside: Sequence[Array], known: Array) -> Explained:
    """Ask every element, and every two of them.

    Args:
        here: what is off at the point, by element.
        slope: the derivatives there.
        beside: what is off where last digits are others, by draw.
        known: by element, how well these are known.
    """
    changes = np.asarray(beside) - here
    if not np.isfinite(changes).all():
        return Explained(fits=True, hides=np.inf)
    spread = changes.T @ changes / len(changes) + np.diag(known**2)
    farthest, shown = 0.0, 0.0
    count = len(here)
    groups = [[i] for i in range(count)] + [list(pair) for pair in combinations(range(count), 2)]
    for group in groups:
        farthest = max(farthest, _distance(here[group], spread[np.ix_(group, group)]))
        shown = max(shown, _distance(slope[group], spread[np.ix_(group, group)]))
    hides = tolerances.UNEXPLAINED / shown if shown else np.inf
    return Explained(farthest <= tolerances.UNEXPLAINED, hides)


def _distance(vector: Array, spread: Array) -> float:
    """How long it is in standard deviations (Mahalanobis 1936); units of the elements are none."""
    units = np.sqrt(np.diag(spread))
    if not (units > 0).all():
        return 0.0
    values, directions = np.linalg.eigh(spread / np.outer(units, units))
    # (What cancels in the spread itself is no more than its last digits.)
    values = np.maximum(values, len(values) * epsilon_of(np.dtype(np.float64)))
    return float(np.sqrt(np.sum((directions.T @ (vector / units)) ** 2 / values)))
