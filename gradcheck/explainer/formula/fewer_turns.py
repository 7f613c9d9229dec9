"""Transposes moved inwards where fewer are left: `(Pᵀ ⊙ sum₁(Hᵀ))ᵀ` is `P ⊙ sum₀(H)`."""

from __future__ import annotations

import ast

from gradcheck.explainer.formula.factor import is_number
from gradcheck.explainer.formula.rows_and_columns import OF_ONE_NUMBER, turned
from gradcheck.explainer.trees import call, called

__all__ = ["with_fewer_turns"]

_SWAPPED = {0: 1, 1: 0, -1: -2, -2: -1}
"""By axis of a matrix, or of the matrices of a batch: the other one."""


def with_fewer_turns(formula: ast.expr) -> ast.expr:
    """The formula with the transposes that it needs; its value stays."""
    found: ast.expr = _Turner().visit(formula)
    return found


class _Turner(ast.NodeTransformer):
    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if called(node) != "mT":
            return node
        moved = _transposed(node.args[0])
        alone = called(node.args[0]) == "column"
        return moved if alone or _turns(moved) < _turns(node) else node


def _turns(formula: ast.expr) -> int:
    return sum(called(node) in ("mT", "row") for node in ast.walk(formula))


def _transposed(node: ast.expr) -> ast.expr:
    """The transpose, with the turns as far inside as they go."""
    if isinstance(node, ast.Constant):
        return node
    if isinstance(node, ast.UnaryOp):
        return ast.UnaryOp(node.op, _transposed(node.operand))
    if isinstance(node, ast.BinOp):
        return ast.BinOp(_transposed(node.left), node.op, _transposed(node.right))
    if not isinstance(node, ast.Call):
        return call("mT", node)
    name, args = called(node), node.args
    # (Any function of one number is one: of those that are not known here, `ψ(Σx + 1)`.)
    if name in ("total", "scalar") or (len(args) == 1 and is_number(args[0])):
        return node
    if name in OF_ONE_NUMBER:
        return call(name, _transposed(args[0]))
    if name == "matmul":
        return call("matmul", _transposed(args[1]), _transposed(args[0]))
    if name in ("sum", "mean") and len(args) == 3:
        axis = ast.unparse(args[1])
        if axis.lstrip("-").isdigit() and int(axis) in _SWAPPED:
            swapped = ast.parse(str(_SWAPPED[int(axis)]), mode="eval").body
            return call(name, _transposed(args[0]), swapped, args[2])
    return turned(node)
