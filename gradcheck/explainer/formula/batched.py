"""Products of matrices side by side: what holds for each matrix of a batch, written once.

`Σₘ G[b,i,m]·v[b,n,m]` is `G vᵀ` for each b. The leading indices that all batched arrays share are
taken away, what is left is written as matrices, and the functions of the formula are those of the
last two axes. The formula is executed beside the expression before it is believed.
"""

from __future__ import annotations

import ast
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from gradcheck.explainer import trees
from gradcheck.explainer.calculus.einstein import (
    Apply,
    Array,
    Delta,
    Grid,
    Node,
    Number,
    Product,
    Sum,
    Tensor,
    Total,
    free,
    walk,
)
from gradcheck.explainer.calculus.evaluate import evaluate
from gradcheck.explainer.calculus.indices import Index, extent
from gradcheck.explainer.calculus.terms import Term
from gradcheck.explainer.formula.factor import factored
from gradcheck.explainer.formula.fewer_turns import with_fewer_turns
from gradcheck.explainer.formula.sums_and_products import NoMatrixForm, Scaled
from gradcheck.explainer.formula.term_graph import TermGraph
from gradcheck.ops.language.vocabulary import FUNCTIONS

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from gradcheck.model import Shape

__all__ = ["batched"]

_ALONG_THE_LAST = frozenset(["softmax", "log_softmax"])
"""Functions along one axis, which is counted from the back where there are batches."""
_OF_MATRICES = frozenset(["inv", "cholesky", "expm", "sqrtm", "pinv"])
"""Functions of the last two axes."""
_TO_NUMBERS = frozenset(["det", "logdet"])
"""Functions of the last two axes that give a number for each batch."""
_REFUSED = frozenset(
    ["reshape", "vector", "diagonal", "part", "take", "pick", "transpose", "array"]
)
MOST_CHECKED = 4096
"""Elements of a result that is computed twice, to see whether they are the same."""


def batched(node: Node, terms: Sequence[Term], indices: tuple[Index, ...]) -> ast.expr:
    """The array as products of matrices in batches; NoMatrixForm where it is none."""
    if len(indices) > 2:
        lead = indices[:-2]
        if not all(isinstance(index, str) for index in lead):
            raise NoMatrixForm
        alone = {p.name for p in walk(node) if isinstance(p, Tensor) and p.indices == lead}
        found = _formula([_stripped(term, lead) for term in terms], indices[-2:], alone)
    elif len(indices) == 2:
        ready = [_summed(term, indices) for term in terms]
        counts = {count for _, count in ready}
        if len(counts) != 1:
            raise NoMatrixForm
        inner = _formula([term for term, _ in ready], indices)
        axes = list(range(counts.pop()))
        axis = trees.read(repr(axes[0] if len(axes) == 1 else axes))
        found = trees.call("sum", inner, axis)
    else:
        raise NoMatrixForm
    if not _is_same(node, indices, found):
        raise NoMatrixForm
    return found


def _formula(
    terms: list[Term], indices: tuple[Index, ...], alone: Collection[str] = ()
) -> ast.expr:
    """The formula of one batch, as that of all; `alone` are a number for each of them."""

    def inner(part: Node, axes: tuple[Index, ...]) -> ast.expr:
        return factored([TermGraph(term, axes, inner).formula() for term in _terms(part)], none)

    none: frozenset[str] = frozenset()
    numbers = frozenset(
        p.name for t in terms for p in walk(t.node) if isinstance(p, Tensor) and not p.indices
    )
    scaled = _merged([TermGraph(term, indices, inner).formula() for term in terms])
    made = factored(scaled, numbers)
    found: ast.expr = _LastAxes(alone).visit(trees.read(trees.text_of(made)))
    return with_fewer_turns(found)


def _merged(scaled: list[Scaled]) -> list[Scaled]:
    """Terms that are written the same added up: of XXᵀ the inverse is its own transpose."""
    found: dict[str, Scaled] = {}
    for coefficient, formula in scaled:
        text = "" if formula is None else trees.text_of(formula)
        before, first = found.get(text, (Fraction(0), formula))
        found[text] = before + coefficient, first
    return [each for each in found.values() if each[0]]


def _terms(node: Node) -> list[Term]:
    """An inner expression, which is in normal form already, by its terms."""
    found = []
    for part in node.terms if isinstance(node, Sum) else (node,):
        bound, body = (part.indices, part.body) if isinstance(part, Total) else ((), part)
        factors = body.factors if isinstance(body, Product) else (body,)
        if isinstance(factors[0], Number):
            found.append(Term(factors[0].value, bound, factors[1:]))
        else:
            found.append(Term(Fraction(1), bound, factors))
    return found


def _summed(term: Term, indices: tuple[Index, ...]) -> tuple[Term, int]:
    """A term that is summed over its batches, without their indices, and how many there are."""
    ranks = [part for f in term.factors for part in walk(f) if isinstance(part, Tensor | Array)]
    largest = max(ranks, key=lambda part: len(part.indices), default=None)
    if largest is None or len(largest.indices) < 3:
        raise NoMatrixForm
    lead = largest.indices[:-2]
    if not all(index in term.bound and index not in indices for index in lead):
        raise NoMatrixForm
    return _stripped(term, lead, bound=True), len(lead)


