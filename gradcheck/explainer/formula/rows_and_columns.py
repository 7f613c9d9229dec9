"""How arrays lie in a formula of matrices: as rows, as columns, turned."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from gradcheck.explainer.calculus.indices import extent
from gradcheck.explainer.formula.sums_and_products import NoMatrixForm, times
from gradcheck.explainer.trees import call, called, read, text_of

if TYPE_CHECKING:
    from gradcheck.explainer.calculus.indices import Index

__all__ = [
    "OF_ONE_NUMBER",
    "is_identity",
    "laid_array",
    "ones",
    "scaled_columns",
    "scaled_rows",
    "summed",
    "turned",
    "vector",
]

OF_ONE_NUMBER = frozenset(["exp", "log", "sin", "cos", "tanh", "sqrt", "square", "sigmoid"])


def is_identity(matrix: ast.expr) -> bool:
    """Whether this is a whole identity matrix."""
    return isinstance(matrix, ast.Call) and called(matrix) == "eye" and len(matrix.args) == 1


def laid_array(array: ast.expr, indices: tuple[Index, ...], row: Index, column: Index) -> ast.expr:
    """An array with these indices as a matrix with these rows and columns."""
    if len(indices) > 2:
        raise NoMatrixForm
    if len(indices) == 2:
        if indices[0] == indices[1] != 0:
            return _placed(call("diagonal", array), indices[0], row)
        if indices in ((row, column), (row, 0), (0, column), (0, 0)):
            return array
        if indices in ((column, row), (0, row), (column, 0)):
            return turned(array)
        raise NoMatrixForm
    return _placed(array, indices[0], row) if indices and indices[0] != 0 else array


def _placed(array: ast.expr, index: Index, row: Index) -> ast.expr:
    return call("column", array) if index == row else call("row", array)


def summed(vectors: list[ast.expr]) -> ast.expr:
    """The sum of all elements of a product of columns."""
    if len(vectors) > 1:
        return call("scalar", call("matmul", turned(times(vectors[:-1])), vectors[-1]))
    only = vectors[0]
    if isinstance(only, ast.Call) and called(only) == "matmul" and called(only.args[1]) == "ones":
        # The sum of the sums of the rows: which way the matrix is turned does not matter.
        matrix = only.args[0]
        if isinstance(matrix, ast.Call) and called(matrix) == "mT":
            matrix = matrix.args[0]
        return call("total", matrix)
    bare = _bare(only)
    return call("total", only if bare is None else bare)


def ones(index: str) -> ast.expr:
    """A column of ones, one for each value of the index."""
    return call("ones", read(repr([extent(index), 1])))


def turned(matrix: ast.expr) -> ast.expr:
    """The transpose, written as simply as it goes."""
    if not isinstance(matrix, ast.Call):
        return call("mT", matrix)
    name, inner = called(matrix), matrix.args[0]
    if name == "mT":
        return inner
    if name == "diag" or (name == "inv" and _is_gram(inner)):
        return matrix
    if name in ("column", "row"):
        return call("row" if name == "column" else "column", inner)
    if name == "matmul":
        return call("matmul", turned(matrix.args[1]), turned(inner))
    if name == "eye":
        # A part of the identity that is not square has rows and columns to swap.
        return call("eye", *reversed(matrix.args))
    return call("mT", matrix)


def _is_gram(matrix: ast.expr) -> bool:
    """Whether this is Xᵀ X, which is its own transpose, and so is its inverse."""
    if not isinstance(matrix, ast.Call) or called(matrix) != "matmul":
        return False
    left, right = matrix.args
    return text_of(turned(left)) == text_of(right)


def scaled_rows(columns: list[ast.expr], matrix: ast.expr) -> ast.expr:
    """The matrix, each row times a number: `diag(v) M`, or M ⊙ v where v is a column anyway."""
    if isinstance(matrix, ast.Call) and called(matrix) == "matmul":
        return call("matmul", scaled_rows(columns, matrix.args[0]), matrix.args[1])
    if _are_vectors(columns):
        return call("matmul", call("diag", vector(times(columns))), matrix)
    return times([matrix, *map(_row_sums, columns)])


def scaled_columns(matrix: ast.expr, columns: list[ast.expr]) -> ast.expr:
    """The matrix, each column times a number."""
    if isinstance(matrix, ast.Call) and called(matrix) == "matmul":
        return call("matmul", matrix.args[0], scaled_columns(matrix.args[1], columns))
    if _are_vectors(columns):
        return call("matmul", matrix, call("diag", vector(times(columns))))
    if isinstance(matrix, ast.Call) and called(matrix) == "mT":
        return call("mT", scaled_rows(columns, matrix.args[0]))
    return times([matrix, turned(times([_row_sums(column) for column in columns]))])


def _are_vectors(columns: list[ast.expr]) -> bool:
    """Whether a vector that is no column by itself is among them: a reader would not see one."""

    def bare(node: ast.AST) -> bool:
        if called(node) in ("column", "matmul"):
            return called(node) == "column"
        return any(map(bare, ast.iter_child_nodes(node)))

    return any(map(bare, columns))


def _row_sums(column: ast.expr) -> ast.expr:
    """The column with `sum` for products with ones."""
    found: ast.expr = _RowSums().visit(read(text_of(column)))
    return found


class _RowSums(ast.NodeTransformer):
    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if called(node) == "matmul" and called(node.args[1]) == "ones":
            return call("sum", node.args[0], ast.Constant(1), ast.Constant(True))
        return node


def vector(column: ast.expr) -> ast.expr:
    """A matrix with one column as a vector."""
    if called(column) == "column" and isinstance(column, ast.Call):
        return column.args[0]
    stripped = _bare(column)
    return stripped if stripped is not None else call("vector", column)


def _bare(node: ast.expr) -> ast.expr | None:
    """An elementwise formula of columns as one of vectors; None where matrices take part."""
    if isinstance(node, ast.Constant):
        return node
    if isinstance(node, ast.Call) and called(node) == "column":
        return node.args[0]
    if isinstance(node, ast.BinOp):
        left, right = _bare(node.left), _bare(node.right)
        return None if left is None or right is None else ast.BinOp(left, node.op, right)
    if isinstance(node, ast.Call) and called(node) in OF_ONE_NUMBER:
        inner = _bare(node.args[0])
        return None if inner is None else call(called(node), inner)
    return None
