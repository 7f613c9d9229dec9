"""Parts of arrays are written by their places, and read back they are the same numbers."""

from __future__ import annotations

import numpy as np
import pytest

from gradcheck.explainer import trees
from gradcheck.explainer.compose import Question, answer
from gradcheck.explainer.render.terminal import render_text
from gradcheck.explainer.style import LATEX, UNICODE
from gradcheck.explainer.typeset.matrix_notation import Setting


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        ("pick(x, ':, 0')", "x[:,0]"),
        ("pick(x, '1:3')", "x[1:3]"),
        ("pick(x + y, '..., newaxis')", "(x + y)[...,newaxis]"),
        ("take(G, 2, 0)", "G[2]"),
        ("take(x, 1, 1)", "x[:,1]"),
        ("take(x, [0, 2], 0)", "take(x, [0, 2], 0)"),
        ("take(x, i, 0)", "take(x, i, 0)"),
        ("put_slice(x, ':, 0', G)", "put_slice(x, [:,0], G)"),
        ("matmul(expand_dims(y, -1), matmul(expand_dims(x, -2), G))", "y xᵀ G"),
    ],
)
def test_what_is_written(formula: str, text: str) -> None:
    assert Setting(UNICODE).text(formula) == text
    assert Setting(LATEX).text(formula).isascii()


def test_a_slice_by_its_number_is_an_element_of_the_derivation() -> None:
    shapes = {"x": (2,), "y": (2,)}
    page, proofs = answer(Question(expr="tf.stack([x, tf.sin(y)])", shapes=shapes, verify=True))
    assert all(proof.holds for proof in proofs)
    assert "∂L/∂x = G[0]" in render_text(page)
    assert "∂L/∂y[i] = G[1,i]·cos(y[i])" in render_text(page)
    assert "take" not in render_text(page).partition("As code")[0]


def test_a_line_of_a_fraction_takes_the_place_of_brackets() -> None:
    assert Setting(LATEX).text("(a + b) / (c - d)") == r"\frac{a + b}{c - d}"
    assert Setting(UNICODE).text("(a + b) / (c - d)") == "(a + b) / (c − d)"
    assert r"\left(" in Setting(LATEX).text("(a + b) * x / (c - d)")
    known = {"a": 1.0, "b": 2.0, "c": 5.0, "d": 2.0}
    assert np.isclose(trees.run("(a + b) / (c - d)", known), 1.0)
