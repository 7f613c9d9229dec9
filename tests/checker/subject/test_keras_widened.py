"""Keras objects that compute in double precision for the time of a call."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import gradcheck
from gradcheck.checker.subject.callee import Callee
from gradcheck.checker.subject.explore import explored
from gradcheck.checker.subject.operand import Operand
from gradcheck.checker.subject.problem import Problem
from tests.checker.test_api import verdicts

X = np.random.default_rng(0).standard_normal((3, 4)).astype(np.float32)


def test_a_layer_is_not_made_again_where_it_need_not_be(tf: Any) -> None:
    import keras

    made_again: list[str] = []

    class Told(keras.layers.Dense):  # type: ignore[misc]  # no types in Keras
        def get_config(self) -> Any:
            made_again.append(self.name)
            return super().get_config()

    dense = Told(2, activation="tanh", name="told")
    result = gradcheck.check(dense, X)
    assert set(verdicts(result).values()) == {"pass"}
    assert all("ulp of float64" in c.note for c in result.comparisons)
    assert result.comparisons[1].error_bar is not None
    assert result.comparisons[1].error_bar < 1e-9
    assert not made_again
    model = keras.Sequential([keras.Input((4,)), dense, keras.layers.LayerNormalization()])
    assert set(verdicts(gradcheck.check(model, X)).values()) == {"pass"}
    assert not made_again


def test_what_rounds_inside_is_made_again(tf: Any) -> None:
    import keras

    made_again: list[str] = []

    class Rounds(keras.layers.Layer):  # type: ignore[misc]  # no types in Keras
        def __init__(self, **options: Any) -> None:
            super().__init__(**options)
            self.inside = self.compute_dtype

        def call(self, inputs: Any) -> Any:
            return tf.cast(tf.sin(tf.cast(inputs, self.inside)), self.compute_dtype)

        def get_config(self) -> Any:
            made_again.append(self.name)
            return super().get_config()

    result = gradcheck.check(Rounds(), X)
    assert verdicts(result) == {"inputs": "pass"}
    assert made_again
    assert result.comparisons[0].error_bar is not None
    assert result.comparisons[0].error_bar < 1e-9


def test_a_plain_variable_inside_is_made_again(tf: Any) -> None:
    import keras

    made_again: list[str] = []

    class Plain(keras.layers.Layer):  # type: ignore[misc]  # no types in Keras
        def build(self, shape: Any) -> None:
            self.gain = tf.Variable(tf.ones(shape[-1:], self.compute_dtype))

        def call(self, inputs: Any) -> Any:
            return inputs * self.gain

        def get_config(self) -> Any:
            made_again.append(self.name)
            return super().get_config()

    assert set(verdicts(gradcheck.check(Plain(), X)).values()) == {"pass"}
    assert made_again


@pytest.mark.parametrize("off", [0.0, 0.01])
def test_the_way_back_is_gone_in_double_precision(tf: Any, off: float) -> None:
    import keras

    precisions: list[tuple[str, str]] = []

    class Scale(keras.layers.Layer):  # type: ignore[misc]  # no types in Keras
        def build(self, shape: Any) -> None:
            self.gain = self.add_weight(name="gain", shape=shape[-1:], initializer="ones")

        def call(self, inputs: Any) -> Any:
            kept = tf.convert_to_tensor(self.gain)

            @tf.custom_gradient  # type: ignore[untyped-decorator]  # no types in TF
            def scaled(x: Any) -> Any:
                def back(g: Any) -> Any:
                    # (The variable, and the precision, are looked up once more.)
                    precisions.append((g.dtype.name, self.compute_dtype))
                    factor = tf.cast(1.0 + off, self.compute_dtype)
                    return factor * g * tf.convert_to_tensor(self.gain)

                return x * kept, back

            return scaled(inputs)

    layer = Scale()
    layer.build(X.shape)
    result = gradcheck.check(layer, X, variables=False)
    assert verdicts(result) == {"inputs": "mismatch" if off else "pass"}
    assert off or set(precisions) == {("float32", "float32"), ("float64", "float64")}


def test_a_trace_that_is_kept_holds_no_other_variables(tf: Any) -> None:
    import keras

    made_again: list[str] = []

    class Traced(keras.layers.Layer):  # type: ignore[misc]  # no types in Keras
        def build(self, shape: Any) -> None:
            self.gain = self.add_weight(name="gain", shape=shape[-1:], initializer="ones")

        @tf.function  # type: ignore[untyped-decorator]  # no types in TF
        def scaled(self, x: Any) -> Any:
            return tf.sin(x * tf.convert_to_tensor(self.gain))

        def call(self, inputs: Any) -> Any:
            return self.scaled(inputs)

        def get_config(self) -> Any:
            made_again.append(self.name)
            return super().get_config()

    layer = Traced(name="traced")
    for _ in range(2):
        assert verdicts(gradcheck.check(layer, X)) == {"inputs": "pass", "traced/gain": "pass"}
        assert not made_again


def test_everything_is_as_it_was_behind_a_call(tf: Any) -> None:
    import keras

    inside: list[str] = []

    class Raises(keras.layers.Dense):  # type: ignore[misc]  # no types in Keras
        def call(self, inputs: Any) -> Any:
            inside.append(self.compute_dtype)
            if len(inside) > 3:
                raise ValueError("no more")
            return super().call(inputs)

    layer = Raises(2)
    layer.build(X.shape)
    before = layer.kernel._value, layer.kernel.dtype, layer.dtype_policy
    gradcheck.check(layer, X)
    assert "float64" in inside
    assert (layer.kernel._value, layer.kernel.dtype, layer.dtype_policy) == before


def test_another_thread_has_the_layer_as_it_is(tf: Any) -> None:
    import keras

    found: list[tuple[str, str]] = []

    class Asked(keras.layers.Dense):  # type: ignore[misc]  # no types in Keras
        def call(self, inputs: Any) -> Any:
            if self.compute_dtype == "float64" and threading.get_ident() == own:
                other = threading.Thread(target=look)
                other.start()
                other.join()
            return super().call(inputs)

    def look() -> None:
        kernel = layer.kernel
        found.append((layer(X).dtype.name, kernel.dtype))
        assert vars(kernel)["_value"] is kernel._value is before

    own, layer = threading.get_ident(), Asked(2)
    layer.build(X.shape)
    before = layer.kernel._value
    model = keras.Sequential([keras.Input((4,)), layer])
    for target in (layer, model):
        found.clear()
        assert set(verdicts(gradcheck.check(target, X)).values()) == {"pass"}
        assert len(found) > 3
        assert set(found) == {("float32", "float32")}
    assert "_value" not in vars(keras.Variable)


def test_what_is_written_within_is_not_written_into_the_layer(tf: Any) -> None:
    import keras

    found: set[tuple[str, str]] = set()

    class Sets(keras.layers.Dense):  # type: ignore[misc]  # no types in Keras
        def call(self, inputs: Any) -> Any:
            policy = keras.DTypePolicy(self.compute_dtype)
            self.dtype_policy = policy
            found.add((self.compute_dtype, vars(self)["_dtype_policy"].name))
            return super().call(inputs)

    assert set(verdicts(gradcheck.check(Sets(2), X)).values()) == {"pass"}
    assert found == {("float32", "float32"), ("float64", "float32")}


def test_it_may_be_entered_again_inside(tf: Any) -> None:
    import keras

    layer = keras.layers.Dense(2)
    layer.build(X.shape)
    with explored(Problem(Callee(layer), (Operand("x", X),))) as problem:
        within = problem.function.going_back([tf.constant(X.astype(float))] * 3)  # type: ignore[attr-defined]
        with within:
            with within:
                assert layer.compute_dtype == "float64"
            assert layer.compute_dtype == "float64"
    assert layer.compute_dtype == "float32"
