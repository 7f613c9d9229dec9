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
            return _shares(node) or _logistic(node) or _hyperbolic(node) or node
        if isinstance(node.op, ast.Sub):
            return _logarithm_of_shares(node) or node
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if called(node) == "log":
            return _logarithm(node) or node
        if called(node) == "log1p":
            return _softplus(node) or node
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


def _softplus(node: ast.Call) -> ast.expr | None:
    """`log1p(exp(x))`."""
    inner = node.args[0]
    exponential = isinstance(inner, ast.Call) and called(inner) == "exp"
    return call("softplus", *inner.args) if exponential and isinstance(inner, ast.Call) else None


def _logistic(node: ast.BinOp) -> ast.expr | None:
    """`1 / (1 + exp(-x))`, and `exp(x) / (1 + exp(x))`."""
    power = _beside_one(node.right)
    if power is None:
        return None
    if text_of(node.left) in ("1", "1.0"):
        return call("sigmoid", _negative(power))
    return call("sigmoid", power) if _same(node.left, call("exp", power)) else None


def _hyperbolic(node: ast.BinOp) -> ast.expr | None:
    """`sinh(x) / cosh(x)`, and the same by exponentials."""
    above, below = node.left, node.right
    if isinstance(above, ast.Call) and isinstance(below, ast.Call):
        pair = (called(above), called(below)) == ("sinh", "cosh")
        return call("tanh", *above.args) if pair and _same(*above.args, *below.args) else None
    if not isinstance(above, ast.BinOp) or not isinstance(below, ast.BinOp):
        return None
    signs = isinstance(above.op, ast.Sub) and isinstance(below.op, ast.Add)
    same = _same(above.left, below.left) and _same(above.right, below.right)
    if not signs or not same or called(above.left) != "exp" or called(above.right) != "exp":
        return None
    assert isinstance(above.left, ast.Call)  # noqa: S101  (both are called exp)
    assert isinstance(above.right, ast.Call)  # noqa: S101
    x, minus = above.left.args[0], above.right.args[0]
    return call("tanh", x) if _same(_negative(x), minus) else None


def _negative(node: ast.expr) -> ast.expr:
    """The formula times −1."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return node.operand
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.Div):
        first = _negative(node.left)
        if not isinstance(first, ast.UnaryOp):
            return ast.BinOp(first, node.op, node.right)
    return ast.UnaryOp(ast.USub(), node)


def _from_one(node: ast.expr) -> ast.expr | None:
    """The x of `1 - x`."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
        return node.right if text_of(node.left) in ("1", "1.0") else None
    return None


def _beside_one(node: ast.expr) -> ast.expr | None:
    """The x of `1 + exp(x)`."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Add):
        return None
    for one, other in ((node.left, node.right), (node.right, node.left)):
        if text_of(one) in ("1", "1.0") and called(other) == "exp":
            assert isinstance(other, ast.Call)  # noqa: S101  (it is called exp)
            return other.args[0]
    return None


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
    rest = _from_one(inner)
    if isinstance(rest, ast.Call) and called(rest) == "sigmoid":
        # 1 − σ(x) is σ(−x).
        return ast.UnaryOp(ast.USub(), call("softplus", rest.args[0]))
    power = _beside_one(inner)
    return None if power is None else call("softplus", power)
