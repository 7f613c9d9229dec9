"""Gradients by lines, where one formula would be long: every line is executed."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import numpy as np
import pytest

from gradcheck.explainer import trees
from gradcheck.explainer.compose import Question, answer
from gradcheck.explainer.derive.chain import adjoints, bar, closed_form, run_chain
from gradcheck.explainer.derive.named_form import LONG_LINE, in_lines, lines_of, run_named
from gradcheck.explainer.derive.read_graph import read_graph
from gradcheck.explainer.render.terminal import render_text

SCORES = "tf.einsum('bihd,bjhd->bhij', q, k) / 2.0"
ATTENTION = f"tf.einsum('bhij,bjhd->bihd', tf.nn.softmax({SCORES}), v)"
SHAPES = {"q": (1, 2, 1, 4), "k": (1, 3, 1, 4), "v": (1, 3, 1, 4)}


def test_what_is_long_is_read_in_lines() -> None:
    document, proofs = answer(Question(expr=ATTENTION, shapes=SHAPES, verify=True))
    text = render_text(document)
    assert "In one formula it would be long: what comes back has names." in text
    assert "∂L/∂q[0,i,0,d] = Σⱼ h̄₁[0,0,i,j]·k[0,j,0,d]" in text.split("Closed form")[1]
    assert "h̄₁ as above." in text
    # What is short stands as it did.
    assert "∂L/∂v[0,i,0,j] = Σₗ G[0,l,0,j]·h₃[0,0,l,i]" in text
    labels = {(proof.name, proof.formula) for proof in proofs}
    assert {("q", "closed, in lines"), ("v", "closed, indices"), ("q", "code, float64")} <= labels
    assert [proof for proof in proofs if not proof.holds] == []


CHAIN = "tf.tanh(tf.matmul(tf.nn.softmax(tf.matmul(tf.sigmoid(tf.matmul(x, w)), w) * x), w))"
PARTS = [f"tf.split(z, 4, axis=1)[{place}]" for place in range(4)]
CELL = f"tf.sigmoid({PARTS[1]}) * c + tf.sigmoid({PARTS[0]}) * tf.tanh({PARTS[2]})"
LSTM = f"tf.sigmoid({PARTS[3]}) * tf.tanh({CELL})"
ROUNDS = "tf.sin(y) * y"


@pytest.mark.parametrize(
    ("text", "shapes"),
    [
        (CHAIN, {"x": (2, 2), "w": (2, 2)}),
        (ROUNDS.replace("y", f"({ROUNDS.replace('y', f'({ROUNDS})')})"), {"y": (3,)}),
        (ATTENTION, SHAPES),
        (LSTM, {"z": (2, 8), "c": (2, 2)}),
    ],
)
def test_every_line_is_what_comes_back(text: str, shapes: dict[str, tuple[int, ...]]) -> None:
    graph = read_graph(text, shapes)
    rng = np.random.default_rng(0)
    values = {name: rng.normal(size=shape) for name, shape in shapes.items()}
    known = run_chain(graph, values, rng.normal(size=graph.shapes[graph.output]))
    reached = [adjoint.name for adjoint in adjoints(graph)]
    for form in lines_of(graph, shapes):
        wanted = known[bar(graph, form.name)]
        np.testing.assert_allclose(run_named(graph, form, known), wanted, rtol=1e-9, atol=1e-12)
        for name, tree in form.lines.items():
            np.testing.assert_allclose(
                trees.run(tree, known), known[bar(graph, name)], rtol=1e-9, atol=1e-12
            )
        # In the order in which they are computed, and none that nobody needs.
        assert sorted(form.lines, key=reached.index) == list(form.lines)
        assert len(form.lines) < form.without


def test_lines_are_short() -> None:
    graph = read_graph(CHAIN, {"x": (2, 2), "w": (2, 2)})
    (form,) = lines_of(graph, ["x"])
    assert form.longest <= LONG_LINE


def test_one_formula_that_is_short_stays_one() -> None:
    graph = read_graph("tf.matmul(tf.tanh(tf.matmul(x, w)), w)", {"x": (2, 2), "w": (2, 2)})
    assert in_lines(graph, "x", closed_form(graph, "x")) is None


def test_the_names_do_not_depend_on_the_run() -> None:
    code = f"""
from gradcheck.explainer import trees
from gradcheck.explainer.derive.named_form import lines_of
from gradcheck.explainer.derive.read_graph import read_graph
graph = read_graph({LSTM!r}, {{"z": (2, 8), "c": (2, 2)}})
for form in lines_of(graph, "zc"):
    print([*map(trees.text_of, (*form.lines.values(), form.formula))])
"""
    told = [
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for seed in (1, 2, 3)
    ]
    assert len({*told}) == 1
    assert "concatenate" in told[0]


FOCAL = (
    "tf.reduce_mean(tf.square(1.0 - tf.reduce_sum(y * tf.nn.softmax(x), 1)) * "
    "-tf.reduce_sum(y * tf.math.log(tf.nn.softmax(x)), 1))"
)


def test_what_scales_rows_is_no_matrix() -> None:
    asked = Question(expr=FOCAL, shapes={"x": (2, 3), "y": (2, 3)}, verify=True)
    document, proofs = answer(asked)
    section = render_text(document).split("Closed form of ∂L/∂x")[1].split("Closed form")[0]
    assert "diag(" not in section
    assert ("x", "closed, in lines") in {(proof.name, proof.formula) for proof in proofs}
    assert [proof for proof in proofs if not proof.holds] == []


def test_a_shape_alone_is_not_looked_up() -> None:
    graph = read_graph(FOCAL, {"x": (2, 3), "y": (2, 3)})
    (form,) = lines_of(graph, ["x"])
    text = " ".join(map(trees.text_of, (*form.lines.values(), form.formula)))
    read = set(re.findall(r"\w+", re.sub(r"shape\(\w+\)", "", text)))
    assert "shape(" in text
    assert {*form.steps} == read & {step.name for step in graph.steps}
