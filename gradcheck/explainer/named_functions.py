"""What has a name gets it: `exp(x) / sum(exp(x), -1, True)` is softmax(x).

The named function does not overflow where the formula does, and TensorFlow has it too. Formulas are
compared as trees; the tests evaluate both.
"""

from __future__ import annotations

import ast

from gradcheck.explainer.trees import call, called, read, text_of

__all__ = ["length_of", "named"]


def named(tree: ast.expr) -> ast.expr:
    """The formula with names for the parts that have one."""
    found: ast.expr = _Named().visit(read(text_of(tree)))
    return found


def length_of(tree: ast.expr) -> ast.expr | None:
    """The x of `total(square(x))`, of which the root is the norm ‖x‖; None for any other."""
    if not isinstance(tree, ast.Call) or called(tree) not in ("sum", "total"):
        return None
    inner = tree.args[0]
    if len(tree.args) > 1 and text_of(tree.args[1]) != "None":
        return None
    if isinstance(inner, ast.Call) and called(inner) == "square":
        return inner.args[0]
    if isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Pow):
        return inner.left if text_of(inner.right) == "2" else None
    return None


class _Named(ast.NodeTransformer):
    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, ast.Div):
            return _shares(node) or node
        if isinstance(node.op, ast.Sub):
            return _logarithm_of_shares(node) or node
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if called(node) == "log":
            return _logarithm(node) or node
        if called(node) == "exp":
            inner = node.args[0]
            if called(inner) == "log_softmax" and isinstance(inner, ast.Call):
                return call("softmax", *inner.args)
        return node


def _same(one: ast.expr, other: ast.expr) -> bool:
    return text_of(one) == text_of(other)


def _summed_exponentials(node: ast.expr) -> tuple[ast.expr, list[ast.expr]] | None:
    """The x, and the axis and keepdims, of `sum(exp(x), …)`."""
    if not isinstance(node, ast.Call) or called(node) not in ("sum", "total"):
        return None
    inner = node.args[0]
    if not isinstance(inner, ast.Call) or called(inner) != "exp":
        return None
    return inner.args[0], node.args[1:]


def _shares(node: ast.BinOp) -> ast.expr | None:
    """`exp(x) / sum(exp(x), axis, True)`."""
    below = _summed_exponentials(node.right)
    if below is None or called(node.left) != "exp" or not isinstance(node.left, ast.Call):
        return None
    x, how = below
    keeps = len(how) > 1 and text_of(how[1]) == "True"
    return call("softmax", x, how[0]) if keeps and _same(node.left.args[0], x) else None


def _logarithm_of_shares(node: ast.BinOp) -> ast.expr | None:
    """`x - logsumexp(x, axis, True)`."""
    right = node.right
    if not isinstance(right, ast.Call) or called(right) != "logsumexp" or len(right.args) < 3:
        return None
    keeps = text_of(right.args[2]) == "True"
    whole = keeps and _same(node.left, right.args[0])
    return call("log_softmax", node.left, right.args[1]) if whole else None


def _logarithm(node: ast.Call) -> ast.expr | None:
    """The logarithm of a sum of exponentials, of 1 + eˣ, of a sigmoid, of a softmax."""
    inner = node.args[0]
    summed = _summed_exponentials(inner)
    if summed is not None:
        return call("logsumexp", summed[0], *summed[1])
    if isinstance(inner, ast.Call) and called(inner) == "sigmoid":
        minus = ast.UnaryOp(ast.USub(), inner.args[0])
        return ast.UnaryOp(ast.USub(), call("softplus", minus))
    if isinstance(inner, ast.Call) and called(inner) == "softmax":
        return call("log_softmax", *inner.args)
    if isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Add):
        for one, other in ((inner.left, inner.right), (inner.right, inner.left)):
            if isinstance(one, ast.Constant) and one.value == 1 and called(other) == "exp":
                assert isinstance(other, ast.Call)  # noqa: S101  (it is called exp)
                return call("softplus", other.args[0])
    return None
