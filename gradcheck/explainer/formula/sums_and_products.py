"""Sums, products and functions of numbers as formulas of the language, whatever their layout."""

from __future__ import annotations

import ast
from collections import Counter
from fractions import Fraction
from math import prod
from typing import TYPE_CHECKING

from gradcheck.explainer.calculus.einstein import (
    Apply,
    Node,
    Number,
    Product,
    Sum,
    Total,
    magnitude,
)
from gradcheck.explainer.calculus.indices import Index, extent
from gradcheck.explainer.trees import call, read, text_of

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "NoMatrixForm",
    "Scaled",
    "cancelled",
    "function",
    "joined",
    "number",
    "scaled_total",
    "sizes",
    "times",
]

Scaled = tuple[Fraction | float, ast.expr | None]
"""A term: a number, and what it is multiplied by."""


class NoMatrixForm(Exception):  # noqa: N818  (an answer, not a failure)
    """The expression cannot be written without indices."""


def sizes(indices: tuple[Index, ...]) -> ast.expr:
    """The shape that indices run over, as a list."""
    return read(repr([extent(i) if isinstance(i, str) else 1 for i in indices]))


def joined(parts: list[Scaled]) -> ast.expr:
    """A sum of terms, each a number times a body."""
    result: ast.expr | None = None
    for coefficient, body in parts:
        scaled = _scaled(magnitude(coefficient), body)
        if result is None:
            result = ast.UnaryOp(ast.USub(), scaled) if coefficient < 0 else scaled
        else:
            result = ast.BinOp(result, ast.Sub() if coefficient < 0 else ast.Add(), scaled)
    assert result is not None  # noqa: S101  (there is a term)
    return result


def cancelled(tree: ast.expr, full: frozenset[str]) -> ast.expr:
    """The sum without what it adds and takes away: `a - p - (a - n)` is `n - p`.

    What is left must be `full` arrays: a number, or a row, has not the shape of the sum.
    """
    terms = _signed(tree, 1)
    kept: list[tuple[int, ast.expr]] = []
    for sign, term in terms:
        text = text_of(term)
        match = next((t for t in kept if t[0] == -sign and text_of(t[1]) == text), None)
        if match is None:
            kept.append((sign, term))
        else:
            kept.remove(match)
    whole = all(isinstance(t, ast.Name) and t.id in full for _, t in kept)
    if len(kept) == len(terms) or not kept or not whole:
        return tree
    ordered = sorted(kept, key=lambda term: term[0] < 0)
    return joined([(Fraction(sign), term) for sign, term in ordered])


def _signed(tree: ast.expr, sign: int) -> list[tuple[int, ast.expr]]:
    """The terms of a sum, each with its sign."""
    if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.USub):
        return _signed(tree.operand, -sign)
    if isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.Add | ast.Sub):
        right = sign if isinstance(tree.op, ast.Add) else -sign
        return [*_signed(tree.left, sign), *_signed(tree.right, right)]
    return [(sign, tree)]


def _scaled(coefficient: Fraction | float, body: ast.expr | None) -> ast.expr:
    front = number(coefficient)
    if body is None:
        return front
    if coefficient == 1:
        return body
    if isinstance(coefficient, Fraction) and coefficient.numerator == 1:
        return ast.BinOp(body, ast.Div(), number(coefficient.denominator))
    return ast.BinOp(front, ast.Mult(), body)


def number(value: Fraction | float) -> ast.expr:
    """A number as a formula; fractions stay exact."""
    if isinstance(value, Fraction) and value.denominator != 1:
        return ast.BinOp(ast.Constant(value.numerator), ast.Div(), ast.Constant(value.denominator))
    return ast.Constant(
        int(value) if float(value).is_integer() and magnitude(value) < 1e15 else float(value)
    )


def times(factors: list[ast.expr]) -> ast.expr:
    """A product; one over something is a division, and equal factors are a power."""
    counts = Counter(map(text_of, factors))
    met: set[str] = set()
    result: ast.expr | None = None
    for factor in factors:
        text = text_of(factor)
        if text in met:
            continue
        met.add(text)
        whole = factor if counts[text] == 1 else _raised(factor, counts[text])
        if result is None:
            result = whole
        elif isinstance(whole, ast.BinOp) and isinstance(whole.op, ast.Div) and _is_one(whole.left):
            result = ast.BinOp(result, ast.Div(), whole.right)
        else:
            result = ast.BinOp(result, ast.Mult(), whole)
    assert result is not None  # noqa: S101  (there is a factor)
    return result


def _raised(factor: ast.expr, count: int) -> ast.expr:
    """A factor that stands there so many times."""
    if isinstance(factor, ast.BinOp) and isinstance(factor.op, ast.Div) and _is_one(factor.left):
        return ast.BinOp(factor.left, ast.Div(), _raised(factor.right, count))
    if count == 2:
        return call("square", factor)
    return ast.BinOp(factor, ast.Pow(), ast.Constant(count))


def _is_one(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == 1


def function(node: Node, inner: Callable[[Node], ast.expr]) -> ast.expr:
    """Arithmetic and functions of numbers, the same in every layout."""
    if isinstance(node, Number):
        return number(node.value)
    if isinstance(node, Product | Sum):
        terms = node.terms if isinstance(node, Sum) else (node,)
        return joined([_scaled_term(term, inner) for term in terms])
    if isinstance(node, Apply):
        return _applied(node.function, [inner(a) for a in node.args])
    raise NoMatrixForm


def _scaled_term(term: Node, inner: Callable[[Node], ast.expr]) -> Scaled:
    if isinstance(term, Number):
        return term.value, None
    if isinstance(term, Total):
        return scaled_total(term, inner)
    if isinstance(term, Product):
        front = term.factors[0]
        if isinstance(front, Number):
            return front.value, times([inner(f) for f in term.factors[1:]])
        return Fraction(1), times([inner(f) for f in term.factors])
    return Fraction(1), inner(term)


def scaled_total(node: Total, inner: Callable[[Node], ast.expr]) -> Scaled:
    """A sum over indices with its number in front; one over their count makes it a mean."""
    coefficient: Fraction | float = Fraction(1)
    body = node.body
    if isinstance(body, Product) and isinstance(body.factors[0], Number):
        coefficient = body.factors[0].value
        rest = body.factors[1:]
        body = rest[0] if len(rest) == 1 else Product(rest)
    total = Total(node.indices, body)
    count = prod(map(extent, node.indices))
    if isinstance(coefficient, Fraction) and coefficient.denominator % count == 0 and count > 1:
        return coefficient * count, inner(Apply("mean", (total,)))
    return coefficient, inner(total)


def _applied(function: str, args: list[ast.expr]) -> ast.expr:
    one, zero = ast.Constant(1), ast.Constant(0)
    if function == "reciprocal":
        return ast.BinOp(one, ast.Div(), args[0])
    if function == "power":
        return ast.BinOp(args[0], ast.Pow(), args[1])
    if function == "holds":
        return call("where", args[0], one, zero)
    if function == "fails":
        return call("where", args[0], zero, one)
    if function in _COMPARISONS:
        return ast.Compare(args[0], [_COMPARISONS[function]], [args[1]])
    return call(function, *args)


_COMPARISONS: dict[str, ast.cmpop] = {
    "greater": ast.Gt(), "greater_equal": ast.GtE(), "less": ast.Lt(), "less_equal": ast.LtE(),
    "equal": ast.Eq(), "not_equal": ast.NotEq(),
}  # fmt: skip
