"""Gradients that would be right for another upstream, or of another input.

What such a gradient should have been cannot be told from the gradient itself; but the numeric
derivative for the other upstream can be taken.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker.suspects import FIT, Suspects, arrays, how_well

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gradcheck.checker.reference import Reference
    from gradcheck.model import Array, Comparison, Shape


def from_elsewhere(comparison: Comparison, reference: Reference) -> Suspects:
    """Another upstream, or another input's gradient: checked by what the numeric would be."""
    analytic, _ = arrays(comparison)
    coordinates = reference.coordinates
    names = [operand.name for operand in reference.moved]
    position = names.index(comparison.name)
    mine = coordinates.columns(position)
    if len(mine) != analytic.size * (2 if np.iscomplexobj(analytic) else 1):
        return
    name = comparison.name
    for text, weights, conjugated in _other_upstreams(reference, position):
        candidate = np.conj(analytic) if conjugated else analytic
        fit = _fit(reference.with_weights(weights).numeric[mine], candidate)
        if fit <= FIT:
            cause = "conjugate" if conjugated else "upstream"
            yield cause, f"the gradient of {name} {text} (that fits {how_well(fit)})", None
    own = reference.elements.estimate()
    for other, theirs in enumerate(names):
        columns = coordinates.columns(other)
        if other == position or len(columns) != len(mine):
            continue
        fit = _fit(own.numeric[columns], analytic)
        if fit <= FIT:
            text = f"the gradient of {name} is that of {theirs}: they are swapped"
            yield "swapped", f"{text} (that fits {how_well(fit)})", None


def _other_upstreams(reference: Reference, position: int) -> Iterator[tuple[str, Array, bool]]:
    """What people do with the upstream: a text, its weights, and whether all is conjugated."""
    weights, outputs = reference.weights, reference.evaluator.outputs
    ignored = "ignores the upstream gradient: it is what an upstream of ones gives"
    yield ignored, np.ones_like(weights), False
    if any(outputs.complex_) and reference.evaluator.inputs.complex_[position]:
        # Without its conjugate, Jᵀu is the conjugate of what the conjugate of u would give.
        conjugates = [np.conj(u) for u in outputs.unflatten(weights)]
        yield "lacks a conjugate of the derivative", outputs.flatten(conjugates), True
    shape = reference.evaluator.inputs.shapes[position]
    if len(outputs.shapes) == 1:
        for axis in _broadcast_axes(shape, outputs.shapes[0]):
            kept = np.zeros(outputs.shapes[0])
            np.moveaxis(kept, axis, 0)[0] = 1
            text = (
                f"is that of the first slice along axis {axis} of the output: it was broadcast "
                "along it, so its gradient is to be summed"
            )
            yield text, outputs.flatten([outputs.unflatten(weights)[0] * kept]), False


def _broadcast_axes(given: Shape, wanted: Shape) -> list[int]:
    """The axes of the output along which an input of this shape was repeated."""
    try:
        if given == wanted or np.broadcast_shapes(given, wanted) != wanted:
            return []
    except ValueError:
        return []
    padded = (1,) * (len(wanted) - len(given)) + given
    return [axis for axis, (a, b) in enumerate(zip(padded, wanted, strict=True)) if a != b]


def _fit(flat: Array, gradient: Array) -> float:
    """How far coordinates and a gradient are apart, relative to their largest number."""
    if np.iscomplexobj(gradient):
        other = np.ascontiguousarray(gradient).ravel().view(np.float64)
    else:
        other = gradient.ravel()
    scale = float(np.max(np.abs(flat[np.isfinite(flat)]), initial=0.0))
    worst = float(np.max(np.abs(flat - other)))
    return worst / scale if scale > 0 and np.isfinite(worst) else np.inf
