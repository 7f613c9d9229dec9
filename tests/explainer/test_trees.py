"""Formulas as trees."""

from __future__ import annotations

import ast

import numpy as np
import pytest

from gradcheck.errors import ExpressionError
from gradcheck.explainer import trees
from gradcheck.ops import all_ops
from tests.explainer.explained import example_of


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


@pytest.mark.parametrize(
    ("text", "shorter"),
    [
        ("G * 2 * x ** (2 - 1)", "G * 2 * x"),
        ("x ** (3 - 1)", "x ** 2"),
        ("x ** (2.0 - 1)", "x"),
        ("x ** (1 - 2)", "x ** (1 - 2)"),
        ("x ** (0.5 - 1)", "x ** (0.5 - 1)"),
    ],
)
def test_the_exponent_of_a_slope_is_computed(text: str, shorter: str) -> None:
    found = trees.picked(trees.read(text))
    assert trees.text_of(found) == shorter
    values = {"x": np.array([0.5, 2.0, 3.0]), "G": np.array([1.0, -2.0, 0.5])}
    np.testing.assert_allclose(trees.run(found, values), trees.run(text, values))


def test_a_formula_that_is_too_long_is_computed_by_its_parts() -> None:
    x = np.array([0.5, 1.5])
    short, wanted = "x", x
    for _ in range(10):
        short = f"sin({short}) + ({short}) * x"
        wanted = np.sin(wanted) + wanted * x
    text = short
    assert len(text) > 4_000
    found = trees.run(ast.parse(text, mode="eval").body, {"x": x})
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
    with pytest.raises(ExpressionError, match="characters long"):
        trees.run(text, {"x": x})
