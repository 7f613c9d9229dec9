"""Terms of the normal form, and equal ones added up whatever their indices are called."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gradcheck.explainer.calculus.einstein import (
    Delta,
    Node,
    Number,
    Product,
    Select,
    Sum,
    Tensor,
    Total,
    free,
)
from gradcheck.explainer.calculus.equality import key_of, numbered

if TYPE_CHECKING:
    from fractions import Fraction

__all__ = ["Term", "collected", "ordered", "term_key"]


@dataclass(frozen=True, slots=True)
class Term:
    """`coefficient · Σ_bound Π factors`."""

    coefficient: Fraction | float
    bound: tuple[str, ...] = ()
    factors: tuple[Node, ...] = ()

    @property
    def node(self) -> Node:
        """The term as an expression."""
        factors: tuple[Node, ...] = self.factors
        if self.coefficient != 1 or not factors:
            factors = (Number(self.coefficient), *factors)
        body = factors[0] if len(factors) == 1 else Product(factors)
        return Total(self.bound, body) if self.bound else body


def collected(terms: list[Term]) -> list[Term]:
    """Equal terms added up, whatever their bound indices are called."""
    merged: dict[str, Term] = {}
    for term in terms:
        found = ordered(term)
        key = _key(found)
        if key in merged:
            before = merged[key]
            found = Term(before.coefficient + term.coefficient, before.bound, before.factors)
        merged[key] = found
    return [term for term in merged.values() if term.coefficient != 0]


def term_key(term: Term) -> str:
    """What equal terms share, whatever number stands in front of them."""
    return _key(ordered(term))


def _key(term: Term) -> str:
    return key_of(Product(term.factors), numbered(term.bound, {}))


def ordered(term: Term) -> Term:
    """Factors in a fixed order, and the bound indices as they come in it."""
    blind = dict.fromkeys(term.bound, "*")
    factors = sorted(term.factors, key=lambda f: (_rank(f), key_of(f, blind)))
    met = {i: None for factor in factors for i in free(factor) if i in term.bound}
    return Term(term.coefficient, tuple(met), tuple(factors))


def _rank(factor: Node) -> int:
    """Upstream first, then tensors, then functions, sums, deltas and conditions."""
    if isinstance(factor, Tensor):
        return 0 if factor.name == "G" else 1
    return {Sum: 3, Delta: 4, Select: 5}.get(type(factor), 2)
