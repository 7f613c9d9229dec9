"""How functions of arrays change, each with a rule of its own."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TypeAlias

from gradcheck.explainer import trees

__all__ = ["DIVIDING", "OF_SEVERAL", "RULES", "NoTangent", "times"]

Change: TypeAlias = Callable[[ast.expr], "ast.expr | None"]
"""How a part changes; None where it stands still."""


class NoTangent(Exception):  # noqa: N818  (an answer: this has no formula here)
    """No rule says how this changes; the text is the function's name."""


def times(left: ast.expr, right: ast.expr) -> ast.expr:
    """A product."""
    return ast.BinOp(left, ast.Mult(), right)


def _written(text: str, *names: str) -> Callable[..., ast.expr | None]:
    """A rule as text, over `a` (the argument), `da` and `out`, and the other arguments by name."""

    def rule(tree: ast.Call, found: ast.expr | None, _: Change) -> ast.expr | None:
        if found is None:
            return None
        defaults = {"axis": trees.read("None"), "keepdims": trees.read("False")}
        if trees.called(tree) in ("softmax", "log_softmax"):
            defaults["axis"] = trees.read("-1")
        more = defaults | dict(zip(names, tree.args[1:], strict=False))
        values = {**more, "a": tree.args[0], "da": found, "out": tree}
        return trees.substitute(trees.read(text), values)

    return rule


def _solve(tree: ast.Call, found: ast.expr | None, change: Change) -> ast.expr | None:
    right = change(tree.args[1])
    if found is None:
        return None if right is None else trees.call("solve", tree.args[0], right)
    back = trees.call("matmul", found, tree)
    side: ast.expr = ast.UnaryOp(ast.USub(), back)
    if right is not None:
        side = ast.BinOp(right, ast.Sub(), back)
    return trees.call("solve", tree.args[0], side)


def _polygamma(tree: ast.Call, _: ast.expr | None, change: Change) -> ast.expr | None:
    order, found = tree.args[0], change(tree.args[1])
    if change(order) is not None:
        raise NoTangent("polygamma, by its order,")
    higher: ast.expr = ast.BinOp(order, ast.Add(), ast.Constant(1))
    if not trees.names_in(order):
        higher = trees.read(repr(int(trees.run(order, {})) + 1))
    return None if found is None else times(trees.call("polygamma", higher, tree.args[1]), found)


def _zeta(tree: ast.Call, _: ast.expr | None, change: Change) -> ast.expr | None:
    order, found = tree.args[0], change(tree.args[1])
    if change(order) is not None:
        raise NoTangent("zeta, by its order,")
    higher = trees.call("zeta", ast.BinOp(order, ast.Add(), ast.Constant(1)), tree.args[1])
    return None if found is None else ast.UnaryOp(ast.USub(), times(times(order, higher), found))


def _sylvester(tree: ast.Call, left: ast.expr | None, change: Change) -> ast.expr | None:
    """Of the x of `a·x + x·b = c`: both sides change, and x solves an equation of the same kind."""
    a, b, c = tree.args
    right, side = change(b), change(c)
    if left is right is side is None:
        return None
    whole: ast.expr = trees.call("zeros_like", c) if side is None else side
    if left is not None:
        whole = ast.BinOp(whole, ast.Sub(), trees.call("matmul", left, tree))
    if right is not None:
        whole = ast.BinOp(whole, ast.Sub(), trees.call("matmul", tree, right))
    return trees.call("sylvester", a, b, whole)


def _updated(tree: ast.Call, found: ast.expr | None, change: Change) -> ast.expr | None:
    """Values in the place of others: both change as they are."""
    x, indices, values = tree.args
    new = change(values)
    if found is new is None:
        return None
    return trees.call(
        "scatter_update",
        trees.call("zeros_like", x) if found is None else found,
        indices,
        trees.call("zeros_like", values) if new is None else new,
    )


OF_SEVERAL = frozenset(["solve", "polygamma", "zeta", "sylvester", "scatter_update"])
"""Functions of which more than the first argument may move."""
DIVIDING = frozenset(["prod_others", "others_in_segment"])
"""Functions whose change is written with a division by each element."""
_AXES = ("axis", "keepdims")
RULES: dict[str, Callable[..., ast.expr | None]] = {
    "max": _written("sum(one_hot_max(a, axis) * da, axis, keepdims)", *_AXES),
    "min": _written("sum(one_hot_max(-a, axis) * da, axis, keepdims)", *_AXES),
    "prod": _written("sum(prod_others(a, axis) * da, axis, keepdims)", *_AXES),
    "softmax": _written("out * (da - sum(out * da, axis, True))", "axis"),
    "log_softmax": _written("da - sum(softmax(a, axis) * da, axis, True)", "axis"),
    "logsumexp": _written("sum(softmax(a, axis) * da, axis, keepdims)", *_AXES),
    "inv": _written("-matmul(matmul(out, da), out)"),
    "det": _written("out * trace(matmul(inv(a), da))"),
    "slogdet": _written("[zeros_like(out[0]), trace(matmul(inv(a), da))]"),
    "cholesky": _written("matmul(out, phi(matmul(matmul(inv(out), da), mT(inv(out)))))"),
    "qr": _written("qr_change(out[0], out[1], da)"),
    "eigenvalues": _written("diagonal(matmul(matmul(mT(eigenvectors(a)), da), eigenvectors(a)))"),
    "singular_values": _written(
        "diagonal(matmul(matmul(mT(left_singular(a)), da), right_singular(a)))"
    ),
    "eigenvectors": _written(
        "matmul(out, (1 / (expand_dims(eigenvalues(a), -2) - expand_dims(eigenvalues(a), -1) + "
        "eye(shape(a)[-1])) - eye(shape(a)[-1])) * matmul(matmul(mT(out), da), out))"
    ),
    "expm": _written("expm_change(a, da)"),
    "prod_others": _written("out * (sum(da / a, axis, True) - da / a)", "axis"),
    "others_in_segment": _written(
        "out * (of_segment(segment_sum(da / a, ids, count), ids) - da / a)", "ids", "count"
    ),
    "scatter_update": _updated,
    "solve": _solve,
    "polygamma": _polygamma,
    "sylvester": _sylvester,
    "zeta": _zeta,
}  # fmt: skip
