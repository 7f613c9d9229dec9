"""Scalar functions, differentiated and simplified by SymPy, which is loaded here and only here."""

from __future__ import annotations

import ast
import math
import operator
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.errors import ExpressionError
from gradcheck.explainer import trees
from gradcheck.explainer.calculus.einstein import is_simple
from gradcheck.explainer.named_functions import named
from gradcheck.explainer.time_limit import TookTooLong, limited_work

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

__all__ = ["NotScalar", "can_fuse", "derivative", "load_sympy"]

MOST_FACTORED, MOST_SIMPLIFIED = 60, 20
"""Beyond so many operations SymPy takes long to factor, and to simplify, and finds little."""
_MOST_PARTS, _LARGEST_DEGREE, _MOST_DIGITS_SYMPY = 400, 100, 30
"""Of a formula that SymPy sees: its parts, the exponents in it multiplied with each other, the
digits of a number. It computes powers of numbers in full, and multiplies powers of sums out."""
SYMPY_SECONDS = 2.0
"""What one thing that SymPy does may take: usually it is thousandths."""

_TO_SYMPY = {
    "exp": "exp", "log": "log", "sqrt": "sqrt", "sin": "sin", "cos": "cos", "tan": "tan",
    "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "arcsin": "asin", "arccos": "acos",
    "arctan": "atan", "arcsinh": "asinh", "arccosh": "acosh", "arctanh": "atanh", "erf": "erf",
}  # fmt: skip
_FROM_SYMPY = {there: here for here, there in _TO_SYMPY.items()}
_ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
_COMPOSED: dict[str, Callable[[Any, Any], Any]] = {
    "square": lambda _, x: x**2,
    "log1p": lambda sympy, x: sympy.log(1 + x),
    "expm1": lambda sympy, x: sympy.exp(x) - 1,
}
"""Functions that SymPy has no name for."""
_KEPT = frozenset(["sigmoid", "softplus", "tanh"])
"""Functions that stay as they are: SymPy would write them with exponentials that overflow, and a
reader knows their slopes, σ·(1 − σ) and 1 − tanh², by heart."""
_SMOOTH = frozenset([*_TO_SYMPY, *_COMPOSED, *_KEPT])


class NotScalar(Exception):  # noqa: N818  (an answer: another rule applies)
    """The formula holds something that is no smooth function of numbers."""


def can_fuse(formula: ast.expr) -> bool:
    """Whether SymPy can differentiate this formula: arithmetic and smooth functions alone."""
    for node in ast.walk(formula):
        if isinstance(node, ast.Call) and trees.called(node) not in _SMOOTH:
            return False
        if not isinstance(
            node,
            ast.Call | ast.Name | ast.Constant | ast.BinOp | ast.UnaryOp | ast.operator
            | ast.unaryop | ast.expr_context,
        ):  # fmt: skip
            return False
        if isinstance(node, ast.Constant) and type(node.value) not in (int, float):
            return False
    return True


def derivative(formula: ast.expr, name: str) -> ast.expr:
    """The derivative by one name, as simple as SymPy gets it; checked by numbers before use.

    NotScalar where the formula is too large for it.
    """
    if sum(1 for _ in ast.walk(formula)) > _MOST_PARTS or _degree(formula) > _LARGEST_DEGREE:
        raise NotScalar
    return trees.read(_derivative(trees.text_of(named(formula)), name))


def _degree(node: ast.expr) -> float:
    """How high a power a formula is, about; infinite where it holds a number of many digits.

    Without it `test_sizes_are_bounded_before_sympy_sees_them` fails.
    """
    if isinstance(node, ast.Constant):
        return 0.0 if len(str(node.value)) <= _MOST_DIGITS_SYMPY else math.inf
    if isinstance(node, ast.UnaryOp):
        return _degree(node.operand)
    if isinstance(node, ast.Call):
        inner = max((_degree(arg) for arg in node.args), default=0.0)
        return 2 * inner if trees.called(node) == "square" else max(1.0, inner)
    if not isinstance(node, ast.BinOp):
        return 1.0
    left, right = _degree(node.left), _degree(node.right)
    if isinstance(node.op, ast.Pow):
        exponent = _number(node.right)
        return max(1.0, left) * exponent if exponent is not None else max(1.0, left) + right
    return left + right if isinstance(node.op, ast.Mult | ast.Div) else max(left, right)


