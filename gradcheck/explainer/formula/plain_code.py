"""Formulas of columns and rows as programs write them: of vectors, with sums along axes.

Mathematics multiplies by a column of ones, and a vector is a column beside a matrix. TensorFlow has
words for what is meant: a sum along an axis, a matrix times a vector, an inner product.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from gradcheck.explainer import trees

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gradcheck.model import Shape

    Made = Callable[[list[ast.expr]], ast.expr]

__all__ = ["plainly"]

_BY_ELEMENTS = frozenset(
    [
        "exp", "log", "log1p", "expm1", "sqrt", "square", "sin", "cos", "tan", "sinh", "cosh",
        "tanh", "sigmoid", "softplus", "erf", "erfc", "abs", "sign", "maximum", "minimum", "power",
        "where", "greater", "greater_equal", "less", "less_equal", "equal", "not_equal",
        "logical_and", "logical_or", "logical_not", "digamma", "lgamma",
    ]
)  # fmt: skip
"""Functions of numbers: of a column they give a column, of a vector a vector."""


def plainly(tree: ast.expr, shapes: Mapping[str, Shape]) -> ast.expr:
    """The formula without columns where vectors do, and without products with ones."""
    found: ast.expr = _Plain(shapes).visit(trees.read(trees.text_of(tree)))
    return found


class _Plain(ast.NodeTransformer):
    def __init__(self, shapes: Mapping[str, Shape]) -> None:
        self.shapes = shapes

    def visit_Call(self, node: ast.Call) -> ast.AST:
        name = trees.called(node)
        if name in ("vector", "total") and (vector := self._vector(node.args[0])) is not None:
            inner: ast.expr = self.visit(vector)
            return inner if name == "vector" else trees.call("total", inner)
        if name == "scalar" and (product := self._inner_product(node.args[0])) is not None:
            return self.visit(product)  # type: ignore[no-any-return]
        if name == "einsum" and (summed := _sum_of_one(node)) is not None:
            return self.visit(summed)  # type: ignore[no-any-return]
        return self.generic_visit(node)

    def _inner_product(self, node: ast.expr) -> ast.expr | None:
        """The sum of products that a row times a column is."""
        if trees.called(node) != "matmul" or not isinstance(node, ast.Call):
            return None
        row, column = node.args
        left = row.args[0] if trees.called(row) == "row" and isinstance(row, ast.Call) else None
        if left is None and trees.called(row) == "mT" and isinstance(row, ast.Call):
            left = self._vector(row.args[0])
        right = self._vector(column)
        if left is None or right is None:
            return None
        return trees.call("total", ast.BinOp(left, ast.Mult(), right))

    def _vector(self, node: ast.expr) -> ast.expr | None:
        """The vector that this column holds; None where it is not known to be one."""
        if isinstance(node, ast.UnaryOp):
            inner = self._vector(node.operand)
            return None if inner is None else ast.UnaryOp(node.op, inner)
        if isinstance(node, ast.BinOp):
            return self._of_all(
                [node.left, node.right], lambda two: ast.BinOp(two[0], node.op, two[1])
            )
        if isinstance(node, ast.Compare):
            pair = [node.left, node.comparators[0]]
            return self._of_all(pair, lambda two: ast.Compare(two[0], node.ops, [two[1]]))
        if not isinstance(node, ast.Call):
            return None
        name, args = trees.called(node), node.args
        if name == "column":
            return args[0]
        if name == "ones":
            return _vector_of_ones(args[0])
        if name == "matmul":
            return self._times_vector(*args)
        if name == "mT" and isinstance(args[0], ast.Call) and trees.called(args[0]) == "row":
            return args[0].args[0]
        if name in _BY_ELEMENTS:
            return self._of_all(args, lambda parts: trees.call(name, *parts))
        return None

    def _times_vector(self, matrix: ast.expr, column: ast.expr) -> ast.expr | None:
        vector = self._vector(column)
        if vector is None:
            return None
        if trees.called(vector) == "ones":
            if trees.called(matrix) == "mT" and isinstance(matrix, ast.Call):
                return trees.call("sum", matrix.args[0], ast.Constant(0))
            return trees.call("sum", matrix, ast.Constant(1))
        return trees.call("matvec", matrix, vector)

    def _of_all(
        self, parts: list[ast.expr], made: Callable[[list[ast.expr]], ast.expr]
    ) -> ast.expr | None:
        """What is made of the vectors of these parts; numbers stay, one at least is a vector."""
        vectors = [None if self._is_number(part) else self._vector(part) for part in parts]
        plain = [self._is_number(part) for part in parts]
        if all(plain) or any(v is None and not p for v, p in zip(vectors, plain, strict=True)):
            return None
        return made([part if v is None else v for part, v in zip(parts, vectors, strict=True)])

    def _is_number(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Constant):
            return True
        if isinstance(node, ast.Name):
            return node.id in ("pi", "e", "inf") or self.shapes.get(node.id) == ()
        if isinstance(node, ast.BinOp):
            return self._is_number(node.left) and self._is_number(node.right)
        if isinstance(node, ast.UnaryOp):
            return self._is_number(node.operand)
        if trees.called(node) in ("total", "scalar", "size"):
            return True
        return (
            isinstance(node, ast.Call)
            and trees.called(node) in _BY_ELEMENTS
            and all(map(self._is_number, node.args))
        )


def _vector_of_ones(sizes: ast.expr) -> ast.expr | None:
    if not isinstance(sizes, ast.List) or len(sizes.elts) != 2:
        return None
    rows, columns = sizes.elts
    one = isinstance(columns, ast.Constant) and columns.value == 1
    return trees.call("ones", ast.List([rows])) if one else None


def _sum_of_one(node: ast.Call) -> ast.expr | None:
    """An einsum of one array that takes nothing but sums; None of any other."""
    term, _, output = trees.equation_of(node).partition("->")
    if len(node.args) != 2 or len({*term}) < len(term):
        return None
    kept = [letter for letter in term if letter in output]
    gone = [place for place, letter in enumerate(term) if letter not in output]
    if kept != list(output) or not gone:
        return None
    axes = [] if not output else [trees.read(repr(gone if len(gone) > 1 else gone[0]))]
    return trees.call("sum", node.args[1], *axes)
