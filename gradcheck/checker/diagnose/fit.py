"""What the suspects of a diagnosis have in common."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gradcheck.checker import tolerances
from gradcheck.model import Array, Comparison, Shape

Suspects = Iterator[tuple[str, str, Array | None]]
"""Cause, sentence, and what the gradient would be without the fault, which is then compared with
the numeric derivative; None where that was done already."""


def how_well(fit: float) -> str:
    """How well two gradients agree, relative to the largest element."""
    return f"to {fit:.0e}" if fit > 0 else "exactly"


def arrays(comparison: Comparison) -> tuple[Array, Array]:
    """The two gradients, which `diagnose` has seen to be there."""
    return np.asarray(comparison.analytic), np.asarray(comparison.numeric)


def broadcast_axes(given: Shape, wanted: Shape) -> list[int]:
    """The axes of the output along which an input of this shape was repeated."""
    try:
        if given == wanted or np.broadcast_shapes(given, wanted) != wanted:
            return []
    except ValueError:
        return []
    padded = (1,) * (len(wanted) - len(given)) + given
    return [axis for axis, (a, b) in enumerate(zip(padded, wanted, strict=True)) if a != b]


def explains(found: Array, comparison: Comparison) -> float | None:
    """How well the analytic gradient is what was found, a number for each coordinate.

    None if it is not; also where the right derivative is about as close.
    """
    analytic, numeric = (_flat(array) for array in arrays(comparison))
    fit = _distance(found.ravel(), analytic)
    return (
        fit
        if fit <= min(tolerances.FIT, tolerances.EXPLAINED * _distance(numeric, analytic))
        else None
    )


def _flat(gradient: Array) -> Array:
    if np.iscomplexobj(gradient):
        return np.ascontiguousarray(gradient).ravel().view(np.float64)
    return gradient.ravel()


def _distance(one: Array, other: Array) -> float:
    """Relative to the largest number."""
    scale = float(np.max(np.abs(one[np.isfinite(one)]), initial=0.0))
    worst = float(np.max(np.abs(one - other)))
    return worst / scale if scale > 0 and np.isfinite(worst) else np.inf
