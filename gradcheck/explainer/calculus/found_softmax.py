"""The softmax found in a term: eˣ over the sum of all eˣ."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradcheck.explainer.calculus.einstein import (
    Apply,
    Array,
    Grid,
    Node,
    Number,
    Product,
    Sum,
    Total,
    free,
    rename,
)
from gradcheck.explainer.calculus.equality import same
from gradcheck.explainer.calculus.indices import extent
from gradcheck.explainer.calculus.powers import as_power, raised
from gradcheck.explainer.calculus.terms import Term, collected

if TYPE_CHECKING:
    from gradcheck.explainer.calculus.indices import Index

__all__ = ["with_shares"]


def with_shares(terms: list[Term]) -> list[Term]:
    """The terms with `softmax(x)[i]` for exp(x[i]) over Σⱼ exp(x[j])."""
    return collected([Term(t.coefficient, t.bound, tuple(_named(t.factors))) for t in terms])


def _named(factors: tuple[Node, ...]) -> list[Node]:
    found = [_of_logarithm(factor) for factor in factors]
    while (shorter := _once(found)) is not None:
        found = shorter
    return found


def _of_logarithm(factor: Node) -> Node:
    if isinstance(factor, Apply) and factor.function == "exp":
        return _as_shares(factor.args[0]) or factor
    return factor


def _once(factors: list[Node]) -> list[Node] | None:
    for factor in factors:
        if not isinstance(factor, Apply) or factor.function != "exp":
            continue
        for other in factors:
            base, exponent = as_power(other)
            place = _summed_place(base, factor) if exponent <= -1 else None
            if place is None:
                continue
            rest = [f for f in factors if f is not factor and f is not other]
            left = [raised(base, exponent + 1)] if exponent != -1 else []
            return [*rest, _softmax(factor.args[0], place), *left]
    return None


def _summed_place(base: Node, factor: Apply) -> str | None:
    """The index of the factor over which the base is the sum of all such factors."""
    if not isinstance(base, Total) or len(base.indices) != 1:
        return None
    bound = base.indices[0]
    for index in free(factor):
        if extent(index) == extent(bound) and same(rename(base.body, {bound: index}), factor):
            return index
    return None


def _softmax(body: Node, place: str) -> Array:
    indices: tuple[Index, ...] = (*(i for i in free(body) if i != place), place)
    shape = tuple(extent(i) for i in indices if isinstance(i, str))
    return Array("softmax", (Grid(body, indices, shape), "-1"), indices, shape)


def _as_shares(power: Node) -> Array | None:
    """The softmax that exp(x[i] − logsumexp(x)) is, of a vector x; None for any other power."""
    if not isinstance(power, Sum) or len(power.terms) != 2:
        return None
    for one, other in (power.terms, power.terms[::-1]):
        if not isinstance(other, Product) or len(other.factors) != 2:
            continue
        front, log = other.factors
        if not isinstance(front, Number) or front.value != -1 or not isinstance(log, Array):
            continue
        grid = log.args[0]
        if log.function != "logsumexp" or not isinstance(grid, Grid) or log.indices:
            continue
        there = list(free(one))
        if len(there) == len(grid.indices) == 1:
            moved = rename(grid.body, {str(grid.indices[0]): there[0]})
            if same(moved, one):
                return _softmax(one, there[0])
    return None
