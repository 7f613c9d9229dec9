"""Where the letters of an einsum stand for places, and where there is only the place 0."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from gradcheck.explainer import trees

if TYPE_CHECKING:
    from gradcheck.model import Shape

__all__ = ["base_name", "index_places"]


def index_places(term: str, shape: Shape) -> list[str]:
    """The letters of the axes; along one of size 1 there is only the place 0."""
    sizes = shape if len(shape) == len(term) else (0,) * len(term)
    return ["0" if size == 1 else letter for letter, size in zip(term, sizes, strict=True)]


def base_name(node: ast.expr) -> str:
    """The name of the array that a factor is, or is the conjugate of."""
    if isinstance(node, ast.Call) and trees.called(node) in ("conj", "real"):
        return base_name(node.args[0])
    return node.id if isinstance(node, ast.Name) else ""
