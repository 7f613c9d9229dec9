"""The drawing itself: one function per sample, from a generator and a shape to values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gradcheck.ops.samples.spread import MARGIN

if TYPE_CHECKING:
    from gradcheck.model import Array, Shape

    Rng = np.random.Generator
    Params = tuple[float, ...]

GAP = 2 * MARGIN
"""How far apart the values of `distinct` are placed, at least; jitter takes up to half of it, and
leaves the margin that values keep from a kink: for max and sort, a tie is one."""


def normal(rng: Rng, shape: Shape, _: Params) -> Array:
    """Standard normal."""
    return np.asarray(rng.standard_normal(shape))


def uniform(rng: Rng, shape: Shape, params: Params) -> Array:
    """Evenly between low and high."""
    low, high = params
    return np.asarray(rng.uniform(low, high, shape))


def loguniform(rng: Rng, shape: Shape, params: Params) -> Array:
    """Between low and high, evenly in magnitude."""
    low, high = params
    return np.asarray(np.exp(rng.uniform(np.log(low), np.log(high), shape)))


def nonzero(rng: Rng, shape: Shape, _: Params) -> Array:
    """Of size 0.5 to 2, with a random sign."""
    return loguniform(rng, shape, (0.5, 2.0)) * _signs(rng, shape)


def distinct(rng: Rng, shape: Shape, _: Params) -> Array:
    """Evenly spaced with some jitter, in random order: no two are close."""
    count = int(np.prod(shape, dtype=np.int64))
    gap = max(GAP, 4 / max(count, 1))
    places = rng.permutation(count) - (count - 1) / 2
    return (gap * (places + rng.uniform(-0.25, 0.25, count))).reshape(shape)


def integers(rng: Rng, shape: Shape, params: Params) -> Array:
    """Whole numbers from low up to, not including, high."""
    low, high = params
    return np.asarray(rng.integers(int(low), int(high), shape))


def boolean(rng: Rng, shape: Shape, _: Params) -> Array:
    """True or false, evenly."""
    return np.asarray(rng.integers(0, 2, shape), dtype=bool)


def probability(rng: Rng, shape: Shape, complex_: bool) -> Array:
    """Positive, the last axis sums to one; imaginary parts sum to zero."""
    # In multiples of a power of two: then they sum to one in every precision, also in bfloat16,
    # and a gradient that relies on it is right in all of them.
    parts = 2.0 ** np.ceil(np.log2(16 * max(shape[-1], 1)))

    def simplex() -> Array:
        weights = rng.uniform(0.5, 2.0, shape)
        whole = np.floor(parts * weights / weights.sum(axis=-1, keepdims=True))
        missing = parts - whole.sum(axis=-1, keepdims=True)
        return np.asarray((whole + (np.arange(shape[-1]) < missing)) / parts)

    return simplex() + 1j * (simplex() - simplex()) if complex_ else simplex()


def orthogonal(rng: Rng, shape: Shape, complex_: bool) -> Array:
    """Orthogonal matrices; unitary where complex."""
    return np.asarray(np.linalg.qr(_matrices(rng, shape, complex_))[0])


def spd(rng: Rng, shape: Shape, complex_: bool) -> Array:
    """Symmetric (or Hermitian) positive definite, with separate eigenvalues in [0.5, 2]."""
    return _from_eigenvalues(orthogonal(rng, shape, complex_), _eigenvalues(rng, shape))


def symmetric(rng: Rng, shape: Shape, complex_: bool) -> Array:
    """Symmetric with separate eigenvalues of size 0.5 to 2; Hermitian where complex."""
    eigenvalues = _eigenvalues(rng, shape) * _signs(rng, shape[:-1])
    return _from_eigenvalues(orthogonal(rng, shape, complex_), eigenvalues)


def invertible(rng: Rng, shape: Shape, complex_: bool) -> Array:
    """General square matrices with separate singular values in [0.5, 2]."""
    left, right = orthogonal(rng, shape, complex_), orthogonal(rng, shape, complex_)
    return np.asarray((left * _eigenvalues(rng, shape)[..., None, :]) @ right)


def lower(rng: Rng, shape: Shape, complex_: bool) -> Array:
    """Lower triangular, with a diagonal of positive numbers in [0.5, 2]."""
    below = np.tril(_matrices(rng, shape, complex_), -1) / max(1.0, np.sqrt(shape[-1]))
    diagonal = loguniform(rng, shape[:-1], (0.5, 2.0))
    return np.asarray(below + diagonal[..., None] * np.eye(shape[-1]))


def _matrices(rng: Rng, shape: Shape, complex_: bool) -> Array:
    real = np.asarray(rng.standard_normal(shape))
    return real + 1j * rng.standard_normal(shape) if complex_ else real


def _signs(rng: Rng, shape: Shape) -> Array:
    return np.asarray(rng.integers(0, 2, shape) * 2.0 - 1.0)


def _eigenvalues(rng: Rng, shape: Shape) -> Array:
    """Separate numbers in [0.5, 2] for each matrix: ties make eigenvectors jump."""
    count = shape[-1]
    places = np.arange(count) + rng.uniform(0.25, 0.75, shape[:-1])
    return np.asarray(0.5 * 4 ** (places / max(count, 1)))


def _from_eigenvalues(vectors: Array, eigenvalues: Array) -> Array:
    matrix = (vectors * eigenvalues[..., None, :]) @ np.conj(np.swapaxes(vectors, -1, -2))
    # Round-off leaves the two triangles a little different; symmetric means exactly symmetric.
    return np.asarray((matrix + np.conj(np.swapaxes(matrix, -1, -2))) / 2)
