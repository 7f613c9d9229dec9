"""What comes back to one value from several uses of it, as one formula where that is shorter."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from gradcheck.explainer import trees

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["joined_parts"]


def joined_parts(parts: Sequence[ast.expr]) -> ast.expr:
    """The sum; of pieces that lie side by side, [a, 0] + [0, b], the pieces: [a, b]."""
    lists = [_pieces(part) for part in parts]
    first, ways = lists[0], {_way(part) for part in parts}
    fit = first is not None and all(_fits(own, first) for own in lists)
    if len(parts) > 1 and len(ways) == 1 and fit:
        places = zip(*[own.elts for own in lists if own is not None], strict=True)
        kept = [[piece for piece in place if not _is_zero(piece)] or [place[0]] for place in places]
        if all(len(place) == 1 for place in kept):
            call = parts[0]
            assert isinstance(call, ast.Call)  # noqa: S101  (it has pieces)
            joined: list[ast.expr] = [place[0] for place in kept]
            return ast.Call(call.func, [ast.List(joined), *call.args[1:]], [])
    return trees.added(parts)


def _pieces(part: ast.expr) -> ast.List | None:
    """What is joined along an axis; None of anything else."""
    if trees.called(part) not in ("concatenate", "stack") or not isinstance(part, ast.Call):
        return None
    listed = part.args[0]
    return listed if isinstance(listed, ast.List) else None


def _fits(own: ast.List | None, first: ast.List | None) -> bool:
    return own is not None and first is not None and len(own.elts) == len(first.elts)


def _way(part: ast.expr) -> tuple[str, ...]:
    """How pieces are joined: by which function, along which axis."""
    rest = part.args[1:] if isinstance(part, ast.Call) else []
    return (trees.called(part), *map(trees.text_of, rest))


def _is_zero(piece: ast.expr) -> bool:
    return trees.called(piece) in ("zeros", "zeros_like")