def _number(node: ast.expr) -> float | None:
    """The size of a constant; None where there are names, infinite where it must be computed."""
    if isinstance(node, ast.UnaryOp):
        return _number(node.operand)
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        # (A power of a fraction with many digits is a root of a large number.)
        fraction = isinstance(node.value, float) and len(str(node.value)) > 6
        return math.inf if fraction else abs(node.value)
    return None if trees.names_in(node) else math.inf


def load_sympy() -> None:
    """Load it now: what is told in a limited time does not then depend on how long that takes."""
    import sympy  # noqa: F401


@cache
def _derivative(text: str, name: str) -> str:
    import sympy

    formula = trees.read(text)
    names = sorted(trees.names_in(formula) - {"pi", "e"})
    reader = _Reader({n: sympy.Symbol(n, real=True) for n in names}, sympy)
    try:
        with limited_work(SYMPY_SECONDS):
            plain = reader.slope(reader.read(formula), reader.symbols[name])
            best = reader.written(plain)
    except (TookTooLong, ArithmeticError, ValueError, TypeError, RecursionError) as error:
        raise NotScalar from error
    if plain.count_ops() > MOST_FACTORED:
        return trees.text_of(best)
    shortest = len(trees.text_of(best))
    for candidate in (*_candidates(plain, sympy), *reader.mirrored(plain)):
        try:
            tree = reader.written(candidate)
        except (NotScalar, ExpressionError):
            continue
        if len(trees.text_of(tree)) < shortest and _agree(tree, best, names):
            best, shortest = tree, len(trees.text_of(tree))
    return trees.text_of(best)


def _candidates(plain: Any, sympy: Any) -> list[Any]:
    found = []
    ways = [sympy.factor_terms, sympy.cancel, sympy.expand, sympy.factor]
    # (Of a quotient of polynomials the ways above find all that there is, in a tenth of the time.)
    deep = plain.count_ops() <= MOST_SIMPLIFIED and not plain.is_rational_function()
    for simpler in [*ways, sympy.simplify] if deep else ways:
        try:
            with limited_work(SYMPY_SECONDS):
                found.append(simpler(plain))
        except (Exception, TookTooLong):  # noqa: S112  (SymPy raises anything; the plain form stands)
            continue
    return found


def _agree(first: ast.expr, second: ast.expr, names: Collection[str]) -> bool:
    """Whether two formulas are one function, seen at random points on both sides of zero."""
    rng = np.random.default_rng(0)
    for low, high in ((0.1, 0.9), (-0.9, 0.9), (1.1, 3.0), (-2.0, 2.0)):
        values = {name: rng.uniform(low, high, 16) for name in names}
        a, b = (np.asarray(trees.run(t, values), dtype=np.float64) for t in (first, second))
        a, b = np.broadcast_arrays(a, b)
        if (np.isnan(a) != np.isnan(b)).any():
            return False
        if not np.allclose(a, b, rtol=1e-9, atol=1e-9, equal_nan=True):
            return False
    return True


