"""Formulas of matrices, where ranks allow it."""

from __future__ import annotations

import numpy as np
import pytest

from gradcheck.explainer import trees
from gradcheck.explainer.calculus.evaluate import evaluate
from gradcheck.explainer.calculus.indices import Space
from gradcheck.explainer.calculus.simplify import simplify
from gradcheck.explainer.calculus.translate import Translation
from gradcheck.explainer.calculus.values import tensor
from gradcheck.explainer.formula.matrix_form import formula_of


@pytest.mark.parametrize(
    ("formula", "shapes", "written"),
    [
        ("matmul(a, b)", {"a": (2, 3), "b": (3, 4)}, "matmul(a, b)"),
        ("mT(matmul(a, b))", {"a": (2, 3), "b": (3, 4)}, "matmul(mT(b), mT(a))"),
        ("a * b", {"a": (2, 3), "b": (2, 3)}, "a * b"),
        ("sum(a * b)", {"a": (3,), "b": (3,)}, "scalar(matmul(row(a), column(b)))"),
        ("sum(a, 1)", {"a": (2, 3)}, "vector(matmul(a, ones([3, 1])))"),
        ("trace(matmul(a, b))", {"a": (2, 3), "b": (3, 2)}, "total(a * mT(b))"),
        (
            "expand_dims(a, 1) * expand_dims(b, 0)",
            {"a": (2,), "b": (3,)},
            "matmul(column(a), row(b))",
        ),
        ("eye(3) * a", {"a": (3,)}, "diag(a)"),
    ],
)
def test_matrices_are_written_where_ranks_allow(
    formula: str, shapes: dict[str, tuple[int, ...]], written: str
) -> None:
    space = Space()
    value = Translation(space, {n: tensor(n, s) for n, s in shapes.items()}).value(formula)
    indices = space.axes(value.shape)
    node = simplify(value.at(indices), space)
    assert trees.text_of(formula_of(node, indices, space)) == written
    rng = np.random.default_rng(0)
    values = {n: rng.standard_normal(s) for n, s in shapes.items()}
    expected = trees.run(formula, values)
    np.testing.assert_allclose(trees.run(written, values), expected)
    np.testing.assert_allclose(evaluate(node, values, indices), expected)
