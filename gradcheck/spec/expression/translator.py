"""The heart of safe expressions: Python's syntax tree into nested closures, node by node.

A node that is not known here is refused with its place: what is not allowed does not exist.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from gradcheck.errors import ExpressionError, nearest
from gradcheck.spec.expression import constant_arithmetic
from gradcheck.spec.expression.syntax import Tree, parse_tree

MAX_EXPRESSION_DEPTH = 100
"""Levels of nesting. A level of nested calls takes three of Python's frames to read and two to
evaluate: 300 of the 1,000 that Python allows, and the caller needs some too."""

Lookup = Callable[[str], Any]
"""Gives a function or constant by its name, dotted for TensorFlow's."""

Code = Callable[[Mapping[str, Any], Lookup], Any]
Arguments = tuple[tuple[Code, ...], tuple[tuple[str, Code], ...]]


@dataclass(frozen=True, slots=True)
class Constant:
    """Code whose value is known already, so that arithmetic on it is judged when it is read."""

    value: Any

    def __call__(self, _values: Mapping[str, Any], _lookup: Lookup) -> Any:
        """The value."""
        return self.value


class Translator:
    """Translates a tree into closures; the dialects say what a name and a call may be."""

    def __init__(self, text: str, names: Collection[str]) -> None:
        self.tree: Tree = parse_tree(text)
        self.allowed = names
        self.depth = 0

    def code(self) -> Code:
        """The code of the whole expression."""
        return self.translate(self.tree.body)

    def refused(self, node: ast.AST, message: str, hint: str = "") -> ExpressionError:
        """What to raise where a node is not allowed."""
        offset, length = self.tree.span(node)
        return ExpressionError(message, offset=offset, length=length, hint=hint)

    def translate(self, node: ast.expr) -> Code:
        """The code of one node, by the method that is named after its type."""
        self.depth += 1
        if self.depth > MAX_EXPRESSION_DEPTH:
            message = f"the expression is nested more than {MAX_EXPRESSION_DEPTH} levels deep"
            raise self.refused(node, message)
        method = getattr(self, f"_{type(node).__name__.lower()}", None)
        if method is None:
            message, hint = _REFUSED.get(type(node), ("this is not allowed in an expression", ""))
            raise self.refused(node, message, hint)
        code: Code = method(node)
        self.depth -= 1
        return code

    # What a name and a call may be: the dialect's part.

    def _name(self, node: ast.Name) -> Code:
        raise NotImplementedError

    def _attribute(self, node: ast.Attribute) -> Code:
        raise NotImplementedError

    def function_name(self, node: ast.expr) -> str:
        """The name of a function that may be called; refuses any other."""
        raise NotImplementedError

    def arguments(self, _name: str, node: ast.Call) -> Arguments:
        """The code of what a function of this name is called with, by position and by name."""
        args = tuple(self.translate(a) for a in node.args)
        return args, tuple((k.arg, self.translate(k.value)) for k in node.keywords if k.arg)

    # What both dialects share.

    def _call(self, node: ast.Call) -> Code:
        name = self.function_name(node.func)
        for keyword in node.keywords:
            if keyword.arg is None:
                raise self.refused(
                    keyword.value, "`**` is not allowed: write each argument by its name"
                )
        args, keywords = self.arguments(name, node)

        def run(values: Mapping[str, Any], lookup: Lookup) -> Any:
            return lookup(name)(
                *[a(values, lookup) for a in args],
                **{key: k(values, lookup) for key, k in keywords},
            )

        return run

    def _constant(self, node: ast.Constant) -> Code:
        value = node.value
        if isinstance(value, bytes) or value is ...:
            shown = "bytes are" if isinstance(value, bytes) else "`...` outside of [ ] is"
            raise self.refused(node, f"{shown} not allowed in an expression")
        if type(value) is int and not constant_arithmetic.fits(value):
            raise self.refused(
                node, "this whole number does not fit into 64 bits", "write 1e30 for large"
            )
        return Constant(value)

    def _binop(self, node: ast.BinOp) -> Code:
        symbol = constant_arithmetic.SYMBOLS.get(type(node.op))
        if symbol is None:
            raise self.refused(node, "the operators `<<`, `>>` and `^` are not allowed")
        return self._operation(node, symbol, self.translate(node.left), self.translate(node.right))

    def _compare(self, node: ast.Compare) -> Code:
        if len(node.ops) > 1:
            hint = "write (a < b) & (b < c)"
            raise self.refused(node, "a chain of comparisons has no meaning for tensors", hint)
        symbol = constant_arithmetic.SYMBOLS.get(type(node.ops[0]))
        if symbol is None:
            raise self.refused(
                node, "`is` and `in` are not allowed: compare with ==, !=, <, <=, > or >="
            )
        left, right = self.translate(node.left), self.translate(node.comparators[0])
        return self._operation(node, symbol, left, right)

    def _operation(self, node: ast.expr, symbol: str, left: Code, right: Code) -> Code:
        operate = constant_arithmetic.BINARY[symbol]
        span = self.tree.span(node)

        def run(values: Mapping[str, Any], lookup: Lookup) -> Any:
            a, b = left(values, lookup), right(values, lookup)
            if type(a) in constant_arithmetic.BOUNDED or type(b) in constant_arithmetic.BOUNDED:
                try:
                    return constant_arithmetic.bounded(symbol, a, b)
                except constant_arithmetic.RefusedError as problem:
                    offset, length = span
                    raise ExpressionError(str(problem), offset=offset, length=length) from None
            return operate(a, b)

        if isinstance(left, Constant) and isinstance(right, Constant):
            return Constant(run({}, _no_lookup))
        return run

    def _unaryop(self, node: ast.UnaryOp) -> Code:
        operand = self.translate(node.operand)
        operate = constant_arithmetic.UNARY.get(type(node.op))
        if operate is None:
            raise self.refused(
                node, "`not` is not allowed: write ~ for the opposite of a boolean tensor"
            )
        if isinstance(operand, Constant):
            value = operand.value
            if type(value) not in constant_arithmetic.NUMBERS or isinstance(node.op, ast.Invert):
                raise self.refused(
                    node, f"{constant_arithmetic.shown(value)} cannot take this sign"
                )
            return Constant(operate(value))
        return lambda values, lookup: operate(operand(values, lookup))

    def _tuple(self, node: ast.Tuple) -> Code:
        items = tuple(self.translate(e) for e in node.elts)
        return lambda values, lookup: tuple([i(values, lookup) for i in items])

    def _list(self, node: ast.List) -> Code:
        items = tuple(self.translate(e) for e in node.elts)
        return lambda values, lookup: [i(values, lookup) for i in items]

    def _subscript(self, node: ast.Subscript) -> Code:
        value, index = self.translate(node.value), self._index(node.slice)
        return lambda values, lookup: value(values, lookup)[index(values, lookup)]

    def _index(self, node: ast.expr) -> Code:
        if isinstance(node, ast.Tuple):
            items = tuple(self._index(e) for e in node.elts)
            return lambda values, lookup: tuple([i(values, lookup) for i in items])
        if isinstance(node, ast.Constant) and node.value is ...:
            return Constant(...)
        if not isinstance(node, ast.Slice):
            return self.translate(node)
        parts = (node.lower, node.upper, node.step)
        start, stop, step = (Constant(None) if p is None else self.translate(p) for p in parts)
        return lambda values, lookup: slice(
            start(values, lookup), stop(values, lookup), step(values, lookup)
        )


