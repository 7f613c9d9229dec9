"""A number for each batch, as a determinant is, stands beside the matrices of the batches."""

from __future__ import annotations

import pytest

from gradcheck.explainer import trees
from gradcheck.explainer.compose import Question, answer
from gradcheck.explainer.derive.chain import closed_form
from gradcheck.explainer.derive.read_graph import read_graph

GRAM = "matmul(x, mT(x))"


@pytest.mark.parametrize(
    ("expr", "written"),
    [
        (
            "tf.linalg.det(tf.matmul(x, x, transpose_b=True))",
            f"2 * (expand_dims(G, [-2, -1]) * expand_dims(det({GRAM}), [-2, -1]) * "
            f"matmul(inv({GRAM}), x))",
        ),
        (
            "tf.linalg.logdet(tf.matmul(x, x, transpose_b=True))",
            f"2 * (expand_dims(G, [-2, -1]) * matmul(inv({GRAM}), x))",
        ),
        (
            "tf.linalg.trace(tf.linalg.expm(x[..., :3]))",
            None,
        ),
    ],
)
@pytest.mark.parametrize("lead", [(2,), (3,), (2, 5)])
def test_numbers_of_batches_have_a_closed_form(
    expr: str, written: str | None, lead: tuple[int, ...]
) -> None:
    shapes = {"x": (*lead, 3, 4)}
    form = closed_form(read_graph(expr, shapes), "x")
    assert form is not None
    if written is not None:
        assert form.formula is not None
        assert trees.text_of(form.formula) == written
    _, proofs = answer(Question(expr=expr, shapes=shapes, verify=True))
    assert {"chain rule", "code, float64"} <= {proof.formula for proof in proofs}
    assert all(proof.holds for proof in proofs)
