"""Expressions that are one op get the form of the op, and those that only look like it do not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from gradcheck.explainer import trees
from gradcheck.explainer.compose import Question, answer
from gradcheck.explainer.derive.chain import bar, run_chain
from gradcheck.explainer.derive.read_graph import read_graph
from gradcheck.explainer.derive.whole_op import as_one_op
from gradcheck.explainer.render.terminal import render_text

if TYPE_CHECKING:
    from gradcheck.model import Shape

MEAN = "tf.reduce_mean(x, -1, keepdims=True)"
NORMALISED = f"(x - {MEAN}) * tf.math.rsqrt(tf.math.reduce_variance(x, -1, keepdims=True) + EPS)"
SHAPES: dict[str, Shape] = {"x": (2, 3), "a": (3,), "b": (3,)}


@pytest.mark.parametrize(
    ("text", "name", "names"),
    [
        (f"{NORMALISED} * a + b", "layer_norm", {"x": "x", "scale": "a", "offset": "b"}),
        (f"b + a * ({NORMALISED})", "layer_norm", {"x": "x", "scale": "a", "offset": "b"}),
        (f"{NORMALISED} * b + a", "layer_norm", {"x": "x", "scale": "b", "offset": "a"}),
    ],
)
def test_what_is_one_op(text: str, name: str, names: dict[str, str]) -> None:
    graph = read_graph(text.replace("EPS", "0.01"), SHAPES)
    found = as_one_op(graph)
    assert found is not None
    assert (found.subject.op.name, found.names) == (name, names)
    assert found.subject.call.args["epsilon"] == 0.01
    rng = np.random.default_rng(1)
    values = {n: rng.standard_normal(s) for n, s in SHAPES.items()}
    chain = run_chain(graph, values, upstream := rng.standard_normal((2, 3)))
    for own in SHAPES:
        formula = found.whole_formula(own)
        assert formula is not None
        gradient = trees.run(formula, {**values, "G": upstream})
        np.testing.assert_allclose(gradient, chain[bar(graph, own)], rtol=1e-9, atol=1e-12)


def test_a_form_over_the_output_has_a_name_for_it() -> None:
    text = "x * tf.minimum(tf.math.rsqrt(tf.reduce_sum(x * x, 1, keepdims=True)), 1e12)"
    graph = read_graph(text, {"x": (2, 3)})
    found = as_one_op(graph)
    assert found is not None
    assert found.subject.op.name == "l2_normalize"
    short, whole = found.formula("x"), found.whole_formula("x")
    assert short is not None
    assert whole is not None
    assert graph.output in trees.names_in(short.formulas[0])
    assert trees.names_in(whole) == {"x", "G"}
    assert found.code(graph, "x")[0].startswith(("t =", f"{graph.output} ="))


@pytest.mark.parametrize(
    "text",
    [
        f"{NORMALISED} * a + 2 * b",
        f"{NORMALISED} * a - b",
        NORMALISED.replace("-1", "0") + " * a + b",
        f"{NORMALISED} * (1 + 1e-6) * a + b",
        "tf.nn.softmax(x) * a + b",
    ],
)
def test_what_only_looks_like_it_is_none(text: str) -> None:
    found = as_one_op(read_graph(text.replace("EPS", "0.01"), SHAPES))
    assert found is None or found.subject.op.name == "batch_norm_training"


def test_a_layer_is_printed_in_the_terms_of_the_op() -> None:
    asked = Question(layer="keras.layers.LayerNormalization", shapes={"x": (2, 3)}, verify=True)
    document, proofs = answer(asked)
    text = " ".join(render_text(document).split())
    assert "∂L/∂x = (G ⊙ gamma − mean₋₁(G ⊙ gamma) − h ⊙ mean₋₁(G ⊙ gamma ⊙ h)) / s" in text
    assert {"as layer_norm", "code, float64"} <= {proof.formula for proof in proofs}
    assert all(proof.holds for proof in proofs)
