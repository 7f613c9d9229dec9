"""The weights with which a resized image takes its places from the original."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gradcheck.ops.language.bounds import bounded

if TYPE_CHECKING:
    from gradcheck.model import Array

__all__ = ["linear_weights", "nearest_weights"]


def linear_weights(size: int, n: int) -> Array:
    """Row i: with what weights place i of `size` takes from the two of n places next to it."""
    rows, columns = bounded((int(size), int(n)))
    # (Places are counted by their centres.)
    at = (np.arange(rows) + 0.5) * columns / rows - 0.5
    below = np.floor(at).astype(np.int64)
    found = np.zeros((rows, columns))
    for place, weight in ((below, 1 - (at - below)), (below + 1, at - below)):
        np.add.at(found, (np.arange(rows), np.clip(place, 0, columns - 1)), weight)
    return found


def nearest_weights(size: int, n: int) -> Array:
    """Row i: 1 at the one of n places from which place i of `size` takes, (i + 1/2)·n/size."""
    rows, columns = bounded((int(size), int(n)))
    # (TensorFlow finds it in float32.)
    scale = np.float32(columns) / np.float32(rows)
    at = np.floor((np.arange(rows, dtype=np.float32) + np.float32(0.5)) * scale)
    found = np.zeros((rows, columns))
    found[np.arange(rows), np.minimum(at.astype(np.int64), columns - 1)] = 1.0
    return found
