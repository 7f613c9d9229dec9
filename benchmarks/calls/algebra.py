"""Products and decompositions of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.calls.declaration import BF16, C64, C128, F16, F32, F64, each, given, op
from benchmarks.subjects import Draw, Function, normal, uniform, well_conditioned

PRODUCTS = "matrix products"
FAMILY = "linear algebra"


def positive(tf: Any, x: Any) -> Any:
    """A Hermitian positive definite matrix made of any square one, as TensorFlow's tests do."""
    size = x.shape[-1]
    return tf.matmul(x, x, adjoint_b=True) / size + tf.eye(size, dtype=x.dtype)


def stacked(count: int, size: int) -> Draw:
    """Several square matrices that are far from singular."""
    return lambda rng: (rng.standard_normal((count, size, size)) + size * np.eye(size),)


def _svd_rebuilt(tf: Any) -> Function:
    """The singular values' exponentials: depends on the vectors, and not on their signs."""

    def rebuild(x: Any) -> Any:
        s, u, v = tf.linalg.svd(x)
        return tf.matmul(u * tf.exp(s), v, adjoint_b=True)

    return rebuild


def _sparse_product(tf: Any) -> Function:
    def product(values: Any, dense: Any) -> Any:
        sparse = tf.SparseTensor([[0, 1], [1, 0], [1, 3], [2, 2]], values, [3, 4])
        return tf.sparse.sparse_dense_matmul(sparse, dense)

    return product


