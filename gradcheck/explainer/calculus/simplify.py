"""Simplification: deltas contracted, ones removed, sums fused, equal terms added up.

The normal form is a sum of terms; a term is a number times a product of factors, summed over the
bound indices.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING

from gradcheck.explainer.calculus.centring import centred
from gradcheck.explainer.calculus.contract import contracted
from gradcheck.explainer.calculus.einstein import (
    Apply,
    Array,
    Delta,
    Grid,
    Node,
    NotDerivable,
    Number,
    Product,
    Sum,
    Tensor,
    Total,
    free,
    is_simple,
    magnitude,
    rename,
    walk,
)
from gradcheck.explainer.calculus.indices import extent
from gradcheck.explainer.calculus.signs import begun, settled
from gradcheck.explainer.calculus.terms import Term, collected
from gradcheck.explainer.calculus.triangular import halved_diagonal

if TYPE_CHECKING:
    from gradcheck.explainer.calculus.indices import Space

__all__ = ["flatten", "joined_terms", "simplify", "terms_of"]

MOST_TERMS = 64
"""Where multiplying out gives more terms than this, nobody would read them."""


def simplify(node: Node, space: Space) -> Node:
    """The expression in normal form: its value stays."""
    return joined_terms(terms_of(node, space))


def joined_terms(terms: list[Term]) -> Node:
    """The terms as one expression."""
    if not terms:
        return Number(Fraction(0))
    if len(terms) == 1:
        return terms[0].node
    return Sum(begun(term.node for term in terms))


def terms_of(node: Node, space: Space) -> list[Term]:
    """The terms of the normal form."""
    return centred(_multiplied_out(node, space))


def _multiplied_out(node: Node, space: Space) -> list[Term]:
    """The terms, equal ones added up."""
    found = [done for term in _expand(node, space) if (done := contracted(term)) is not None]
    return collected(settled(found))


def flatten(node: Node) -> Node:
    """The expression without the brackets, ones and zeros that nobody would write."""
    zero, one = Number(Fraction(0)), Number(Fraction(1))
    if isinstance(node, Sum):
        terms = [flatten(t) for t in node.terms]
        kept = [t for t in terms if t != zero]
        return Sum(tuple(kept)) if len(kept) > 1 else kept[0] if kept else zero
    if isinstance(node, Product):
        factors: list[Node] = []
        for factor in map(flatten, node.factors):
            factors += factor.factors if isinstance(factor, Product) else [factor]
        if zero in factors:
            return zero
        kept = [f for f in factors if f != one]
        return Product(tuple(kept)) if len(kept) > 1 else kept[0] if kept else one
    if isinstance(node, Total):
        body = flatten(node.body)
        return zero if body == zero else Total(node.indices, body)
    return node


def _expand(node: Node, space: Space) -> list[Term]:
    if isinstance(node, Number):
        return [_of_number(node)]
    if isinstance(node, Sum):
        return [term for part in node.terms for term in _expand(part, space)]
    if isinstance(node, Total):
        return [
            Term(t.coefficient, t.bound + node.indices, t.factors)
            for t in (_apart(t, node.indices, space) for t in _expand(node.body, space))
        ]
    if isinstance(node, Product):
        parts = [_grouped(factor, space) for factor in node.factors]
        count = 1
        for part in parts:
            count *= len(part)
        if count > MOST_TERMS:
            raise NotDerivable("too many terms")
        return [_multiply(choice, space) for choice in product(*parts)]
    if isinstance(node, Apply):
        return _apply(node, space)
    if isinstance(node, Array):
        array = _array(node, space)
        known = halved_diagonal(array)
        return [Term(Fraction(1), (), (array,))] if known is None else _expand(known, space)
    return [Term(Fraction(1), (), (node,))]


def _of_number(node: Number) -> Term:
    """A fraction stands in front; a decimal is a factor, so that it stays as it is written."""
    if is_simple(node.value):
        return Term(Fraction(node.value))
    sign = Fraction(-1 if node.value < 0 else 1)
    return Term(sign, (), (Number(magnitude(node.value)),))


def _grouped(factor: Node, space: Space) -> list[Term]:
    """The terms of a factor; a sum that is plain arithmetic is not multiplied out."""
    terms = _multiplied_out(factor, space) if isinstance(factor, Sum) else _expand(factor, space)
    plain = len(terms) > 1 and not any(
        isinstance(part, Delta) for term in terms for f in term.factors for part in walk(f)
    )
    if plain and not any(term.bound for term in terms) and not _mentions_upstream(terms):
        return [Term(Fraction(1), (), (joined_terms(terms),))]
    return terms


def _mentions_upstream(terms: list[Term]) -> bool:
    """What reaches back from the loss is multiplied out: a gradient is read as a sum of paths."""
    return any(
        isinstance(part, Tensor) and part.name == "G"
        for term in terms
        for factor in term.factors
        for part in walk(factor)
    )


def _array(node: Array, space: Space) -> Array:
    args = tuple(
        Grid(simplify(arg.body, space), arg.indices, arg.shape) if isinstance(arg, Grid) else arg
        for arg in node.args
    )
    return Array(node.function, args, node.indices, node.shape)


def _apply(node: Apply, space: Space) -> list[Term]:
    args = tuple(a if isinstance(a, Number) else simplify(a, space) for a in node.args)
    one = Fraction(1)
    if node.function == "reciprocal":
        arg = args[0]
        if isinstance(arg, Number) and is_simple(arg.value) and arg.value != 0:
            return [Term(1 / Fraction(arg.value))]
        if isinstance(arg, Product) and not any(isinstance(f, Sum) for f in arg.factors):
            # One over a product is the product of ones over.
            inverted = Product(tuple(Apply("reciprocal", (f,)) for f in arg.factors))
            return _expand(inverted, space)
        if isinstance(arg, Apply) and arg.function == "reciprocal":
            return _expand(arg.args[0], space)
    if node.function == "power" and args[1] == Number(one):
        return _expand(args[0], space)
    if isinstance(args[0], Array) and (node.function, args[0].function) in _UNDONE:
        other = _UNDONE[node.function, args[0].function]
        return [Term(one, (), (Array(other, args[0].args, args[0].indices, args[0].shape),))]
    if node.function == "exp" and isinstance(args[0], Sum):
        # e^(a − log b) is e^a over b.
        logs = [(t, b) for t in args[0].terms if (b := _minus_log(t)) is not None]
        if logs:
            rest = tuple(t for t in args[0].terms if t not in [term for term, _ in logs])
            power = Apply("exp", (rest[0] if len(rest) == 1 else Sum(rest),)) if rest else None
            below = tuple(Apply("reciprocal", (b,)) for _, b in logs)
            return _expand(Product((*((power,) if power else ()), *below)), space)
    if node.function == "where" and (chosen := _choice(args)) is not None:
        return _expand(chosen, space)
    return [Term(one, (), (Apply(node.function, args),))]


def _choice(args: tuple[Node, ...]) -> Node | None:
    """A choice against zero as a product with a condition; None for any other."""
    zero = Number(Fraction(0))
    condition, first, second = args
    if first == zero:
        return Product((Apply("fails", (condition,)), second))
    return Product((Apply("holds", (condition,)), first)) if second == zero else None


_UNDONE = {("log", "softmax"): "log_softmax", ("exp", "log_softmax"): "softmax"}
"""By function of a function: the one that they are together."""


def _minus_log(term: Node) -> Node | None:
    """The b of −log b; None for any other term."""
    if isinstance(term, Product) and len(term.factors) == 2:
        front, log = term.factors
        if front == Number(Fraction(-1)) and isinstance(log, Apply) and log.function == "log":
            return log.args[0]
    return None


def _apart(term: Term, taken: tuple[str, ...], space: Space) -> Term:
    """The term with bound indices that none of those taken is."""
    clash = {b: space.fresh(extent(b)) for b in term.bound if b in taken}
    if not clash:
        return term
    return Term(
        term.coefficient,
        tuple(str(clash.get(b, b)) for b in term.bound),
        tuple(rename(f, clash) for f in term.factors),
    )


def _multiply(choice: tuple[Term, ...], space: Space) -> Term:
    coefficient: Fraction | float = Fraction(1)
    bound: tuple[str, ...] = ()
    factors: tuple[Node, ...] = ()
    for term in choice:
        # Two uses of one value bring the same bound indices: the second needs its own.
        used = (*bound, *(i for f in factors for i in free(f)))
        own = _apart(term, tuple(used), space)
        inner = {b: space.fresh(extent(b)) for b in bound if any(b in free(f) for f in own.factors)}
        if inner:
            bound = tuple(str(inner.get(b, b)) for b in bound)
            factors = tuple(rename(f, inner) for f in factors)
        coefficient *= own.coefficient
        bound += own.bound
        factors += own.factors
    return Term(coefficient, bound, factors)
