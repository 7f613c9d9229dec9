"""Lists of plain numbers in a formula: an operator between two is worked out where it stands.

A list is no array of the language: `[0, 2] - 1` has no value, as it has none in Python. Without it
`test_a_list_of_exponents` fails.
"""

from __future__ import annotations

import ast
import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.explainer import trees

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["with_lists_worked_out"]

_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}


def with_lists_worked_out(tree: ast.expr) -> ast.expr:
    """The tree; the same one where no list stands beside an operator."""
    if not any(isinstance(node, ast.List) for node in ast.walk(tree)):
        return tree
    found: ast.expr = _WorkedOut().visit(tree)
    return found


class _WorkedOut(ast.NodeTransformer):
    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        sides = node.left, node.right
        operation = _OPERATORS.get(type(node.op))
        lists = any(isinstance(side, ast.List) for side in sides)
        if operation is None or not lists or not all(map(_is_plain, sides)):
            return node
        values = (np.asarray(ast.literal_eval(side), np.float64) for side in sides)
        with np.errstate(all="ignore"):
            value = operation(*values)
        return trees.read(repr(value.tolist())) if np.isfinite(value).all() else node


def _is_plain(node: ast.expr) -> bool:
    kinds = ast.List | ast.Constant | ast.UnaryOp | ast.USub | ast.Load
    return all(isinstance(each, kinds) for each in ast.walk(node))
