"""A square matrix that meets itself in the inverse of a product: B (A B)⁻¹ is A⁻¹."""

from __future__ import annotations

from gradcheck.explainer.calculus.einstein import (
    Array,
    Grid,
    Node,
    Product,
    Tensor,
    Total,
    free,
    rename,
)
from gradcheck.explainer.calculus.equality import key_of
from gradcheck.explainer.calculus.indices import extent

__all__ = ["peeled"]


def peeled(factors: list[Node], bound: list[str]) -> list[Node] | None:
    """The factors without a matrix that an inverse undoes; None where there is none.

    Σₗ B[j,l]·(A B)⁻¹[l,k] is A⁻¹[j,k], and Σₖ (A B)⁻¹[l,k]·A[k,i] is B⁻¹[l,i].
    """
    for inverse in factors:
        if not isinstance(inverse, Array) or inverse.function != "inv":
            continue
        for side, index in enumerate(inverse.indices):
            beside = [f for f in factors if f is not inverse and index in free(f)]
            if index not in bound or len(beside) != 1 or len(inverse.indices) != 2:
                continue
            shorter = _undone(inverse, side, beside[0])
            if shorter is not None:
                bound.remove(str(index))
                rest = [f for f in factors if f is not inverse and f is not beside[0]]
                return [*rest, shorter]
    return None


def _undone(inverse: Array, side: int, partner: Node) -> Array | None:
    """The inverse without the matrix at one end of its product, which the partner is."""
    grid, index = inverse.args[0], inverse.indices[side]
    others = [i for i in free(partner) if i != index]
    if not isinstance(grid, Grid) or len(others) != 1 or not isinstance(grid.body, Total):
        return None
    # The columns of a matrix are the rows of its inverse.
    end = grid.indices[1 - side]
    body = grid.body.body
    parts = body.factors if isinstance(body, Product) else (body,)
    for part in parts:
        rest = tuple(p for p in parts if p is not part)
        inner = [i for i in free(part) if i != end]
        if not isinstance(part, Tensor) or end not in free(part) or len(inner) != 1:
            continue
        met = inner[0]
        moved = rename(part, {str(end): index, met: others[0]})
        square = extent(met) == extent(str(end)) and met in grid.body.indices
        alone = not any(end in free(p) for p in rest) and any(met in free(p) for p in rest)
        if square and alone and key_of(moved) == key_of(partner):
            left = tuple(i for i in grid.body.indices if i != met)
            whole: Node = rest[0] if len(rest) == 1 else Product(rest)
            places = tuple(met if i == end else i for i in grid.indices)
            own = Grid(Total(left, whole) if left else whole, places, grid.shape)
            at = tuple(others[0] if i == side else old for i, old in enumerate(inverse.indices))
            return Array("inv", (own,), at, inverse.shape)
    return None
