"""`x[:, tf.newaxis]` for what it is: no part is taken, an axis is put in, as `tf.expand_dims` does.

As an index it would come back by a scatter: without this `test_a_new_axis_is_no_slice` fails.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from gradcheck.spec.expression.syntax import parse_tree

if TYPE_CHECKING:
    from gradcheck.spec.expression.syntax import Tree

__all__ = ["read_text"]


def read_text(text: str) -> Tree:
    """An expression, whose new axes are put in by calls."""
    tree = parse_tree(text)
    return replace(tree, body=cast("ast.expr", _NewAxes().visit(tree.body)))


class _NewAxes(ast.NodeTransformer):
    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        return _with_new_axes(node) or node


def _with_new_axes(node: ast.Subscript) -> ast.expr | None:
    """The calls of `tf.expand_dims` that an index is; None where it takes a part."""
    index = node.slice
    entries = index.elts if isinstance(index, ast.Tuple) else [index]
    if not any(map(_is_new, entries)) or not all(_is_new(e) or _is_whole(e) for e in entries):
        return None
    dots = next((k for k, entry in enumerate(entries) if _is_dots(entry)), len(entries))
    found = node.value
    for axis, entry in enumerate(entries[:dots]):
        found = _expanded(found, axis) if _is_new(entry) else found
    for from_back, entry in enumerate(reversed(entries[dots + 1 :]), 1):
        found = _expanded(found, -from_back) if _is_new(entry) else found
    return found


def _expanded(tree: ast.expr, axis: int) -> ast.expr:
    function = ast.parse("tf.expand_dims", mode="eval").body
    call = ast.Call(function, [tree, ast.parse(repr(axis), mode="eval").body], [])
    return ast.fix_missing_locations(ast.copy_location(call, tree))


def _is_new(entry: ast.expr) -> bool:
    return ast.unparse(entry) in ("None", "newaxis", "tf.newaxis")


def _is_dots(entry: ast.expr) -> bool:
    return ast.unparse(entry) == "..."


def _is_whole(entry: ast.expr) -> bool:
    return _is_dots(entry) or ast.unparse(entry) == ":"
