"""Gradients that would be right for another upstream, or of another input.

What such a gradient should have been cannot be told from the gradient itself; but the numeric
derivative for the other upstream can be taken.

Without it `test_another_upstream` fails.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker.diagnose.fit import Suspects, arrays, broadcast_axes, explains, how_well

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gradcheck.checker.judge.evidence import Evidence
    from gradcheck.model import Array, Comparison


def from_elsewhere(comparison: Comparison, evidence: Evidence) -> Suspects:
    """Another upstream, or another input's gradient: checked by what the numeric would be."""
    analytic, _ = arrays(comparison)
    coordinates = evidence.plan.coordinates
    names = [operand.name for operand in evidence.point.moved]
    position = names.index(comparison.name)
    mine = coordinates.parts[position].columns
    if len(mine) != analytic.size * (2 if np.iscomplexobj(analytic) else 1):
        return
    name = comparison.name
    if evidence.derivatives is None:
        return
    for text, weights, conjugated in _other_upstreams(evidence, position):
        found = evidence.derivatives.with_weights(weights).numeric[mine]
        if conjugated:
            found = np.conj(found.view(np.complex128)).view(np.float64)
        fit = explains(found, comparison)
        if fit is not None:
            cause = "conjugate" if conjugated else "upstream"
            yield cause, f"the gradient of {name} {text} (that fits {how_well(fit)})", None
    for other, theirs in enumerate(names):
        if other == position or coordinates.parts[other].count != len(mine):
            continue
        fit = explains(evidence.inputs[other].estimate.numeric, comparison)
        if fit is not None:
            text = f"the gradient of {name} is that of {theirs}: they are swapped"
            yield "swapped", f"{text} (that fits {how_well(fit)})", None


def _other_upstreams(evidence: Evidence, position: int) -> Iterator[tuple[str, Array, bool]]:
    """What people do with the upstream: a text, its weights, and whether all is conjugated."""
    weights, outputs = evidence.point.weights, evidence.point.outputs
    ignored = "ignores the upstream gradient: it is what an upstream of ones gives"
    yield ignored, np.ones_like(weights), False
    if not any(outputs.complex_):
        squared = "uses the square of the upstream gradient: it is multiplied in twice"
        yield squared, weights**2, False
        yield "uses the size of the upstream gradient, without its sign", np.abs(weights), False
    if any(outputs.complex_) and evidence.point.inputs.complex_[position]:
        # Without its conjugate, Jᵀu is the conjugate of what the conjugate of u would give.
        conjugates = [np.conj(u) for u in outputs.unflatten(weights)]
        yield "lacks a conjugate of the derivative", outputs.flatten(conjugates), True
    shape = evidence.point.inputs.shapes[position]
    if len(outputs.shapes) == 1:
        for axis in broadcast_axes(shape, outputs.shapes[0]):
            kept = np.zeros(outputs.shapes[0])
            np.moveaxis(kept, axis, 0)[0] = 1
            text = (
                f"is that of the first slice along axis {axis} of the output: it was broadcast "
                "along it, so its gradient is to be summed"
            )
            yield text, outputs.flatten([outputs.unflatten(weights)[0] * kept]), False
