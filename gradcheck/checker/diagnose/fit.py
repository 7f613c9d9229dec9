"""A suspect, and when it explains a gradient."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from gradcheck.checker import causes
from gradcheck.checker.diagnose.view import View
from gradcheck.model import Array, Shape

Hypothesis = Callable[[View], Array | None]
"""What a gradient would be, at any point; None where that cannot be told."""


@dataclass(frozen=True)
class Suspect:
    """A cause that may explain a wrong gradient, at this point and at any other."""

    cause: str
    text: str
    fit: Callable[[View], float | None]
    """How well it explains the gradient there, relative to its largest element; None if not."""
    ending: str = ""
    """How that is told."""

    def told(self, fit: float, more: str = "") -> str:
        """The sentence for the report."""
        return self.text + more + self.ending.format(how_well(fit))


Suspects = Iterator[Suspect]


def without_fault(cause: str, text: str, gradient: Hypothesis) -> Suspect:
    """A suspect that says what the gradient would be without the fault: the numeric derivative."""

    def fit(view: View) -> float | None:
        candidate = gradient(view)
        return None if candidate is None else repairs(candidate, view)

    return Suspect(cause, text, fit, " (but for that it agrees {})")


def with_fault(cause: str, text: str, gradient: Hypothesis) -> Suspect:
    """A suspect that says what a gradient with the fault would be: the one that was given."""

    def fit(view: View) -> float | None:
        candidate = gradient(view)
        return None if candidate is None else explains(candidate, view)

    return Suspect(cause, text, fit, " (that fits {})")


def how_well(fit: float) -> str:
    """How well two gradients agree, relative to the largest element."""
    return f"to {fit:.0e}" if fit > 0 else "exactly"


def broadcast_axes(given: Shape, wanted: Shape) -> list[int]:
    """The axes of the output along which an input of this shape was repeated."""
    try:
        if given == wanted or np.broadcast_shapes(given, wanted) != wanted:
            return []
    except ValueError:
        return []
    padded = (1,) * (len(wanted) - len(given)) + given
    return [axis for axis, (a, b) in enumerate(zip(padded, wanted, strict=True)) if a != b]


def repairs(candidate: Array, view: View) -> float | None:
    """How well the candidate is the numeric derivative, relative to its largest element.

    None if it is not: also if it leaves a wrong element about as wrong as it was, which a factor
    close to one would do.
    """
    known, numeric = view.known, view.numeric
    before = np.abs(view.analytic - numeric)[known]
    after, allowed = np.abs(candidate - numeric)[known], view.allowed[known]
    if not (after <= allowed + causes.FIT * view.largest).all():
        return None
    wrong = ~(before <= allowed)
    if not (after <= np.maximum(allowed, causes.EXPLAINED * before))[wrong].all():
        return None
    return float(after.max()) / view.largest if view.largest else 0.0


def explains(found: Array, view: View) -> float | None:
    """How well the analytic gradient is what was found, a number for each coordinate.

    None if it is not; also where the right derivative is about as close.
    """
    analytic, numeric = _flat(view.analytic), _flat(view.numeric)
    fit = _distance(found.ravel(), analytic)
    return fit if fit <= min(causes.FIT, causes.EXPLAINED * _distance(numeric, analytic)) else None


def _flat(gradient: Array) -> Array:
    if np.iscomplexobj(gradient):
        return np.ascontiguousarray(gradient).ravel().view(np.float64)
    return gradient.ravel()


def _distance(one: Array, other: Array) -> float:
    """Relative to the largest number."""
    scale = float(np.max(np.abs(one[np.isfinite(one)]), initial=0.0))
    worst = float(np.max(np.abs(one - other)))
    return worst / scale if scale > 0 and np.isfinite(worst) else np.inf
