"""What the formulas of decompositions need, by hand."""

from __future__ import annotations

import numpy as np

from gradcheck.ops.language.decompositions import (
    eigh,
    inverse_gaps,
    mirror_lower,
    phi,
    qr,
    qr_change,
    svd,
)

X = np.array([[2.0, 3], [4, 6]])


def test_phi_halves_the_diagonal_of_the_lower_triangle() -> None:
    np.testing.assert_array_equal(phi(X), [[1, 0], [4, 3]])


def test_the_lower_triangle_is_mirrored() -> None:
    np.testing.assert_array_equal(mirror_lower(X), [[2, 4], [4, 6]])


def test_q_and_r_move_as_their_product_does() -> None:
    x, change = np.array([[1.0, 2], [3, 4], [5, 7]]), np.array([[1.0, 0], [0, 2], [1, 1]])
    q, r = qr(x)
    dq, dr = qr_change(q, r, change)
    np.testing.assert_allclose(dq @ r + q @ dr, change, atol=1e-12)
    np.testing.assert_allclose(q.T @ dq, -(q.T @ dq).T, atol=1e-12)
    np.testing.assert_array_equal(np.tril(dr, -1).round(12), np.zeros((2, 2)))


def test_signs_do_not_depend_on_the_algorithm() -> None:
    x = np.random.default_rng(0).standard_normal((2, 3, 3))
    for vectors in (eigh(x + np.swapaxes(x, -1, -2))[1], svd(x)[1]):
        place = np.argmax(np.abs(vectors), axis=-2, keepdims=True)
        assert (np.take_along_axis(vectors, place, -2) > 0).all()
    s, u, v = svd(x)
    np.testing.assert_allclose((u * s[..., None, :]) @ np.swapaxes(v, -1, -2), x, atol=1e-13)
    np.testing.assert_array_equal(inverse_gaps([1.0, 3.0, 3.0])[1], [-0.5, 0.0, 0.0])
