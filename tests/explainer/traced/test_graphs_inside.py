"""Traced functions whose Python is gone are looked into."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from gradcheck.checker.subject.as_python import as_python
from gradcheck.errors import UsageError
from gradcheck.explainer.traced.graphs_inside import graphs_inside
from tests.explainer.traced.users_code import UsersCode

if TYPE_CHECKING:
    from pathlib import Path

CODE = """
    import tensorflow as tf

    w = tf.Variable([[0.5, 1.0], [0.25, -1.0], [2.0, 1.0]])

    def traced(function, *shape):
        spec = tf.TensorSpec(shape, tf.float32)
        return tf.function(function).get_concrete_function(spec)

    @tf.function
    def deep(x):
        return x * tf.exp(x)

    def _nested(x):
        return {"a": tf.tanh(deep(x)), "b": [tf.concat([x, x], 0)]}

    def _turns(x):
        if tf.reduce_sum(x) > 100:
            x = tf.exp(x)
        for i in tf.range(2):
            x = tf.sin(x)
        return tf.switch_case(tf.size(x) - 2, [lambda: x * 2, lambda: x * 3])

    of_nested = traced(_nested, 3)
    of_turns = traced(_turns, None)
    of_layer = traced(lambda x: tf.nn.softplus(x @ w), None, 3)

    def nested(x):
        return of_nested(x)["a"] ** 2

    def turns(x):
        return of_turns(x)

    def layer(x):
        return of_layer(x)

    class Model(tf.Module):
        def __init__(self):
            self.v = tf.Variable(2.0)

        @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
        def __call__(self, x):
            return self.v * tf.sin(x)

    tf.saved_model.save(Model(), "saved")
    loaded = tf.saved_model.load("saved")

    def saved(x):
        return loaded(x)

    @tf.custom_gradient
    def doubled(x):
        return x * x, lambda upstream: upstream * 4 * x

    of_doubled = traced(lambda x: doubled(tf.sin(x)), 3)

    def with_a_gradient_of_its_own(x):
        return of_doubled(x)
"""


@pytest.fixture
def code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> UsersCode:
    return UsersCode(tmp_path, monkeypatch, "traced_functions", CODE)


@pytest.mark.parametrize(
    ("name", "steps"),
    [
        ("nested", ["v₁ = eˣ", "v₃ = tanh(v₂)"]),
        ("turns", ["v₁ = sin(x)", "v₂ = sin(v₁)", "v₃ = 3·v₂", "is false here"]),
        ("layer", ["softplus", "x w"]),
    ],
)
def test_a_traced_function_is_seen(code: UsersCode, name: str, steps: list[str]) -> None:
    text, proofs = code.explained(name, x=(2, 3) if name == "layer" else (3,))
    for step in steps:
        assert step in text.replace("Variable", "w")
    assert "no rule" not in text
    assert proofs
    assert all(proof.holds for proof in proofs)
    assert {proof.name for proof in proofs} >= {"x"}


def test_a_saved_model_is_seen(code: UsersCode) -> None:
    text, proofs = code.explained("saved")
    assert "∂L/∂x = loaded_v·G ⊙ cos(x)" in text
    assert all(proof.holds for proof in proofs)
    assert any("loaded_v" in proof.name for proof in proofs)


def test_a_gradient_of_its_own_is_not_lost(code: UsersCode) -> None:
    """The op that has it would be the identity if it ran by itself: `4x` would read `2x`."""
    with pytest.raises(UsageError, match="cannot be looked into"):
        code.explained("with_a_gradient_of_its_own")


def test_it_gives_what_the_function_gives() -> None:
    """In a loop whose gradient was made, ops were made after the loop that it is given."""
    import tensorflow as tf

    x = tf.constant([0.3, -0.4, 1.2])

    @tf.function  # type: ignore[untyped-decorator]
    def loop(x: Any, count: Any) -> Any:
        for i in tf.range(count):
            x = tf.cond(i % 2 == 0, lambda x=x: tf.sin(x), lambda x=x: x * x)
        return x, [tf.reduce_sum(x)]

    once = loop.get_concrete_function(
        tf.TensorSpec([None], tf.float32), tf.TensorSpec([], tf.int32)
    )
    with tf.GradientTape() as tape:
        tape.watch(x)
        whole, (total,) = once(x, tf.constant(3))
    wanted = tape.gradient(whole, x)
    with as_python(), graphs_inside() as seen, tf.GradientTape() as tape:
        tape.watch(x)
        mine, (mine_total,) = once(x, tf.constant(3))
    assert len(seen) == 1
    np.testing.assert_allclose(mine, whole, rtol=1e-6)
    np.testing.assert_allclose(mine_total, total, rtol=1e-6)
    np.testing.assert_allclose(tape.gradient(mine, x), wanted, rtol=1e-6)
