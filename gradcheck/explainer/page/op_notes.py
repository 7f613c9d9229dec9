"""What there is to say beside an op's formula: broadcasting, limits, related ops."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from gradcheck.explainer.document import Bullets, Section
from gradcheck.explainer.formula.broadcasting import formula_shape, is_elementwise, repeated_axes
from gradcheck.ops.rules import broadcast_call

if TYPE_CHECKING:
    from gradcheck.explainer.derive.op_subject import Subject
    from gradcheck.ops.declaration import Parameter

__all__ = ["broadcasting", "undefined"]

_BATCHES = {
    "linalg": "Axes before the last two are batch axes: the formula holds for each matrix by "
    "itself.",
    "reduce": "The axes that are not named are batch axes: along each of them the formula holds "
    "slice by slice.",
    "array": "Axes that the op leaves alone are carried along: the formula holds for each of their "
    "slices.",
    "joining": "Nothing is broadcast: apart from the axis of joining all shapes must agree.",
}
"""By family: what batch axes add."""

_SUMMED = (
    "Inputs of different shapes are broadcast: what was repeated on the way forward is summed on "
    "the way back, over each axis that an input lacks or has with size 1."
)


def broadcasting(subject: Subject) -> Section:
    """What broadcasting and batch axes add to the formula."""
    op, lines = subject.op, list[str]()
    for name in subject.gradients if not op.outputs else ():
        shape = subject.call.shapes[name]
        axes = repeated_axes(formula_shape(op, subject.call, name), shape)
        if axes:
            lines.append(
                f"{subject.symbols[name]} was broadcast, so its gradient is summed over axis "
                f"{', '.join(map(str, axes))}, back to shape {list(shape)}."
            )
    broadcasts = op.shape is broadcast_call or op.name in ("matmul", "matvec")
    if broadcasts and not lines and len(subject.call.shapes) > 1:
        lines.append(_SUMMED)
    if op.batches:
        lines.append(op.batches)
    elif is_elementwise(op):
        lines.append("Any number of axes: the formula holds element by element.")
    else:
        lines.append(_BATCHES[op.family])
    return Section("Broadcasting and batches", (Bullets(tuple(lines)),))


def undefined(subject: Subject) -> Section:
    """Where the op has no value or no derivative."""
    lines = list(subject.op.undefined)
    for parameter in subject.op.inputs if not lines else ():
        lines += _domain(parameter, subject.symbols.get(parameter.name, parameter.name))
    if not lines:
        lines = ["Defined and differentiable everywhere."]
    return Section("Where it is not defined or not differentiable", (Bullets(tuple(lines)),))


def _domain(parameter: Parameter, symbol: str) -> list[str]:
    domain = parameter.domain
    low, high = math.isfinite(domain.low), math.isfinite(domain.high)
    said = []
    if low and high:
        said.append(f"{symbol} must lie between {domain.low:.4g} and {domain.high:.4g}.")
    elif low:
        said.append(f"{symbol} must lie above {domain.low:g}.")
    elif high:
        said.append(f"{symbol} must lie below {domain.high:g}.")
    bends = [k for k in domain.kinks if k not in (domain.low, domain.high)]
    if bends:
        said.append(f"At {symbol} = {' and '.join(f'{k:g}' for k in bends)} there is a kink.")
    return said
