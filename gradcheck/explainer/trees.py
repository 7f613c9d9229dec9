"""Formulas as syntax trees: read, values put for names and names for parts, executed.

The tree is what every printer prints, and its text is what `run` executes: the two are one thing.
"""

from __future__ import annotations

import ast
import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from gradcheck.ops.language.vocabulary import lookup
from gradcheck.spec.expression.expression import parse_formula
from gradcheck.spec.expression.syntax import MAX_LENGTH, parse_tree

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = [
    "Shortened",
    "added",
    "call",
    "called",
    "equation_of",
    "listed",
    "names_in",
    "picked",
    "read",
    "real",
    "renamed_parts",
    "run",
    "shorten",
    "substitute",
    "text_of",
]


def read(text: str) -> ast.expr:
    """The tree of a formula."""
    return parse_tree(text).body


def text_of(tree: ast.expr) -> str:
    """The formula as text of the language; reading it gives the tree back."""
    return ast.unparse(tree)


def called(tree: ast.AST) -> str:
    """The name of the function that this node calls; empty where it is no call."""
    if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name):
        return tree.func.id
    return ""


def equation_of(tree: ast.expr) -> str:
    """The equation of a formula that is one einsum; empty where it is something else."""
    if called(tree) == "einsum" and isinstance(tree, ast.Call):
        first = tree.args[0]
        return str(first.value) if isinstance(first, ast.Constant) else ""
    return ""


def call(name: str, *args: ast.expr) -> ast.expr:
    """The tree of a call."""
    return ast.Call(ast.Name(name), list(args), [])


def added(parts: Sequence[ast.expr]) -> ast.expr:
    """The sum of trees, of which there is one at least."""
    total = parts[0]
    for part in parts[1:]:
        total = ast.BinOp(total, ast.Add(), part)
    return total


def names_in(tree: ast.AST) -> set[str]:
    """The names of values (not of functions) that a tree uses."""
    functions = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    return {
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and id(node) not in functions
    }


class _Substitution(ast.NodeTransformer):
    def __init__(self, values: Mapping[str, ast.expr]) -> None:
        self.values = values

    def visit_Call(self, node: ast.Call) -> ast.expr:
        args = [self.visit(arg) for arg in node.args]
        keywords = [ast.keyword(k.arg, self.visit(k.value)) for k in node.keywords]
        return ast.Call(node.func, args, keywords)

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.values.get(node.id, node)


def substitute(tree: ast.expr, values: Mapping[str, Any]) -> ast.expr:
    """The tree with trees, or plain values, in the place of names."""
    ready = {
        name: value if isinstance(value, ast.expr) else read(repr(value))
        for name, value in values.items()
    }
    found: ast.expr = _Substitution(ready).visit(read(text_of(tree)))
    return found


class _Picked(ast.NodeTransformer):
    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.value, ast.List) and isinstance(node.slice, ast.Constant):
            return node.value.elts[int(str(node.slice.value))]
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, ast.Pow) and _whole(node.right) == 1:
            return node.left
        if isinstance(node.op, ast.Sub) and (left := _whole(node.left)) is not None:
            # The exponent of a slope, 3 − 1; a difference below zero stays as it is written.
            right = _whole(node.right)
            return node if right is None or right > left else ast.Constant(left - right)
        left_zero, right_zero = map(_is_zero, (node.left, node.right))
        if isinstance(node.op, ast.Mult | ast.Div) and left_zero:
            return node.left
        if isinstance(node.op, ast.Mult) and right_zero:
            return node.right
        if isinstance(node.op, ast.Add | ast.Sub) and right_zero:
            return node.left
        if isinstance(node.op, ast.Sub) and left_zero:
            return ast.UnaryOp(ast.USub(), node.right)
        return node.right if isinstance(node.op, ast.Add) and left_zero else node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if called(node) in ("matmul", "mT", "mirror_lower", "diag_matrix"):
            return next((arg for arg in node.args if called(arg) == "zeros"), node)
        return node


def _is_zero(node: ast.expr) -> bool:
    """Whether it is an array of zeros, repeated along axes or not."""
    if isinstance(node, ast.Call) and called(node) == "unreduce":
        return _is_zero(node.args[0])
    return called(node) == "zeros"


def _whole(node: ast.expr) -> int | None:
    """A whole number that is written out; None for anything else."""
    value = node.value if isinstance(node, ast.Constant) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if float(value).is_integer() else None


def picked(tree: ast.expr) -> ast.expr:
    """The tree with `a` for `[a, b][0]`, without zeros that nothing comes of and powers of 1."""
    found: ast.expr = _Picked().visit(read(text_of(tree)))
    return found


