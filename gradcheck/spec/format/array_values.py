"""Shapes and values: lists into sizes and arrays, bounded before anything is allocated."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from gradcheck.ops.language.bounds import MAX_ELEMENTS, MAX_RANK
from gradcheck.spec.format.fields import found
from gradcheck.spec.yaml.nodes import MAX_DIGITS, ListNode, Node, ScalarNode
from gradcheck.spec.yaml.source import Source, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gradcheck.model import Array, Shape


def size_problem(shape: Shape) -> str:
    """Why a tensor of this shape is too large; empty where it is not."""
    if len(shape) > MAX_RANK:
        return f"{len(shape)} axes are too many: at most {MAX_RANK}"
    if math.prod(shape) > MAX_ELEMENTS:
        sizes = "×".join(shown(size)[1:-1] for size in shape)
        return f"a tensor of {sizes} is too large: at most {MAX_ELEMENTS:,} elements"
    return ""


def read_shape(source: Source, node: ListNode, what: str) -> Shape | None:
    """A list of whole numbers as a shape."""
    shape: list[int] = []
    for item in node.items:
        if not isinstance(item, ScalarNode) or type(item.value) is not int:
            source.problem(item, f"a size of {what} must be a whole number, not {found(item)}")
            return None
        if item.value < 0:
            source.problem(item, f"a size of {what} cannot be negative: {found(item)}")
            return None
        shape.append(item.value)
    problem = size_problem(tuple(shape))
    if problem:
        source.problem(node, f"{what}: {problem}")
        return None
    return tuple(shape)


def read_array(source: Source, node: Node, what: str) -> Array | None:
    """Nested lists of numbers, booleans or complex texts as an array.

    Its dtype is int64, float64, complex128 or bool, whichever holds what is written.
    """
    return source.once(node, "array", lambda: _array(source, node, what))


def _array(source: Source, node: Node, what: str) -> Array | None:
    shape = _shape_of(source, node, what)
    if shape is None:
        return None
    values: list[object] = []
    kinds: set[type] = set()
    for scalar in scalars(node):
        value = _element(scalar)
        if value is None:
            hint = "write a complex number as '1+2j'" if isinstance(scalar.value, str) else ""
            source.problem(scalar, f"{what} must hold numbers, not {found(scalar)}", hint)
            return None
        values.append(value)
        kinds.add(type(value))
        if bool in kinds and len(kinds) > 1:
            source.problem(scalar, f"{what} mixes booleans and numbers at {found(scalar)}")
            return None
    dtype = next((k for k in (complex, float, int, bool) if k in kinds), float)
    return np.array(values, dtype=dtype).reshape(shape)


def _shape_of(source: Source, node: Node, what: str) -> Shape | None:
    """The shape of nested lists; a problem at the first row that differs from its neighbours."""
    if isinstance(node, ScalarNode):
        return ()
    if not isinstance(node, ListNode):
        source.problem(node, f"{what} must be a number or nested lists of numbers, not {node.kind}")
        return None
    inner: Shape | None = None
    for item in node.items:
        shape = _shape_of(source, item, what)
        if shape is None:
            return None
        if inner is not None and shape != inner:
            message = f"{what} is ragged: this has the shape {list(shape)}, before it {list(inner)}"
            source.problem(item, message, "every row needs the same length")
            return None
        inner = shape
    shape = (len(node.items), *(inner or ()))
    if len(shape) > MAX_RANK:
        source.problem(node, f"{what}: {size_problem(shape)}")
        return None
    return shape


def scalars(node: Node) -> Iterator[ScalarNode]:
    """All that nested lists hold, in the order of the array's elements."""
    if isinstance(node, ScalarNode):
        yield node
    elif isinstance(node, ListNode):
        for item in node.items:
            yield from scalars(item)


def _element(node: ScalarNode) -> bool | int | float | complex | None:
    value = node.value
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int):
        if -(2**63) <= value < 2**63:
            return value
        return float(value) if abs(value) < 10**300 else None
    if isinstance(value, float):
        return value
    compact = value.replace(" ", "")
    if len(compact) > 2 * MAX_DIGITS or not compact.endswith(("j", "J", "j)", "J)")):
        return None
    try:
        return complex(compact)
    except ValueError:
        return None
