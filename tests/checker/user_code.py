"""Functions of a user's, as specs name them."""

from __future__ import annotations

import os  # noqa: F401  (a module that a spec must not reach through this one)
from typing import Any

import tensorflow as tf


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
