"""Changes of layout that mathematics does not write, where the formula is the same without them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import numpy as np

from gradcheck.explainer import trees
from gradcheck.explainer.typeset.call_notation import COUNTING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gradcheck.model import Array, Shape

__all__ = ["as_shown", "can_be_hidden"]

HIDDEN = ("expand_dims", "broadcast_to")


def as_shown(tree: ast.expr) -> ast.expr:
    """The formula without what is not written; a vector beside a matrix is a column or a row."""
    found: ast.expr = _AsShown().visit(trees.read(trees.text_of(tree)))
    return found


def can_be_hidden(tree: ast.expr, shapes: Mapping[str, Shape]) -> bool:
    """Whether arrays of these shapes give the same without it; executed to see."""
    if not any(trees.called(node) in HIDDEN for node in ast.walk(tree)):
        return True
    names = trees.names_in(tree)
    known = {name: _sample(shapes[name]) for name in names if name in shapes}
    try:
        whole = np.asarray(trees.run(tree, known))
    except Exception:  # a name without a shape, indices, a matrix without an inverse
        return True
    try:
        shown = np.broadcast_to(trees.run(as_shown(tree), known), whole.shape)
        return bool(np.allclose(shown, whole, equal_nan=True))
    except Exception:  # whatever numpy says of shapes that do not fit
        return False


def _sample(shape: Shape) -> Array:
    """Values that differ, of which inverses and roots can be taken: what fails shows nothing."""
    square = len(shape) >= 2 and shape[-1] == shape[-2]
    values = 1 + np.arange(int(np.prod(shape))).reshape(shape) / 97
    return values + (np.eye(shape[-1]) if square else 0.0)


class _AsShown(ast.NodeTransformer):
    def visit_Call(self, node: ast.Call) -> ast.AST:
        name = trees.called(node)
        if name in COUNTING:
            return node
        if name == "matmul":
            args = [a if trees.called(a) in HIDDEN else self.visit(a) for a in node.args]
            return ast.Call(node.func, args, [])
        self.generic_visit(node)
        return node.args[0] if name in HIDDEN else node
