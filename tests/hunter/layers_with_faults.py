"""Layers whose gradients are wrong, and one whose are right, for programs that show it."""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf


@tf.custom_gradient  # type: ignore[untyped-decorator]
def _scaled(x: Any, weight: Any) -> Any:
    """The gradient of the weight is half as large again."""
    return x * weight, lambda g: (g * weight, 1.5 * tf.reduce_sum(g * x, 0))


@tf.custom_gradient  # type: ignore[untyped-decorator]
def _swish(x: Any) -> Any:
    s = tf.sigmoid(x)
    return x * s, lambda g: g * (s + x * s)


class Scale(keras.layers.Layer):  # type: ignore[misc]
    """Wrong in its weight."""

    def build(self, shape: Any) -> None:
        self.scale = self.add_weight(shape=shape[-1:], name="scale")

    def call(self, inputs: Any) -> Any:
        return _scaled(inputs, tf.convert_to_tensor(self.scale))


class Swish(keras.layers.Layer):  # type: ignore[misc]
    """Wrong in its input."""

    def call(self, inputs: Any) -> Any:
        return _swish(inputs)


class Both(keras.layers.Layer):  # type: ignore[misc]
    """A weight of a layer inside of it is wrong, those of the other one are right."""

    def __init__(self, units: int = 3, **named: Any) -> None:
        super().__init__(**named)
        self.dense, self.scale = keras.layers.Dense(units), Scale()

    def call(self, inputs: Any) -> Any:
        return self.scale(self.dense(inputs))
