"""Gradient functions as people write them, to be found by their lines."""

from __future__ import annotations

import functools
from typing import Any

import tensorflow as tf


@tf.custom_gradient  # type: ignore[untyped-decorator]  # no types in TF
def doubled(x: Any) -> Any:
    def right(upstream: Any) -> Any:
        return 2 * upstream

    return 2 * x, right


@tf.custom_gradient  # type: ignore[untyped-decorator]  # no types in TF
def swish(x: Any) -> Any:
    s = tf.sigmoid(x)

    def wrong(upstream: Any) -> Any:
        return upstream * (s + x * s)

    return x * s, wrong


@tf.custom_gradient  # type: ignore[untyped-decorator]  # no types in TF
def product(a: Any, b: Any) -> Any:
    def swapped(upstream: Any) -> Any:
        return upstream * b, -upstream * a

    return a * b, swapped


@tf.custom_gradient  # type: ignore[untyped-decorator]  # no types in TF
def cut(x: Any) -> Any:
    def nothing(_upstream: Any) -> Any:
        return None

    return x * x, nothing


@tf.custom_gradient  # type: ignore[untyped-decorator]  # no types in TF
def root(x: Any) -> Any:
    def infinite(upstream: Any) -> Any:
        return upstream / (x - x)

    return tf.sqrt(x), infinite


def _for_partial(factor: float, upstream: Any) -> Any:
    return factor * upstream


@tf.custom_gradient  # type: ignore[untyped-decorator]  # no types in TF
def tripled(x: Any) -> Any:
    return 3 * x, functools.partial(_for_partial, 2.0)


@tf.custom_gradient  # type: ignore[untyped-decorator]  # no types in TF
def cubed(x: Any) -> Any:
    def once(upstream: Any) -> Any:
        return 3 * upstream * tf.stop_gradient(x) ** 2

    return x**3, once


@tf.function  # type: ignore[untyped-decorator]  # no types in TF
def traced(x: Any) -> Any:
    return swish(x) + 1


class Activation(tf.keras.layers.Layer):  # type: ignore[misc]  # no types in TF
    """A layer with a method of its own gradient, inside another one."""

    @tf.custom_gradient  # type: ignore[untyped-decorator]  # no types in TF
    def activate(self, x: Any) -> Any:
        def backwards(upstream: Any) -> Any:
            return -upstream

        return tf.identity(x), backwards

    def call(self, x: Any) -> Any:
        return self.activate(x)


class Block(tf.keras.layers.Layer):  # type: ignore[misc]  # no types in TF
    """Activation between two correct steps."""

    def __init__(self) -> None:
        super().__init__(dtype="float64")
        self.inner = Activation(dtype="float64")

    def call(self, x: Any) -> Any:
        return tf.tanh(self.inner(doubled(x)))


# TensorFlow has no gradient for this op, whose result is its input.
@tf.RegisterGradient("Snapshot")  # type: ignore[untyped-decorator]  # no types in TF
def registered(_op: Any, upstream: Any) -> Any:
    return 2 * upstream
