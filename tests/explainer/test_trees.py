"""Formulas as trees."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradcheck.explainer import trees
from gradcheck.ops import all_ops
from tests.explainer.explained import example_of

if TYPE_CHECKING:
    import ast


def test_short_formulas_are_the_executed_ones() -> None:
    for op in all_ops():
        subject = example_of(op)
        short = subject.shortened(*subject.printed.values())
        full: dict[str, ast.expr] = {}
        for name, tree in short.names.items():
            full[name] = trees.substitute(tree, full)
        expanded = [trees.text_of(trees.substitute(f, full)) for f in short.formulas]
        assert expanded == [trees.text_of(tree) for tree in subject.printed.values()], op.name


def test_a_formula_is_shortened_by_the_names_that_it_uses() -> None:
    definitions = {"V": trees.read("eigenvectors(a)"), "W": trees.read("inv(a)")}
    short = trees.shorten((trees.read("matmul(eigenvectors(a), G)"),), definitions)
    assert list(short.names) == ["V"]
    assert [trees.text_of(formula) for formula in short.formulas] == ["matmul(V, G)"]
