"""Gradients that would be right for another upstream, or of another input.

What such a gradient should have been cannot be told from the gradient itself; but the numeric
derivative for the other upstream can be taken.

Without it `test_another_upstream` fails.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker.diagnose.fit import Suspects, broadcast_axes, with_fault
from gradcheck.checker.diagnose.view import View
from gradcheck.model import Array

if TYPE_CHECKING:
    from collections.abc import Iterator

Weights = Callable[[View], Array]
"""Another upstream in place of the one that was given, as one vector."""


def from_elsewhere(view: View) -> Suspects:
    """Another upstream, or another input's gradient: checked by what the numeric would be."""
    parts = view.evidence.plan.coordinates.parts
    mine = view.columns
    if len(mine) != view.analytic.size * (2 if np.iscomplexobj(view.analytic) else 1):
        return
    for text, weights, conjugated in _other_upstreams(view):
        cause = "conjugate" if conjugated else "upstream"
        found = partial(_for_upstream, weights=weights, conjugated=conjugated)
        yield with_fault(cause, f"the gradient of {view.name} {text}", found)
    for other, operand in enumerate(view.evidence.point.moved):
        if other != view.position and parts[other].count == len(mine):
            text = f"the gradient of {view.name} is that of {operand.name}: they are swapped"
            yield with_fault("swapped", text, partial(_of_input, position=other))


def _for_upstream(view: View, weights: Weights, conjugated: bool) -> Array | None:
    """The numeric derivative for another upstream."""
    if view.evidence.derivatives is None:
        return None
    found = view.evidence.derivatives.with_weights(weights(view)).numeric[view.columns]
    return np.conj(found.view(np.complex128)).view(np.float64) if conjugated else found


def _of_input(view: View, position: int) -> Array | None:
    return view.evidence.inputs[position].estimate.numeric


def _other_upstreams(view: View) -> Iterator[tuple[str, Weights, bool]]:
    """What people do with the upstream: a text, its weights, and whether all is conjugated."""
    outputs = view.evidence.point.outputs
    ignored = "ignores the upstream gradient: it is what an upstream of ones gives"
    yield ignored, lambda view: np.ones_like(view.evidence.point.weights), False
    if not any(outputs.complex_):
        squared = "uses the square of the upstream gradient: it is multiplied in twice"
        yield squared, lambda view: view.evidence.point.weights**2, False
        unsigned = "uses the size of the upstream gradient, without its sign"
        yield unsigned, lambda view: np.abs(view.evidence.point.weights), False
    if any(outputs.complex_) and view.evidence.point.inputs.complex_[view.position]:
        # Without its conjugate, Jᵀu is the conjugate of what the conjugate of u would give.
        yield "lacks a conjugate of the derivative", _conjugated, True
    if len(outputs.shapes) == 1:
        for axis in broadcast_axes(view.shape, outputs.shapes[0]):
            text = (
                f"is that of the first slice along axis {axis} of the output: it was broadcast "
                "along it, so its gradient is to be summed"
            )
            yield text, partial(_first_slice, axis=axis), False


def _conjugated(view: View) -> Array:
    return view.evidence.point.outputs.flatten([np.conj(u) for u in view.upstream])


def _first_slice(view: View, axis: int) -> Array:
    outputs = view.evidence.point.outputs
    kept = np.zeros(outputs.shapes[0])
    np.moveaxis(kept, axis, 0)[0] = 1
    return outputs.flatten([view.upstream[0] * kept])
