"""Terms of the normal form, and equal ones added up whatever their indices are called."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gradcheck.explainer.calculus.einstein import (
    Apply,
    Array,
    Delta,
    Grid,
    Node,
    Number,
    Product,
    Select,
    Sum,
    Tensor,
    Total,
    free,
)
from gradcheck.explainer.calculus.indices import Lookup, extent

if TYPE_CHECKING:
    from fractions import Fraction

    from gradcheck.explainer.calculus.indices import Atom, Form

__all__ = ["Term", "collected", "same"]


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
        ordered = _ordered(term)
        key = _key(Product(ordered.factors), _numbered(ordered.bound, {}))
        if key in merged:
            before = merged[key]
            ordered = Term(before.coefficient + term.coefficient, before.bound, before.factors)
        merged[key] = ordered
    return [term for term in merged.values() if term.coefficient != 0]


def same(one: Node, other: Node) -> bool:
    """Whether two expressions are equal, whatever their bound indices are called."""
    return _key(one, {}) == _key(other, {})


def _ordered(term: Term) -> Term:
    """Factors in a fixed order, and the bound indices as they come in it."""
    blind = dict.fromkeys(term.bound, "*")
    factors = sorted(term.factors, key=lambda f: (_rank(f), _key(f, blind)))
    met = {i: None for factor in factors for i in free(factor) if i in term.bound}
    return Term(term.coefficient, tuple(met), tuple(factors))


def _numbered(bound: tuple[str, ...], names: dict[str, str]) -> dict[str, str]:
    start = len(names)
    return names | {b: f"#{start + i}:{extent(b)}" for i, b in enumerate(bound)}


def _key(node: Node, names: dict[str, str]) -> str:
    """A text that equal expressions share, whatever their bound indices are called."""
    if isinstance(node, Total):
        return f"Σ({_key(node.body, _numbered(node.indices, names))})"
    if isinstance(node, Product | Sum):
        parts = node.factors if isinstance(node, Product) else node.terms
        return f"{type(node).__name__}({','.join(sorted(_key(part, names) for part in parts))})"
    if isinstance(node, Apply):
        return f"{node.function}({','.join(_key(a, names) for a in node.args)})"
    if isinstance(node, Array):
        args = [
            _key(a.body, {str(i): f"@{n}" for n, i in enumerate(a.indices)})
            if isinstance(a, Grid)
            else a
            for a in node.args
        ]
        places = [str(names.get(str(i), i)) for i in node.indices]
        # The inverse of a symmetric matrix is symmetric: which index comes first does not matter.
        shown = sorted(places) if node.function == "inv" and _is_symmetric(node) else places
        return f"{node.function}<{args}>{shown}"
    if isinstance(node, Tensor):
        return f"{node.name}{[names.get(str(i), i) for i in node.indices]}"
    if isinstance(node, Select):
        return f"[{node.sign}{_form_key(node.form, names)}]"
    if isinstance(node, Delta):
        return f"δ{sorted(str(names.get(str(i), i)) for i in (node.left, node.right))}"
    return str(node.value)


def _is_symmetric(node: Array) -> bool:
    """Whether the matrix that a function is of is seen to be its own transpose."""
    grid = node.args[0]
    if not isinstance(grid, Grid) or len(grid.indices) != 2 or len(node.indices) != 2:
        return False
    row, column = map(str, grid.indices)
    one = _key(grid.body, {row: "@0", column: "@1"})
    return one == _key(grid.body, {row: "@1", column: "@0"})


def _form_key(form: Form, names: dict[str, str]) -> str:
    return f"{sorted(f'{f}*{_atom_key(atom, names)}' for atom, f in form.terms)}+{form.offset}"


def _atom_key(atom: Atom, names: dict[str, str]) -> str:
    if isinstance(atom, str):
        return str(names.get(atom, atom))
    if isinstance(atom, Lookup):
        return f"{atom.name}{[names.get(str(i), i) for i in atom.indices]}"
    return f"({_form_key(atom.form, names)}) mod {atom.by}"


def _rank(factor: Node) -> int:
    """Upstream first, then tensors, then functions, then conditions."""
    if isinstance(factor, Tensor):
        return 0 if factor.name == "G" else 1
    return 3 if isinstance(factor, Select) else 2
