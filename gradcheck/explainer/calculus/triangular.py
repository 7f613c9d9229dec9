"""What is known of a Cholesky factor L of S: it is lower triangular, and L Lᵀ is S."""

from __future__ import annotations

from fractions import Fraction

from gradcheck.explainer.calculus.einstein import (
    Array,
    Delta,
    Grid,
    Node,
    Number,
    Product,
    Sum,
    Total,
    free,
    rename,
)
from gradcheck.explainer.calculus.equality import same

__all__ = ["halved_diagonal", "rejoined"]


def halved_diagonal(node: Array) -> Node | None:
    """Half of the diagonal, which phi leaves of an upper triangular matrix; None for any other.

    (Of any matrix phi keeps the lower triangle, the diagonal halved.)
    """
    grid = node.args[0]
    if node.function != "phi" or not isinstance(grid, Grid) or len(grid.indices) != 2:
        return None
    row, column = grid.indices
    terms = grid.body.terms if isinstance(grid.body, Sum) else (grid.body,)
    if not isinstance(row, str) or not isinstance(column, str):
        return None
    if not all(_is_upper(term, row, column) for term in terms):
        return None
    at, other = node.indices
    diagonal = rename(grid.body, {row: at, column: at})
    return Product((Number(Fraction(1, 2)), Delta(at, other), diagonal))


def _is_upper(term: Node, row: str, column: str) -> bool:
    """Whether a term is zero wherever the row is below the column."""
    body = term.body if isinstance(term, Total) else term
    factors = body.factors if isinstance(body, Product) else (body,)
    return any(
        (isinstance(f, Array) and f.function == "cholesky" and f.indices == (column, row))
        or (isinstance(f, Delta) and {f.left, f.right} == {row, column})
        for f in factors
    )


def rejoined(factors: list[Node], bound: list[str]) -> list[Node] | None:
    """The factors with S⁻¹ in the place of Σₖ L⁻¹[k,i]·L⁻¹[k,j]; None where there is no pair."""
    for index in bound:
        pair = [f for f in factors if index in free(f)]
        if len(pair) != 2:
            continue
        one, other = pair
        whole = _factored_whole(one, index)
        if whole is None or _factored_whole(other, index) is None:
            continue
        assert isinstance(one, Array)  # noqa: S101  (the inverse of a factor)
        assert isinstance(other, Array)  # noqa: S101
        if not same(_without_place(one), _without_place(other)):
            continue
        bound.remove(index)
        rest = [f for f in factors if f is not one and f is not other]
        return [*rest, Array("inv", (whole,), (one.indices[1], other.indices[1]), one.shape)]
    return None


def _factored_whole(factor: Node, index: str) -> Grid | None:
    """The S of L⁻¹[index, …], where L is the Cholesky factor of S."""
    if not isinstance(factor, Array) or factor.function != "inv" or len(factor.indices) != 2:
        return None
    grid = factor.args[0]
    if factor.indices[0] != index or factor.indices[1] == index or not isinstance(grid, Grid):
        return None
    inner = grid.body
    if not isinstance(inner, Array) or inner.function != "cholesky":
        return None
    whole = inner.args[0]
    return whole if inner.indices == grid.indices and isinstance(whole, Grid) else None


def _without_place(factor: Array) -> Array:
    return Array(factor.function, factor.args, (), factor.shape)
