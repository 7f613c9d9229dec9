"""Layers that are not what their configuration says: what is made of that is another function."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradcheck
from gradcheck.checker.api import describe
from gradcheck.checker.subject.callee import Callee
from gradcheck.checker.subject.explore import explored
from gradcheck.checker.subject.operand import Operand
from gradcheck.checker.subject.problem import Problem
from gradcheck.model import Verdict
from tests.checker.test_api import verdicts

X = np.random.default_rng(0).standard_normal((3, 4)).astype(np.float32)
CHANGED = [("mixed_float16", 1.02), ("mixed_bfloat16", 1.1), ("float32", 1.00005)]


def softmax_layer(tf: Any, dtype: str, *, units: int = 0) -> Any:
    """A layer that does not say what its temperature is; with weights if it has units."""
    import keras

    class Softened(keras.layers.Layer):  # type: ignore[misc]  # no types in Keras
        def __init__(self, temperature: float = 1.0, units: int = 0, **rest: Any) -> None:
            super().__init__(**rest)
            self.temperature, self.units = temperature, units

        def build(self, shape: Any) -> None:
            if self.units:
                start = keras.initializers.GlorotUniform(seed=1)
                self.w = self.add_weight(name="w", shape=(shape[-1], self.units), initializer=start)

        def call(self, inputs: Any) -> Any:
            inner = inputs @ tf.convert_to_tensor(self.w) if self.units else inputs
            return tf.nn.softmax(inner / self.temperature)

        def get_config(self) -> Any:
            return {**super().get_config(), "units": self.units}

    return Softened(units=units, dtype=dtype, name="soft")


@pytest.mark.parametrize("units", [0, 3])
@pytest.mark.parametrize(("dtype", "temperature"), CHANGED)
def test_a_layer_that_is_not_what_its_configuration_says(
    tf: Any, dtype: str, temperature: float, units: int
) -> None:
    layer = softmax_layer(tf, dtype, units=units)
    layer.temperature = temperature
    result = gradcheck.check(layer, X)
    assert set(verdicts(result).values()) == {"pass"}, describe(result)
    assert all("of float64" in c.note for c in result.comparisons)


@pytest.mark.parametrize(("dtype", "temperature"), CHANGED)
def test_its_second_derivative(tf: Any, dtype: str, temperature: float) -> None:
    layer = softmax_layer(tf, dtype)
    layer.temperature = temperature
    result = gradcheck.check(layer, X, checks=("second",))
    assert result.verdict is not Verdict.MISMATCH, describe(result)


def test_the_problem_without_the_twin_has_none(tf: Any) -> None:
    problem = Problem(Callee(softmax_layer(tf, "float32")), (Operand("x", X),))
    with explored(problem) as whole:
        assert whole.without_twin is not None
        other = whole.without_twin()
    assert other.without_twin is None


def layer_with_factor(tf: Any, dtype: str, *, says_so: bool) -> Any:
    """A layer whose gradient has a factor that it is not told, unless it says so."""
    import keras

    class Factor(keras.layers.Layer):  # type: ignore[misc]  # no types in Keras
        def __init__(self, factor: float = 1.0, **rest: Any) -> None:
            super().__init__(**rest)
            self.factor = factor

        def build(self, shape: Any) -> None:
            self.gain = self.add_weight(name="gain", shape=shape[-1:], initializer="ones")

        def call(self, inputs: Any) -> Any:
            @tf.custom_gradient  # type: ignore[untyped-decorator]  # no types in TF
            def scaled(x: Any, gain: Any) -> Any:
                def back(g: Any) -> Any:
                    factor = tf.cast(self.factor, g.dtype)
                    return g * gain, factor * tf.reduce_sum(g * x, 0)

                return x * gain, back

            return scaled(inputs, tf.convert_to_tensor(self.gain))

        def get_config(self) -> Any:
            told = {"factor": self.factor} if says_so else {}
            return {**super().get_config(), **told}

    return Factor(dtype=dtype, name="f")


@pytest.mark.parametrize("says_so", [True, False])
@pytest.mark.parametrize(
    ("dtype", "factor"),
    [("float32", 1.00001), ("float32", -1.0), ("mixed_float16", 1.05), ("mixed_bfloat16", 1.3)],
)
def test_a_fault_that_only_the_layer_itself_has(
    tf: Any, dtype: str, factor: float, says_so: bool
) -> None:
    layer = layer_with_factor(tf, dtype, says_so=says_so)
    assert set(verdicts(gradcheck.check(layer, X)).values()) == {"pass"}
    layer.factor = factor
    result = gradcheck.check(layer, X)
    assert verdicts(result)["f/gain"] == "mismatch", describe(result)


def test_a_fault_is_one_without_the_twin_as_well(tf: Any) -> None:
    layer = softmax_layer(tf, "mixed_float16")
    layer.temperature = 1.02

    @tf.custom_gradient  # type: ignore[untyped-decorator]  # no types in TF
    def off(x: Any) -> Any:
        return tf.identity(x), lambda g: g * tf.cast(1.5, g.dtype)

    inner = layer.call
    layer.call = lambda inputs: inner(off(inputs))
    result = gradcheck.check(layer, X)
    assert result.verdict == "mismatch", describe(result)
