"""Layers and models with faults in them, each caught and named by the weight it is in."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradcheck
from tests.checker.planted import swallowed, with_gradient
from tests.checker.test_api import verdicts

RNG = np.random.default_rng(0)


def wrong(result: gradcheck.Result) -> dict[str, str]:
    """What does not pass."""
    return {name: told for name, told in verdicts(result).items() if told not in ("pass", "kink")}


def spoilt(tf: Any, part: Any, factor: float = 1.5) -> Any:
    """The tensor, with a gradient that is so many times too large where `part` is."""

    @tf.custom_gradient  # type: ignore[untyped-decorator]  # no types in TF
    def function(x: Any) -> Any:
        mask = np.ones(x.shape)
        mask[part] = factor
        return tf.identity(x), lambda g: g * tf.cast(mask, g.dtype)

    return function


def replaced(monkeypatch: pytest.MonkeyPatch, cell: Any, weight: str, change: Any) -> None:
    """Have a layer use its weight through `change`."""
    own = type(cell)
    stored = getattr(cell, weight)

    class Spoilt(own):  # type: ignore[misc,valid-type]  # no types in Keras
        pass

    setattr(Spoilt, weight, property(lambda _: change(stored.value)))
    monkeypatch.setattr(cell, "__class__", Spoilt)
    vars(cell).pop(weight, None)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_one_gate_of_an_lstm(tf: Any, dtype: str) -> None:
    import keras

    class Spoilt(keras.layers.LSTMCell):  # type: ignore[misc]  # no types in Keras
        @property
        def recurrent_kernel(self) -> Any:
            return spoilt(tf, np.s_[:, 2:4])(self.stored.value)

        @recurrent_kernel.setter
        def recurrent_kernel(self, given: Any) -> None:
            self.stored = given

    x = RNG.standard_normal((2, 3, 3)).astype(dtype)
    assert not wrong(gradcheck.check(keras.layers.LSTM(2, dtype=dtype), x))
    layer = keras.layers.RNN(Spoilt(2, dtype=dtype, name="cell"), dtype=dtype, name="lstm")
    result = gradcheck.check(layer, x)
    assert wrong(result) == {"lstm/cell/recurrent_kernel": "mismatch"}
    (told,) = (c for c in result.comparisons if c.verdict == "mismatch")
    assert told.failing <= 4
    assert {e.index[1] for e in told.worst} <= {2, 3}


def test_one_head_of_attention(tf: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import keras

    layer = keras.layers.MultiHeadAttention(2, 3, dtype="float64", name="mha")
    query, value = RNG.standard_normal((2, 3, 4)), RNG.standard_normal((2, 5, 4))
    layer(query, value)
    assert not wrong(gradcheck.check(layer, query, value=value))
    replaced(monkeypatch, layer._value_dense, "kernel", spoilt(tf, np.s_[:, 1]))
    result = gradcheck.check(layer, query, value=value)
    assert wrong(result) == {"mha/value/kernel": "mismatch"}


def test_a_bias(tf: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import keras

    model = keras.Sequential(
        [keras.layers.Dense(3, activation="tanh", name="a"), keras.layers.Dense(2, name="b")],
        name="model",
    )
    x = RNG.standard_normal((2, 4)).astype(np.float32)
    model(x)
    assert not wrong(gradcheck.check(model, x))
    replaced(monkeypatch, model.layers[0], "bias", spoilt(tf, np.s_[1]))
    result = gradcheck.check(model, x)
    assert list(wrong(result)) == ["model/a/bias"]


def test_a_derivative_that_cancels_to_nothing(tf: Any) -> None:
    def softmax_of_shifted(x: Any, b: Any) -> Any:
        return tf.nn.softmax(x + b)

    x = RNG.standard_normal((3, 4))
    result = gradcheck.check(softmax_of_shifted, x, 0.7)
    assert verdicts(result) == {"x": "pass", "b": "pass"}

    @tf.custom_gradient  # type: ignore[untyped-decorator]  # no types in TF
    def shifted(x: Any, b: Any) -> Any:
        return softmax_of_shifted(x, b), lambda _: (None, 1e-9 * tf.ones_like(b))

    result = gradcheck.check(shifted, x, 0.7, wrt="b")
    assert verdicts(result) == {"b": "mismatch"}


def test_a_small_derivative_of_a_large_function_is_not_nothing() -> None:
    def large(x: Any) -> Any:
        return 1e9 + 1e-9 * x

    assert verdicts(gradcheck.check(large, 1.0)) == {"x": "pass"}
    none = with_gradient(large, lambda g, _x: 0 * g)
    assert verdicts(gradcheck.check(none, 1.0)) == {"input0": "mismatch"}
    hidden = swallowed(lambda x: 1e-9 * x, 1e9)
    assert verdicts(gradcheck.check(hidden, 1.0)) == {"input0": "inconclusive"}


@pytest.mark.parametrize("kind", ["functional", "subclassed", "recurrent"])
def test_models(tf: Any, kind: str) -> None:
    import keras

    class Subclassed(keras.Model):  # type: ignore[misc]  # no types in Keras
        def __init__(self) -> None:
            super().__init__()
            self.hidden = keras.layers.Dense(3, activation="swish")
            self.drop = keras.layers.Dropout(0.5, seed=1)
            self.head = keras.layers.Dense(1)

        def call(self, inputs: Any, training: Any = None) -> Any:
            return self.head(self.drop(self.hidden(inputs), training=training))

    x = RNG.standard_normal((2, 4)).astype(np.float32)
    if kind == "functional":
        given = keras.Input((4,))
        hidden = keras.layers.Dense(3, activation="tanh")(given)
        model: Any = keras.Model(given, {"a": keras.layers.Dense(2)(hidden), "b": hidden})
    elif kind == "subclassed":
        model = Subclassed()
    else:
        model = keras.Sequential([keras.layers.GRU(2), keras.layers.Dense(1)])
        x = RNG.standard_normal((2, 3, 2)).astype(np.float32)
    result = gradcheck.check(model, x, call={"training": True})
    assert not wrong(result), gradcheck.checker.api.describe(result)
    assert len(result.comparisons) == 1 + len(model.trainable_variables)


def test_weights_of_another_output(tf: Any) -> None:
    import keras

    given = keras.Input((4,))
    model = keras.Model(
        given,
        {"a": keras.layers.Dense(2, name="a")(given), "b": keras.layers.Dense(3, name="b")(given)},
    )
    x = RNG.standard_normal((2, 4)).astype(np.float32)
    assert not wrong(gradcheck.check(model, x, outputs="a"))
    # A weight that the chosen output does depend on is not let off.
    scale = tf.Variable([2.0, 3.0], dtype=tf.float64, name="scale")
    result = gradcheck.check(
        lambda x: (x * tf.stop_gradient(scale), x), RNG.standard_normal((3, 2)), outputs=0
    )
    assert wrong(result) == {"scale": "disconnected"}
