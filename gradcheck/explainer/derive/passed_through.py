"""Calls that compute nothing a formula would write: constants, casts, values held fixed."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from gradcheck.ops.declaration import Op, Parameter

if TYPE_CHECKING:
    from gradcheck.model import Shape
    from gradcheck.ops.declaration import Call

__all__ = ["PASSED", "STOPPED", "gives_values_alone", "without_vectors"]

PASSED = {"tf.constant": ("value", "dtype", "shape"), "tf.cast": ("x", "dtype"),
          "tf.stop_gradient": ("input",)}  # fmt: skip
"""By call that computes nothing: what it takes by position."""


def _same(call: Call) -> Shape:
    (shape,) = call.shapes.values()
    return shape


STOPPED = Op(
    name="stop_gradient",
    tf="tf.stop_gradient",
    family="array",
    summary="y = x, held fixed",
    inputs=(Parameter("input"),),
    formula={},
    shape=_same,
    forward="input",
    pitfalls=(),
    related=(),
)
"""A value of which no gradient comes back; no op that one explains by itself."""


def gives_values_alone(node: ast.Call) -> bool:
    """Whether a decomposition is asked for its values, without the vectors."""
    return any(k.arg == "compute_uv" and ast.unparse(k.value) == "False" for k in node.keywords)


def without_vectors(node: ast.Call) -> ast.Call:
    """The same call for the op of the values, which takes no such argument."""
    kept = [k for k in node.keywords if k.arg not in ("compute_uv", "full_matrices")]
    return ast.copy_location(ast.Call(node.func, node.args[:1], kept), node)
