"""The functions of the formula language that decompose matrices, and what their formulas need."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.ops.language.bounds import bounded, numbers

if TYPE_CHECKING:
    from gradcheck.model import Array

__all__ = [
    "cholesky",
    "eigenvalues",
    "eigenvectors",
    "eigh",
    "expm",
    "expm_change",
    "inverse_gaps",
    "left_singular",
    "mirror_lower",
    "phi",
    "pinv",
    "qr",
    "qr_change",
    "right_singular",
    "singular_values",
    "slogdet",
    "sqrtm",
    "svd",
    "sylvester",
]


def cholesky(x: Any) -> Array:
    """The lower triangular L with L·Lᵀ = x."""
    return np.linalg.cholesky(numbers(x))


def eigenvalues(x: Any) -> Array:
    """The eigenvalues of a symmetric matrix, from the smallest up."""
    return np.linalg.eigvalsh(numbers(x))


def eigenvectors(x: Any) -> Array:
    """The eigenvectors of a symmetric matrix, as columns, in the order of the eigenvalues."""
    return np.linalg.eigh(numbers(x))[1]


def singular_values(x: Any) -> Array:
    """The singular values, from the largest down."""
    return np.linalg.svd(numbers(x), compute_uv=False)


def left_singular(x: Any) -> Array:
    """The left singular vectors, as columns."""
    return np.linalg.svd(numbers(x), full_matrices=False)[0]


def right_singular(x: Any) -> Array:
    """The right singular vectors, as columns."""
    return np.asarray(
        np.conj(np.swapaxes(np.linalg.svd(numbers(x), full_matrices=False)[2], -1, -2))
    )


def eigh(x: Any) -> list[Array]:
    """The eigenvalues of a symmetric matrix, from the smallest up, and its eigenvectors."""
    values, vectors = np.linalg.eigh(numbers(x))
    return [values, vectors * _turned(vectors)]


def svd(x: Any) -> list[Array]:
    """The singular values, from the largest down, and the left and right singular vectors."""
    left, values, right = np.linalg.svd(numbers(x), full_matrices=False)
    turned = _turned(left)
    return [values, left * turned, np.conj(np.swapaxes(right, -1, -2)) * turned]


def _turned(vectors: Array) -> Array:
    """By column: 1 or -1, so that the largest component becomes positive.

    The sign is free. This one is the same everywhere, whatever algorithm found the vectors.
    """
    if not vectors.size:
        return np.ones_like(vectors[..., :1, :])
    place = np.argmax(np.abs(vectors), axis=-2, keepdims=True)
    return np.asarray(np.sign(np.take_along_axis(vectors, place, axis=-2)))


def inverse_gaps(x: Any) -> Array:
    """In row i and column j 1/(x[j] - x[i]); 0 on the diagonal, and where two are equal."""
    x = numbers(x)
    bounded((*x.shape, x.shape[-1]))
    gaps = x[..., np.newaxis, :] - x[..., :, np.newaxis]
    return np.asarray(np.where(gaps == 0, 0.0, 1 / np.where(gaps == 0, 1.0, gaps)))


def qr(x: Any) -> list[Array]:
    """The orthonormal Q and the upper triangular R with Q·R = x."""
    q, r = np.linalg.qr(numbers(x))
    return [q, r]


def qr_change(q: Any, r: Any, change: Any) -> list[Array]:
    """How Q and R change with x = Q·R: dQ = Q·W + (I - Q·Qᵀ)·dx·R⁻¹ and dR = (Qᵀ·dx·R⁻¹ - W)·R."""
    q, r, change = numbers(q), numbers(r), numbers(change)
    moved = change @ np.linalg.inv(r)
    inner = np.swapaxes(q, -1, -2) @ moved
    lower = np.tril(inner, -1)
    turned = lower - np.swapaxes(lower, -1, -2)
    return [q @ turned + moved - q @ inner, (inner - turned) @ r]


def phi(x: Any) -> Array:
    """The lower triangle, its diagonal halved."""
    x = numbers(x)
    return np.asarray(np.tril(x) - np.eye(x.shape[-1]) * x / 2)


def mirror_lower(x: Any) -> Array:
    """The lower triangle, mirrored into the upper one."""
    x = numbers(x)
    return np.asarray(np.tril(x) + np.swapaxes(np.tril(x, -1), -1, -2))


def slogdet(x: Any) -> list[Array]:
    """The sign of the determinant, and the logarithm of its size."""
    sign, size = np.linalg.slogdet(numbers(x))
    return [np.asarray(sign), np.asarray(size)]


def expm(x: Any) -> Array:
    """The exponential of each matrix: I + x + x·x/2 + x·x·x/6 + …."""
    return np.asarray(import_module("scipy.linalg").expm(numbers(x)))


def expm_change(x: Any, change: Any) -> Array:
    """How the exponential of each matrix changes when it does: ∫₀¹ eˢˣ·dx·e⁽¹⁻ˢ⁾ˣ ds."""
    x, change = np.broadcast_arrays(numbers(x), numbers(change))
    n = x.shape[-1]
    bounded((*x.shape[:-2], 2 * n, 2 * n))
    above = np.concatenate([x, change], -1)
    below = np.concatenate([np.zeros_like(x), x], -1)
    return expm(np.concatenate([above, below], -2))[..., :n, n:]


def sqrtm(x: Any) -> Array:
    """The symmetric root of each symmetric positive definite matrix."""
    values, vectors = np.linalg.eigh(numbers(x))
    return np.asarray(
        (vectors * np.sqrt(values)[..., None, :]) @ np.conj(np.swapaxes(vectors, -1, -2))
    )


def pinv(x: Any) -> Array:
    """The pseudo-inverse of each matrix."""
    return np.asarray(np.linalg.pinv(numbers(x)))


def sylvester(a: Any, b: Any, c: Any) -> Array:
    """The x for which a·x + x·b = c."""
    a, b, c = numbers(a), numbers(b), numbers(c)
    rows, columns = c.shape[-2:]
    bounded((*c.shape[:-2], rows * columns, rows * columns))
    system = np.einsum("jl,...ik->...ijkl", np.eye(columns), a)
    system = system + np.einsum("...lj,ik->...ijkl", b, np.eye(rows))
    flat = system.reshape(*system.shape[:-4], rows * columns, rows * columns)
    found = np.linalg.solve(flat, c.reshape(*c.shape[:-2], -1, 1))
    return np.asarray(found.reshape(c.shape))
