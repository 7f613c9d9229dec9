"""An expression whose constants have the precision of its inputs.

`x * tf.sqrt(2.0)` is meant for float32: a number alone becomes a float32, which no float64 mixes
with. What is proved in double precision is the same expression with `x.dtype` written out.
"""

from __future__ import annotations

import ast

__all__ = ["with_typed_constants"]

_MADE = {"tf.constant": 1, "tf.ones": 1, "tf.zeros": 1, "tf.eye": 99, "tf.linspace": 99}
"""By function that makes a constant: the place of its dtype among those given by position."""


def with_typed_constants(text: str, inputs: tuple[str, ...]) -> str:
    """The expression, with the dtype of the first input for constants that have none."""
    if not inputs or "tf." not in text:
        return text
    tree = _Typed(inputs).visit(ast.parse(text.strip(), mode="eval"))
    return ast.unparse(ast.fix_missing_locations(tree))


class _Typed(ast.NodeTransformer):
    def __init__(self, inputs: tuple[str, ...]) -> None:
        self.inputs = frozenset(inputs)
        self.dtype = ast.Attribute(ast.Name(inputs[0]), "dtype")

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        name = ast.unparse(node.func)
        if any(k.arg == "dtype" for k in node.keywords):
            return node
        if name in _MADE:
            whole = name == "tf.constant" and not _has_float(node)
            if not whole and len(node.args) <= _MADE[name]:
                node.keywords.append(ast.keyword("dtype", self.dtype))
            return node
        if name == "tf.range":
            node.args = [self._typed(arg) if _has_float(node) else arg for arg in node.args]
        elif not self._uses_inputs(node) and node.args and all(map(_is_float, node.args)):
            node.args = [self._typed(arg) for arg in node.args]
        return node

    def _uses_inputs(self, node: ast.AST) -> bool:
        return any(isinstance(n, ast.Name) and n.id in self.inputs for n in ast.walk(node))

    def _typed(self, node: ast.expr) -> ast.expr:
        constant = ast.Attribute(ast.Name("tf"), "constant")
        return ast.Call(constant, [node], [ast.keyword("dtype", self.dtype)])


def _has_float(node: ast.AST) -> bool:
    return any(isinstance(n, ast.Constant) and isinstance(n.value, float) for n in ast.walk(node))


def _is_float(node: ast.expr) -> bool:
    inner = node.operand if isinstance(node, ast.UnaryOp) else node
    return isinstance(inner, ast.Constant) and isinstance(inner.value, float)
