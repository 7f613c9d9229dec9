"""Formulas made shorter by names: `(V ⊙ G) Vᵀ` with `V = eigenvectors(A)`."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from gradcheck.explain import trees

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Shortened", "shorten"]


@dataclass(frozen=True)
class Shortened:
    """The names that are used, in order, and the formulas that use them."""

    names: dict[str, ast.expr]
    formulas: tuple[ast.expr, ...]

    def expanded(self) -> tuple[ast.expr, ...]:
        """The formulas without the names: what was shortened."""
        full: dict[str, ast.expr] = {}
        for name, tree in self.names.items():
            full[name] = trees.substitute(tree, full)
        return tuple(trees.substitute(formula, full) for formula in self.formulas)


class _Replacement(ast.NodeTransformer):
    def __init__(self, text: str, name: str) -> None:
        self.text, self.name = text, name

    def visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, ast.expr) and trees.text_of(node) == self.text:
            return ast.Name(self.name)
        return self.generic_visit(node)


def shorten(formulas: tuple[ast.expr, ...], definitions: Mapping[str, ast.expr]) -> Shortened:
    """The formulas with names in the place of what is defined; later definitions go first."""
    full: dict[str, ast.expr] = {}
    for name, tree in definitions.items():
        full[name] = trees.substitute(tree, full)
    found = tuple(_replaced(formula, full) for formula in formulas)
    # A name may be defined by others.
    used: dict[str, ast.expr] = {}
    pending = [name for formula in found for name in trees.names_in(formula)]
    while pending:
        name = pending.pop()
        if name in definitions and name not in used:
            used[name] = definitions[name]
            pending += trees.names_in(definitions[name])
    return Shortened({name: used[name] for name in definitions if name in used}, found)


def _replaced(formula: ast.expr, full: Mapping[str, ast.expr]) -> ast.expr:
    found = trees.read(trees.text_of(formula))
    for name, tree in reversed(list(full.items())):
        result = cast("ast.expr", _Replacement(trees.text_of(tree), name).visit(found))
        found = trees.read(trees.text_of(result))
    return found
