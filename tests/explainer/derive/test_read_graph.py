"""Reading an expression: what is refused, and why."""

from __future__ import annotations

import pytest

import gradcheck
from gradcheck.errors import ExpressionError
from gradcheck.explainer.compose import Question, answer
from gradcheck.explainer.derive.read_graph import read_graph
from gradcheck.explainer.render.terminal import render_text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("tf.fft(x)", "not on the list"),
        ("tf.linalg.logm(x)", "no declaration"),
        ("x", "computes nothing"),
        ("tf.matmul(x, x)", "inner sizes"),
        ("tf.reduce_sum(x, tf.rank(x))", "plain value"),
        ("tf.split(x, 2)[5]", "2 outputs here"),
        ("tf.split(x, 2)", "several outputs"),
        ("tf.math.top_k(x)", "only the first"),
        ("tf.linalg.eigh(x)", "several outputs"),
        ("tf.abs(tf.signal.rfft(x))", "takes or gives complex numbers"),
        ("tf.concat(x, 0)", "a list of values"),
    ],
)
def test_what_cannot_be_explained_says_why(text: str, said: str) -> None:
    with pytest.raises(ExpressionError, match=said):
        read_graph(text, {"x": (2, 3)})


def test_what_is_computed_twice_is_one_step() -> None:
    graph = read_graph("tf.sin(x) * tf.sin(x)", {"x": (2,)})
    assert [step.op.name for step in graph.steps] == ["sin", "multiply"]


@pytest.mark.parametrize(
    ("text", "shapes", "gradient"),
    [
        ("tf.constant(2.0, x.dtype) * x", {"x": (3,)}, "∂L/∂x = 2·G"),
        ("tf.constant([1.0, 2.0, 3.0], dtype=tf.float64) * x", {"x": (3,)}, "[1.0, 2.0, 3.0]"),
        ("tf.cast(x, tf.float64) * y", {"x": (3,), "y": (3,)}, "∂L/∂x = G ⊙ y"),
        ("tf.cast(x > 0.0, x.dtype) * x", {"x": (3,)}, "∂L/∂x = G ⊙ [x > 0]"),
        ("tf.stop_gradient(x) * x", {"x": (3,)}, "∂L/∂x = G ⊙ x"),
        ("tf.stop_gradient(tf.exp(x)) * tf.exp(x)", {"x": (3,)}, "∂L/∂x[i] = G[i]·exp(x[i])²"),
        ("tf.reduce_sum(tf.linalg.svd(x, compute_uv=False))", {"x": (3, 2)}, "∂L/∂x"),
        ("tf.linalg.svd(x, compute_uv=False)[0]", {"x": (3, 2)}, "∂L/∂x"),
    ],
)
def test_calls_that_compute_nothing(
    text: str, shapes: dict[str, tuple[int, ...]], gradient: str
) -> None:
    page = gradcheck.explain(expr=text, shapes=shapes, verify=True)
    assert gradient in str(page)
    assert page.holds, str(page)


def test_what_is_held_fixed_has_no_gradient() -> None:
    page = str(gradcheck.explain(expr="tf.stop_gradient(y) * x", shapes={"x": (3,), "y": (3,)}))
    assert "does not depend on y: the tape gives None" in page or "∂L/∂y" not in page


def test_a_list_of_exponents() -> None:
    asked = Question(expr="tf.pow(x, [0.5, 2.0])", shapes={"x": (2,)}, at={}, verify=True)
    document, proofs = answer(asked)
    assert "x^([−0.5,1])" in render_text(document)
    assert all(proof.holds for proof in proofs)
