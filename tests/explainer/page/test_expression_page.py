"""The page of an expression."""

from __future__ import annotations

from gradcheck.explainer.derive.read_graph import read_graph
from gradcheck.explainer.page.expression_page import explain_expression
from gradcheck.explainer.render.latex import render_latex
from gradcheck.explainer.render.terminal import render_text


def test_the_value_that_is_used_twice_gets_a_sum() -> None:
    graph = read_graph("tf.matmul(x, tf.expand_dims(tf.reduce_sum(x, 0), 1))", {"x": (2, 2)})
    page = explain_expression(graph)
    text = render_text(page)
    assert "x is used 2 times" in text
    assert "∂L/∂x = (G 𝟏ᵀ + 𝟏 Gᵀ) x" in text
    assert render_latex(page).isascii()


def test_an_input_that_is_not_used_is_said_to_have_no_gradient() -> None:
    page = explain_expression(read_graph("tf.sin(x)", {"x": (2,), "y": (3,)}))
    assert page.sections[-1].heading == "Not connected"
    assert "does not depend on y" in render_text(page)