class _Listed(ast.NodeTransformer):
    def __init__(self, names: set[str], count: int) -> None:
        self.names, self.count = names, count

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        return node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id not in self.names:
            return node
        return read("[" + ", ".join(f"{node.id}[{i}]" for i in range(self.count)) + "]")


def listed(tree: ast.expr, names: set[str], count: int) -> ast.expr:
    """The tree with each of the lists written out by its elements."""
    found: ast.expr = _Listed(names, count).visit(read(text_of(tree)))
    return found


class _Real(ast.NodeTransformer):
    """For real numbers the conjugate is the number, and the adjoint the transpose."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if called(node) in ("conj", "real"):
            return node.args[0]
        if called(node) == "adjoint":
            return call("mT", *node.args)
        return node


def real(tree: ast.expr) -> ast.expr:
    """A formula as one writes it for real inputs."""
    found: ast.expr = _Real().visit(read(text_of(tree)))
    return found


@dataclass(frozen=True)
class Shortened:
    """The names that are used, in order, and the formulas that use them."""

    names: dict[str, ast.expr]
    formulas: tuple[ast.expr, ...]


class _Replacement(ast.NodeTransformer):
    def __init__(self, text: str, name: str) -> None:
        self.text, self.name = text, name

    def visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, ast.expr) and text_of(node) == self.text:
            return ast.Name(self.name)
        return self.generic_visit(node)


def shorten(formulas: tuple[ast.expr, ...], definitions: Mapping[str, ast.expr]) -> Shortened:
    """The formulas with names in the place of what is defined: V for `eigenvectors(A)`.

    Later definitions go first: they may be made of earlier ones.
    """
    full: dict[str, ast.expr] = {}
    for name, tree in definitions.items():
        full[name] = substitute(tree, full)
    found = tuple(_replaced(formula, full) for formula in formulas)
    # A name may be defined by others.
    used: dict[str, ast.expr] = {}
    pending = [name for formula in found for name in names_in(formula)]
    while pending:
        name = pending.pop()
        if name in definitions and name not in used:
            used[name] = definitions[name]
            pending += names_in(definitions[name])
    return Shortened({name: used[name] for name in definitions if name in used}, found)


def _replaced(formula: ast.expr, full: Mapping[str, ast.expr]) -> ast.expr:
    found = read(text_of(formula))
    for name, tree in reversed(list(full.items())):
        result = cast("ast.expr", _Replacement(text_of(tree), name).visit(found))
        found = read(text_of(result))
    return found


def renamed_parts(tree: ast.expr, names: Mapping[str, str]) -> ast.expr:
    """The tree with a name in the place of each part that has one, by the text of the part."""
    found = read(text_of(tree))
    for text, name in names.items():
        found = read(text_of(cast("ast.expr", _Replacement(text, name).visit(found))))
    return found


def run(tree: ast.expr | str, values: Mapping[str, Any]) -> Any:
    """The value of a formula: exactly the text that is shown is what is executed."""
    text = tree if isinstance(tree, str) else text_of(tree)
    if isinstance(tree, ast.expr) and len(text) > MAX_LENGTH:
        return _run_in_parts(tree, values)
    with np.errstate(all="ignore"):
        return parse_formula(text, values).evaluate(values, lookup)


LONG_PART = 200
"""Characters of a part that is computed by itself, where the whole is too long to be read."""


def _run_in_parts(tree: ast.expr, values: Mapping[str, Any]) -> Any:
    """A formula that is longer than any that is read: its parts first, then what they make.

    Without it `test_a_formula_that_is_too_long_is_computed_by_its_parts` fails.
    """
    parts = _Parts()
    whole = parts.visit_children(copy.deepcopy(tree))
    known = {name: run(part, values) for name, part in parts.found.items()}
    return run(whole, {**values, **known})


class _Parts(ast.NodeTransformer):
    def __init__(self) -> None:
        self.found: dict[str, ast.expr] = {}

    def visit_children(self, node: ast.expr) -> ast.expr:
        """The node with names for the long ones of its parts."""
        found: ast.expr = self.generic_visit(node)  # type: ignore[assignment]
        return found

    def visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, ast.List | ast.Tuple | ast.keyword):
            return self.generic_visit(node)
        if not isinstance(node, ast.expr) or len(text_of(node)) <= LONG_PART:
            return node
        name = f"part__{len(self.found)}"
        self.found[name] = node
        return ast.Name(name)
