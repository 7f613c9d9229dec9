"""Contraction: the index that a delta or a condition determines is taken out of a term."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from gradcheck.explainer.calculus.einstein import (
    Delta,
    Node,
    Number,
    Product,
    Select,
    free,
    is_simple,
    rename,
    select,
)
from gradcheck.explainer.calculus.indices import extent
from gradcheck.explainer.calculus.inverses import peeled
from gradcheck.explainer.calculus.orthonormal import met
from gradcheck.explainer.calculus.powers import gathered
from gradcheck.explainer.calculus.terms import Term
from gradcheck.explainer.calculus.triangular import rejoined

if TYPE_CHECKING:
    from gradcheck.explainer.calculus.indices import Index

__all__ = ["contracted"]


def contracted(term: Term) -> Term | None:
    """The term, deltas and sums over nothing resolved; None for a term that is zero."""
    work = _Contraction(term)
    work.run()
    factors = gathered(work.done)
    used = {index for factor in factors for index in free(factor)}
    for index in work.bound:
        if index not in used:
            work.coefficient *= extent(index)
    if work.coefficient == 0:
        return None
    kept = tuple(index for index in work.bound if index in used)
    return Term(work.coefficient, kept, tuple(factors))


class _Contraction:
    """A term while its factors are looked at one after the other."""

    def __init__(self, term: Term) -> None:
        self.coefficient, self.bound = term.coefficient, list(term.bound)
        self.pending, self.done = list(term.factors), list[Node]()

    def run(self) -> None:
        """Look at every factor, and again at all of them when an index has gone."""
        while self.pending:
            factor = self.pending.pop(0)
            if isinstance(factor, Number) and is_simple(factor.value):
                self.coefficient *= Fraction(factor.value)
            elif isinstance(factor, Product):
                self.pending[:0] = factor.factors
            elif isinstance(factor, Delta):
                self._delta(factor)
            else:
                self.done.append(factor)
            if self.pending:
                continue
            simpler = _resolved(self.done, self.bound)
            simpler = met(self.done, self.bound) if simpler is None else simpler
            simpler = rejoined(self.done, self.bound) if simpler is None else simpler
            simpler = peeled(self.done, self.bound) if simpler is None else simpler
            if simpler is not None:
                self.pending, self.done = simpler, []

    def _delta(self, delta: Delta) -> None:
        if isinstance(delta.left, int) and isinstance(delta.right, int):
            self.coefficient *= int(delta.left == delta.right)
        elif (swap := _replaceable(delta, self.bound)) is not None:
            old, new = swap
            self.bound.remove(old)
            # Two deltas may meet now: everything is looked at again.
            self.pending = [rename(f, {old: new}) for f in (*self.done, *self.pending)]
            self.done = []
        elif delta.left != delta.right:
            self.done.append(delta)


def _resolved(factors: list[Node], bound: list[str]) -> list[Node] | None:
    """An index that a condition determines, and that stands in conditions alone, taken out."""
    for factor in factors:
        if not isinstance(factor, Select) or factor.sign != "=":
            continue
        for index in factor.form.names:
            value = factor.form.solved(index) if index in bound else None
            others = [f for f in factors if f is not factor and index in free(f)]
            if value is None or not all(isinstance(f, Select) for f in others):
                continue
            low, high = value.range
            if low < 0 or high >= extent(index):
                continue
            bound.remove(index)
            return [
                select(f.sign, f.form.with_names({index: value}), 0) if isinstance(f, Select) else f
                for f in factors
                if f is not factor
            ]
    return None


def _replaceable(delta: Delta, bound: list[str]) -> tuple[str, Index] | None:
    for old, new in ((delta.left, delta.right), (delta.right, delta.left)):
        if isinstance(old, str) and old in bound and old != new:
            return old, new
    return None
