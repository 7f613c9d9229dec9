"""What is known of whole arrays: the eigenvectors of a symmetric matrix are orthonormal."""

from __future__ import annotations

from gradcheck.explainer.calculus.einstein import Array, Delta, Node, free
from gradcheck.explainer.calculus.equality import same

__all__ = ["met"]


def met(factors: list[Node], bound: list[str]) -> list[Node] | None:
    """The factors with δ in the place of Σₖ V[i,k]·V[j,k]; None where there is no such pair."""
    for index in bound:
        pair = [f for f in factors if index in free(f)]
        if len(pair) != 2 or not all(_is_column(f, index) for f in pair):
            continue
        one, other = pair
        assert isinstance(one, Array)  # noqa: S101  (a column of eigenvectors)
        assert isinstance(other, Array)  # noqa: S101
        if _whole_is_same(one, other) and one.indices[:-2] == other.indices[:-2]:
            bound.remove(index)
            rest = [f for f in factors if f is not one and f is not other]
            return [*rest, Delta(one.indices[-2], other.indices[-2])]
    return None


def _whole_is_same(one: Array, other: Array) -> bool:
    first, second = (Array(f.function, f.args, (), f.shape) for f in (one, other))
    return same(first, second)


def _is_column(factor: Node, index: str) -> bool:
    return (
        isinstance(factor, Array)
        and factor.function == "eigenvectors"
        and factor.indices[-1] == index
        and index not in factor.indices[:-1]
    )