def _no_lookup(name: str) -> NoReturn:
    raise AssertionError(name)


def value_of(name: str) -> Code:
    """The code of a name: its value."""
    return lambda values, _lookup: values[name]


MOST_LISTED = 40
"""Names that a message lists: more than there are keys of a case."""


def did_you_mean(name: str, known: Collection[str]) -> str:
    """A question with the nearest known name; empty where none is near."""
    if name in known:
        return f"did you mean `{name}(…)`?"
    near = nearest(name, sorted(known))
    return f"did you mean `{near}`?" if near else ""


def inputs_are(names: Collection[str]) -> str:
    """Which names are known, for a message."""
    if not names:
        return "no names are known here"
    first, more = ", ".join(sorted(names)[:MOST_LISTED]), len(names) - MOST_LISTED
    return f"known are: {first} and {more:,} more" if more > 0 else f"known are: {first}"


# What Python has and an expression has not, with what to write instead.
_REFUSED: dict[type[ast.expr], tuple[str, str]] = {
    ast.Lambda: (
        "a lambda stands only where a function is wanted",
        "as in tf.map_fn(lambda row: …, x)",
    ),
    ast.ListComp: ("a comprehension is not allowed in an expression", ""),
    ast.SetComp: ("a comprehension is not allowed in an expression", ""),
    ast.DictComp: ("a comprehension is not allowed in an expression", ""),
    ast.GeneratorExp: ("a comprehension is not allowed in an expression", ""),
    ast.JoinedStr: ("an f-string is not allowed in an expression", "write a plain string"),
    ast.Starred: ("`*` before an argument is not allowed", "write each argument"),
    ast.NamedExpr: ("`:=` is not allowed in an expression", "write the value where it is used"),
    ast.BoolOp: ("`and` and `or` have no meaning for tensors", "write & or |"),
    ast.IfExp: ("`if … else` has no meaning for tensors", "choose with where(condition, a, b)"),
    ast.Dict: ("a dictionary is not allowed in an expression", ""),
    ast.Set: ("a set is not allowed in an expression", "write a list: [ ]"),
    ast.Await: ("`await` is not allowed in an expression", ""),
    ast.Yield: ("`yield` is not allowed in an expression", ""),
    ast.YieldFrom: ("`yield` is not allowed in an expression", ""),
    ast.Slice: ("a slice stands only inside [ ]", ""),
}
