"""Einstein notation back into a formula of the language: with matrices where ranks allow it.

A term is a graph: indices are its points, matrices its edges, vectors hang on a point. Summing
over a point with two edges is a matrix product, with an edge and a vector a matrix times a vector,
with an edge alone a product with ones. What is left lies between the row and the column of the
result.
"""

from __future__ import annotations

import ast
from fractions import Fraction
from typing import TYPE_CHECKING

from gradcheck.explain.index import (
    Apply,
    Array,
    Delta,
    Grid,
    Index,
    Node,
    Number,
    Product,
    Sum,
    Tensor,
    Total,
    extent,
    free,
    magnitude,
    walk,
)
from gradcheck.explain.simplify import Term, terms_of
from gradcheck.explain.tree import call, called, read

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradcheck.explain.index import Space

__all__ = ["NoMatrixForm", "formula_of", "without_indices"]


_LETTERS = "ijklmnpqrstuvwabcdefgh"


class NoMatrixForm(Exception):  # noqa: N818  (an answer, not a failure)
    """The expression cannot be written without indices."""


def without_indices(formula: ast.expr) -> bool:
    """Whether no indices are needed to read it: an einsum is but another way to name them."""
    return not any(called(node) == "einsum" for node in ast.walk(formula))


def formula_of(node: Node, indices: tuple[Index, ...], space: Space) -> ast.expr:
    """The array with these axes as a formula; raises NoMatrixForm where indices are needed."""
    terms = terms_of(node, space)
    if not terms:
        return call("zeros", _sizes(indices))
    try:
        whole = _joined([_pointwise_term(term, indices) for term in terms])
        full = any(
            isinstance(part, Tensor) and len(part.indices) == len(indices) for part in walk(node)
        )
        return whole if full or not indices else call("reshape", whole, _sizes(indices))
    except NoMatrixForm:
        pass
    if len(indices) <= 2:
        try:
            return _joined([_Graph(term, indices, space).formula() for term in terms])
        except NoMatrixForm:
            pass
    return _joined([_einsum_term(term, indices) for term in terms])


def _einsum_term(
    term: Term, indices: tuple[Index, ...]
) -> tuple[Fraction | float, ast.expr | None]:
    """A term of any rank as one einsum, whose letters say what matrices cannot."""
    kept = [i for i in indices if isinstance(i, str)]
    every = list(dict.fromkeys([*kept, *term.bound]))
    if len(every) > len(_LETTERS):
        raise NoMatrixForm
    letters = dict(zip(every, _LETTERS, strict=False))
    terms, factors = [], []
    for factor in term.factors:
        own = _axes_of(factor)
        terms.append("".join(letters[i] for i in own))
        factors.append(_as_array(factor, own))
    present = {i for factor in term.factors for i in free(factor)}
    for index in kept:
        if index not in present:
            terms.append(letters[index])
            factors.append(call("ones", ast.Constant(extent(index))))
    if not factors:
        return term.coefficient, call("ones", _sizes(indices))
    equation = f"{','.join(terms)}->{''.join(letters[i] for i in kept)}"
    body = call("einsum", ast.Constant(equation), *factors)
    return term.coefficient, body if len(kept) == len(indices) else call(
        "reshape", body, _sizes(indices)
    )


def _axes_of(factor: Node) -> tuple[str, ...]:
    """The order of the axes in which a factor lies: that of a tensor in it which has them all."""
    wanted = set(free(factor))
    for part in walk(factor):
        if isinstance(part, Tensor | Array):
            own = tuple(i for i in part.indices if isinstance(i, str))
            if set(own) == wanted and len(set(own)) == len(own):
                return own
        if isinstance(part, Total):
            break
    raise NoMatrixForm


def _as_array(factor: Node, own: tuple[str, ...]) -> ast.expr:
    if isinstance(factor, Tensor):
        plain: ast.expr = ast.Name(factor.name)
        return plain if factor.indices == own else call("reshape", plain, _sizes(own))
    return _pointwise(factor, own)


def _sizes(indices: tuple[Index, ...]) -> ast.expr:
    return read(repr([extent(i) if isinstance(i, str) else 1 for i in indices]))