CALLS = (
    op("matmul 3×2·2×4", PRODUCTS, F32, normal((3, 2), (2, 4)), lambda tf: tf.matmul),
    op("matmul 2×3·3×5", PRODUCTS, F16, normal((2, 3), (3, 5)), lambda tf: tf.matmul),
    op("matmul 2×3·3×5", PRODUCTS, BF16, normal((2, 3), (3, 5)), lambda tf: tf.matmul),
    op("matmul 2×3·3×4", PRODUCTS, C64, normal((2, 3), (3, 4)), lambda tf: tf.matmul),
    op("matmul 10×8·8×10", PRODUCTS, F64, normal((10, 8), (8, 10)), lambda tf: tf.matmul),
    op(
        "batch matmul 2×3×5·2×5×4",
        PRODUCTS,
        F32,
        normal((2, 3, 5), (2, 5, 4)),
        lambda tf: tf.matmul,
    ),
    op(
        "matmul 20×20·20×20",
        PRODUCTS,
        F32,
        normal((20, 20), (20, 20)),
        lambda tf: tf.matmul,
    ),
    op("matmul 10×10·10×10", PRODUCTS, C128, normal((10, 10), (10, 10)), lambda tf: tf.matmul),
    op("matmul 6×10·10×8", PRODUCTS, F16, normal((6, 10), (10, 8)), lambda tf: tf.matmul),
    op(
        "einsum abc,cd->abd 2×3×4, 4×5",
        PRODUCTS,
        F32,
        normal((2, 3, 4), (4, 5)),
        lambda tf: lambda x, y: tf.einsum("abc,cd->abd", x, y),
    ),
    op(
        "einsum bij,bjk->bik 3×2×4, 3×4×5",
        PRODUCTS,
        C128,
        normal((3, 2, 4), (3, 4, 5)),
        lambda tf: lambda x, y: tf.einsum("bij,bjk->bik", x, y),
    ),
    op(
        "tensordot 2×3×4, 4×3",
        PRODUCTS,
        F64,
        normal((2, 3, 4), (4, 3)),
        lambda tf: lambda x, y: tf.tensordot(x, y, [[2, 1], [0, 1]]),
    ),
    op("sparse 3×4 by 4×2", PRODUCTS, F32, normal((4,), (4, 2)), _sparse_product),
    op(
        "cholesky 3",
        FAMILY,
        F32,
        normal((3, 3)),
        lambda tf: lambda x: tf.linalg.cholesky(positive(tf, x)),
    ),
    op(
        "cholesky 10",
        FAMILY,
        F64,
        normal((10, 10)),
        lambda tf: lambda x: tf.linalg.cholesky(positive(tf, x)),
    ),
    op(
        "cholesky 2",
        FAMILY,
        C128,
        normal((2, 2)),
        lambda tf: lambda x: tf.linalg.cholesky(positive(tf, x)),
    ),
    op("inv 2×3×3", FAMILY, F32, stacked(2, 3), lambda tf: tf.linalg.inv),
    op("inv 4", FAMILY, C64, well_conditioned(4), lambda tf: tf.linalg.inv),
    op("det 4", FAMILY, F64, well_conditioned(4), lambda tf: tf.linalg.det),
    op("det 2", FAMILY, F32, given([[1.0, 2.0], [3.0, 4.0]]), lambda tf: tf.linalg.det),
    op(
        "logdet 5",
        FAMILY,
        F64,
        normal((5, 5)),
        lambda tf: lambda x: tf.linalg.logdet(positive(tf, x)),
    ),
    op("solve 5, 5×3", FAMILY, F64, well_conditioned(5, (5, 3)), lambda tf: tf.linalg.solve),
    op("solve 2, 2×1", FAMILY, F32, well_conditioned(2, (2, 1)), lambda tf: tf.linalg.solve),
    op(
        "triangular solve 5, 5×2",
        FAMILY,
        F32,
        well_conditioned(5, (5, 2)),
        lambda tf: tf.linalg.triangular_solve,
    ),
    op("qr 4×3", FAMILY, F64, normal((4, 3)), lambda tf: lambda x: tf.linalg.qr(x).r),
    op(
        "singular values 5×3",
        FAMILY,
        F32,
        normal((5, 3)),
        lambda tf: lambda x: tf.linalg.svd(x, compute_uv=False),
    ),
    op(
        "svd rebuilt 4×3",
        FAMILY,
        F64,
        normal((4, 3)),
        _svd_rebuilt,
    ),
    op(
        "eigenvalues 5",
        FAMILY,
        F64,
        normal((5, 5)),
        lambda tf: lambda x: tf.linalg.eigvalsh(x + tf.linalg.adjoint(x)),
    ),
    op(
        "eigenvalues 3",
        FAMILY,
        C64,
        normal((3, 3)),
        lambda tf: lambda x: tf.linalg.eigvalsh(x + tf.linalg.adjoint(x)),
    ),
    op("expm 3", FAMILY, F64, uniform(-1, 1, (3, 3)), lambda tf: tf.linalg.expm),
    op(
        "sqrtm 3",
        FAMILY,
        F64,
        uniform(-1, 1, (3, 3)),
        lambda tf: lambda x: tf.linalg.sqrtm(positive(tf, x)),
    ),
    op("pinv 4×2", FAMILY, F64, normal((4, 2)), lambda tf: tf.linalg.pinv),
    op(
        "eigenvalues of a tridiagonal 3, 2",
        FAMILY,
        F64,
        given([1.0, 2.5, 4.0], [0.3, -0.4]),
        lambda tf: tf.linalg.eigh_tridiagonal,
    ),
    op(
        "tridiagonal solve 3×4, 4×1",
        FAMILY,
        F64,
        each(
            given(np.array([[0.3, -0.2, 0.4, 0], [3, 2.5, 3.5, 4], [0, 0.5, -0.3, 0.2]])),
            normal((4, 1)),
        ),
        lambda tf: lambda d, r: tf.linalg.tridiagonal_solve(d, r, diagonals_format="compact"),
    ),
    op(
        "lu_reconstruct 4",
        FAMILY,
        F64,
        well_conditioned(4),
        lambda tf: lambda x: tf.linalg.lu_reconstruct(x, [2, 0, 3, 1]),
    ),
    op("least squares 5×3, 5×2", FAMILY, F64, normal((5, 3), (5, 2)), lambda tf: tf.linalg.lstsq),
    op("matrix norm 3×4", FAMILY, C64, normal((3, 4)), lambda tf: tf.norm),
    op(
        "band part and trace 6",
        FAMILY,
        F32,
        normal((6, 6)),
        lambda tf: lambda x: tf.linalg.trace(tf.matmul(tf.linalg.band_part(x, 1, 2), x)),
    ),
)
