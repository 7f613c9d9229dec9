"""Reading an expression: what is refused, and why."""

from __future__ import annotations

import pytest

from gradcheck.errors import ExpressionError
from gradcheck.explainer.derive.read_graph import read_graph


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("tf.fft(x)", "not on the list"),
        ("tf.linalg.pinv(x)", "no declaration"),
        ("x", "computes nothing"),
        ("tf.matmul(x, x)", "inner sizes"),
        ("tf.reduce_sum(x, tf.rank(x))", "plain value"),
        ("tf.split(x, 2)[5]", "2 outputs here"),
        ("tf.split(x, 2)", "several outputs"),
        ("tf.linalg.eigh(x)", "only the first"),
        ("tf.concat(x, 0)", "a list of values"),
    ],
)
def test_what_cannot_be_explained_says_why(text: str, said: str) -> None:
    with pytest.raises(ExpressionError, match=said):
        read_graph(text, {"x": (2, 3)})


def test_what_is_computed_twice_is_one_step() -> None:
    graph = read_graph("tf.sin(x) * tf.sin(x)", {"x": (2,)})
    assert [step.op.name for step in graph.steps] == ["sin", "multiply"]
