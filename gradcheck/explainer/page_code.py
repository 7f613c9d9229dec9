"""Runs the TensorFlow code of a page, line by line and without `eval`: imports TensorFlow.

The lines are read by the translation that reads `expr:`, so that nothing but allowed functions is
reached, whatever an expression had in it.
"""

from __future__ import annotations

import ast
import math
from functools import cache
from typing import TYPE_CHECKING, Any

from gradcheck.spec.expression.expression import Expression
from gradcheck.spec.expression.tensorflow_dialect import TensorFlowDialect

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from gradcheck.spec.expression.translator import Arguments
    from gradcheck.spec.resolve import ResolvedCase

__all__ = ["in_float32", "run_code", "with_signs"]

_GRADIENT_OPS = frozenset(["tf.raw_ops.BroadcastGradientArgs", "tf.raw_ops.StridedSliceGrad"])
"""Functions that the code of pages calls, beyond those that an expression may."""


def run_code(lines: Sequence[str], values: Mapping[str, Any]) -> dict[str, Any]:
    """Every name after the lines have run; raises what TensorFlow raises."""
    known = dict(values)
    for statement in ast.parse("\n".join(lines)).body:
        if isinstance(statement, ast.Import):
            continue
        if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Name):
            raise TypeError(f"no assignment: {ast.unparse(statement)}")
        text = ast.unparse(_Numbers().visit(statement.value))
        expression = Expression(text, _PageDialect(text, known).code())
        known[statement.targets[0].id] = expression.evaluate(known, _lookup)
    return known


def with_signs(resolved: ResolvedCase) -> Callable[..., Any] | None:
    """An expression, its eigenvectors and singular vectors with the signs that formulas give them.

    None for anything else. The sign is free, and that of numpy is not that of TensorFlow: without
    it `test_vectors_have_the_signs_of_the_formulas` fails.
    """
    expression = resolved.expression
    if expression is None:
        return None
    names = [given.name for given in resolved.case.inputs]
    return lambda *tensors: expression.evaluate(dict(zip(names, tensors, strict=True)), _lookup)


@cache
def _lookup(name: str) -> Any:
    from gradcheck.checker.subject.build_function import tensorflow_name
    from gradcheck.checker.subject.phases import HAS_PHASE, with_fixed_phase

    if name in _GRADIENT_OPS:
        import tensorflow as tf

        return getattr(tf.raw_ops, name.rpartition(".")[2])
    found = tensorflow_name(name)
    return with_fixed_phase(name, found) if name in HAS_PHASE else found


def in_float32(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function computed in float32, for those who give it float64 and take it back."""
    import tensorflow as tf

    def cast(tensor: Any, dtype: Any) -> Any:
        return tf.cast(tensor, dtype) if tensor.dtype.is_floating else tensor

    def computed(*tensors: Any) -> Any:
        found = function(*(cast(tensor, tf.float32) for tensor in tensors))
        return tf.nest.map_structure(lambda out: cast(out, tf.float64), found)

    return computed


class _PageDialect(TensorFlowDialect):
    def function_name(self, node: ast.expr) -> str:
        text = ast.unparse(node)
        return text if text in _GRADIENT_OPS else super().function_name(node)

    def arguments(self, name: str, node: ast.Call) -> Arguments:
        if name in _GRADIENT_OPS:
            args = tuple(self.translate(a) for a in node.args)
            return args, tuple((k.arg, self.translate(k.value)) for k in node.keywords if k.arg)
        return super().arguments(name, node)


class _Numbers(ast.NodeTransformer):
    """`math.sqrt(2)` and `math.pi` as numbers."""

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if isinstance(node.value, ast.Name) and node.value.id == "math":
            return ast.Constant(getattr(math, node.attr))
        self.generic_visit(node)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if ast.unparse(node.func) == "math.sqrt":
            argument = self.visit(node.args[0])
            return ast.Constant(math.sqrt(float(_number(argument))))
        self.generic_visit(node)
        return node


def _number(node: ast.AST) -> float:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return float(node.value)
    if isinstance(node, ast.BinOp):
        left, right = _number(node.left), _number(node.right)
        if isinstance(node.op, ast.Mult):
            return left * right
        if isinstance(node.op, ast.Div):
            return left / right
    raise TypeError(f"no number: {ast.unparse(node)}")
