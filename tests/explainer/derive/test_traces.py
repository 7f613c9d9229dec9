"""The trace of a function of a matrix has the derivative of that function, and nothing else has."""

from __future__ import annotations

import numpy as np
import pytest

from gradcheck import ops
from gradcheck.explainer import trees
from gradcheck.explainer.compose import Question, answer
from gradcheck.explainer.derive.chain import closed_form
from gradcheck.explainer.derive.read_graph import read_graph
from gradcheck.explainer.render.terminal import render_text

OF_MULTIPLES = [op for op in map(ops.find, ops.names()) if op is not None and op.of_multiple]


@pytest.mark.parametrize("op", OF_MULTIPLES, ids=lambda op: op.name)
@pytest.mark.parametrize("size", [2, 4])
def test_the_shorter_gradient_is_the_other_one_for_multiples_of_i(op: ops.Op, size: int) -> None:
    root = np.random.default_rng(size).standard_normal((size, size))
    x = root @ root.T + np.eye(size)
    call = op.call({"input": x.shape}, {})
    values = {"input": x, "out": trees.run(op.forward_text(call), {"input": x})}
    both = {"of_multiple": op.of_multiple["input"], "formula": op.formulas(call)["input"]}
    for upstream, same in ((1.7 * np.eye(size), True), (root, False)):
        short, full = (trees.run(text, {**values, "G": upstream}) for text in both.values())
        assert np.allclose(short, full, rtol=1e-9) is same


@pytest.mark.parametrize(
    ("expr", "formula"),
    [
        ("tf.linalg.trace(tf.linalg.expm(A))", "G * mT(expm(A))"),
        ("2.0 * tf.linalg.trace(tf.linalg.expm(A))", "2 * (G * mT(expm(A)))"),
    ],
)
def test_the_trace_of_an_exponential_is_the_exponential_turned(expr: str, formula: str) -> None:
    found = closed_form(read_graph(expr, {"A": (3, 3)}), "A")
    assert found is not None
    assert found.formula is not None
    assert trees.text_of(found.formula) == formula


@pytest.mark.parametrize(
    ("expr", "shape", "short"),
    [
        ("tf.linalg.trace(tf.linalg.expm(A))", (3, 3), True),
        ("tf.linalg.trace(tf.linalg.expm(A))", (2, 3, 3), True),
        ("tf.linalg.trace(tf.linalg.sqrtm(tf.matmul(A, A, transpose_b=True)))", (3, 4), True),
        # What else is made of it brings other gradients back.
        ("tf.linalg.trace(tf.linalg.expm(A)) + tf.reduce_sum(tf.linalg.expm(A))", (3, 3), False),
        ("tf.reduce_sum(tf.linalg.expm(A))", (3, 3), False),
        ("tf.linalg.expm(A)", (3, 3), False),
    ],
)
def test_traces_are_proved_and_nothing_else_is_shortened(
    expr: str, shape: tuple[int, ...], short: bool
) -> None:
    question = Question(expr=expr, shapes={"A": shape}, verify=True, second=short)
    document, proofs = answer(question)
    assert proofs
    assert all(proof.holds for proof in proofs)
    assert ("is a multiple of I here" in render_text(document)) is short
