"""Where the letters of an einsum stand for places, and where there is only the place 0."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import numpy as np

from gradcheck.explainer import trees

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gradcheck.model import Shape

__all__ = ["index_places", "shape_known"]


def index_places(term: str, shape: Shape) -> list[str]:
    """The letters of the axes; along one of size 1 there is only the place 0."""
    sizes = shape if len(shape) == len(term) else (0,) * len(term)
    return ["0" if size == 1 else letter for letter, size in zip(term, sizes, strict=True)]


def shape_known(node: ast.expr, shapes: Mapping[str, Shape]) -> Shape:
    """The shape of a factor: of a name, or of a formula, which is executed to see; else none."""
    name = _base_name(node)
    if name:
        return shapes.get(name, ())
    known = {n: np.ones(shapes[n]) for n in trees.names_in(node) if n in shapes}
    try:
        return np.shape(trees.run(node, known))
    except Exception:  # a name without a shape, a matrix without an inverse
        return ()


def _base_name(node: ast.expr) -> str:
    """The name of the array that a factor is, or is the conjugate of."""
    if isinstance(node, ast.Call) and trees.called(node) in ("conj", "real"):
        return _base_name(node.args[0])
    return node.id if isinstance(node, ast.Name) else ""