def _stripped(term: Term, lead: tuple[Index, ...], *, bound: bool = False) -> Term:
    """The term for one of the batches."""
    kept = tuple(index for index in term.bound if not (bound and index in lead))
    if set(kept) & {*lead}:
        raise NoMatrixForm
    factors = tuple(_without(factor, lead) for factor in term.factors)
    if not any(set(free(factor)) & {*lead} for factor in term.factors):
        raise NoMatrixForm
    return Term(term.coefficient, kept, factors)


def _without(node: Node, lead: tuple[Index, ...]) -> Node:
    if isinstance(node, Tensor):
        return Tensor(node.name, _rest(node.indices, lead))
    if isinstance(node, Array):
        return _array_without(node, lead)
    if isinstance(node, Apply):
        return Apply(node.function, tuple(_without(arg, lead) for arg in node.args))
    if isinstance(node, Product):
        return Product(tuple(_without(factor, lead) for factor in node.factors))
    if isinstance(node, Sum):
        return Sum(tuple(_without(term, lead) for term in node.terms))
    if isinstance(node, Total) and not {*node.indices} & {*lead}:
        return Total(node.indices, _without(node.body, lead))
    if isinstance(node, Number) or (isinstance(node, Delta) and not set(free(node)) & {*lead}):
        return node
    raise NoMatrixForm


def _rest(indices: tuple[Index, ...], lead: tuple[Index, ...]) -> tuple[Index, ...]:
    """The indices of one matrix; NoMatrixForm where the batches are not those in front."""
    count = len(lead)
    rest = indices[count:] if indices[:count] == lead else indices
    if {*rest} & {*lead} or len(rest) > 2:
        raise NoMatrixForm
    return rest


def _array_without(node: Array, lead: tuple[Index, ...]) -> Array:
    if not set(free(node)) & {*lead}:
        if len(node.indices) > 2:
            raise NoMatrixForm
        return node
    count, args = len(lead), list[Grid | str]()
    for arg in node.args:
        if isinstance(arg, Grid):
            own = arg.indices[:count]
            more = 2 if node.function in _TO_NUMBERS else 0
            if len(arg.indices) != len(node.indices) + more:
                raise NoMatrixForm
            body = _without(arg.body, own)
            args.append(Grid(body, arg.indices[count:], arg.shape[count:]))
        elif node.function in _ALONG_THE_LAST and int(arg) % len(node.indices) >= count:
            args.append(str(int(arg) % len(node.indices) - len(node.indices)))
        else:
            raise NoMatrixForm
    if node.function not in _ALONG_THE_LAST | _OF_MATRICES | _TO_NUMBERS:
        raise NoMatrixForm
    return Array(node.function, tuple(args), _rest(node.indices, lead), node.shape[count:])


class _LastAxes(ast.NodeTransformer):
    """The formula of a matrix as that of the last two axes."""

    def __init__(self, alone: Collection[str]) -> None:
        self.alone = alone

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return _beside_matrices(node) if node.id in self.alone else node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        name, args = trees.called(node), node.args
        if name in _REFUSED or name not in FUNCTIONS:
            raise NoMatrixForm
        if name in _TO_NUMBERS:
            return _beside_matrices(node)
        if name in ("column", "row"):
            return trees.call("expand_dims", args[0], ast.Constant(-1 if name == "column" else -2))
        if name in ("sum", "mean") and len(args) == 3:
            axis = int(ast.literal_eval(trees.text_of(args[1])))
            return trees.call(name, args[0], ast.Constant(axis - 2 if axis >= 0 else axis), args[2])
        if name in ("sum", "total", "mean"):
            return trees.call(
                "mean" if name == "mean" else "sum",
                args[0],
                trees.read("[-2, -1]"),
                ast.Constant(True),
            )
        if name == "diag":
            return trees.call("diag_matrix", *args)
        return args[0] if name == "scalar" else node


def _beside_matrices(numbers: ast.expr) -> ast.expr:
    """A number for each batch, so that it fits beside the matrices."""
    return trees.call("expand_dims", numbers, trees.read("[-2, -1]"))


def _is_same(node: Node, indices: tuple[Index, ...], formula: ast.expr) -> bool:
    """Whether the formula has the values of the expression, at random ones of its arrays."""
    shapes: dict[str, Shape] = {}
    _note_shapes(node, shapes)
    sizes = [extent(index) if isinstance(index, str) else 1 for index in indices]
    if np.prod(sizes) > MOST_CHECKED:
        return True
    rng = np.random.default_rng(0)
    values = {name: rng.uniform(0.5, 1.5, shape) for name, shape in shapes.items()}
    try:
        wanted, found = evaluate(node, values, indices), trees.run(formula, values)
    except Exception:  # a matrix that has no inverse, a name of something else
        return False
    return np.shape(found) == np.shape(wanted) and bool(np.allclose(found, wanted, rtol=1e-9))


def _note_shapes(node: Node, shapes: dict[str, Shape]) -> None:
    for part in walk(node):
        if isinstance(part, Tensor):
            own = tuple(extent(i) if isinstance(i, str) else 1 for i in part.indices)
            shapes.setdefault(part.name, own)
        if isinstance(part, Array):
            for arg in part.args:
                if isinstance(arg, Grid):
                    _note_shapes(arg.body, shapes)
