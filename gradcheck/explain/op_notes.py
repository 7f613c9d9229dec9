"""What there is to say beside an op"s formula: broadcasting, limits, related ops."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from gradcheck import ops
from gradcheck.explain.document import Bullets, Section
from gradcheck.explain.subject import Subject, is_elementwise

if TYPE_CHECKING:
    from gradcheck.ops.declaration import Op, Parameter

__all__ = ["broadcasting", "related", "undefined"]


def broadcasting(subject: Subject) -> list[Section]:
    """What broadcasting and batch axes add to the formula."""
    op, lines = subject.op, list[str]()
    stretched = {
        name: axes
        for name in subject.gradients
        if (axes := _stretched(subject, name)) and not op.outputs
    }
    summed = is_elementwise(op) or op.name in ("matmul", "matvec")
    for name, axes in stretched.items():
        if summed:
            lines.append(
                f"{subject.symbols[name]} was broadcast, so its gradient is summed over axis "
                f"{', '.join(map(str, axes))}, back to shape {list(subject.call.shapes[name])}."
            )
    if summed and not lines and len(subject.call.shapes) > 1:
        lines.append(
            "Inputs of different shapes are broadcast: what was repeated on the way "
            "forward is summed on the way back, "
            "over each axis that an input lacks or has with size 1."
        )
    if op.family == "linalg" and op.name not in ("einsum", "tensordot"):
        lines.append(
            "Axes before the last two are batch axes: the formula holds for each matrix by itself."
        )
    elif is_elementwise(op) and not lines:
        lines.append("Any number of axes: the formula holds element by element.")
    return [Section("Broadcasting and batches", (Bullets(tuple(lines)),))] if lines else []


def _stretched(subject: Subject, name: str) -> list[int]:
    shape, full = subject.call.shapes[name], subject.shape
    if subject.op.name == "matmul":
        shape, full = shape[:-2], full[:-2]
    extra = len(full) - len(shape)
    if extra < 0:
        return []
    return [i for i in range(len(full)) if i < extra or (shape[i - extra] == 1 and full[i] != 1)]


def undefined(subject: Subject) -> list[Section]:
    """Where the op has no value or no derivative."""
    lines = list(subject.op.undefined)
    for parameter in subject.op.inputs:
        text = _domain(parameter, subject.symbols.get(parameter.name, parameter.name))
        if text:
            lines.append(text)
    if not lines:
        lines = ["Defined and differentiable everywhere."]
    return [Section("Where it is not defined or not differentiable", (Bullets(tuple(lines)),))]


def _domain(parameter: Parameter, symbol: str) -> str:
    domain = parameter.domain
    said = []
    low, high = math.isfinite(domain.low), math.isfinite(domain.high)
    if low and high:
        said.append(f"{symbol} lies between {domain.low:.4g} and {domain.high:.4g}")
    elif low:
        said.append(f"{symbol} lies above {domain.low:g}")
    elif high:
        said.append(f"{symbol} lies below {domain.high:g}")
    kinks = [k for k in domain.kinks if k not in (domain.low, domain.high)]
    if kinks:
        said.append(
            f"{symbol} = {' or '.join(f'{k:g}' for k in kinks)} is a point without a "
            "(continuous) derivative"
        )
    return "; ".join(said) + "." if said else ""


def related(op: Op) -> tuple[str, ...]:
    """Ops to read next: those declared, else the neighbours in the family."""
    if op.related:
        return tuple(name for name in op.related if ops.find(name) is not None)
    family = [other.name for other in ops.all_ops() if other.family == op.family]
    place = family.index(op.name)
    near = family[max(0, place - 2) : place] + family[place + 1 : place + 3]
    return tuple(near)
