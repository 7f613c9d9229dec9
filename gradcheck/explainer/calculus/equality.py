"""A text for each expression, which equal ones share whatever their bound indices are called."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradcheck.explainer.calculus.einstein import (
    Apply,
    Array,
    Delta,
    Grid,
    Node,
    Product,
    Select,
    Sum,
    Tensor,
    Total,
)
from gradcheck.explainer.calculus.indices import Lookup, extent

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gradcheck.explainer.calculus.indices import Atom, Form

__all__ = ["key_of", "numbered", "same"]


def same(one: Node, other: Node) -> bool:
    """Whether two expressions are equal, whatever their bound indices are called."""
    return key_of(one) == key_of(other)


def numbered(bound: tuple[str, ...], names: Mapping[str, str]) -> dict[str, str]:
    """The names, and one for each bound index, by how many there are around it."""
    start = len(names)
    return {**names} | {b: f"#{start + i}:{extent(b)}" for i, b in enumerate(bound)}


def key_of(node: Node, names: Mapping[str, str] | None = None) -> str:
    """A text that equal expressions share, whatever their bound indices are called."""
    names = names or {}
    if isinstance(node, Total):
        return f"Σ({key_of(node.body, numbered(node.indices, names))})"
    if isinstance(node, Product | Sum):
        parts = node.factors if isinstance(node, Product) else node.terms
        return f"{type(node).__name__}({','.join(sorted(key_of(part, names) for part in parts))})"
    if isinstance(node, Apply):
        return f"{node.function}({','.join(key_of(a, names) for a in node.args)})"
    if isinstance(node, Array):
        args = [
            key_of(a.body, {str(i): f"@{n}" for n, i in enumerate(a.indices)})
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
    one = key_of(grid.body, {row: "@0", column: "@1"})
    return one == key_of(grid.body, {row: "@1", column: "@0"})


def _form_key(form: Form, names: Mapping[str, str]) -> str:
    return f"{sorted(f'{f}*{_atom_key(atom, names)}' for atom, f in form.terms)}+{form.offset}"


def _atom_key(atom: Atom, names: Mapping[str, str]) -> str:
    if isinstance(atom, str):
        return str(names.get(atom, atom))
    if isinstance(atom, Lookup):
        return f"{atom.name}{[names.get(str(i), i) for i in atom.indices]}"
    return f"({_form_key(atom.form, names)}) mod {atom.by}"