def _joined(parts: list[tuple[Fraction | float, ast.expr | None]]) -> ast.expr:
    result: ast.expr | None = None
    for coefficient, body in parts:
        scaled = _scaled(magnitude(coefficient), body)
        if result is None:
            result = ast.UnaryOp(ast.USub(), scaled) if coefficient < 0 else scaled
        else:
            result = ast.BinOp(result, ast.Sub() if coefficient < 0 else ast.Add(), scaled)
    assert result is not None  # noqa: S101  (there is a term)
    return result


def _scaled(coefficient: Fraction | float, body: ast.expr | None) -> ast.expr:
    number = _number(coefficient)
    if body is None:
        return number
    if coefficient == 1:
        return body
    if isinstance(coefficient, Fraction) and coefficient.numerator == 1:
        return ast.BinOp(body, ast.Div(), _number(coefficient.denominator))
    return ast.BinOp(number, ast.Mult(), body)


def _number(value: Fraction | float) -> ast.expr:
    if isinstance(value, Fraction) and value.denominator != 1:
        return ast.BinOp(ast.Constant(value.numerator), ast.Div(), ast.Constant(value.denominator))
    return ast.Constant(
        int(value) if float(value).is_integer() and magnitude(value) < 1e15 else float(value)
    )


def _times(factors: list[ast.expr]) -> ast.expr:
    result = factors[0]
    for factor in factors[1:]:
        if (
            isinstance(factor, ast.BinOp)
            and isinstance(factor.op, ast.Div)
            and _is_one(factor.left)
        ):
            result = ast.BinOp(result, ast.Div(), factor.right)
        else:
            result = ast.BinOp(result, ast.Mult(), factor)
    return result


