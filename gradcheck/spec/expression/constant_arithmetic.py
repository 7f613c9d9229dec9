"""Operators between plain Python values, bounded so that no spec can hang or fill the memory.

Tensors and arrays bring their own operators. What remains is arithmetic on literals and arguments:
numbers only, whole numbers within 64 bits, no repetition of texts and lists.
"""

from __future__ import annotations

import ast
import operator
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": operator.pow,
    "@": operator.matmul,
    "&": operator.and_,
    "|": operator.or_,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}

SYMBOLS: dict[type[ast.operator | ast.cmpop], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.MatMult: "@",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}

UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Invert: operator.invert,
}

NUMBERS = frozenset({int, float, complex, bool})
_SEQUENCES = frozenset({str, bytes, list, tuple, dict})
BOUNDED = NUMBERS | _SEQUENCES | {type(None)}
"""Exact types: numpy's float64 is a float too, but has its own arithmetic."""


class RefusedError(Exception):
    """The operation is not defined or not allowed; the text says why."""


def fits(number: int) -> bool:
    """Whether a whole number can be held in 64 bits, signed."""
    return -(2**63) <= number < 2**63


def shown(value: object) -> str:
    """A value of Python's as a message shows it."""
    text = repr(value)
    return f"`{text[:40]}…`" if len(text) > 41 else f"`{text}`"


def bounded(symbol: str, a: Any, b: Any) -> Any:
    """The result of the operator where at least one side is a plain value of Python's."""
    for value, other in ((a, b), (b, a)):
        kind = type(value)
        if kind in (str, bytes, dict, type(None)):
            raise RefusedError(f"{shown(value)} cannot be used with {symbol}")
        # A list meets an array as one; with anything smaller, * would repeat it.
        if kind in _SEQUENCES and (type(other) in BOUNDED or isinstance(other, np.generic)):
            raise RefusedError(f"{symbol} is not defined for a list and {shown(other)}")
    if type(a) not in NUMBERS or type(b) not in NUMBERS:
        return BINARY[symbol](a, b)
    if symbol == "**" and type(a) is int and type(b) is int and abs(a) > 1 and b > 64:
        raise RefusedError(f"{a} ** {b} does not fit into 64 bits: write {a}.0 ** {b}")
    return _checked(symbol, a, b)


def _checked(symbol: str, a: Any, b: Any) -> Any:
    try:
        result = BINARY[symbol](a, b)
    except ZeroDivisionError:
        raise RefusedError(f"{shown(a)} {symbol} {shown(b)} divides by zero") from None
    except OverflowError:
        raise RefusedError(f"{shown(a)} {symbol} {shown(b)} is too large") from None
    except TypeError:
        raise RefusedError(f"{symbol} is not defined for {shown(a)} and {shown(b)}") from None
    if type(result) is int and not fits(result):
        raise RefusedError(f"{shown(a)} {symbol} {shown(b)} does not fit into 64 bits")
    return result
