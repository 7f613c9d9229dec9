"""What runs Python inside of an op is looked into."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.explainer.traced.users_code import UsersCode

if TYPE_CHECKING:
    from pathlib import Path

CODE = """
    import tensorflow as tf

    def one(x):
        return x * tf.py_function(tf.sin, [x], x.dtype)

    def several(x):
        a, b = tf.py_function(lambda v: (tf.sin(v), tf.cos(v)), [x], [x.dtype, x.dtype])
        return a * b

    @tf.function
    def in_a_graph(x):
        y = tf.py_function(func=tf.sin, inp=[x], Tout=x.dtype)
        y.set_shape(x.shape)
        return x * y

    @tf.py_function(Tout=tf.float64)
    def decorated(x):
        return tf.sin(x) * x

    def rows(x):
        return tf.vectorized_map(lambda row: row * row, x)

    def several_rows(x):
        a, b = tf.vectorized_map(lambda row: (tf.sin(row), row * 2.0), x)
        return a * b
"""


@pytest.mark.parametrize(
    "name", ["one", "several", "in_a_graph", "decorated", "rows", "several_rows"]
)
def test_python_inside_of_an_op_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    text, proofs = UsersCode(tmp_path, monkeypatch, "python_in_an_op", CODE).explained(name)
    assert "no rule" not in text
    assert proofs
    assert all(proof.holds for proof in proofs)
