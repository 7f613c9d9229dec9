"""What broadcasting asks of a gradient: the sum over the axes along which an input was repeated."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradcheck.explainer import trees
from gradcheck.ops.rules import broadcast_call, equal_call

if TYPE_CHECKING:
    import ast

    from gradcheck.model import Shape
    from gradcheck.ops.declaration import Call, Op

__all__ = ["formula_shape", "is_elementwise", "repeated_axes", "summed_back"]


def is_elementwise(op: Op) -> bool:
    """Whether each element of the output depends on one element of each input."""
    return op.shape in (broadcast_call, equal_call)


def formula_shape(op: Op, call: Call, name: str) -> Shape:
    """The shape that the declared formula of an input gives, before it is summed back."""
    shape = call.shapes[name]
    if is_elementwise(op):
        return op.shape(call)
    if op.name == "matmul":
        return (*op.shape(call)[:-2], *shape[-2:])
    if op.name == "matvec":
        return (*op.shape(call)[:-1], *shape[-2 if name == "a" else -1 :])
    return shape


def repeated_axes(full: Shape, shape: Shape) -> list[int]:
    """The axes of the larger shape along which the smaller was repeated."""
    added = len(full) - len(shape)
    return [i for i, size in enumerate(full) if i < added or (shape[i - added] == 1 and size != 1)]


def summed_back(formula: ast.expr, full: Shape, shape: Shape) -> ast.expr:
    """A formula of the larger shape, summed back to the smaller."""
    axes = repeated_axes(full, shape)
    added = [i for i in axes if i < len(full) - len(shape)]
    if added and len(added) == len(full):
        return trees.call("sum", formula)
    if added:
        formula = trees.call("sum", formula, _axes(added))
    stretched = [i - len(added) for i in axes if i not in added]
    if stretched:
        formula = trees.call("sum", formula, _axes(stretched), trees.read("True"))
    return formula


def _axes(axes: list[int]) -> ast.expr:
    return trees.read(repr(axes if len(axes) > 1 else axes[0]))
