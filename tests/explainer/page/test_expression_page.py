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


def test_numbers_of_a_batch_are_put_beside_matrices_where_the_axes_are_not_the_same() -> None:
    # (Of three numbers and three 3×3 matrices the product without it has the right shape, too.)
    for batch in (2, 3):
        shapes = {"a": (batch, 3, 3), "b": (batch,)}
        for op, beside in (("det", "v̄₁ ⊙ v₁"), ("logdet", "v̄₁")):
            graph = read_graph(f"tf.linalg.{op}(a) * b", shapes)
            text = render_text(explain_expression(graph))
            assert f"∂L/∂a = expand_dims({beside}, [−2, −1]) ⊙ a⁻ᵀ" in text
    one = render_text(
        explain_expression(read_graph("tf.linalg.det(a) * b", {"a": (3, 3), "b": ()}))
    )
    assert "∂L/∂a = (v̄₁·v₁)·a⁻ᵀ" in one


def test_what_comes_back_to_a_step_has_the_indices_of_the_step() -> None:
    shapes = {"x": (1, 1, 5, 3), "k": (1, 2, 3, 2)}
    text = render_text(
        explain_expression(read_graph("tf.tanh(tf.nn.conv2d(x, k, 1, 'VALID'))", shapes))
    )
    assert "∂L/∂k[0,b,c,d] = Σ_w windows(x, [1, 2], 1, VALID)[0,0,w,0,b,c]·v̄₁[0,0,w,d]" in text


def test_windows_are_written_by_their_places_where_nothing_is_shorter_without_indices() -> None:
    shapes = {"x": (2, 5, 5, 2), "k": (2, 2, 2, 3)}
    text = render_text(
        explain_expression(read_graph("tf.nn.conv2d(x, k, 2, 'VALID') * 3.0", shapes))
    )
    assert "∂L/∂x[i,j,l,m] = 3·Σ_{npdqr} G[i,n,p,d]·k[q,r,m,d]·[j = 2·n + q]·[l = 2·p + r]" in text
    assert "∂L/∂k[i,j,l,m] = 3·Σ_{nhw} G[n,h,w,m]·x[n,2·h + i,2·w + j,l]" in text
