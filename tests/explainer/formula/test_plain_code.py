"""Code has vectors where mathematics has columns: what is written gives the same numbers."""

from __future__ import annotations

import numpy as np
import pytest

from gradcheck.explainer import trees
from gradcheck.explainer.formula.plain_code import plainly
from gradcheck.explainer.formula.tensorflow_code import tensorflow_code
from gradcheck.explainer.page_code import run_code

SHAPES = {"M": (2, 3), "x": (3,), "y": (3,), "s": (), "T": (2, 3, 4), "C": (3, 1), "G": (2,)}


@pytest.mark.parametrize(
    ("formula", "line"),
    [
        ("vector(matmul(mT(M), ones([2, 1])))", "tf.reduce_sum(M, 0)"),
        ("vector(matmul(M, ones([3, 1])))", "tf.reduce_sum(M, 1)"),
        ("vector(matmul(M, column(x)))", "tf.linalg.matvec(M, x)"),
        ("vector(exp(column(x)) * s + 1)", "tf.exp(x) * s + 1"),
        ("scalar(matmul(row(x), column(y)))", "tf.reduce_sum(x * y)"),
        ("scalar(matmul(mT(exp(column(x))), column(y)))", "tf.reduce_sum(tf.exp(x) * y)"),
        ("total(where(column(x) > 0, column(y), 0))",
         "tf.reduce_sum(tf.where(x > 0, y, tf.constant(0, G.dtype)))"),
        ("vector(ones([3, 1]))", "tf.ones([3], G.dtype)"),
        ("einsum('ijk->k', T)", "tf.reduce_sum(T, [0, 1])"),
        ("einsum('ij->', M)", "tf.reduce_sum(M)"),
        # What is no column stays as it is.
        ("vector(matmul(M, C))", "tf.reshape(tf.matmul(M, C), [-1])"),
        ("vector(M * column(s))", "tf.reshape(M * tf.expand_dims(s, 1), [-1])"),
        ("matmul(column(x), row(y))", "tf.matmul(tf.expand_dims(x, 1), tf.expand_dims(y, 0))"),
        ("einsum('ij->ji', M)", "tf.einsum('ij->ji', M)"),
        ("einsum('ijk->kj', T)", "tf.einsum('ijk->kj', T)"),
        ("vector(matmul(M, ones([3, 2])))",
         "tf.reshape(tf.matmul(M, tf.ones([3, 2], G.dtype)), [-1])"),
    ],
)  # fmt: skip
def test_what_is_written(formula: str, line: str) -> None:
    import tensorflow as tf

    tree = trees.read(formula)
    assert tensorflow_code({"found": tree}, SHAPES) == [f"found = {line}"]
    rng = np.random.default_rng(0)
    values = {name: rng.uniform(0.5, 1.5, shape) for name, shape in SHAPES.items()}
    if "column(s)" in formula:
        return  # (a number has no column)
    known = {name: tf.constant(value) for name, value in values.items()}
    found = run_code([f"found = {line}"], known)["found"].numpy()
    wanted = np.asarray(trees.run(tree, values))
    assert found.shape == wanted.shape
    assert np.allclose(found, wanted)


def test_a_formula_of_matrices_is_left_alone() -> None:
    tree = trees.read("matmul(G, mT(b)) + exp(a)")
    assert trees.text_of(plainly(tree, {})) == trees.text_of(tree)
