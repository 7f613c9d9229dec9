"""Two terms that are a value and its mean: `x[i] − (Σⱼ x[j]) / n`, with what they share taken out.

The gradient of a variance, and of all that is normalised, comes as a term with x and another with
the sum of all x; together they are the distance from the mean.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, permutations
from math import prod
from typing import TYPE_CHECKING

from gradcheck.explainer.calculus.einstein import (
    Node,
    Number,
    Product,
    Sum,
    Total,
    free,
    mentions,
    rename,
)
from gradcheck.explainer.calculus.indices import extent
from gradcheck.explainer.calculus.terms import Term, ordered, term_key

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["centred"]

MOST_AXES = 3
"""Means over more axes than this are rare, and the ways to look for them are many."""


def centred(terms: list[Term]) -> list[Term]:
    """The terms, those of a value and of its mean as one."""
    found = list(terms)
    while (pair := _pair(found)) is not None:
        one, other, together = pair
        place = found.index(one)
        found[place] = ordered(together)
        found.remove(other)
    return found


def _pair(terms: list[Term]) -> tuple[Term, Term, Term] | None:
    """Two terms and what they are together; the distance of an input before that of G."""
    found = list(_pairs(terms))
    plain = (pair for pair in found if not mentions(pair[2].factors[-1], "G"))
    return next(plain, found[0] if found else None)


def _pairs(terms: list[Term]) -> Iterator[tuple[Term, Term, Term]]:
    keys = [term_key(term) for term in terms] if any(term.bound for term in terms) else []
    for other in terms:
        for one, key in zip(terms, keys, strict=False):
            if len(one.bound) >= len(other.bound):
                continue
            for moved in _ways(one, other):
                if term_key(_renamed(other, moved)) == key:
                    yield one, other, _together(one, other, moved)


def _ways(one: Term, other: Term) -> Iterator[dict[str, str]]:
    """By index that a mean may run over: the index at which the value itself stands."""
    count = len(other.bound) - len(one.bound)
    if count > MOST_AXES:
        return
    outside = list(dict.fromkeys(i for f in one.factors for i in free(f) if i not in one.bound))
    for gone in combinations(other.bound, count):
        if other.coefficient * prod(map(extent, gone)) != -one.coefficient:
            continue
        targets = [*outside, *(i for i in other.bound if i not in gone)]
        for chosen in permutations(targets, count):
            if all(extent(a) == extent(b) for a, b in zip(gone, chosen, strict=True)):
                yield dict(zip(gone, chosen, strict=True))


def _renamed(term: Term, moved: Mapping[str, str]) -> Term:
    bound = tuple(i for i in term.bound if i not in moved)
    return Term(term.coefficient, bound, tuple(rename(f, moved) for f in term.factors))


def _together(one: Term, other: Term, moved: Mapping[str, str]) -> Term:
    """`one + other`, the factors that the mean does not touch in front."""
    touched = [f for f in other.factors if not moved.keys().isdisjoint(free(f))]
    rest = [f for f in other.factors if moved.keys().isdisjoint(free(f))]
    used = {i for f in rest for i in free(f)} | {*moved.values()}
    own = tuple(i for i in other.bound if i not in used and i not in moved)
    outer = tuple(i for i in other.bound if i not in own and i not in moved)
    body: Node = touched[0] if len(touched) == 1 else Product(tuple(touched))
    value = rename(body, moved)
    share = Number(Fraction(-1, prod(map(extent, moved))))
    mean = Total((*moved, *own), Product((share, *touched)))
    whole = Sum((Total(own, value) if own else value, mean))
    return Term(one.coefficient, outer, (*rest, whole))
