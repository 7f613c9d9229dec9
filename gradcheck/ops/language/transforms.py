"""The matrices of cosine transforms, for the formula language."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.ops.language.bounds import bounded, numbers

if TYPE_CHECKING:
    from gradcheck.model import Array

__all__ = [
    "dct_matrix",
    "fft",
    "fft2d",
    "fft_matrix",
    "idct_matrix",
    "ifft",
    "ifft2d",
    "irfft",
    "occurrences",
    "rfft",
]


def fft(x: Any) -> Array:
    """The Fourier transform along the last axis."""
    return np.fft.fft(_signal(x))


def ifft(x: Any) -> Array:
    """The inverse Fourier transform along the last axis, with its 1/n."""
    return np.fft.ifft(_signal(x))


def fft2d(x: Any) -> Array:
    """The Fourier transform along the last two axes."""
    return np.fft.fft2(_signal(x))


def ifft2d(x: Any) -> Array:
    """The inverse Fourier transform along the last two axes, with its 1/n for each of them."""
    return np.fft.ifft2(_signal(x))


def rfft(x: Any) -> Array:
    """The first half of the Fourier transform of real numbers, along the last axis."""
    return np.fft.rfft(_signal(x))


def irfft(x: Any, n: int) -> Array:
    """The n real numbers of which x is the first half of the Fourier transform."""
    (count,) = bounded((int(n),))
    return np.fft.irfft(_signal(x), count)


def fft_matrix(n: int) -> Array:
    """The roots of unity exp(-2πi·j·k/n), row j, column k."""
    (count,) = bounded((int(n),))
    bounded((count, count))
    places = np.arange(count)
    # (Of the product of the places only what is left over by n counts.)
    return np.asarray(np.exp(-2j * np.pi * (np.outer(places, places) % count) / count))


def occurrences(n: int) -> Array:
    """How often each frequency of the first half stands in the whole of n: twice, but 0 and n/2."""
    (count,) = bounded((int(n),))
    places = np.arange(count // 2 + 1)
    return np.where((places == 0) | (2 * places == count), 1.0, 2.0)


def _signal(x: Any) -> Array:
    array = numbers(x)
    if not array.shape:
        raise ValueError("a signal has an axis")
    return array


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
