"""Functions of a user's, as specs name them."""

from __future__ import annotations

import functools
import io
import os  # (a module that a spec must not reach through this one)
import subprocess
import types
from os import system  # noqa: F401
from typing import Any

import numpy as np
import tensorflow as tf

TFSMLayer = tf.keras.layers.TFSMLayer  # a class that a spec must not reach through this module


@tf.custom_gradient  # type: ignore[untyped-decorator]  # no types in TF
def wrong_swish(x: Any) -> Any:
    s = tf.sigmoid(x)
    return x * s, lambda upstream: upstream * (s + x * s)


@tf.custom_gradient  # type: ignore[untyped-decorator]  # no types in TF
def right_swish(x: Any) -> Any:
    s = tf.sigmoid(x)
    return x * s, lambda upstream: upstream * (s + x * s * (1 - s))


def power_of(base: Any, exponent: float, shift: Any) -> Any:
    return base**exponent + 3.0 * shift


def subtract(x: Any, y: Any) -> Any:
    return x - y


def positional(x: Any, y: Any, /) -> Any:
    return x - y


def any_number(*values: Any) -> Any:
    return values[0] - values[1]


class _Opaque:
    """One whose code is in C and does not tell its parameters."""

    __call__ = getattr


no_signature = _Opaque()

# What a package holds, and has not defined itself.
weights = np.zeros(3)
stream = io.StringIO()
attribute_of = functools.partial(getattr)
run_command = functools.partial(functools.partial(os.system))
traced_command = tf.function(os.system)
exponential = np.exp
vectors = np.vectorize(str)


lying = types.FunctionType(subprocess.run.__code__, subprocess.__dict__, "lying")
lying.__module__ = __name__


class Process(subprocess.Popen):  # type: ignore[type-arg]
    """One of ours, with methods that are not."""


class _Broken:
    @property
    def property(self) -> Any:
        raise RuntimeError("not today")


broken = _Broken()


class Text(str):
    """Its methods are written in C."""


Renamed = type("Renamed", (), dict(vars(subprocess.Popen)))
Renamed.__module__ = __name__

# What it has defined itself, whatever stands around it.
doubled = functools.partial(power_of, exponent=2.0)
leaky = functools.partial(tf.nn.leaky_relu, alpha=0.1)
dense = tf.keras.layers.Dense(2, dtype="float64")


class Outer:
    """A class with another inside."""

    class Inner:
        """Its methods are public."""

        @classmethod
        def cube(cls, x: Any) -> Any:
            return x**3

        @staticmethod
        @tf.autograph.experimental.do_not_convert  # type: ignore[untyped-decorator]
        def kept(x: Any) -> Any:
            return x * 1.0

    @tf.function  # type: ignore[untyped-decorator]  # no types in TF
    def traced(self, x: Any) -> Any:
        return x * x


outer = Outer()


class Scale:
    """A layer of nobody's."""

    def __init__(self, factor: float = 2.0) -> None:
        self.factor = factor

    def __call__(self, x: Any) -> Any:
        return self.factor * x


class Inside(tf.keras.layers.Layer):  # type: ignore[misc]  # no types in TF
    """A layer with another inside, which says nothing of its dtype."""

    def __init__(self, units: int = 2) -> None:
        super().__init__()
        self.inner = tf.keras.layers.Dense(units)
        self.start = tf.random.normal([units], dtype=self.compute_dtype)

    def call(self, x: Any) -> Any:
        return tf.sin(self.inner(x)) + self.start


class Raises(tf.keras.layers.Layer):  # type: ignore[misc]  # no types in TF
    """A layer that says why."""

    def call(self, x: Any, training: bool = False) -> Any:  # noqa: ARG002  (Keras asks for them)
        raise ValueError("the reason is this\nand more")


class Weights(tf.Module):  # type: ignore[misc]  # no types in TF
    """A module that is no layer of Keras'."""

    def __init__(self) -> None:
        super().__init__()
        self.w = tf.Variable(tf.random.normal([3], dtype=tf.float64))

    def __call__(self, x: Any) -> Any:
        return x * self.w


def in_a_dictionary(pair: Any, scale: Any) -> Any:
    first, second = pair["parts"]
    return {"product": scale * pair["a"] * first, "sum": first + second}