def _is_one(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == 1


# Element by element: every array already lies as the result does.


def _pointwise_term(
    term: Term, indices: tuple[Index, ...]
) -> tuple[Fraction | float, ast.expr | None]:
    if term.bound or not term.factors:
        raise NoMatrixForm
    used = {i for factor in term.factors for i in free(factor)}
    if used != {i for i in indices if isinstance(i, str)}:
        raise NoMatrixForm
    return term.coefficient, _times([_pointwise(factor, indices) for factor in term.factors])


def _pointwise(node: Node, indices: tuple[Index, ...]) -> ast.expr:
    if isinstance(node, Tensor):
        tail = indices[len(indices) - len(node.indices) :]
        if len(node.indices) > len(indices) or any(
            a not in (b, 0) for a, b in zip(node.indices, tail, strict=True)
        ):
            raise NoMatrixForm
        return ast.Name(node.name)
    return _function(node, lambda inner: _pointwise(inner, indices))


def _function(node: Node, inner: Callable[[Node], ast.expr]) -> ast.expr:
    """Arithmetic and functions of numbers, the same in every layout."""
    if isinstance(node, Number):
        return _number(node.value)
    if isinstance(node, Product | Sum):
        terms = node.terms if isinstance(node, Sum) else (node,)
        return _joined([_scaled_term(term, inner) for term in terms])
    if isinstance(node, Apply):
        return _applied(node.function, [inner(a) for a in node.args])
    raise NoMatrixForm


def _scaled_term(
    term: Node, inner: Callable[[Node], ast.expr]
) -> tuple[Fraction | float, ast.expr | None]:
    if isinstance(term, Number):
        return term.value, None
    if isinstance(term, Product):
        front = term.factors[0]
        if isinstance(front, Number):
            return front.value, _times([inner(f) for f in term.factors[1:]])
        return Fraction(1), _times([inner(f) for f in term.factors])
    return Fraction(1), inner(term)


def _applied(function: str, args: list[ast.expr]) -> ast.expr:
    one, zero = ast.Constant(1), ast.Constant(0)
    if function == "reciprocal":
        return ast.BinOp(one, ast.Div(), args[0])
    if function == "power":
        return ast.BinOp(args[0], ast.Pow(), args[1])
    if function == "holds":
        return call("where", args[0], one, zero)
    if function == "fails":
        return call("where", args[0], zero, one)
    if function in _COMPARISONS:
        return ast.Compare(args[0], [_COMPARISONS[function]], [args[1]])
    return call(function, *args)


_COMPARISONS: dict[str, ast.cmpop] = {
    "greater": ast.Gt(), "greater_equal": ast.GtE(), "less": ast.Lt(), "less_equal": ast.LtE(),
    "equal": ast.Eq(), "not_equal": ast.NotEq(),
}  # fmt: skip


def _turns(formula: ast.expr) -> int:
    """How many transposes a formula needs: the way with fewer reads better."""
    return sum(called(node) in ("mT", "row") for node in ast.walk(formula))


class _Graph:
    """One term, reduced point by point."""

    def __init__(self, term: Term, indices: tuple[Index, ...], space: Space) -> None:
        self.term, self.indices, self.space = term, indices, space
        self.scalars: list[ast.expr] = []
        self.vectors: dict[str, list[ast.expr]] = {}
        self.edges: dict[tuple[str, str], ast.expr] = {}
        for factor in term.factors:
            self._add(factor)

    def formula(self) -> tuple[Fraction | float, ast.expr | None]:
        """The coefficient and the rest of the term."""
        for index in self.term.bound:
            self._eliminate(index)
        body = self._remaining()
        if self.scalars:
            body = _times([*self.scalars, body] if body is not None else self.scalars)
        return self.term.coefficient, body

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
            row, column, matrix = column, row, _turned(matrix)
        before = self.edges.get((row, column))
        self.edges[row, column] = matrix if before is None else _times([before, matrix])

    def _scalar(self, node: Node) -> ast.expr:
        laid = self._laid(node, 0, 0)
        plain = _is_plain_number(node) or called(laid) in ("scalar", "total")
        return laid if plain else call("scalar", laid)

    def _laid(self, node: Node, row: Index, column: Index) -> ast.expr:
        """The factor as a matrix with these rows and columns; 0 stands for a single one."""
        if isinstance(node, Tensor):
            return _laid_array(ast.Name(node.name), node.indices, row, column)
        if isinstance(node, Array):
            return _laid_array(self._whole(node), node.indices, row, column)
        if isinstance(node, Delta):
            return call("eye", ast.Constant(extent(str(node.left))))
        if isinstance(node, Total):
            single = row == 0 == column
            return formula_of(node, () if single else (row, column), self.space)
        return _function(node, lambda inner: self._laid(inner, row, column))

    def _whole(self, node: Array) -> ast.expr:
        if node.function == "constant":
            return read(str(node.args[0]))
        args = [
            formula_of(arg.body, arg.indices, self.space) if isinstance(arg, Grid) else read(arg)
            for arg in node.args
        ]
        return call(node.function, *args)

    def _eliminate(self, index: str) -> None:
        """Sum over one point of the graph."""
        touching = [pair for pair in self.edges if index in pair]
        hanging = self.vectors.pop(index, [])
        if len(touching) > 2:
            raise NoMatrixForm
        if not touching:
            self.scalars.append(_summed(hanging))
            return
        first = self._towards(touching[0], index)
        if len(touching) == 1:
            other, matrix = first
            vector = _times(hanging) if hanging else _ones(index)
            self.vectors.setdefault(other, []).append(call("matmul", matrix, vector))
            return
        second = self._towards(touching[1], index)
        left = first[1]
        if hanging:
            left = call("matmul", left, call("diag", _vector(_times(hanging))))
        self._edge(first[0], second[0], call("matmul", left, _turned(second[1])))

    def _towards(self, pair: tuple[str, str], index: str) -> tuple[str, ast.expr]:
        """The other end of an edge, and its matrix with the index as columns."""
        matrix = self.edges.pop(pair)
        return (pair[0], matrix) if pair[1] == index else (pair[1], _turned(matrix))

    def _remaining(self) -> ast.expr | None:
        kept = tuple(i for i in self.indices if isinstance(i, str))
        if len(self.indices) == 2 and len(kept) == 2:
            return self._matrix(kept[0], kept[1])
        if not kept:
            if not self.scalars and self.indices:
                return call("ones", _sizes(self.indices))
            if self.indices:
                self.scalars.append(call("ones", _sizes(self.indices)))
            return None
        columns = self.vectors.get(kept[0])
        column = _times(columns) if columns else _ones(kept[0])
        if len(self.indices) == 1:
            return _vector(column)
        return _turned(column) if self.indices[0] == 0 else column

    def _matrix(self, row: str, column: str) -> ast.expr:
        over, under = self.vectors.get(row), self.vectors.get(column)
        edge = self.edges.get((row, column))
        if edge is None and (column, row) in self.edges:
            edge = _turned(self.edges[column, row])
        if edge is None:
            left = _times(over) if over else _ones(row)
            right = _times(under) if under else _ones(column)
            return call("matmul", left, _turned(right))
        if _is_identity(edge) and (over or under):
            return call("diag", _vector(_times([*(over or []), *(under or [])])))
        if over:
            edge = call("matmul", call("diag", _vector(_times(over))), edge)
        return call("matmul", edge, call("diag", _vector(_times(under)))) if under else edge


def _is_identity(matrix: ast.expr) -> bool:
    return isinstance(matrix, ast.Call) and called(matrix) == "eye" and len(matrix.args) == 1


def _laid_array(array: ast.expr, indices: tuple[Index, ...], row: Index, column: Index) -> ast.expr:
    if len(indices) > 2:
        raise NoMatrixForm
    if len(indices) == 2:
        if indices[0] == indices[1] != 0:
            return _placed(call("diagonal", array), indices[0], row)
        if indices in ((row, column), (row, 0), (0, column), (0, 0)):
            return array
        if indices in ((column, row), (0, row), (column, 0)):
            return _turned(array)
        raise NoMatrixForm
    return _placed(array, indices[0], row) if indices and indices[0] != 0 else array


def _placed(array: ast.expr, index: Index, row: Index) -> ast.expr:
    return call("column", array) if index == row else call("row", array)


def _is_plain_number(node: Node) -> bool:
    if isinstance(node, Tensor):
        return not node.indices
    if isinstance(node, Apply):
        return all(_is_plain_number(a) for a in node.args)
    # A sum over every index is laid as a number without axes.
    return isinstance(node, Number | Total)


def _summed(vectors: list[ast.expr]) -> ast.expr:
    if len(vectors) == 1:
        only = vectors[0]
        if (
            isinstance(only, ast.Call)
            and called(only) == "matmul"
            and called(only.args[1]) == "ones"
        ):
            matrix = only.args[0]
            turned = called(matrix) == "mT" and isinstance(matrix, ast.Call)
            return call("total", matrix.args[0] if turned else matrix)  # type: ignore[attr-defined]
        bare = _bare(only)
        return call("total", only if bare is None else bare)
    return call("scalar", call("matmul", _turned(_times(vectors[:-1])), vectors[-1]))


def _ones(index: str) -> ast.expr:
    return call("ones", read(repr([extent(index), 1])))


def _turned(matrix: ast.expr) -> ast.expr:
    """The transpose, written as simply as it goes."""
    if isinstance(matrix, ast.Call):
        inner = matrix.args[0]
        if called(matrix) == "mT":
            return inner
        if called(matrix) == "eye":
            # A part of the identity that is not square has rows and columns to swap.
            return call("eye", *reversed(matrix.args))
        if called(matrix) == "column":
            return call("row", inner)
        if called(matrix) == "row":
            return call("column", inner)
        if called(matrix) == "matmul":
            return call("matmul", _turned(matrix.args[1]), _turned(inner))
        if called(matrix) == "diag":
            return matrix
    return call("mT", matrix)


def _vector(column: ast.expr) -> ast.expr:
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
    if isinstance(node, ast.Call) and called(node) in (
        "exp",
        "log",
        "sin",
        "cos",
        "tanh",
        "sqrt",
        "square",
        "sigmoid",
    ):
        inner = _bare(node.args[0])
        return None if inner is None else call(called(node), inner)
    return None
