"""A term as a graph: indices are its points, matrices its edges, vectors hang on a point.

Summing over a point with two edges is a matrix product, with an edge and a vector a matrix times a
vector, with an edge alone a product with ones. What is left lies between the row and the column of
the result.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from fractions import Fraction
from math import prod
from typing import TYPE_CHECKING

from gradcheck.explainer.calculus.einstein import (
    Apply,
    Array,
    Delta,
    Grid,
    Node,
    Number,
    Product,
    Sum,
    Tensor,
    Total,
    free,
)
from gradcheck.explainer.calculus.indices import Index, extent
from gradcheck.explainer.formula.kept_axes import beside, mean_of
from gradcheck.explainer.formula.rows_and_columns import (
    is_identity,
    laid_array,
    ones,
    scaled_columns,
    scaled_rows,
    summed,
    turned,
    vector,
)
from gradcheck.explainer.formula.sums_and_products import (
    NoMatrixForm,
    Scaled,
    function,
    joined,
    scaled_total,
    sizes,
    times,
)
from gradcheck.explainer.trees import call, called, read

if TYPE_CHECKING:
    from gradcheck.explainer.calculus.terms import Term

__all__ = ["TermGraph"]

FormulaOf = Callable[[Node, tuple[Index, ...]], ast.expr]
"""Writes an inner expression, with these axes, as a formula of its own."""


def _turns(formula: ast.expr) -> int:
    """How many transposes a formula needs, that of a row half: fewer read better."""
    return sum({"mT": 2, "row": 1}.get(called(node), 0) for node in ast.walk(formula))


class TermGraph:
    """One term, reduced point by point."""

    def __init__(self, term: Term, indices: tuple[Index, ...], formula_of: FormulaOf) -> None:
        self.term, self.indices, self.formula_of = term, indices, formula_of
        self.coefficient = term.coefficient
        self.scalars: list[ast.expr] = []
        self.vectors: dict[str, list[ast.expr]] = {}
        self.edges: dict[tuple[str, str], ast.expr] = {}
        for factor in term.factors:
            self._add(factor)

    def formula(self) -> Scaled:
        """The coefficient and the rest of the term."""
        waiting = list(self.term.bound)
        while waiting:
            # Where two points lie between the same matrices, their products meet in one edge: the
            # point with the fewest edges goes first.
            index = min(waiting, key=self._touching)
            waiting.remove(index)
            self._eliminate(index)
        body = self._remaining()
        if self.scalars:
            body = times([*self.scalars, body] if body is not None else self.scalars)
        return self.coefficient, body

    def _add(self, factor: Node) -> None:
        labels = list(free(factor))
        if len(labels) > 2:
            raise NoMatrixForm
        if not labels:
            self.scalars.append(self._scalar(factor))
        elif len(labels) == 1:
            self.vectors.setdefault(labels[0], []).append(self._laid(factor, labels[0], 0))
        else:
            ways = [(a, b, self._laid(factor, a, b)) for a, b in (labels, labels[::-1])]
            self._edge(*min(ways, key=lambda way: _turns(way[2])))

    def _edge(self, row: str, column: str, matrix: ast.expr) -> None:
        if (column, row) in self.edges:
            row, column, matrix = column, row, turned(matrix)
        before = self.edges.get((row, column))
        self.edges[row, column] = matrix if before is None else times([before, matrix])

    def _scalar(self, node: Node) -> ast.expr:
        if mean_of(node) is None and isinstance(node, Apply | Sum | Product):
            return function(node, self._scalar)
        laid = self._laid(node, 0, 0)
        plain = _is_plain_number(node) or called(laid) in ("scalar", "total")
        return laid if plain else call("scalar", laid)

    def _laid(self, node: Node, row: Index, column: Index) -> ast.expr:
        """The factor as a matrix with these rows and columns; 0 stands for a single one."""
        if isinstance(node, Tensor):
            return laid_array(ast.Name(node.name), node.indices, row, column)
        if isinstance(node, Array):
            return laid_array(self._whole(node), node.indices, row, column)
        if isinstance(node, Delta):
            return call("eye", ast.Constant(extent(str(node.left))))
        if mean_of(node) is not None:
            return self._summed(node, row, column)
        if isinstance(node, Total):
            return joined([scaled_total(node, lambda part: self._summed(part, row, column))])
        return function(node, lambda inner: self._laid(inner, row, column))

    def _total(self, node: Total, row: Index, column: Index) -> ast.expr:
        """A sum fits beside others as a number, as a row or as a column."""
        inside = free(node)
        row, column = (i if i in inside else 0 for i in (row, column))
        return self.formula_of(node, () if row == 0 == column else (row, column))

    def _summed(self, part: Node, row: Index, column: Index) -> ast.expr:
        node = mean_of(part)
        if node is None:
            assert isinstance(part, Total)  # noqa: S101  (a sum or a mean)
            return self._total(part, row, column)

        def laid(part: Node, axes: tuple[Index, ...]) -> ast.expr:
            return self.formula_of(part, axes)

        try:
            return beside(node, (row, column), laid, "mean")
        except NoMatrixForm:
            count = prod(map(extent, node.indices))
            return ast.BinOp(self._total(node, row, column), ast.Div(), ast.Constant(count))

    def _whole(self, node: Array) -> ast.expr:
        if node.function == "constant":
            return call("array", read(str(node.args[0])))
        args = [
            self.formula_of(arg.body, arg.indices) if isinstance(arg, Grid) else read(arg)
            for arg in node.args
        ]
        return call(node.function, *args)

    def _touching(self, index: str) -> int:
        return sum(index in pair for pair in self.edges)

    def _eliminate(self, index: str) -> None:
        """Sum over one point of the graph."""
        touching = [pair for pair in self.edges if index in pair]
        hanging = self.vectors.pop(index, [])
        if len(touching) > 2:
            raise NoMatrixForm
        if not touching:
            self.scalars.append(summed(hanging))
            return
        first = self._towards(touching[0], index)
        if len(touching) == 1:
            other, matrix = first
            along = times(hanging) if hanging else ones(index)
            self.vectors.setdefault(other, []).append(call("matmul", matrix, along))
            return
        second = self._towards(touching[1], index)
        left, right = first[1], turned(second[1])
        if hanging and _is_bare(left) and not _is_bare(right):
            right = scaled_rows(hanging, right)
        elif hanging:
            left = scaled_columns(left, hanging)
        self._edge(first[0], second[0], call("matmul", left, right))

    def _as_mean(self, column: ast.expr) -> ast.expr:
        """Sums of rows as means, where the number in front is one over the count of a row."""
        if not isinstance(column, ast.Call) or called(column) != "matmul":
            return column
        whole, along = column.args
        if called(along) != "ones" or not isinstance(along, ast.Call):
            return column
        count = ast.literal_eval(along.args[0])[0]
        if not isinstance(self.coefficient, Fraction) or self.coefficient.denominator % count:
            return column
        self.coefficient *= count
        return call("mean", whole, ast.Constant(1), ast.Constant(True))

    def _towards(self, pair: tuple[str, str], index: str) -> tuple[str, ast.expr]:
        """The other end of an edge, and its matrix with the index as columns."""
        matrix = self.edges.pop(pair)
        return (pair[0], matrix) if pair[1] == index else (pair[1], turned(matrix))

    def _remaining(self) -> ast.expr | None:
        kept = tuple(i for i in self.indices if isinstance(i, str))
        if len(self.indices) == 2 and len(kept) == 2:
            return self._matrix(kept[0], kept[1])
        if not kept:
            if not self.scalars and self.indices:
                return call("ones", sizes(self.indices))
            if self.indices:
                self.scalars.append(call("ones", sizes(self.indices)))
            return None
        columns = self.vectors.get(kept[0])
        column = times(columns) if columns else ones(kept[0])
        if len(self.indices) == 1:
            return vector(column)
        return turned(column) if self.indices[0] == 0 else column

    def _matrix(self, row: str, column: str) -> ast.expr:
        over, under = self.vectors.get(row), self.vectors.get(column)
        edge = self.edges.get((row, column))
        if edge is None and (column, row) in self.edges:
            edge = turned(self.edges[column, row])
        if edge is None:
            left = times(over) if over else ones(row)
            right = times(under) if under else ones(column)
            return call("matmul", left, turned(right))
        if is_identity(edge) and (over or under):
            return call("diag", vector(times([*(over or []), *(under or [])])))
        if over:
            edge = scaled_rows([self._as_mean(column) for column in over], edge)
        return scaled_columns(edge, under) if under else edge


def _is_bare(matrix: ast.expr) -> bool:
    """Whether this is a named matrix, turned or not."""
    inner = matrix.args[0] if isinstance(matrix, ast.Call) and called(matrix) == "mT" else matrix
    return isinstance(inner, ast.Name)


def _is_plain_number(node: Node) -> bool:
    if isinstance(node, Tensor):
        return not node.indices
    if isinstance(node, Apply):
        return all(_is_plain_number(a) for a in node.args)
    # A sum over every index is laid as a number without axes.
    return isinstance(node, Number | Total)
