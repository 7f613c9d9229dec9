"""Names for the parts of a closed form that have one, and what it is where labels sum to one."""

from __future__ import annotations

import ast
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from gradcheck.explainer import trees
from gradcheck.explainer.calculus.einstein import (
    Apply,
    Array,
    Node,
    Product,
    Sum,
    Tensor,
    Total,
)
from gradcheck.explainer.calculus.indices import Space
from gradcheck.explainer.formula.matrix_form import whole_array

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gradcheck.explainer.derive.call_graph import Graph
    from gradcheck.model import Shape

__all__ = ["assumed", "named_parts", "note_of", "where_shares", "with_letters"]

_SHARES, _RESIDUAL, _LINE = "the shares", "the residual", "it stands there twice"
_LETTERS = {
    (_SHARES, True): "pqs", (_SHARES, False): "PQRS",
    (_RESIDUAL, True): "rd", (_RESIDUAL, False): "RD",
    (_LINE, True): "tuw", (_LINE, False): "TUW",
}  # fmt: skip
"""By kind of part, and whether it is a vector or a number: what papers call it."""
_REPEATED = ("tanh", "sigmoid", "erf", "exp", "inv", "cholesky")
"""Functions that get a name where they stand twice with a long argument."""
_LONG = 12
"""Letters of an argument that nobody wants to read twice."""


def named_parts(graph: Graph, formula: ast.expr) -> trees.Shortened:
    """The formula with letters for its softmaxes, its residual and what is long and comes again."""
    taken = {*graph.shapes, *trees.names_in(formula), "G"}
    names: dict[str, ast.expr] = {}
    for kind, part in _parts(formula):
        rank = _rank(part, graph.shapes)
        letters = _LETTERS[kind, rank <= 1] if rank else ""
        letter = next((a for a in letters if a not in taken and a not in names), None)
        if letter is not None:
            names[letter] = part
    return trees.shorten((formula,), names)


def note_of(part: ast.expr) -> str:
    """What a part is that has got a letter."""
    if trees.called(part) == "softmax":
        return _SHARES
    return _RESIDUAL if isinstance(part, ast.BinOp) and _is_residual(part) else ""


def _parts(formula: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """The parts that get a letter, the larger ones last: they may hold smaller ones."""
    found: dict[str, tuple[str, ast.expr]] = {}
    count = Counter(trees.text_of(n) for n in ast.walk(formula) if isinstance(n, ast.expr))
    for node in ast.walk(formula):
        if not isinstance(node, ast.Call | ast.BinOp):
            continue
        text, twice = trees.text_of(node), count[trees.text_of(node)] > 1
        if trees.called(node) == "softmax":
            found[text] = (_SHARES, node)
        elif isinstance(node, ast.BinOp):
            if twice and isinstance(node.op, ast.Sub) and _has_product(node):
                found[text] = (_RESIDUAL if _is_residual(node) else _LINE, node)
        elif twice and (
            (trees.called(node) in _REPEATED and len(text) > _LONG) or _is_solved(node)
        ):
            found[text] = (_LINE, node)
    for text in sorted(found, key=len):
        yield found[text]


def _is_solved(node: ast.expr) -> bool:
    """Whether it is the solution of linear equations, which papers call α."""
    if not isinstance(node, ast.Call) or trees.called(node) != "matmul":
        return False
    return trees.called(node.args[0]) == "inv"


def _is_residual(node: ast.expr) -> bool:
    """Whether a difference is one of values: what comes back is no residual of anything."""
    return "G" not in trees.names_in(node)


def _has_product(node: ast.expr) -> bool:
    return any(trees.called(part) == "matmul" for part in ast.walk(node))


def _rank(part: ast.expr, shapes: Mapping[str, Shape]) -> int:
    """The axes of a part that are longer than one; 2 where that is not known."""
    names = trees.names_in(part)
    known = {name: np.ones(shapes[name]) for name in names if name in shapes}
    try:
        return sum(size > 1 for size in np.shape(trees.run(part, known)))
    except Exception:  # a name without a shape, a matrix without an inverse
        return 2


def with_letters(node: Node, names: Mapping[str, ast.expr]) -> Node:
    """The expression by elements, whole arrays that have got a letter written with it."""
    texts = {trees.text_of(tree): letter for letter, tree in names.items()}

    def changed(part: Node) -> Node:
        if isinstance(part, Array) and part.function == "softmax":
            whole = whole_array(part, Space(_FAR))
            letter = texts.get(trees.text_of(whole)) or texts.get(_from_the_back(whole, part))
            return part if letter is None else Tensor(letter, part.indices)
        if isinstance(part, Product):
            return Product(tuple(map(changed, part.factors)))
        if isinstance(part, Sum):
            return Sum(tuple(map(changed, part.terms)))
        if isinstance(part, Apply):
            return Apply(part.function, tuple(map(changed, part.args)))
        return Total(part.indices, changed(part.body)) if isinstance(part, Total) else part

    return changed(node) if texts else node


def _from_the_back(whole: ast.expr, part: Array) -> str:
    """The text of a function along an axis, that axis counted from the last one."""
    if not isinstance(whole, ast.Call) or len(whole.args) != 2:
        return ""
    axis = int(trees.text_of(whole.args[1])) % len(part.shape) - len(part.shape)
    return trees.text_of(trees.call(trees.called(whole), whole.args[0], trees.read(str(axis))))


_FAR = 10_000
"""Indices that are numbered from here are none of those that an expression has already."""


class _Ones(ast.NodeTransformer):
    """One in the place of the sum of labels, in products with a softmax."""

    def __init__(self, inputs: Mapping[str, Shape]) -> None:
        self.inputs, self.found = inputs, dict[str, ast.expr]()

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, ast.Mult):
            for one, other in ((node.left, node.right), (node.right, node.left)):
                shares = any(trees.called(part) == "softmax" for part in ast.walk(other))
                if shares and self._is_sum(one):
                    self.found[trees.text_of(one)] = one
                    return other
        return node

    def _is_sum(self, node: ast.expr) -> bool:
        if not isinstance(node, ast.Call) or trees.called(node) not in ("total", "sum"):
            return False
        labels = node.args[0]
        return isinstance(labels, ast.Name) and labels.id in self.inputs


def where_shares(graph: Graph, formula: ast.expr) -> tuple[ast.expr, ast.expr] | None:
    """The sum of labels that a softmax is multiplied by, and the formula where that is 1."""
    ones = _Ones(graph.inputs)
    shorter = ones.visit(trees.read(trees.text_of(formula)))
    return (next(iter(ones.found.values())), shorter) if len(ones.found) == 1 else None


def assumed(graph: Graph, name: str) -> list[str]:
    """The values whose sum is taken for 1 by a step on the way to an input."""
    found = []
    for step in graph.steps:
        for parameter in step.op.inputs:
            operand = step.operands.get(parameter.name)
            shares = parameter.domain.sample.name == "probability"
            if shares and isinstance(operand, ast.Name) and operand.id != name:
                found.append(operand.id)
    return list(dict.fromkeys(found))
