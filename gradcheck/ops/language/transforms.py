"""The matrices of cosine transforms, for the formula language."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.ops.language.bounds import bounded, numbers

if TYPE_CHECKING:
    from gradcheck.model import Array

__all__ = ["dct_matrix", "idct_matrix"]


def dct_matrix(x: Any, ortho: bool = False) -> Array:
    """The cosines 2·cos(π·k·(2·i + 1)/(2·n)), row i, column k, n the last size of x."""
    n = numbers(x).shape[-1]
    bounded((n, n))
    i, k = np.arange(n)[:, None], np.arange(n)[None, :]
    found = 2 * np.cos(np.pi * k * (2 * i + 1) / (2 * n))
    if ortho:
        found = found * np.where(k == 0, np.sqrt(1 / (4 * n)), np.sqrt(1 / (2 * n)))
    return np.asarray(found)


def idct_matrix(x: Any, ortho: bool = False) -> Array:
    """The cosines of the way back; without `ortho` the first of them is halved."""
    found = dct_matrix(x, ortho).T
    return found if ortho else np.concatenate([found[:1] / 2, found[1:]])
