"""How wrong each element of a gradient is, in one digit: enough for pictures, little in JSON."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from gradcheck.model import Verdict

if TYPE_CHECKING:
    from gradcheck.model import Array, Comparison

SHADES = (
    "within the bar",
    "up to 1e-6",
    "up to 1e-3",
    "up to 0.1",
    "up to 1",
    "more, or no number",
    "not judged",
)
"""What each digit means: errors are shares of the largest numeric derivative."""

_EDGES = (1e-6, 1e-3, 1e-1, 1.0)
_TOO_WRONG, _NOT_JUDGED = 5, 6

MOST_SHADED = 4096
"""Elements: more than these no result holds, and no picture shows."""


def error_shades(comparison: Comparison) -> str:
    """A digit for each element, in the order of its index; empty where they are not known."""
    if comparison.shades:
        return comparison.shades
    analytic, numeric, bound = comparison.analytic, comparison.numeric, comparison.bound
    if analytic is None or numeric is None or bound is None:
        return ""
    if not analytic.shape == numeric.shape == bound.shape == comparison.shape:
        return ""
    if comparison.verdict is Verdict.DISCONNECTED or analytic.size > MOST_SHADED:
        return ""
    return "".join(map(str, _shades(analytic, numeric, bound).ravel().tolist()))


def _shades(analytic: Array, numeric: Array, bound: Array) -> Array:
    with np.errstate(all="ignore"):
        error, sizes = np.abs(analytic - numeric), np.abs(numeric)
        largest = np.max(sizes[np.isfinite(sizes)], initial=0.0)
        share = error / largest if largest > 0 else np.where(error > 0, math.inf, 0.0)
        shades = 1 + np.searchsorted(_EDGES, share)
        shades = np.where(error <= np.abs(bound), 0, shades)
        shades = np.where(np.isnan(analytic), _TOO_WRONG, shades)
        return np.where(np.isnan(numeric) & ~np.isnan(analytic), _NOT_JUDGED, shades)
