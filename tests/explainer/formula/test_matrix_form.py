"""Formulas of matrices, where ranks allow it."""

from __future__ import annotations

import ast

import numpy as np
import pytest

from gradcheck.explainer import trees
from gradcheck.explainer.calculus.evaluate import evaluate
from gradcheck.explainer.calculus.indices import Space
from gradcheck.explainer.calculus.simplify import simplify
from gradcheck.explainer.calculus.translate import Translation
from gradcheck.explainer.calculus.values import tensor
from gradcheck.explainer.compose import Question, answer
from gradcheck.explainer.formula.matrix_form import formula_of
from gradcheck.explainer.render.terminal import render_text


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


ATTENTION = "tf.matmul(tf.nn.softmax(tf.matmul(q, k, transpose_b=True) / 3.0), v)"


@pytest.mark.parametrize("batch", [(), (2,), (2, 3)])
def test_batches_of_matrices_are_written_as_matrices(batch: tuple[int, ...]) -> None:
    shapes = {"q": (*batch, 3, 4), "k": (*batch, 5, 4), "v": (*batch, 5, 2)}
    page, proofs = answer(Question(expr=ATTENTION, shapes=shapes, verify=True))
    text = render_text(page)
    assert [proof for proof in proofs if not proof.holds] == []
    assert {"code, float64", "code, float32", "code, values of 200"} <= {p.formula for p in proofs}
    assert "P = softmax₋₁(q kᵀ / 3)    (the shares)" in text
    assert "∂L/∂v = Pᵀ G" in text
    assert "(P ⊙ (G vᵀ − sum" in text
    assert "(qᵀ " not in text
    assert "softmax₋₁((" not in text


def test_a_weight_that_batches_share_gets_the_sum_of_its_gradients() -> None:
    shapes = {"x": (2, 3, 4), "w": (4, 5)}
    page, proofs = answer(Question(expr="tf.tanh(tf.matmul(x, w))", shapes=shapes, verify=True))
    assert all(proof.holds for proof in proofs)
    assert "∂L/∂w = sum₀(xᵀ (G ⊙ (1 − tanh(x w)^(⊙2))))" in render_text(page)


def test_a_batched_formula_that_is_another_thing_is_not_believed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        "gradcheck.explainer.formula.batched.with_fewer_turns", lambda f: ast.UnaryOp(ast.USub(), f)
    )
    shapes = {"x": (2, 3, 4), "y": (2, 4, 5)}
    page, _ = answer(Question(expr="tf.matmul(x, y)", shapes=shapes))
    assert "−G" not in render_text(page)
