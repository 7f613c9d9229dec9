"""The functions of the formula language on matrices: products, triangles, diagonals, inverses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.ops.language.bounds import axes, bounded, numbers, sizes

if TYPE_CHECKING:
    from gradcheck.model import Array, Shape

__all__ = [
    "adjoint",
    "column",
    "det",
    "diag",
    "diagonal",
    "einsum",
    "eye",
    "inv",
    "mT",
    "matmul",
    "outer",
    "row",
    "scalar",
    "solve",
    "total",
    "trace",
    "transpose",
    "tril",
    "triu",
    "vector",
]


def transpose(x: Any, perm: Any = None) -> Array:
    """The axes in the order of perm; without it, reversed."""
    return np.transpose(numbers(x), axes(perm))


def mT(x: Any) -> Array:  # noqa: N802 (numpy's name for it)
    """The last two axes swapped: the transpose of each matrix."""
    return np.swapaxes(numbers(x), -1, -2)


def adjoint(x: Any) -> Array:
    """The conjugate transpose of each matrix."""
    return np.conj(mT(x))


def matmul(a: Any, b: Any) -> Array:
    """The matrix product, over the last two axes."""
    a, b = numbers(a), numbers(b)
    if a.ndim and b.ndim:
        rows = a.shape[-2:-1] if a.ndim > 1 else ()
        columns = b.shape[-1:] if b.ndim > 1 else ()
        bounded((*np.broadcast_shapes(a.shape[:-2], b.shape[:-2]), *rows, *columns))
    return np.asarray(np.matmul(a, b))


def einsum(equation: str, *operands: Any) -> Array:
    """The sum of products that the equation names; 'ij,jk->ik' is the matrix product."""
    if not isinstance(equation, str):
        raise TypeError("einsum takes its equation first, as text: einsum('ij,jk->ik', a, b)")
    arrays = [numbers(operand) for operand in operands]
    terms, arrow, output = equation.replace(" ", "").partition("->")
    if not arrow:
        raise ValueError(f"the equation needs an arrow, as in 'ij,jk->ik'; got {equation!r}")
    bounded(_einsum_shape(terms.split(","), output, [array.shape for array in arrays]))
    return np.asarray(np.einsum(equation, *arrays))


def _einsum_shape(terms: list[str], output: str, shapes: list[Shape]) -> Shape:
    """The shape of the result; wrong equations are left for numpy to refuse."""
    extents: dict[str, int] = {}
    batch: list[Shape] = []
    for term, shape in zip(terms, shapes, strict=False):
        before, dots, after = term.partition("...")
        tail = len(shape) - len(after)
        if dots:
            batch.append(shape[len(before) : tail])
        named = [*zip(before, shape, strict=False), *zip(after, shape[tail:], strict=False)]
        for label, extent in named:
            extents[label] = max(extent, extents.get(label, 1))
    before, dots, after = output.partition("...")
    middle = np.broadcast_shapes(*batch) if dots else ()
    return (
        *(extents.get(label, 1) for label in before),
        *middle,
        *(extents.get(label, 1) for label in after),
    )


def column(x: Any) -> Array:
    """The vector x as a matrix with one column."""
    return np.expand_dims(numbers(x), 1)


def row(x: Any) -> Array:
    """The vector x as a matrix with one row."""
    return np.expand_dims(numbers(x), 0)


def vector(x: Any) -> Array:
    """A matrix with one row or one column as a vector."""
    return numbers(x).reshape(-1)


def scalar(x: Any) -> Array:
    """The only element of x, as a number."""
    return numbers(x).reshape(())


def total(x: Any) -> Array:
    """The sum of all elements."""
    return np.asarray(np.sum(numbers(x)))


def outer(x: Any, y: Any) -> Array:
    """Every product of an element of x with one of y."""
    x, y = numbers(x), numbers(y)
    bounded((x.size, y.size))
    return np.outer(x, y)


def eye(n: int, m: int | None = None) -> Array:
    """The identity matrix, or n rows and m columns of it."""
    rows, columns = sizes([n, n if m is None else m])
    return np.eye(rows, columns)


def tril(x: Any, k: int = 0) -> Array:
    """The lower triangle of each matrix, up to the k-th diagonal; zeros above."""
    return np.tril(numbers(x), k)


def triu(x: Any, k: int = 0) -> Array:
    """The upper triangle of each matrix, from the k-th diagonal on; zeros below."""
    return np.triu(numbers(x), k)


def diag(x: Any) -> Array:
    """A matrix with the vector x on its diagonal, or the diagonal of the matrix x."""
    x = numbers(x)
    if x.ndim == 1:
        bounded((x.size, x.size))
    return np.diag(x)


def diagonal(x: Any) -> Array:
    """The diagonal of each matrix: of the last two axes."""
    return np.diagonal(numbers(x), axis1=-2, axis2=-1)


def trace(x: Any) -> Array:
    """The sum of the diagonal of each matrix: of the last two axes."""
    return np.asarray(np.trace(numbers(x), axis1=-2, axis2=-1))


def inv(x: Any) -> Array:
    """The inverse of each matrix; NaN for one that has none."""
    x = numbers(x)
    try:
        return np.linalg.inv(x)
    except np.linalg.LinAlgError:
        if x.ndim == 2:
            return np.full_like(x, np.nan)
        return np.stack([inv(each) for each in x])


def solve(a: Any, b: Any) -> Array:
    """The x for which a·x = b."""
    return np.linalg.solve(numbers(a), numbers(b))


def det(x: Any) -> Array:
    """The determinant of each matrix."""
    return np.asarray(np.linalg.det(numbers(x)))
