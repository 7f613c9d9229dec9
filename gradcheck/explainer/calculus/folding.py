"""A quotient that a forward step has computed, found again in a gradient.

The gradient of `u = x / ‖x‖` holds x[i]·x[j] / ‖x‖³; with u it is u[i]·u[j] / ‖x‖, and the rest of
the gradient is divided by ‖x‖ too.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from typing import TYPE_CHECKING

from gradcheck.explainer.calculus.einstein import Apply, Node, Tensor, free, rename
from gradcheck.explainer.calculus.equality import key_of
from gradcheck.explainer.calculus.indices import extent
from gradcheck.explainer.calculus.powers import as_power, raised
from gradcheck.explainer.calculus.simplify import terms_of
from gradcheck.explainer.calculus.terms import Term, collected, ordered

if TYPE_CHECKING:
    from collections.abc import Iterator
    from fractions import Fraction

    from gradcheck.explainer.calculus.indices import Index, Space

__all__ = ["Quotient", "folded", "quotient"]


@dataclass(frozen=True, slots=True)
class Quotient:
    """A step whose element is one factor over others, or a root by itself."""

    name: str
    indices: tuple[Index, ...]
    above: Node
    below: tuple[tuple[Node, Fraction], ...]
    """Bases and their exponents, which are negative."""


def quotient(name: str, node: Node, indices: tuple[Index, ...], space: Space) -> Quotient | None:
    """A step as a quotient; None where it is none."""
    terms = terms_of(node, space)
    if len(terms) != 1 or terms[0].bound or terms[0].coefficient != 1:
        return None
    only = terms[0].factors[0] if len(terms[0].factors) == 1 else None
    if isinstance(only, Apply) and only.function == "sqrt":
        return Quotient(name, indices, only, ())
    powers = [as_power(factor) for factor in terms[0].factors]
    above = [base for base, exponent in powers if exponent == 1]
    below = tuple((base, exponent) for base, exponent in powers if exponent < 0)
    whole = {index for index in indices if isinstance(index, str)}
    if len(above) != 1 or len(powers) != 1 + len(below) or not below:
        return None
    return Quotient(name, indices, above[0], below) if {*free(above[0])} == whole else None


def folded(terms: list[Term], known: list[Quotient]) -> list[Term]:
    """The terms with the names of the steps that are found in them."""
    quotients = [step for step in known if step.below]
    found = [_folded(term, quotients) for term in terms]
    if found != terms:
        # Where one step is named, the root that it was divided by may be named as well.
        found = [_folded(term, [step for step in known if not step.below]) for term in found]
    return collected([ordered(term) for term in found])


def _folded(term: Term, known: list[Quotient]) -> Term:
    for step in known:
        while (shorter := _once(term, step)) is not None:
            term = shorter
    return term


def _once(term: Term, step: Quotient) -> Term | None:
    if not step.below:
        return _root(term, step)
    for place, factor in enumerate(term.factors):
        for names in _matches(step, factor):
            rest = [*term.factors[:place], *term.factors[place + 1 :]]
            left = _divided(rest, [(rename(b, names), e) for b, e in step.below])
            if left is not None:
                at = tuple(names.get(i, i) if isinstance(i, str) else i for i in step.indices)
                return Term(term.coefficient, term.bound, (Tensor(step.name, at), *left))
    return None


def _root(term: Term, step: Quotient) -> Term | None:
    """The term with the step's name for the root that it is divided by."""
    for place, factor in enumerate(term.factors):
        under = isinstance(factor, Apply) and factor.function == "reciprocal"
        inner = factor.args[0] if isinstance(factor, Apply) and under else factor
        for names in _matches(step, inner):
            at = tuple(names.get(i, i) if isinstance(i, str) else i for i in step.indices)
            own: Node = Tensor(step.name, at)
            new = Apply("reciprocal", (own,)) if under else own
            factors = (*term.factors[:place], new, *term.factors[place + 1 :])
            return Term(term.coefficient, term.bound, factors)
    return None


def _matches(step: Quotient, factor: Node) -> Iterator[dict[str, Index]]:
    """The names of the indices with which the step's factor is this one."""
    own, there = list(free(step.above)), list(free(factor))
    if type(factor) is not type(step.above) or len(own) != len(there):
        return
    for chosen in permutations(there):
        names: dict[str, Index] = dict(zip(own, chosen, strict=True))
        sizes = all(extent(a) == extent(b) for a, b in zip(own, chosen, strict=True))
        if sizes and key_of(rename(step.above, names)) == key_of(factor):
            yield names


def _divided(factors: list[Node], below: list[tuple[Node, Fraction]]) -> list[Node] | None:
    """The factors without these powers; None where they are not all divided by as much."""
    left = list(factors)
    for base, exponent in below:
        for place, factor in enumerate(left):
            own, have = as_power(factor)
            if have <= exponent and key_of(own) == key_of(base):
                left[place : place + 1] = [raised(own, have - exponent)] if have != exponent else []
                break
        else:
            return None
    return left
