"""A difference stands the same way round everywhere, and the value stays."""

from __future__ import annotations

import numpy as np
import pytest

from gradcheck.explainer import trees
from gradcheck.explainer.compose import Question, answer
from gradcheck.explainer.formula.same_way import same_way_round
from gradcheck.explainer.render.terminal import render_text


@pytest.mark.parametrize(
    ("formula", "written"),
    [
        ("G * (b - a) / abs(a - b)", "-(G * (a - b) / abs(a - b))"),
        ("(b - a) * (b - a) / sqrt(total(square(a - b)))",
         "(a - b) * (a - b) / sqrt(total(square(a - b)))"),
        ("vector(matmul(m, column(b) - column(a))) * abs(a - b)",
         "-(vector(matmul(m, column(a) - column(b))) * abs(a - b))"),
        ("a + (b - a) * abs(a - b)", "a + -((a - b) * abs(a - b))"),
        ("exp(b - a) * abs(a - b)", "exp(b - a) * abs(a - b)"),
        # As they are: no other way round, or the norm has both.
        ("G * (a - b) / abs(a - b)", "G * (a - b) / abs(a - b)"),
        ("(b - a) * abs(a - b) * abs(b - a)", "(b - a) * abs(a - b) * abs(b - a)"),
        ("(b - a) * exp(a - b)", "(b - a) * exp(a - b)"),
    ],
)  # fmt: skip
def test_differences_are_turned_and_the_value_stays(formula: str, written: str) -> None:
    found = same_way_round(trees.read(formula))
    assert trees.text_of(found) == written
    generator = np.random.default_rng(2)
    values = {name: generator.standard_normal(3) for name in "Gab"}
    values["m"] = generator.standard_normal((3, 3))
    np.testing.assert_allclose(trees.run(found, values), trees.run(formula, values))


@pytest.mark.parametrize(
    ("expr", "shown"),
    [
        ("tf.norm(tf.linalg.matvec(A, x) - b)", "∂L/∂b = −G·r / ‖r‖"),
        ("tf.norm(b - tf.linalg.matvec(A, x))", "∂L/∂x = −G·(Aᵀ r) / ‖r‖"),
    ],
)
def test_the_residual_has_one_name_in_all_gradients_of_its_norm(expr: str, shown: str) -> None:
    shapes = {"A": (4, 3), "x": (3,), "b": (4,)}
    document, proofs = answer(Question(expr=expr, shapes=shapes, verify=True))
    assert shown in render_text(document)
    assert all(proof.holds for proof in proofs)
