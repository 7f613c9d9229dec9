"""Einstein notation back into a formula of the language: with matrices where ranks allow it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from gradcheck.explainer.calculus.einstein import (
    Array,
    Grid,
    Node,
    Product,
    Tensor,
    Total,
    free,
    walk,
)
from gradcheck.explainer.calculus.indices import LETTERS, Index, extent
from gradcheck.explainer.calculus.simplify import terms_of
from gradcheck.explainer.formula.batched import batched
from gradcheck.explainer.formula.factor import factored
from gradcheck.explainer.formula.fewer_turns import with_fewer_turns
from gradcheck.explainer.formula.kept_axes import beside, mean_of
from gradcheck.explainer.formula.sums_and_products import (
    NoMatrixForm,
    Scaled,
    function,
    joined,
    scaled_total,
    sizes,
    times,
)
from gradcheck.explainer.formula.term_graph import TermGraph
from gradcheck.explainer.trees import call, called, read, text_of
from gradcheck.spec.expression.syntax import MAX_LENGTH

if TYPE_CHECKING:
    from gradcheck.explainer.calculus.indices import Space
    from gradcheck.explainer.calculus.terms import Term
    from gradcheck.explainer.formula.kept_axes import Laid

__all__ = ["formula_of", "whole_array", "without_indices"]


def without_indices(formula: ast.expr) -> bool:
    """Whether no indices are needed to read it: an einsum is but another way to name them."""
    return not any(called(node) == "einsum" for node in ast.walk(formula))


def formula_of(node: Node, indices: tuple[Index, ...], space: Space) -> ast.expr:
    """The array with these axes as a formula; raises NoMatrixForm where indices are needed."""
    terms = terms_of(node, space)
    if not terms:
        return call("zeros", sizes(indices))
    numbers = frozenset(p.name for p in walk(node) if isinstance(p, Tensor) and not p.indices)
    try:
        pointwise = [_pointwise_term(term, indices, space) for term in terms]
        whole = factored(pointwise, numbers, _as_large(node, indices))
        full = any(
            isinstance(part, Tensor | Array) and len(part.indices) == len(indices)
            for part in walk(node)
        )
        return whole if full or not indices else call("reshape", whole, sizes(indices))
    except NoMatrixForm:
        pass
    if len(indices) <= 2:

        def inner(part: Node, axes: tuple[Index, ...]) -> ast.expr:
            return formula_of(part, axes, space)

        try:
            made = factored([TermGraph(t, indices, inner).formula() for t in terms], numbers)
            text = text_of(made)
            # What is too long to be read has as many turns as it has.
            return with_fewer_turns(read(text)) if len(text) <= MAX_LENGTH else made
        except NoMatrixForm:
            pass
    try:
        return batched(node, terms, indices)
    except NoMatrixForm:
        pass
    return joined([_einsum_term(term, indices, space) for term in terms])


def _as_large(node: Node, indices: tuple[Index, ...]) -> frozenset[str]:
    """The names of the arrays that lie as the result does."""
    tensors = [part for part in walk(node) if isinstance(part, Tensor)]
    return frozenset(part.name for part in tensors if part.indices == indices)


def _einsum_term(term: Term, indices: tuple[Index, ...], space: Space) -> Scaled:
    """A term of any rank as one einsum, whose letters say what matrices cannot."""
    kept = [i for i in indices if isinstance(i, str)]
    every = list(dict.fromkeys([*kept, *term.bound]))
    names = {part.name for f in term.factors for part in walk(f) if isinstance(part, Tensor)}
    spare = [letter for letter in LETTERS if letter not in names]
    if len(every) > len(spare):
        raise NoMatrixForm
    letters = dict(zip(every, spare, strict=False))
    terms, factors = [], []
    for factor in term.factors:
        own = _axes_of(factor)
        terms.append("".join(letters[i] for i in own))
        factors.append(_as_array(factor, own, space))
    present = {i for factor in term.factors for i in free(factor)}
    for index in kept:
        if index not in present:
            terms.append(letters[index])
            factors.append(call("ones", ast.Constant(extent(index))))
    if not factors:
        return term.coefficient, call("ones", sizes(indices))
    equation = f"{','.join(terms)}->{''.join(letters[i] for i in kept)}"
    body = call("einsum", ast.Constant(equation), *factors)
    return term.coefficient, body if len(kept) == len(indices) else call(
        "reshape", body, sizes(indices)
    )


def _axes_of(factor: Node) -> tuple[str, ...]:
    """The order of the axes in which a factor lies: that of a tensor in it which has them all."""
    wanted = set(free(factor))
    for part in walk(factor):
        if isinstance(part, Tensor | Array):
            own = tuple(i for i in part.indices if isinstance(i, str))
            if set(own) == wanted and len(set(own)) == len(own):
                return own
        if isinstance(part, Total):
            break
    raise NoMatrixForm


def _as_array(factor: Node, own: tuple[str, ...], space: Space) -> ast.expr:
    if isinstance(factor, Tensor):
        plain: ast.expr = ast.Name(factor.name)
        return plain if factor.indices == own else call("reshape", plain, sizes(own))
    return _pointwise(factor, own, space)


# Element by element: every array already lies as the result does.


def _pointwise_term(term: Term, indices: tuple[Index, ...], space: Space) -> Scaled:
    if term.bound or not term.factors:
        raise NoMatrixForm
    used = {i for factor in term.factors for i in free(factor)}
    if used != {i for i in indices if isinstance(i, str)}:
        raise NoMatrixForm
    return term.coefficient, times([_pointwise(factor, indices, space) for factor in term.factors])


def _pointwise(node: Node, indices: tuple[Index, ...], space: Space) -> ast.expr:
    if isinstance(node, Tensor | Array):
        tail = indices[len(indices) - len(node.indices) :]
        if len(node.indices) > len(indices) or any(
            a not in (b, 0) for a, b in zip(node.indices, tail, strict=True)
        ):
            raise NoMatrixForm
        return ast.Name(node.name) if isinstance(node, Tensor) else whole_array(node, space)

    def laid(part: Node, axes: tuple[Index, ...]) -> ast.expr:
        return _pointwise(part, axes, space)

    if mean_of(node) is not None:
        return _summed(node, indices, laid)
    if isinstance(node, Total):
        return joined([scaled_total(node, lambda part: _summed(part, indices, laid))])
    return function(node, lambda inner: _pointwise(inner, indices, space))


def _summed(node: Node, indices: tuple[Index, ...], laid: Laid) -> ast.expr:
    """A sum or a mean; a product of vectors is better told as a product of matrices."""
    if (total := mean_of(node)) is not None:
        return beside(total, indices, laid, "mean")
    if not isinstance(node, Total) or isinstance(node.body, Product):
        raise NoMatrixForm
    return beside(node, indices, laid, "sum")


def whole_array(node: Array, space: Space) -> ast.expr:
    """The call that gives the whole of what one element is taken of."""
    if node.function == "constant":
        return call("array", read(str(node.args[0])))
    args = [
        formula_of(arg.body, arg.indices, space) if isinstance(arg, Grid) else read(arg)
        for arg in node.args
    ]
    return call(node.function, *args)
