"""Where the minus of a term stands: `−(y − σ)` is `σ − y`, and `−a − b` is `−(a + b)`."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from gradcheck.explainer.calculus.einstein import Node, Number, Product, Sum, Total, free, is_simple
from gradcheck.explainer.calculus.equality import key_of
from gradcheck.explainer.calculus.indices import extent
from gradcheck.explainer.calculus.terms import Term

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["begun", "settled"]


def begun(terms: Iterable[Node]) -> tuple[Node, ...]:
    """The terms of a sum; it begins with one that is not negative, if there is one."""
    # A decimal comes behind what it is added to: x + 0.001.
    listed = sorted(terms, key=lambda term: isinstance(term, Number) and not is_simple(term.value))
    first = next((i for i, term in enumerate(listed) if not is_negative(term)), 0)
    return (listed[first], *listed[:first], *listed[first + 1 :])


def settled(terms: list[Term]) -> list[Term]:
    """The terms, a sum and its negative written as one, with as few minuses as it goes."""
    written: dict[str, Sum] = {}
    found = [_like_before(term, written) for term in terms]
    for kind, factor in {_kind(factor): factor for factor in written.values()}.items():
        holders = [term for term in found if _count(term, kind)]
        taken = all(term.coefficient < 0 and _count(term, kind) == 1 for term in holders)
        negative = [part for part in factor.terms if is_negative(part)]
        fewer = 2 * len(negative) >= len(factor.terms) and (
            len(holders) == len(found) or all(isinstance(part, Number) for part in negative)
        )
        if len(negative) == len(factor.terms) or (taken and fewer):
            found = [_with_turned(term, kind) for term in found]
    return found


def _kind(factor: Sum) -> str:
    """What sums share that differ in the names of their indices alone."""
    return key_of(factor, {index: f"*:{extent(index)}" for index in free(factor)})


def _count(term: Term, kind: str) -> int:
    return sum(isinstance(f, Sum) and _kind(f) == kind for f in term.factors)


def _like_before(term: Term, written: dict[str, Sum]) -> Term:
    """The term with each sum as it was written first."""
    coefficient, factors = term.coefficient, list(term.factors)
    for place, factor in enumerate(factors):
        if not isinstance(factor, Sum):
            continue
        key = key_of(factor)
        if key not in written:
            written[key] = factor
            written.setdefault(key_of(_turned(factor)), factor)
        elif key != key_of(written[key]):
            coefficient = -coefficient
        factors[place] = written[key]
    return Term(coefficient, term.bound, tuple(factors))


def _with_turned(term: Term, kind: str) -> Term:
    coefficient, factors = term.coefficient, list(term.factors)
    for place, factor in enumerate(factors):
        if isinstance(factor, Sum) and _kind(factor) == kind:
            factors[place] = _turned(factor)
            coefficient = -coefficient
    return Term(coefficient, term.bound, tuple(factors))


def _turned(factor: Sum) -> Sum:
    """The sum times −1."""
    return Sum(begun(map(negated, factor.terms)))


def is_negative(node: Node) -> bool:
    """Whether the number in front is below zero."""
    return _front(node) < 0


def negated(node: Node) -> Node:
    """The expression times −1."""
    if isinstance(node, Number):
        return Number(-node.value)
    if isinstance(node, Total):
        return Total(node.indices, negated(node.body))
    front, rest = Number(-_front(node)), _rest(node)
    if front.value == 1:
        return rest[0] if len(rest) == 1 else Product(rest)
    return Product((front, *rest))


def _front(node: Node) -> Fraction | float:
    if isinstance(node, Number):
        return node.value
    if isinstance(node, Total):
        return _front(node.body)
    if isinstance(node, Product) and isinstance(node.factors[0], Number):
        return node.factors[0].value
    return Fraction(1)


def _rest(node: Node) -> tuple[Node, ...]:
    if isinstance(node, Product) and isinstance(node.factors[0], Number):
        return node.factors[1:]
    return node.factors if isinstance(node, Product) else (node,)
