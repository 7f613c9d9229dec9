"""How large numbers are, and which have changed, where some may be infinite or no numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from gradcheck.model import Array


def changed(found: Array, before: Array) -> Array:
    """Where they differ; NaN is as good as NaN."""
    return np.asarray((found != before) & ~(np.isnan(found) & np.isnan(before)))


def largest(values: Array) -> float:
    """The largest finite size; zero if there is none."""
    size = float(np.abs(values).max(initial=0.0))
    if np.isfinite(size):
        return size
    return float(np.abs(values[np.isfinite(values)]).max(initial=0.0))


def norms(values: Array) -> Array:
    """Norms of sizes along the last axis, also where squares would overflow or vanish."""
    top = values.max(axis=-1, initial=0.0, keepdims=True)
    safe = np.where(top > 0, top, 1.0)
    return np.asarray(safe[..., 0] * np.sqrt(((values / safe) ** 2).sum(axis=-1)))


def norms_of_some(values: Array, chosen: Array) -> Array:
    """By row of choices: the norm of the sizes that are chosen."""
    top = float(values.max(initial=0.0)) or 1.0
    squares = (values / top) ** 2
    if np.count_nonzero(squares) < np.count_nonzero(values):
        return norms(values * chosen)
    return np.asarray(top * np.sqrt(chosen @ squares))
