"""How a formula changes when its names do: the product rule and the chain rule, on trees.

`tangent(A·B)` is `Ȧ·B + A·Ḃ`: a formula of the same language again, so that it is printed,
executed and differentiated once more like any other.
"""

from __future__ import annotations

import ast
from functools import cache
from typing import TYPE_CHECKING

from gradcheck import ops
from gradcheck.explainer import trees
from gradcheck.explainer.formula.broadcasting import is_elementwise
from gradcheck.explainer.tangents.tangent_rules import OF_SEVERAL, RULES, NoTangent, times

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gradcheck.ops.declaration import Op

__all__ = ["NoTangent", "tangent"]


_LINEAR = {
    **dict.fromkeys(
        [
            "sum", "mean", "total", "mT", "adjoint", "transpose", "reshape", "expand_dims",
            "squeeze", "broadcast_to", "unbroadcast", "unreduce", "diag", "diag_matrix",
            "diagonal", "trace", "tril", "triu", "band_part", "phi", "mirror_lower", "flip",
            "roll", "tile", "cumsum", "pick", "part", "take", "take_along", "gather_nd",
            "windows", "unwindows", "scalar", "vector", "column", "row", "array", "real",
            "conj", "split", "unstack", "float32", "of_segment", "segment_sum",
        ],
        0,
    ),
    "put_slice": 2,
    "scatter_add": 2,
    "scatter_nd": 1,
}  # fmt: skip
"""By function that is linear in one of its arguments: which one that is."""
_MULTILINEAR = {"matmul": 0, "cross": 0, "outer": 0, "einsum": 1}
"""By function that is linear in each argument: the first of them."""
_STILL = frozenset(
    [
        "shape", "size", "rank", "zeros", "ones", "zeros_like", "ones_like", "eye", "one_hot",
        "one_hot_max", "sign", "floor", "equal", "not_equal", "less", "less_equal", "greater",
        "greater_equal", "logical_and", "logical_or", "logical_not", "logical_xor", "isfinite",
        "any", "all", "ramp", "dct_matrix", "idct_matrix",
    ]
)  # fmt: skip
"""Functions whose values do not move, but for jumps."""


def tangent(tree: ast.expr, moves: Mapping[str, ast.expr]) -> ast.expr | None:
    """The change of a formula; None where it stands still. NoTangent where no rule says.

    Args:
        tree: the formula.
        moves: by name that moves: its change.
    """
    if isinstance(tree, ast.Name):
        return moves.get(tree.id)
    if not trees.names_in(tree) & moves.keys() or isinstance(tree, ast.Compare):
        return None
    if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.USub):
        found = tangent(tree.operand, moves)
        return None if found is None else ast.UnaryOp(ast.USub(), found)
    if isinstance(tree, ast.BinOp):
        return _operation(tree, moves)
    if isinstance(tree, ast.List):
        return _listed(tree, moves)
    if isinstance(tree, ast.Subscript):
        return _part(tree, moves)
    if isinstance(tree, ast.Call):
        return _call(tree, moves)
    raise NoTangent(type(tree).__name__)


def _operation(tree: ast.BinOp, moves: Mapping[str, ast.expr]) -> ast.expr | None:
    left, right = tangent(tree.left, moves), tangent(tree.right, moves)
    if left is None and right is None:
        return None
    match tree.op:
        case ast.Add() | ast.Sub():
            if left is not None and right is not None:
                return ast.BinOp(left, tree.op, right)
            one = left if left is not None else right
            assert one is not None  # noqa: S101  (one of them moves)
            if left is None and isinstance(tree.op, ast.Sub):
                one = ast.UnaryOp(ast.USub(), one)
            still = tree.right if left is not None else tree.left
            return one if isinstance(still, ast.Constant) else _spread(one, tree)
        case ast.Mult():
            parts = [] if left is None else [times(left, tree.right)]
            return trees.added(parts + ([] if right is None else [times(tree.left, right)]))
        case ast.Div():
            above = [] if left is None else [ast.BinOp(left, ast.Div(), tree.right)]
            if right is None:
                return above[0]
            squared = trees.call("square", tree.right)
            below = ast.BinOp(times(tree.left, right), ast.Div(), squared)
            return (
                ast.BinOp(above[0], ast.Sub(), below) if above else ast.UnaryOp(ast.USub(), below)
            )
        case ast.Pow():
            return _power(tree, left, right)
    raise NoTangent(type(tree.op).__name__)


def _spread(tree: ast.expr, whole: ast.expr) -> ast.expr:
    """A change, repeated as broadcasting repeats what changes; mathematics writes nothing there."""
    return trees.call("broadcast_to", tree, trees.call("shape", whole))


