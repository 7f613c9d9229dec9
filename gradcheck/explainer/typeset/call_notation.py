"""Calls of functions, set as mathematics: `square(x)` is x², `inv(mT(a))` is A⁻ᵀ."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from gradcheck.explainer import trees
from gradcheck.explainer.named_functions import length_of
from gradcheck.explainer.typeset.index_places import index_places, shape_known
from gradcheck.explainer.typeset.notation import (
    ATOM,
    DUAL,
    POWER,
    PRODUCT,
    RELATIONS,
    RENAMED,
    SUM,
    Text,
    opposite_tree,
)
from gradcheck.explainer.typeset.part_notation import OF_PARTS

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradcheck.explainer.typeset.setter import Setter

__all__ = [
    "AXIS_SUMS",
    "COUNTING",
    "LAYOUT_ONLY",
    "MATRIX_FUNCTIONS",
    "set_call",
    "set_power",
]

LAYOUT_ONLY = frozenset(
    ["array", "expand_dims", "broadcast_to", "column", "vector", "float32", "scalar"]
)
"""Functions that change the layout alone: mathematics writes nothing there."""
SHARES = ("softmax", "log_softmax", "logsumexp")
MATRIX_FUNCTIONS = frozenset(["matmul", "inv", "solve", "mT", "adjoint"])
AXIS_SUMS = frozenset(["sum", "mean", "max", "min", "prod"])
COUNTING = frozenset(
    [
        "reshape", "tile", "concatenate", "stack", "transpose", "take", "pick", "part", "flip",
        "roll", "cumsum", "cumprod", "windows", "unwindows",
    ]
)  # fmt: skip
_FILLED = {"ones": "1", "ones_like": "1", "zeros": "0", "zeros_like": "0", "eye": "I"}
_REDUCTIONS = ("sum", "total", "mean", "max", "min", "prod", "unreduce", "any", "all", *SHARES)
_RAISED = {"mT": "T", "adjoint": "H", "inv": "−1"}
"""By function: what stands small above a matrix for it."""
_SHOWN_ARGUMENTS = {"squeeze": 1, "unbroadcast": 1}
"""Functions whose other arguments only say shapes."""


def set_call(setter: Setter, name: str, args: list[ast.expr]) -> Text:
    """A call in its own notation, where it has one; else as a function of its arguments."""
    notation = _NOTATION.get(name)
    found = notation(setter, name, args) if notation is not None else None
    if found is not None:
        return found
    shown = args[: _SHOWN_ARGUMENTS[name]] if name in _SHOWN_ARGUMENTS else args
    kept = [a for a in shown if trees.called(a) != "shape" and not _is_shape_of(a)]
    inside = setter.revealed() if name in COUNTING else setter
    return setter.style.call(RENAMED.get(name, name), [inside.inner(a) for a in kept]), ATOM


def _is_shape_of(node: ast.expr) -> bool:
    return isinstance(node, ast.Subscript) and trees.called(node.value) == "shape"


def _first_argument(setter: Setter, name: str, args: list[ast.expr]) -> Text:
    if setter.layout and name in ("expand_dims", "broadcast_to"):
        return setter.style.call(name, [setter.inner(a) for a in args]), ATOM
    return setter.node(args[0])


def _filled(setter: Setter, name: str, _args: list[ast.expr]) -> Text:
    if setter.matrices and name in ("ones", "ones_like"):
        return setter.style.ones(), ATOM
    return setter.style.symbol(_FILLED[name]), ATOM


# Sums over axes and indices.


def _reduction(setter: Setter, name: str, args: list[ast.expr]) -> Text:
    place = 2 if name == "unreduce" else 1
    below = ""
    if len(args) > place and trees.text_of(args[place]) != "None":
        below = trees.text_of(args[place]).strip("[]()").replace("-", "−").replace(" ", "")
    shown = {"unreduce": "spread", "total": "sum"}.get(name, name)
    keeps = name in AXIS_SUMS and len(args) > 2 and trees.text_of(args[2]) == "True"
    word = [setter.style.words("kept")] if keeps and below and setter.kept else []
    return setter.style.call(shown, [setter.inner(args[0]), *word], below), ATOM


def _unbroadcast(setter: Setter, _name: str, args: list[ast.expr]) -> Text | None:
    """Back to a number, it is a sum over everything."""
    return _reduction(setter, "sum", args[:1]) if trees.text_of(args[1]) in ("[]", "()") else None


def _einsum(setter: Setter, _name: str, args: list[ast.expr]) -> Text:
    equation = args[0].value if isinstance(args[0], ast.Constant) else ""
    terms, _, output = str(equation).partition("->")
    factors, met = [], dict[str, None]()
    for term, factor in zip(terms.split(","), args[1:], strict=False):
        if trees.called(factor) == "eye":
            factors.append(setter.style.delta(term[0], term[-1]))
            met |= dict.fromkeys(term)
        elif trees.called(factor) != "ones":
            base = setter.inner(factor, ATOM)
            shape = shape_known(factor, setter.shapes)
            shown = index_places(term, shape)
            factors.append(setter.style.indexed(base, shown))
            met |= dict.fromkeys(letter for letter in shown if letter != "0")
    summed, body = [a for a in met if a not in output], setter.style.dot(factors) or "1"
    whole = setter.style.total(summed, body) if summed else body
    if not output or setter.has_indices(args):
        return whole, SUM
    return setter.style.family(whole, output), ATOM


# Products, transposes and inverses.


def _row(setter: Setter, _name: str, args: list[ast.expr]) -> Text:
    return setter.style.power(setter.inner(args[0], ATOM), "T"), POWER


def _matmul(setter: Setter, _name: str, args: list[ast.expr]) -> Text:
    least = [PRODUCT if trees.called(a) == "matmul" else POWER for a in args]
    parts = [setter.inner(a, n) for a, n in zip(args, least, strict=True)]
    for place, factor in enumerate(args):
        if _new_axis(factor) == "-2":
            # A vector as a row.
            parts[place] = setter.style.power(setter.inner(factor, ATOM), "T")
    return setter.style.matmul(parts), PRODUCT


def _squeeze(setter: Setter, _name: str, args: list[ast.expr]) -> Text | None:
    product = args[0]  # a matrix times a vector, which had to be a column for that
    if trees.called(product) != "matmul" or not isinstance(product, ast.Call):
        return None
    return setter.node(product) if _new_axis(product.args[1]) == "-1" else None


def _solve(setter: Setter, _name: str, args: list[ast.expr]) -> Text:
    parts = [_power(setter, args[0], "−1"), setter.inner(args[1], POWER)]
    return setter.style.matmul(parts), PRODUCT


def _raised(setter: Setter, name: str, args: list[ast.expr]) -> Text:
    return _power(setter, args[0], _RAISED[name]), POWER


def _power(setter: Setter, node: ast.expr, exponent: str) -> str:
    """A matrix with its exponent; that of an inverse and of a transpose are one."""
    if isinstance(node, ast.Call):
        name = trees.called(node)
        if name == "inv" and exponent in "TH":
            return _power(setter, node.args[0], f"−{exponent}")
        if name in ("mT", "adjoint") and exponent == "−1":
            return _power(setter, node.args[0], f"−{_RAISED[name]}")
    return setter.style.power(setter.inner(node, ATOM), exponent)


def _new_axis(node: ast.expr) -> str:
    """The axis that the node adds; empty where it adds none."""
    if trees.called(node) == "expand_dims" and isinstance(node, ast.Call):
        return trees.text_of(node.args[1])
    return ""


def _square(setter: Setter, _name: str, args: list[ast.expr]) -> Text:
    return set_power(setter, args[0], "2")


def _any_power(setter: Setter, _name: str, args: list[ast.expr]) -> Text:
    return set_power(setter, args[0], setter.inner(args[1]))


def set_power(setter: Setter, base: ast.expr, exponent: str) -> Text:
    """A power of each element; beside products of matrices it is marked, or written out."""
    shown = setter.inner(base, ATOM)
    if not setter.matrices or setter.is_scalar(base):
        return setter.style.power(shown, exponent), POWER
    if exponent == "2" and isinstance(base, ast.Name):
        return setter.style.hadamard([shown, shown]), PRODUCT
    return setter.style.elementwise_power(shown, exponent), POWER


def _exponential(setter: Setter, _name: str, args: list[ast.expr]) -> Text:
    """A short exponent stands above e; a long one reads better in brackets."""
    body = setter.inner(args[0])
    short = body.replace(" ", "")
    if len(short) <= 3:
        above = setter.style.power("e", short)
        if "e^" not in above:
            return above, POWER
    return setter.style.call("exp", [body]), ATOM


def _root(setter: Setter, _name: str, args: list[ast.expr]) -> Text:
    if (inside := length_of(args[0])) is not None:
        return setter.style.norm(setter.inner(inside)), ATOM
    body, binds = setter.node(args[0])
    return setter.style.root(body, binds == ATOM), POWER


def _modulus(setter: Setter, _name: str, args: list[ast.expr]) -> Text:
    return setter.style.modulus(setter.inner(args[0])), ATOM


def _where(setter: Setter, _name: str, args: list[ast.expr]) -> Text:
    choice = [a.value if isinstance(a, ast.Constant) else None for a in args[1:]]
    if choice in ([1, 0], [0, 1]):  # Iverson's brackets
        held = args[0] if choice[0] else opposite_tree(args[0])
        return f"[{setter.inner(held)}]", ATOM
    first, second, third = (setter.inner(a) for a in args)
    return setter.style.where(first, second, third), ATOM


def _comparison(setter: Setter, name: str, args: list[ast.expr]) -> Text:
    sign = setter.style.relation(RELATIONS[name])
    return f"{setter.inner(args[0])} {sign} {setter.inner(args[1])}", SUM


def _not(setter: Setter, _name: str, args: list[ast.expr]) -> Text:
    return f"{setter.style.words('not')} {setter.inner(args[0], ATOM)}", SUM


def _joined(setter: Setter, name: str, args: list[ast.expr]) -> Text:
    word = setter.style.words(name.removeprefix("logical_"))
    return f"{setter.inner(args[0])} {word} {setter.inner(args[1])}", SUM


_NOTATION: dict[str, Callable[[Setter, str, list[ast.expr]], Text | None]] = {
    **OF_PARTS,
    **dict.fromkeys(LAYOUT_ONLY, _first_argument),
    **dict.fromkeys(_FILLED, _filled),
    **dict.fromkeys(_REDUCTIONS, _reduction),
    **dict.fromkeys(_RAISED, _raised),
    **dict.fromkeys(RELATIONS, _comparison),
    **dict.fromkeys(DUAL, _joined),
    "abs": _modulus,
    "einsum": _einsum,
    "exp": _exponential,
    "logical_not": _not,
    "matmul": _matmul,
    "power": _any_power,
    "row": _row,
    "solve": _solve,
    "sqrt": _root,
    "square": _square,
    "squeeze": _squeeze,
    "unbroadcast": _unbroadcast,
    "where": _where,
}
"""By function: its notation; None leaves a call to be written as any other."""
