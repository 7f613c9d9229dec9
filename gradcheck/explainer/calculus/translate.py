"""A formula of the language as an Einstein-notation expression."""

from __future__ import annotations

import ast
import operator
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.explainer import trees
from gradcheck.explainer.calculus.einstein import NotDerivable
from gradcheck.explainer.calculus.move_rules import MOVE_RULES
from gradcheck.explainer.calculus.sum_rules import SUM_RULES
from gradcheck.explainer.calculus.values import (
    Rule,
    Value,
    as_value,
    elementwise,
    filled,
    opaque,
    plus,
    tensor,
    times,
)
from gradcheck.ops.language.special import SPECIAL
from gradcheck.ops.language.vocabulary import CONSTANTS, FUNCTIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gradcheck.explainer.calculus.indices import Space

__all__ = ["OPEN_RULES", "Translation"]

OPEN_RULES: Mapping[str, Rule] = SUM_RULES | MOVE_RULES
"""With these rules the functions that move elements are looked into as well."""

_ELEMENTWISE = frozenset(
    [
        "exp", "log", "log1p", "expm1", "sqrt", "square", "sin", "cos", "tan", "sinh", "cosh",
        "tanh", "arcsin", "arccos", "arctan", "arcsinh", "arccosh", "arctanh", "sign", "abs",
        "sigmoid", "maximum", "minimum", "power", "arctan2", "where", "conj", "real", "imag",
        "floor", "equal", "not_equal", "less", "less_equal", "greater", "greater_equal",
        "logical_and", "logical_or", "logical_not", "float32", "softplus",
        *(function.__name__ for function in SPECIAL),
    ]
)  # fmt: skip
_COMPARED = {
    ast.Gt: "greater", ast.GtE: "greater_equal", ast.Lt: "less", ast.LtE: "less_equal",
    ast.Eq: "equal", ast.NotEq: "not_equal",
}  # fmt: skip


def _quotient(a: Any, b: Any) -> Any:
    """Whole numbers give exact fractions."""
    return Fraction(a) / Fraction(b) if isinstance(a, int) and isinstance(b, int) and b else a / b


_ON_NUMBERS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: _quotient,
    ast.Pow: operator.pow,
}
_ON_ARRAYS: dict[type[ast.operator], Callable[[Any, Any], Value]] = {
    ast.Add: plus,
    ast.Sub: lambda a, b: plus(a, times(-1, b)),
    ast.Mult: times,
    ast.Div: lambda a, b: times(a, elementwise("reciprocal", [b])),
    ast.Pow: lambda a, b: elementwise("power", [a, b]),
}


class Translation:
    """Translates formulas over named arrays and plain values."""

    def __init__(
        self, space: Space, known: Mapping[str, Value | Any], rules: Mapping[str, Rule] = SUM_RULES
    ) -> None:
        self.space, self.known, self.rules = space, known, rules

    def value(self, formula: str | ast.expr) -> Value:
        """The array that a formula means."""
        node = trees.read(formula) if isinstance(formula, str) else formula
        return as_value(self._any(node))

    def call(self, name: str, args: list[Any]) -> Any:
        """What a function of the language gives for values that are translated already."""
        if name in ("shape", "size", "rank"):
            shape = as_value(args[0]).shape
            size = int(np.prod(shape, dtype=np.int64))
            return {"shape": shape, "size": size, "rank": len(shape)}[name]
        if name in _ELEMENTWISE:
            return elementwise(name, args)
        if _is_plain(args):
            if name in ("ones", "zeros", "eye"):
                return filled(self.space, name, args)
            return FUNCTIONS[name](*(float(a) if isinstance(a, Fraction) else a for a in args))
        if name in self.rules:
            return self.rules[name](self, *args)
        return opaque(self.space, name, args)

    def _any(self, node: ast.expr) -> Any:
        """An array, or a plain value, or a list of both."""
        translate = _BY_KIND.get(type(node))
        if translate is None:
            raise NotDerivable(type(node).__name__)
        return translate(self, node)

    def _name(self, node: ast.Name) -> Any:
        if node.id in self.known:
            return self.known[node.id]
        return tensor(node.id, ()) if node.id in ("pi", "e") else CONSTANTS[node.id]

    def _list(self, node: ast.List | ast.Tuple) -> list[Any]:
        return [self._any(item) for item in node.elts]

    def _subscript(self, node: ast.Subscript) -> Any:
        base, index = self._any(node.value), self._any(node.slice)
        if isinstance(base, Value) or not isinstance(index, int):
            raise NotDerivable("an index")
        return base[index]

    def _negative(self, node: ast.UnaryOp) -> Any:
        if not isinstance(node.op, ast.USub):
            raise NotDerivable(type(node).__name__)
        found = self._any(node.operand)
        return times(-1, found) if isinstance(found, Value) else -found

    def _operation(self, node: ast.BinOp) -> Any:
        left, right = self._any(node.left), self._any(node.right)
        arrays = isinstance(left, Value) or isinstance(right, Value)
        table = _ON_ARRAYS if arrays else _ON_NUMBERS
        if type(node.op) not in table:
            raise NotDerivable(type(node.op).__name__)
        return table[type(node.op)](left, right)

    def _comparison(self, node: ast.Compare) -> Value:
        pair = [self._any(side) for side in (node.left, node.comparators[0])]
        return elementwise(_COMPARED[type(node.ops[0])], pair)

    def _call(self, node: ast.Call) -> Any:
        return self.call(trees.called(node), [self._any(arg) for arg in node.args])


_BY_KIND: dict[type[ast.expr], Callable[[Translation, Any], Any]] = {
    ast.Constant: lambda _, node: node.value,
    ast.Name: Translation._name,
    ast.List: Translation._list,
    ast.Tuple: Translation._list,
    ast.Subscript: Translation._subscript,
    ast.UnaryOp: Translation._negative,
    ast.BinOp: Translation._operation,
    ast.Compare: Translation._comparison,
    ast.Call: Translation._call,
}


def _is_plain(args: list[Any]) -> bool:
    """Whether no array is among the arguments, nor in a list among them."""
    items = [item for arg in args for item in (arg if isinstance(arg, list) else [arg])]
    return not any(isinstance(item, Value) for item in items)