def _power(tree: ast.BinOp, base: ast.expr | None, exponent: ast.expr | None) -> ast.expr:
    parts: list[ast.expr] = []
    if base is not None:
        number = _number(tree.right)
        lower: ast.expr = ast.BinOp(tree.right, ast.Sub(), ast.Constant(1))
        if number is not None:
            lower = trees.read(repr(number - 1))
        power = tree.left if number == 2 else ast.BinOp(tree.left, ast.Pow(), lower)
        parts.append(times(times(tree.right, power), base))
    if exponent is not None:
        parts.append(times(times(tree, trees.call("log", tree.left)), exponent))
    return trees.added(parts)


def _number(tree: ast.expr) -> float | None:
    try:
        value = ast.literal_eval(tree)
    except ValueError:
        return None
    return value if isinstance(value, int | float) else None


def _listed(tree: ast.List, moves: Mapping[str, ast.expr]) -> ast.expr:
    found = [tangent(item, moves) for item in tree.elts]
    still = [trees.call("zeros_like", item) for item in tree.elts]
    return ast.List([s if f is None else f for f, s in zip(found, still, strict=True)])


def _part(tree: ast.Subscript, moves: Mapping[str, ast.expr]) -> ast.expr | None:
    whole = tree.value
    if trees.called(whole) == "shape":
        return None
    found = tangent(whole, moves)
    return None if found is None else trees.picked(ast.Subscript(found, tree.slice))


def _call(tree: ast.Call, moves: Mapping[str, ast.expr]) -> ast.expr | None:
    name, args = trees.called(tree), tree.args
    if name in _STILL:
        return None
    if name in _LINEAR:
        place = _LINEAR[name]
        found = tangent(args[place], moves)
        if found is None:
            return None
        # (What fills the rim of windows stands still.)
        kept = args[:4] if name == "windows" else args
        return ast.Call(tree.func, [*kept[:place], found, *kept[place + 1 :]], [])
    if name in _MULTILINEAR:
        return _product(tree, moves)
    if name in ("concatenate", "stack"):
        found = tangent(args[0], moves)
        return None if found is None else ast.Call(tree.func, [found, *args[1:]], [])
    if name == "where":
        sides = [tangent(arg, moves) for arg in args[1:]]
        if sides == [None, None]:
            return None
        ready = [ast.Constant(0) if side is None else side for side in sides]
        chosen = trees.call("where", args[0], *ready)
        return chosen if None not in sides else _spread(chosen, tree)
    if name in RULES:
        found = tangent(args[0], moves)
        others = trees.names_in(ast.List(args[1:])) & moves.keys()
        if others and name not in OF_SEVERAL:
            raise NoTangent(name)
        return RULES[name](tree, found, lambda part: tangent(part, moves))
    return _by_declaration(tree, moves)


def _product(tree: ast.Call, moves: Mapping[str, ast.expr]) -> ast.expr | None:
    parts: list[ast.expr] = []
    for place in range(_MULTILINEAR[trees.called(tree)], len(tree.args)):
        found = tangent(tree.args[place], moves)
        if found is not None:
            args = [*tree.args[:place], found, *tree.args[place + 1 :]]
            parts.append(ast.Call(tree.func, args, []))
    return trees.added(parts) if parts else None


def _by_declaration(tree: ast.Call, moves: Mapping[str, ast.expr]) -> ast.expr | None:
    """A function of numbers: the slope that the op of that name declares, times the change."""
    name = trees.called(tree)
    op = ops.find("pow") if name == "power" else elementwise_op(name)
    if op is None:
        raise NoTangent(name)
    call = op.call({p.name: () for p in op.inputs}, {})
    formulas = op.formulas(call)
    names = [p.name for p in op.inputs]
    given = dict(zip(names, tree.args, strict=True))
    parts = []
    for parameter, arg in given.items():
        found = tangent(arg, moves)
        if found is not None:
            formula = trees.real(trees.read(formulas[parameter]))
            parts.append(trees.substitute(formula, {**given, "out": tree, "G": found}))
    return trees.added(parts) if parts else None


@cache
def elementwise_op(function: str) -> Op | None:
    """The elementwise op that is just this function of the language."""
    for op in ops.all_ops():
        if is_elementwise(op) and isinstance(op.forward, str) and not op.args and not op.required:
            tree = trees.read(op.forward)
            names = [p.name for p in op.inputs]
            own = isinstance(tree, ast.Call) and [getattr(a, "id", "") for a in tree.args] == names
            if own and trees.called(tree) == function:
                return op
    return {"softplus": ops.find("softplus")}.get(function)
