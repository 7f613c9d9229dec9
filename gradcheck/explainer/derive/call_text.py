"""Parts of an expression: a call over names, a constant, and why something is no call."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.errors import ExpressionError, ShapeError
from gradcheck.explainer import trees

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gradcheck.model import Shape
    from gradcheck.ops.declaration import Call, Op

__all__ = ["NoRule", "constant_of", "filled_of", "literal_of", "misfit_of", "shape_in", "source_of"]

LONGEST_SHOWN = 60
"""Characters of an expression that a message repeats."""


class NoRule(ExpressionError):  # noqa: N818  (an answer: it may run all the same)
    """A part of an expression that no declaration describes."""


def literal_of(node: ast.expr) -> Any:
    """The plain value that is written here; ValueError where it is none."""
    text = ast.unparse(node)
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, ArithmeticError, RecursionError):
        shown = text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…"
        raise ValueError(f"`{shown}` must be a plain value here") from None
    return list(value) if isinstance(value, tuple) else value


class _Put(ast.NodeTransformer):
    def __init__(self, known: Mapping[int, ast.expr]) -> None:
        self.known = known

    def visit(self, node: ast.AST) -> ast.AST:
        found = self.known.get(id(node))
        return self.generic_visit(node) if found is None else found


def source_of(node: ast.expr, operands: Mapping[int, ast.expr], part: int | None) -> str:
    """The call with names for what stands in it."""
    text = ast.unparse(_Put(operands).visit(node))
    return text if part is None else f"{text}[{part}]"


def misfit_of(op: Op, call: Call) -> str | None:
    """Why the op cannot be called so; None where it can."""
    try:
        op.shape(call)
    except KeyError as error:
        return f"the argument {error} is missing"
    except (ShapeError, ValueError, TypeError, IndexError) as error:
        return str(error) or type(error).__name__
    if op.is_complex:
        return (
            "it takes or gives complex numbers, and expressions are explained for real ones; "
            f"`gradcheck explain {op.name}` explains it by itself"
        )
    if not op.forward_text(call):
        return "its forward cannot be written in the language of formulas"
    return None


def constant_of(node: ast.expr) -> ast.expr | None:
    """The node as a plain number or list of numbers, if it is one."""
    if any(isinstance(n, ast.Name | ast.Call | ast.Attribute) for n in ast.walk(node)):
        return None
    text = ast.unparse(node)
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError):
        try:
            value = trees.run(text, {})
        except Exception as error:  # -[1], 2 ** [], 1 / 0
            raise ExpressionError(f"`{text[:LONGEST_SHOWN]}` has no value: {error}") from error
        if not isinstance(value, int | float | list):
            value = np.asarray(value).tolist()
    return trees.read(repr(value))


def filled_of(
    node: ast.Call,
    name: str,
    value: Callable[[ast.expr], ast.expr],
    shape_of: Callable[[ast.expr], Shape],
) -> ast.expr | None:
    """An array of ones, of zeros, or an identity matrix; None for any other call."""
    function = name.removeprefix("tf.")
    if function in ("ones_like", "zeros_like") and len(node.args) == 1 and not node.keywords:
        shape = shape_of(value(node.args[0]))
        return trees.call(function.removesuffix("_like"), trees.read(repr(list(shape))))
    plain = {k.arg for k in node.keywords} <= {"dtype"}
    if function in ("ones", "zeros", "eye") and plain and 1 <= len(node.args) <= 2:
        given = node.args if function == "eye" else node.args[:1]
        try:
            sizes = [literal_of(arg) for arg in given]
        except ValueError:
            return None
        return trees.call(function, *(trees.read(repr(size)) for size in sizes))
    return None


def shape_in(operand: ast.expr, shapes: Mapping[str, Shape]) -> Shape:
    """The shape of a name, a constant or a condition."""
    if isinstance(operand, ast.Name):
        return shapes[operand.id]
    if isinstance(operand, ast.Compare):
        pair = (operand.left, operand.comparators[0])
        return np.broadcast_shapes(*(shape_in(side, shapes) for side in pair))
    if trees.called(operand) == "where" and isinstance(operand, ast.Call):
        return shape_in(operand.args[0], shapes)  # a condition as numbers
    if isinstance(operand, ast.Call):
        return np.shape(trees.run(operand, {}))
    return np.shape(ast.literal_eval(ast.unparse(operand)))
