"""Differences written the same way round: beside ‖A x − b‖ a factor b − A x is −(A x − b)."""

from __future__ import annotations

import ast

from gradcheck.explainer.trees import call, called, read, text_of

__all__ = ["same_way_round"]

_EVEN = ("abs", "square")
"""Functions that do not ask which way round a difference is: in them it stands as it was given."""
_LAYOUT = ("column", "row", "vector")
"""Functions that change how numbers lie, and no number."""
_LINEAR = (*_LAYOUT, "matmul", "mT", "scalar", "total", "diag")
"""Functions out of which a minus may be taken, of each of their arguments."""


def same_way_round(formula: ast.expr) -> ast.expr:
    """The formula with each difference as it stands inside of a norm, the minus in front of all."""
    turned = _turned_ones(formula)
    if not turned:
        return formula
    # (A copy: parts of a formula may stand in others.)
    found: ast.expr = _Turner(turned).visit(read(text_of(formula)))
    return found


def _turned_ones(formula: ast.expr) -> dict[str, ast.expr]:
    """By difference that a norm is given the other way round: what stands there."""
    inside: dict[str, ast.expr] = {}
    every: dict[str, ast.BinOp] = {}
    for node in ast.walk(formula):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
            every[_key(node)] = node
        elif isinstance(node, ast.Call) and called(node) in _EVEN:
            inside |= {_key(arg): arg for arg in node.args if isinstance(arg, ast.BinOp)}
    others = {key: _key(_reversed(node)) for key, node in every.items() if key not in inside}
    return {key: inside[other] for key, other in others.items() if other in inside}


def _reversed(node: ast.BinOp) -> ast.BinOp:
    return ast.BinOp(node.right, ast.Sub(), node.left)


def _key(node: ast.expr) -> str:
    """What is the same for a vector and for the column of its numbers."""
    return text_of(_Bare().visit(read(text_of(node))))


class _Bare(ast.NodeTransformer):
    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        return node.args[0] if called(node) in _LAYOUT else node


class _Turner(ast.NodeTransformer):
    """Turns those differences, and moves the minus out of the product in which they stand."""

    def __init__(self, turned: dict[str, ast.expr]) -> None:
        self.turned = turned

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        if isinstance(node.op, ast.Sub) and _key(node) in self.turned:
            return ast.UnaryOp(ast.USub(), _as_there(_reversed(node), self.turned[_key(node)]))
        self.generic_visit(node)
        if not isinstance(node.op, ast.Mult | ast.Div):
            return node
        left, right = _positive(node.left), _positive(node.right)
        product = ast.BinOp(left, node.op, right)
        odd = (left is node.left) != (right is node.right)
        return ast.UnaryOp(ast.USub(), product) if odd else product

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if called(node) not in _LINEAR:
            return node  # a minus inside of it would stay there
        self.generic_visit(node)
        args = [_positive(arg) for arg in node.args]
        odd = sum(new is not old for new, old in zip(args, node.args, strict=True)) % 2
        moved = ast.Call(node.func, args, node.keywords)
        return ast.UnaryOp(ast.USub(), moved) if odd else moved


def _as_there(node: ast.BinOp, there: ast.expr) -> ast.expr:
    """The difference as the norm has it, so that both get one letter; laid as it was."""
    of_columns = isinstance(there, ast.BinOp) and _is_column(there)
    return call("vector", there) if of_columns and not _is_column(node) else node


def _is_column(node: ast.BinOp) -> bool:
    return "column" in (called(node.left), called(node.right))


def _positive(node: ast.expr) -> ast.expr:
    """Without the minus in front."""
    minus = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)
    return node.operand if minus else node  # type: ignore[attr-defined]
