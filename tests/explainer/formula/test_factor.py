"""What the terms of a sum share is written once."""

from __future__ import annotations

import pytest

from gradcheck.explainer.derive.chain import closed_form
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
