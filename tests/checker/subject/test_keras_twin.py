"""Layers of low precision: the formula is judged on a twin in float64, the arithmetic on them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradcheck
from gradcheck.checker.subject import keras_twin
from gradcheck.checker.subject.callee import Callee
from gradcheck.checker.subject.explore import explored
from gradcheck.checker.subject.operand import Operand
from gradcheck.checker.subject.problem import Problem
from tests.checker.test_api import verdicts

X = np.random.default_rng(0).standard_normal((3, 4))


def test_a_float32_layer_is_judged_in_float64(tf: Any) -> None:
    import keras

    dense = keras.layers.Dense(2, activation="tanh")
    result = gradcheck.check(dense, X.astype(np.float32))
    assert set(verdicts(result).values()) == {"pass"}
    for comparison in result.comparisons:
        assert comparison.dtype == "float32"
        assert "ulp of float64" in comparison.note
        assert comparison.error_bar is not None
        assert comparison.error_bar < 1e-9


def test_the_global_policy_is_left_alone(tf: Any) -> None:
    import keras

    before = keras.config.floatx(), keras.config.dtype_policy().name
    gradcheck.check(keras.layers.Dense(2), X.astype(np.float32))
    assert (keras.config.floatx(), keras.config.dtype_policy().name) == before


def test_a_loss_in_its_own_precision(tf: Any) -> None:
    import keras

    # The loss is float32, whatever it is given: that is what is checked.
    result = gradcheck.check(keras.losses.Huber(), X, X + 0.5)
    assert verdicts(result) == {"y_true": "pass", "y_pred": "pass"}
    assert {c.dtype for c in result.comparisons} == {"float32"}
    wide = gradcheck.check(keras.losses.Huber(dtype="float64"), X, X + 0.5)
    assert {c.dtype for c in wide.comparisons} == {"float64"}


def test_a_layer_that_draws_other_numbers_has_no_twin(tf: Any) -> None:
    import keras

    noise, x = keras.layers.GaussianNoise(0.01, seed=1), X.astype(np.float32)
    drawn = Callee(noise, arrange=lambda tensors: (tensors, {"training": True}))
    assert keras_twin.in_double(drawn, [Operand("x", x)], ()) is not None
    with explored(Problem(drawn, (Operand("x", x),))) as problem:
        # (What the twin would draw is something else: it is not believed.)
        assert problem.recorded_in_double is None
    # Its graph, promoted, draws what the layer draws.
    result = gradcheck.check(noise, x, call={"training": True})
    assert verdicts(result) == {"inputs": "pass"}
    assert "of float64" in result.comparisons[0].note


def test_a_layer_is_called_no_more_than_it_takes(tf: Any) -> None:
    import keras

    calls = []

    class Doubled(keras.layers.Dense):  # type: ignore[misc]  # no types in Keras
        def call(self, inputs: Any) -> Any:
            calls.append(self.compute_dtype)
            return 2 * super().call(inputs)

    layer = Doubled(2)
    layer.build(X.shape)
    assert set(verdicts(gradcheck.check(layer, X.astype(np.float32))).values()) == {"pass"}
    # Once for what it is and for its gradient in its own precision; by its twin: once for what it
    # is and for its gradient, once for many points, once each for two others.
    assert calls.count("float32") == 1
    assert calls.count("float64") == 4


def counting() -> Any:
    """A layer that multiplies by the number of its calls."""
    import keras

    class Counting(keras.layers.Layer):  # type: ignore[misc]  # no types in Keras
        def build(self, _: Any) -> None:
            self.calls = self.add_weight(name="calls", initializer="ones", trainable=False)

        def call(self, inputs: Any) -> Any:
            self.calls.assign_add(1.0)
            return self.calls * inputs

    return Counting()


def test_a_twin_begins_where_its_layer_does(tf: Any) -> None:
    layer, x = counting(), X.astype(np.float32)
    layer(x)
    problem = Problem(Callee(layer), (Operand("x", x),))
    with explored(problem) as whole:
        own, double = whole.function(tf.constant(x)), whole.function(tf.constant(X))
        np.testing.assert_allclose(own, 3 * x)
        np.testing.assert_allclose(double, 3 * X)
    assert float(layer.calls) == 2


def test_layers_inside_layers(tf: Any) -> None:
    import keras

    class Block(keras.layers.Layer):  # type: ignore[misc]  # no types in Keras
        def __init__(self, units: int, **rest: Any) -> None:
            super().__init__(**rest)
            self.units = units
            self.first = keras.layers.Dense(units, activation="gelu")
            self.second = keras.layers.LayerNormalization()

        def call(self, inputs: Any) -> Any:
            return self.second(self.first(inputs) + inputs)

        def get_config(self) -> Any:
            return {**super().get_config(), "units": self.units}

    result = gradcheck.check(Block(4, name="block"), X.astype(np.float32))
    assert set(verdicts(result).values()) == {"pass"}, gradcheck.checker.api.describe(result)
    assert len(result.comparisons) == 5
    assert all("ulp of float64" in c.note for c in result.comparisons)


def test_mixed_precision(tf: Any) -> None:
    import keras

    dense = keras.layers.Dense(2, activation="tanh", dtype="mixed_float16", name="m")
    result = gradcheck.check(dense, X.astype(np.float32))
    assert verdicts(result) == {"inputs": "pass", "m/kernel": "pass", "m/bias": "pass"}
    kernel = result.comparisons[1]
    assert kernel.dtype == "float32"
    assert "in float16 within" in kernel.note


@pytest.mark.parametrize("dtype", ["float64", "float32", "mixed_float16", "mixed_bfloat16"])
def test_a_fault_in_a_layer_of_any_precision(tf: Any, dtype: str) -> None:
    import keras

    @tf.custom_gradient  # type: ignore[untyped-decorator]  # no types in TF
    def scale(x: Any, gain: Any) -> Any:
        return x * gain, lambda g: (g * gain, 0.5 * tf.reduce_sum(g * x, 0))

    class Scale(keras.layers.Layer):  # type: ignore[misc]  # no types in Keras
        def build(self, shape: Any) -> None:
            self.gain = self.add_weight(name="gain", shape=shape[-1:], initializer="ones")

        def call(self, inputs: Any) -> Any:
            return scale(inputs, tf.convert_to_tensor(self.gain))

    x = X if dtype == "float64" else X.astype(np.float32)
    result = gradcheck.check(Scale(dtype=dtype, name="scale"), x)
    assert verdicts(result) == {"inputs": "pass", "scale/gain": "mismatch"}


def test_mixed_layers_inside_of_a_model(tf: Any) -> None:
    import keras

    class Off(keras.layers.Layer):  # type: ignore[misc]  # no types in Keras
        def call(self, inputs: Any) -> Any:
            return off(inputs)

    @tf.custom_gradient  # type: ignore[untyped-decorator]  # no types in TF
    def off(x: Any) -> Any:
        return tf.identity(x), lambda g: g * tf.cast(1.01, g.dtype)

    def model(*others: Any) -> Any:
        dense = keras.layers.Dense(2, dtype="mixed_bfloat16")
        return keras.Sequential([dense, *others])

    x = X.astype(np.float32)
    assert gradcheck.check(model(), x).verdict == "pass"
    assert gradcheck.check(model(Off(dtype="mixed_bfloat16")), x).verdict == "mismatch"


def test_a_twin_is_not_a_step_ahead(tf: Any) -> None:
    import keras

    class Counting(keras.layers.Layer):  # type: ignore[misc]  # no types in Keras
        def build(self, _: Any) -> None:
            self.count = self.add_weight(name="n", shape=(), initializer="ones", trainable=False)

        def call(self, inputs: Any) -> Any:
            result = tf.sin(inputs) * self.count
            self.count.assign_add(1.0)
            return result

    result = gradcheck.check(Counting(), X.astype(np.float32))
    assert verdicts(result) == {"inputs": "pass"}
    assert float(result.comparisons[0].note.partition("within ")[2].split()[0]) < 100


def test_layers_that_are_made_when_it_is_built(tf: Any) -> None:
    import keras

    class Late(keras.layers.Layer):  # type: ignore[misc]  # no types in Keras
        def build(self, shape: Any) -> None:
            self.inner = keras.layers.Dense(2)
            self.inner.build(shape)

        def call(self, inputs: Any) -> Any:
            return self.inner(inputs)

    result = gradcheck.check(Late(), X.astype(np.float32))
    assert set(verdicts(result).values()) == {"pass"}
    assert all("ulp of float64" in c.note for c in result.comparisons)


@pytest.mark.parametrize("kind", ["SimpleRNN", "GRU"])
@pytest.mark.parametrize("dtype", ["float32", "mixed_float16", "mixed_bfloat16"])
def test_what_a_recurrent_layer_remembers_is_the_same(tf: Any, kind: str, dtype: str) -> None:
    import keras

    layer = getattr(keras.layers, kind)(4, stateful=True, dtype=dtype)
    x = np.random.default_rng(0).standard_normal((2, 5, 3)).astype(np.float32)
    with explored(Problem(Callee(layer), (Operand("x", x),))) as problem:
        assert problem.recorded_in_double is not None
        given = [operand.value for operand in problem.operands]
        own = problem.function(*(o.hold(v) for o, v in zip(problem.operands, given, strict=True)))
        wide = [o.hold(v.astype(float)) for o, v in zip(problem.operands, given, strict=True)]
        off = np.abs(tf.cast(own, tf.float64) - problem.function(*wide)).max()
    assert off < {"float32": 1e-6, "mixed_float16": 2e-3, "mixed_bfloat16": 1.5e-2}[dtype]
    assert gradcheck.check(layer, x).verdict == "pass"


def test_the_names_of_later_layers(tf: Any) -> None:
    """A model that is made again in float64 takes no names from those that the user makes."""
    import keras

    class Stacked(keras.Model):  # type: ignore[misc]  # no types in Keras
        def __init__(self) -> None:
            super().__init__()
            self.inner = keras.layers.Dense(2)

        def build(self, shape: Any) -> None:
            self.outer = keras.layers.Dense(2)
            super().build(shape)

        def call(self, x: Any) -> Any:
            return self.outer(self.inner(x))

        def get_config(self) -> dict[str, Any]:
            return {}

    model = Stacked()
    before = keras.layers.Dense(2).name
    gradcheck.check(model, np.ones((3, 2), np.float32))
    (stem, number), (other, later) = (
        name.rsplit("_", 1) for name in (before, keras.layers.Dense(2).name)
    )
    assert stem == other
    # (That which is made when the model is built is the user's.)
    assert int(later) == int(number) + 2


def twin_made_of(target: Any, calls: list[str], *inputs: Any) -> Any:
    """The twin that stands for a layer in double precision, if it is made without a call."""
    target(*inputs)
    operands = tuple(Operand(f"x{i}", value) for i, value in enumerate(inputs))
    with explored(Problem(Callee(target), operands)) as found:
        captured = [o for o in found.operands if o.captured is not None]
        before = len(calls)
        twin = keras_twin.in_double(Callee(target), operands, captured)
    assert len(calls) == before
    return twin


def test_the_twin_of_a_built_layer_is_built_without_a_call(tf: Any) -> None:
    import keras

    calls: list[str] = []

    class Scaled(keras.layers.Layer):  # type: ignore[misc]  # no types in Keras
        def build(self, shape: Any) -> None:
            self.scale = self.add_weight(shape=shape[-1:], initializer="glorot_normal")

        def call(self, x: Any) -> Any:
            calls.append(x.dtype.name)
            return x * self.scale

    layer = Scaled()
    made = twin_made_of(layer, calls, X.astype(np.float32)).function.target
    assert made.scale.dtype == "float64"
    assert np.array_equal(made.scale.numpy(), layer.scale.numpy())


def test_what_the_calls_of_a_twin_count_is_put_back(tf: Any) -> None:
    import keras

    counts: dict[str, set[int]] = {}

    class Counting(keras.layers.Layer):  # type: ignore[misc]  # no types in Keras
        def __init__(self, **options: Any) -> None:
            super().__init__(**options)
            self.calls = [0]

        def build(self, shape: Any) -> None:
            self.scale = self.add_weight(shape=shape[-1:], initializer="ones")

        def call(self, x: Any) -> Any:
            self.calls[0] += 1
            counts.setdefault(self.compute_dtype, set()).add(self.calls[0])
            return x * self.scale * float(self.calls[0])

    layer = Counting()
    layer.build(X.shape)
    assert set(verdicts(gradcheck.check(layer, X.astype(np.float32))).values()) == {"pass"}
    assert counts == {"float32": {1}, "float64": {1}}
    assert layer.calls[0] == 0
