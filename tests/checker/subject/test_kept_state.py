"""What calls change is put back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradcheck
from tests.checker.verdicts import verdict

X = np.array([[1.0, -2.0], [0.5, 3.0], [2.0, 1.5]])


def test_a_sum_that_is_kept_is_put_back(tf: Any) -> None:
    total = tf.Variable([1.0, 2.0], dtype=tf.float64, trainable=False)

    def function(x: Any) -> Any:
        total.assign_add(tf.reduce_sum(x, 0))
        return x * x

    assert verdict(function, X) == "pass"
    np.testing.assert_array_equal(total.numpy(), [1.0, 2.0])


def test_a_variable_is_put_back_bit_for_bit(tf: Any) -> None:
    values = np.array([0.1, np.nextafter(0.3, 1), -0.0, 1e-310])
    weight = tf.Variable(values)
    gradcheck.check(lambda x: x * weight, np.ones(4))
    assert weight.numpy().tobytes() == values.tobytes()


@pytest.mark.parametrize("mode", ["eager", "graph", "xla"])
def test_in_every_mode(tf: Any, mode: str) -> None:
    weight, count = tf.Variable([2.0, 3.0], dtype=tf.float64), tf.Variable(0, trainable=False)

    def function(x: Any) -> Any:
        count.assign_add(1)
        return tf.sin(x * weight) + tf.cast(count, tf.float64)

    result = gradcheck.check(function, X, mode=mode)
    assert [str(c.verdict) for c in result.comparisons] == ["pass", "pass"]
    assert count.numpy() == 0
    np.testing.assert_array_equal(weight.numpy(), [2.0, 3.0])


def test_also_when_the_function_raises(tf: Any) -> None:
    weight, calls = tf.Variable([2.0, 3.0], dtype=tf.float64), []

    def function(x: Any) -> Any:
        calls.append(1)
        weight.assign_add([1.0, 1.0])
        if len(calls) > 5:
            raise ValueError("enough")
        return x * weight

    assert verdict(function, X) == "error"
    np.testing.assert_array_equal(weight.numpy(), [2.0, 3.0])


def test_attributes_and_caches(tf: Any) -> None:
    class Cached(tf.Module):  # type: ignore[misc]  # no types in TF
        def __init__(self) -> None:
            super().__init__()
            self.cache: Any = None
            self.seen: list[Any] = []

        def __call__(self, x: Any) -> Any:
            if self.cache is None:
                self.cache = tf.ones_like(x)
            self.seen.append(x)
            self.last = x
            return tf.sin(x) * self.cache

    module = Cached()
    assert verdict(module, X) == "pass"
    assert module.cache is None
    assert module.seen == []
    assert not hasattr(module, "last")


def test_random_layers_repeat_themselves(tf: Any) -> None:
    import keras

    dropout = keras.layers.Dropout(0.5, seed=3, dtype="float64")
    state = dropout.seed_generator.state.numpy()
    assert verdict(dropout, X, call={"training": True}) == "pass"
    np.testing.assert_array_equal(dropout.seed_generator.state.numpy(), state)
    generator = tf.random.Generator.from_seed(3)
    assert verdict(lambda x: x * generator.normal([2], dtype=tf.float64), X) == "pass"


def test_what_cannot_be_put_back_is_told(tf: Any) -> None:
    result = gradcheck.check(lambda x: x * tf.random.normal([2], dtype=tf.float64), X)
    assert result.verdict == "inconclusive"
    assert "not deterministic" in result.message


def test_batch_normalisation(tf: Any) -> None:
    import keras

    layer = keras.layers.BatchNormalization(dtype="float64")
    layer(tf.constant(X))
    before = [v.numpy().tobytes() for v in layer.variables]
    assert verdict(layer, X, call={"training": True}) == "pass"
    assert [v.numpy().tobytes() for v in layer.variables] == before


def test_a_recurrent_layer_with_dropout(tf: Any) -> None:
    import keras

    layer = keras.layers.LSTM(2, dropout=0.3, recurrent_dropout=0.3, seed=1, dtype="float64")
    x = np.random.default_rng(0).standard_normal((2, 3, 2))
    assert verdict(layer, x, call={"training": True}) == "pass"
    # Still usable, with other shapes too.
    layer(tf.ones([5, 3, 2], tf.float64), training=True)


def test_containers_inside_of_containers(tf: Any) -> None:
    from collections import OrderedDict, defaultdict

    class Holder:
        def __init__(self) -> None:
            self.nested: Any = {"a": [1], "b": {"c": set()}}
            self.ordered = OrderedDict(a=1, b=2)
            self.counts: Any = defaultdict(int)
            self.array = np.zeros(3)

        def __call__(self, x: Any) -> Any:
            self.nested["a"].append(2)
            self.nested["b"]["c"].add(3)
            self.ordered["c"] = 3
            self.counts["calls"] += 1
            self.array += 1
            return tf.sin(x)

    holder = Holder()
    assert verdict(holder, X) == "pass"
    assert holder.nested == {"a": [1], "b": {"c": set()}}
    assert list(holder.ordered.items()) == [("a", 1), ("b", 2)]
    assert not holder.counts
    assert not holder.array.any()


def test_a_variable_that_is_made_in_every_call(tf: Any) -> None:
    class Making(tf.Module):  # type: ignore[misc]  # no types in TF
        def __init__(self) -> None:
            super().__init__()
            self.calls = 0

        def __call__(self, x: Any) -> Any:
            self.calls += 1
            return tf.sin(x) * tf.Variable(tf.ones([2], tf.float64))

    module = Making()
    assert verdict(module, X) == "pass"
    assert module.calls == 0


def test_the_logger_is_left_alone(tf: Any) -> None:
    before = tf.get_logger().level
    gradcheck.check(lambda x: tf.reshape(tf.sin(x), [300]), np.ones(300))
    assert tf.get_logger().level == before


def test_a_layer_that_the_check_builds(tf: Any) -> None:
    import keras

    layer = keras.layers.BatchNormalization(dtype="float64")
    assert verdict(layer, X, call={"training": True}) == "pass"
    np.testing.assert_array_equal(layer.moving_mean.numpy(), [0.0, 0.0])
    np.testing.assert_array_equal(layer.moving_variance.numpy(), [1.0, 1.0])


def test_what_a_gradient_function_writes(tf: Any) -> None:
    count = tf.Variable(0.0, trainable=False)

    @tf.custom_gradient  # type: ignore[untyped-decorator]  # no types in TF
    def function(x: Any) -> Any:
        def gradient(upstream: Any) -> Any:
            count.assign_add(1.0)
            return upstream * 2.0

        return x * 2.0, gradient

    assert verdict(function, X) == "pass"
    assert count.numpy() == 0


def test_generators_of_python_and_numpy(tf: Any) -> None:
    import random

    import keras

    before = random.getstate(), np.random.get_state()[1].tolist()  # type: ignore[index]
    gradcheck.check(keras.layers.Dense(2), X.astype(np.float32))
    layer = keras.layers.Dense(2)
    layer.build((3, 2))
    before = random.getstate(), np.random.get_state()[1].tolist()  # type: ignore[index]
    gradcheck.check(layer, X.astype(np.float32))
    assert (random.getstate(), np.random.get_state()[1].tolist()) == before  # type: ignore[index]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_what_is_built_is_kept_and_what_is_counted_is_not(tf: Any, dtype: str) -> None:
    import keras

    class Counting(keras.layers.Layer):  # type: ignore[misc]  # no types in Keras
        def __init__(self, **options: Any) -> None:
            super().__init__(**options)
            self.calls = 0
            self.seen: list[Any] = []

        def build(self, shape: Any) -> None:
            self.kernel = self.add_weight(shape=(shape[-1],), initializer="ones")
            self.count = self.add_weight(shape=(), initializer="zeros", trainable=False)
            self.shape = tuple(shape)

        def call(self, x: Any) -> Any:
            self.calls += 1
            self.seen.append(x)
            self.last = x
            self.count.assign_add(1.0)
            return tf.sin(x) * self.kernel

    layer = Counting(dtype=dtype)
    assert verdict(layer, X.astype(dtype)) == "pass"
    assert layer.built
    assert layer.shape == (3, 2)
    assert len(layer.weights) == 2
    assert layer.count.numpy() == 0
    assert layer.calls == 0
    assert list(layer.seen) == []
    assert not hasattr(layer, "last")


def test_what_knows_by_its_count_that_it_is_built(tf: Any) -> None:
    class Lazy(tf.Module):  # type: ignore[misc]  # no types in TF
        def __init__(self) -> None:
            super().__init__()
            self.calls = 0

        def __call__(self, x: Any) -> Any:
            if self.calls == 0:
                self.weight = tf.Variable([2.0, 3.0], dtype=tf.float64)
            self.calls += 1
            return tf.sin(x) * self.weight

    module = Lazy()
    result = gradcheck.check(module, X)
    assert [str(c.verdict) for c in result.comparisons] == ["pass", "pass"]
    assert module.calls == 1
    np.testing.assert_array_equal(module.weight.numpy(), [2.0, 3.0])


def test_whether_a_weight_is_trained(tf: Any) -> None:
    import keras

    class Freezing(keras.layers.Dense):  # type: ignore[misc]  # no types in Keras
        def call(self, x: Any) -> Any:
            self.trainable = False
            return super().call(x)

    layer = Freezing(2, dtype="float64")
    layer.build((3, 2))
    gradcheck.check(layer, X)
    assert layer.trainable
    assert layer.kernel.trainable
    assert layer.bias.trainable
