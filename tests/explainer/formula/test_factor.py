"""What the terms of a sum share is written once."""

from __future__ import annotations

import numpy as np
import pytest

from gradcheck.explainer import trees
from gradcheck.explainer.derive.chain import closed_form, run_chain
from gradcheck.explainer.derive.read_graph import read_graph
from gradcheck.explainer.trees import text_of


@pytest.mark.parametrize(
    ("text", "shapes", "written"),
    [
        (
            "tf.reduce_sum(tf.square(tf.matmul(A, x) - b))",
            {"A": (4, 3), "x": (3, 1), "b": (4, 1)},
            "2 * (G * matmul(mT(A), matmul(A, x) - b))",
        ),
        (
            "tf.tensordot(x, tf.linalg.matvec(A, x), 1)",
            {"A": (3, 3), "x": (3,)},
            "G * vector(matmul(A + mT(A), column(x)))",
        ),
        ("tf.linalg.trace(tf.matmul(x, tf.transpose(x)))", {"x": (2, 3)}, "2 * (G * x)"),
    ],
)
def test_terms_share_what_they_have_in_common(
    text: str, shapes: dict[str, tuple[int, ...]], written: str
) -> None:
    form = closed_form(read_graph(text, shapes), "x")
    assert form is not None
    assert form.formula is not None
    assert text_of(form.formula) == written


@pytest.mark.parametrize(
    ("text", "shapes", "formula"),
    [
        (
            "tf.reduce_sum(tf.square(a - p)) - tf.reduce_sum(tf.square(a - n))",
            {"a": (4,), "p": (4,), "n": (4,)},
            "2 * (G * (n - p))",
        ),
        # What is left has not the shape of the sum: a number, or a row.
        (
            "tf.reduce_sum(tf.square(a - s)) - tf.reduce_sum(tf.square(a - t))",
            {"a": (4,), "s": (), "t": ()},
            "2 * (G * (a - s - (a - t)))",
        ),
        (
            "tf.reduce_sum(tf.square(a + b)) - tf.reduce_sum(tf.square(a + c))",
            {"a": (2, 4), "b": (4,), "c": (4,)},
            None,
        ),
        # One minus in front, where every term has one.
        ("-tf.reduce_sum(x * y) - tf.reduce_sum(x * z)", {"x": (3,), "y": (3,), "z": (3,)},
         "-(G * (z + y))"),
        ("tf.reduce_sum(x * y) - tf.reduce_sum(x * z)", {"x": (3,), "y": (3,), "z": (3,)},
         "G * (y - z)"),
    ],
)  # fmt: skip
def test_signs_and_what_cancels(
    text: str, shapes: dict[str, tuple[int, ...]], formula: str | None
) -> None:
    graph = read_graph(text, shapes)
    first = next(iter(shapes))
    form = closed_form(graph, first)
    assert form is not None
    assert form.formula is not None
    if formula is not None:
        assert trees.text_of(form.formula) == formula
    rng = np.random.default_rng(0)
    values = {name: rng.normal(size=shape) for name, shape in shapes.items()}
    upstream = np.asarray(1.5)
    wanted = run_chain(graph, values, upstream)[f"{first}_bar"]
    found = np.asarray(trees.run(form.formula, {**values, "G": upstream}))
    assert found.shape == wanted.shape
    assert np.allclose(found, wanted)
