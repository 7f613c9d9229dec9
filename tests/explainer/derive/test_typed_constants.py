"""Constants of an expression take the precision of its inputs: a proof has all digits."""

from __future__ import annotations

import pytest

from gradcheck.explainer.compose import Question, answer
from gradcheck.explainer.derive.typed_constants import with_typed_constants


@pytest.mark.parametrize(
    ("text", "typed"),
    [
        ("x * tf.sqrt(2.0)", "x * tf.sqrt(tf.constant(2.0, dtype=x.dtype))"),
        ("x + tf.constant([1.0, 2.0])", "x + tf.constant([1.0, 2.0], dtype=x.dtype)"),
        ("tf.gather(x, tf.constant([0, 1]))", "tf.gather(x, tf.constant([0, 1]))"),
        ("x @ tf.eye(2)", "x @ tf.eye(2, dtype=x.dtype)"),
        ("x * tf.ones([2], tf.float32)", "x * tf.ones([2], tf.float32)"),
        ("x / tf.range(3)", "x / tf.range(3)"),
        ("tf.maximum(x, 0.0)", "tf.maximum(x, 0.0)"),
        ("x * 2.0", "x * 2.0"),
    ],
)
def test_what_is_written(text: str, typed: str) -> None:
    assert with_typed_constants(text, ("x",)) == typed


@pytest.mark.parametrize(
    "text",
    [
        "x / tf.sqrt(3.0) + tf.constant([1.0, 2.0, 3.0])",
        "tf.linalg.matvec(tf.eye(3) * 2.0, x) + tf.ones([3])",
        "tf.where(x > 0.1, x, tf.zeros_like(x))",
        "tf.cumsum(x) / tf.range(1.0, 4.0)",
        "x * tf.math.log(2.0) + tf.exp(-1.0)",
    ],
)
def test_it_is_proved_in_double_precision(text: str) -> None:
    _, proofs = answer(Question(expr=text, shapes={"x": (3,)}, verify=True))
    assert all(proof.holds for proof in proofs)
    assert max(proof.against_tape for proof in proofs if "32" not in proof.formula) < 1e-6
    assert any(proof.formula == "code, float64" for proof in proofs)
