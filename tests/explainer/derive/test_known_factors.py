"""Gradients through Cholesky factors, as textbooks write them."""

from __future__ import annotations

import pytest

from gradcheck.explainer import trees
from gradcheck.explainer.compose import Question, answer
from gradcheck.explainer.derive.chain import closed_form
from gradcheck.explainer.derive.known_factors import without_factors
from gradcheck.explainer.derive.read_graph import read_graph
from gradcheck.explainer.render.terminal import render_text

FACTOR = "tf.linalg.cholesky(k)"
FIT = f"0.5 * tf.reduce_sum(y * tf.linalg.cholesky_solve({FACTOR}, y))"
VOLUME = f"tf.reduce_sum(tf.math.log(tf.linalg.diag_part({FACTOR})))"
LIKELIHOOD = f"{FIT} + {VOLUME}"
SHAPES = {"k": (3, 3), "y": (3, 1)}


def test_the_likelihood_of_a_gaussian_process() -> None:
    document, proofs = answer(Question(expr=LIKELIHOOD, shapes=SHAPES, verify=True))
    text = render_text(document)
    assert "t = k⁻¹ y" in text
    assert "∂L/∂k = G·(k⁻¹ − t tᵀ) / 2" in text
    assert "∂L/∂y = G·(k⁻¹ y)" in text
    assert "phi" not in text.split("Closed form")[1]
    assert [proof for proof in proofs if not proof.holds] == []


def test_a_kernel_of_points() -> None:
    kernel = "(tf.exp(-tf.square(tf.expand_dims(x, 1) - tf.expand_dims(x, 0))) + 0.1 * tf.eye(3))"
    text = LIKELIHOOD.replace("(k)", f"({kernel})")
    asked = Question(expr=text, shapes={"x": (3,), "y": (3, 1)}, verify=True)
    document, proofs = answer(asked)
    shown = render_text(document)
    assert "phi" not in shown.split("Closed form")[1]
    assert {proof.formula for proof in proofs if proof.name == "x"} >= {"chain rule"}
    assert [proof for proof in proofs if not proof.holds] == []


@pytest.mark.parametrize(
    ("text", "shapes"),
    [
        # (What comes back to k is not symmetric by itself.)
        (f"tf.reduce_sum(a * tf.linalg.cholesky_solve({FACTOR}, y))", {**SHAPES, "a": (3, 1)}),
        # (The factor is used as it is, too.)
        (f"{LIKELIHOOD} + tf.reduce_sum(tf.square({FACTOR}))", SHAPES),
    ],
)
def test_where_the_factor_stays(text: str, shapes: dict[str, tuple[int, ...]]) -> None:
    _, proofs = answer(Question(expr=text, shapes=shapes, verify=True))
    assert any(proof.name == "k" for proof in proofs)
    assert [proof for proof in proofs if not proof.holds] == []


def test_other_inverses_need_not_be_symmetric() -> None:
    text = f"{FIT} + tf.linalg.logdet(b)"
    graph = read_graph(text, {**SHAPES, "b": (3, 3)})
    assert without_factors(graph) is None
    form = closed_form(graph, "b")
    assert form is not None
    assert form.formula is not None
    assert trees.text_of(form.formula) == "G * mT(inv(b))"