class _Reader:
    """Formulas for SymPy, in which a function that is kept is a symbol with a known slope."""

    def __init__(self, symbols: dict[str, Any], sympy: Any) -> None:
        self.symbols, self.sympy = symbols, sympy
        self.kept: dict[tuple[str, Any], Any] = {}
        self.decimals: dict[float, Any] = {}
        self.arguments: dict[Any, ast.expr] = {}

    def read(self, node: ast.expr) -> Any:
        """A formula as SymPy sees it."""
        if isinstance(node, ast.Constant):
            return self._constant(node.value)
        if isinstance(node, ast.Name):
            if node.id in self.symbols:
                return self.symbols[node.id]
            return {"pi": self.sympy.pi, "e": self.sympy.E}[node.id]
        if isinstance(node, ast.UnaryOp):
            return -self.read(node.operand)
        if isinstance(node, ast.BinOp):
            return _ARITHMETIC[type(node.op)](self.read(node.left), self.read(node.right))
        if not isinstance(node, ast.Call):
            raise NotScalar
        name, arg = trees.called(node), self.read(node.args[0])
        if name in _KEPT:
            return self._keep(name, arg)
        if name in _COMPOSED:
            return _COMPOSED[name](self.sympy, arg)
        return getattr(self.sympy, _TO_SYMPY[name])(arg)

    def _constant(self, value: Any) -> Any:
        """An exact number; a decimal is a symbol, so that it stays as it is written."""
        if is_simple(value):
            return self.sympy.Rational(str(value))
        symbol = self.sympy.Symbol(f"decimal_{len(self.decimals)}", positive=True)
        return self.decimals.setdefault(value, symbol)

    def _keep(self, name: str, arg: Any) -> Any:
        if arg.could_extract_minus_sign():
            # One symbol for both signs: σ(−x) is 1 − σ(x), tanh(−x) is −tanh(x), and
            # softplus(−x) is softplus(x) − x.
            if name == "sigmoid":
                return 1 - self._keep(name, -arg)
            if name == "tanh":
                return -self._keep(name, -arg)
            return self._keep(name, -arg) + arg
        symbol = self.sympy.Symbol(f"kept_{len(self.kept)}", real=True)
        return self.kept.setdefault((name, arg), symbol)

    def slope(self, expression: Any, symbol: Any) -> Any:
        """The derivative, the symbols of kept functions moving with what they are functions of."""
        total = self.sympy.diff(expression, symbol)
        for (name, arg), own in list(self.kept.items()):
            if expression.has(own):
                outer = self.sympy.diff(expression, own)
                total += outer * self._own_slope(name, arg, own) * self.slope(arg, symbol)
        return total

    def mirrored(self, plain: Any) -> list[Any]:
        """The same with σ(−x) for a σ(x) that stands in it: y·σ(x) − y is −y·σ(−x)."""
        found = []
        for (name, arg), own in list(self.kept.items()):
            if name == "sigmoid" and plain.has(own) and plain.count_ops() <= MOST_SIMPLIFIED:
                symbol = self.sympy.Symbol(f"kept_{len(self.kept)}", real=True)
                other = self.kept.setdefault((name, -arg), symbol)
                found.append(self.sympy.expand(plain.subs(own, 1 - other)))
        return found

    def _own_slope(self, name: str, arg: Any, own: Any) -> Any:
        if name == "softplus":
            return self._keep("sigmoid", arg)
        return own * (1 - own) if name == "sigmoid" else 1 - own**2

    def written(self, expression: Any) -> ast.expr:
        """Back in the language, the functions that were kept in their places."""
        tree = _from_sympy(expression)
        symbols = trees.names_in(tree)
        values: dict[str, Any] = {}
        for (name, arg), own in self.kept.items():
            if str(own) in symbols:
                if arg not in self.arguments:
                    self.arguments[arg] = self.written(arg)
                values[str(own)] = trees.call(name, self.arguments[arg])
        values |= {str(own): value for value, own in self.decimals.items() if str(own) in symbols}
        return trees.substitute(tree, values) if values else tree


def _from_sympy(expression: Any) -> ast.expr:
    """SymPy prints Python, up to the names of some functions."""
    tree = trees.read(str(expression))
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = trees.called(node)
            if name == "Abs":
                node.func = ast.Name("abs")
            elif name in _FROM_SYMPY:
                node.func = ast.Name(_FROM_SYMPY[name])
            elif name != "sign":
                raise NotScalar(name)
        elif isinstance(node, ast.Name) and node.id in ("E", "I", "oo", "zoo", "nan"):
            if node.id != "E":
                raise NotScalar(node.id)
            node.id = "e"
    return tree
