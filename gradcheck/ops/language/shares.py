"""Sums of exponentials that do not overflow: the largest is taken out before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.ops.language.bounds import axes, numbers

if TYPE_CHECKING:
    from gradcheck.model import Array

__all__ = ["log_softmax", "logsumexp", "softmax", "softplus"]


def logsumexp(x: Any, axis: Any = None, keepdims: bool = False) -> Array:
    """The logarithm of the sum of eˣ along an axis, several, or all."""
    x, along = numbers(x), axes(axis)
    largest = np.max(x, axis=along, keepdims=True, initial=-np.inf)
    shift = np.where(np.isfinite(largest), largest, 0.0)
    found = np.log(np.sum(np.exp(x - shift), axis=along, keepdims=True)) + shift
    return np.asarray(found if keepdims else np.squeeze(found, axis=along))


def log_softmax(x: Any, axis: Any = -1) -> Array:
    """The logarithm of the softmax along an axis."""
    x = numbers(x)
    return np.asarray(x - logsumexp(x, axis, True))


def softmax(x: Any, axis: Any = -1) -> Array:
    """The shares eˣ/Σ eˣ along an axis."""
    return np.asarray(np.exp(log_softmax(x, axis)))


def softplus(x: Any) -> Array:
    """log(1 + eˣ)."""
    return np.asarray(np.logaddexp(numbers(x), 0.0))
