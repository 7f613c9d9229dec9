"""Letters for the parts of a closed form, and what holds where labels sum to one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from gradcheck.explainer import trees
from gradcheck.explainer.compose import Question, answer
from gradcheck.explainer.derive.chain import closed_form
from gradcheck.explainer.derive.read_graph import read_graph
from gradcheck.explainer.page.named_parts import assumed, named_parts, note_of, where_shares
from gradcheck.explainer.render.terminal import render_text

if TYPE_CHECKING:
    import ast

    from gradcheck.explainer.derive.call_graph import Graph
    from gradcheck.model import Shape

CROSS_ENTROPY = "-tf.reduce_sum(y * tf.nn.log_softmax(z))"


def _form(expr: str, name: str, shapes: dict[str, Shape]) -> tuple[Graph, ast.expr]:
    graph = read_graph(expr, shapes)
    form = closed_form(graph, name)
    assert form is not None
    assert form.formula is not None
    return graph, form.formula


@pytest.mark.parametrize("shape", [(3,), (2, 3), (4, 2)])
def test_where_labels_sum_to_one_the_shorter_form_is_the_same(shape: Shape) -> None:
    graph, formula = _form(CROSS_ENTROPY, "z", {"y": shape, "z": shape})
    found = where_shares(graph, formula)
    assert found is not None
    rng = np.random.default_rng(3)
    labels = rng.uniform(0.1, 1.0, shape)
    values = {"z": rng.standard_normal(shape), "G": np.asarray(1.5)}
    shares = {**values, "y": labels / labels.sum(-1, keepdims=True)}
    np.testing.assert_allclose(trees.run(found[1], shares), trees.run(formula, shares), rtol=1e-12)
    np.testing.assert_allclose(trees.run(found[0], shares), 1.0)
    # Of other labels it is not said.
    others = {**values, "y": labels}
    assert np.max(np.abs(trees.run(found[1], others) - trees.run(formula, others))) > 1e-3


@pytest.mark.parametrize("expr", ["tf.reduce_sum(y) * z", "tf.reduce_sum(y) * tf.exp(z)"])
def test_a_sum_beside_anything_else_stays(expr: str) -> None:
    graph, formula = _form(expr, "z", {"y": (3,), "z": (3,)})
    assert where_shares(graph, formula) is None


def test_what_tensorflow_assumes_is_said() -> None:
    graph = read_graph("tf.nn.softmax_cross_entropy_with_logits(y, z)", {"y": (2, 3), "z": (2, 3)})
    assert assumed(graph, "z") == ["y"]
    assert assumed(graph, "y") == []
    assert assumed(read_graph(CROSS_ENTROPY, {"y": (3,), "z": (3,)}), "z") == []


@pytest.mark.parametrize(
    ("expr", "name", "shapes", "letters"),
    [
        ("tf.nn.softmax(z)", "z", {"z": (3,)}, {"p": "softmax(z, -1)"}),
        ("tf.nn.softmax(p)", "p", {"p": (3,)}, {"q": "softmax(p, -1)"}),
        ("tf.nn.softmax(z)", "z", {"z": (2, 3)}, {"P": "softmax(z, -1)"}),
        (
            "tf.norm(tf.linalg.matvec(a, x) - b)", "x", {"a": (4, 3), "x": (3,), "b": (4,)},
            {"r": "matmul(a, column(x)) - column(b)"},
        ),
        ("tf.reduce_sum(tf.square(x - y))", "x", {"x": (3,), "y": (3,)}, {}),
    ],
)  # fmt: skip
def test_parts_that_have_a_name_get_it(
    expr: str, name: str, shapes: dict[str, Shape], letters: dict[str, str]
) -> None:
    graph, formula = _form(expr, name, shapes)
    short = named_parts(graph, formula)
    assert {letter: trees.text_of(tree) for letter, tree in short.names.items()} == letters
    rng = np.random.default_rng(5)
    values = {
        n: rng.standard_normal(s) for n, s in [*shapes.items(), ("G", graph.shapes[graph.output])]
    }
    parts = {letter: trees.run(tree, values) for letter, tree in short.names.items()}
    found = trees.run(short.formulas[0], {**values, **parts})
    np.testing.assert_allclose(found, trees.run(formula, values), rtol=1e-12)


def test_a_page_names_the_residual_and_the_shares() -> None:
    shapes: dict[str, Shape] = {"A": (4, 3), "x": (3,), "b": (4,)}
    page, _ = answer(Question(expr="tf.norm(tf.linalg.matvec(A, x) - b)", shapes=shapes))
    shown = render_text(page)
    assert "r = A x − b" in shown
    assert "∂L/∂x = G·(Aᵀ r) / ‖r‖" in shown
    page, _ = answer(Question(expr=CROSS_ENTROPY, shapes={"y": (3,), "z": (3,)}))
    shown = render_text(page)
    assert "∂L/∂z = G·(p − y)    (where sum(y) = 1)" in shown
    assert "∂L/∂z[i] = Σⱼ G·y[j]·p[i] − G·y[i]" in shown


def test_a_difference_of_gradients_is_no_residual() -> None:
    graph = read_graph("tf.matmul(x, x)", {"x": (2, 2)})
    formula = trees.read("matmul(matmul(G, x) - G, x) + mT(matmul(G, x) - G)")
    names = named_parts(graph, formula).names
    assert names
    assert {note_of(part) for part in names.values()} == {""}
