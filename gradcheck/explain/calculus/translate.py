"""A formula of the language as an Einstein-notation expression."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.explain import trees
from gradcheck.explain.calculus.constants import (
    arithmetic,
    counted,
    exact,
    flat,
    left_after,
    shape_after,
    total_over,
)
from gradcheck.explain.calculus.einstein import (
    Apply,
    Array,
    Delta,
    Grid,
    Index,
    Node,
    NotDerivable,
    Number,
    Product,
    Space,
    Sum,
    Tensor,
)
from gradcheck.explain.trees import called
from gradcheck.ops.language.special import SPECIAL
from gradcheck.ops.language.vocabulary import CONSTANTS, FUNCTIONS

if TYPE_CHECKING:
    from gradcheck.model import Shape

__all__ = ["Translation", "Value", "tensor"]

At = Callable[[tuple[Index, ...]], Node]


@dataclass(frozen=True)
class Value:
    """An array by its elements: give indices, get the expression of that element."""

    shape: Shape
    at: At

    def fitted(self, indices: tuple[Index, ...]) -> Node:
        """The element that broadcasting puts at these indices of a larger array."""
        own = indices[len(indices) - len(self.shape) :]
        return self.at(tuple(0 if n == 1 else i for n, i in zip(self.shape, own, strict=True)))


def tensor(name: str, shape: Shape) -> Value:
    """A named array."""
    return Value(shape, lambda indices: Tensor(name, indices))


ELEMENTWISE = frozenset(
    [
        "exp", "log", "log1p", "expm1", "sqrt", "square", "sin", "cos", "tan", "sinh", "cosh",
        "tanh", "arcsin", "arccos", "arctan", "arcsinh", "arccosh", "arctanh", "sign", "abs",
        "sigmoid", "maximum", "minimum", "power", "arctan2", "where", "conj", "real", "imag",
        "floor", "equal", "not_equal", "less", "less_equal", "greater", "greater_equal",
        "logical_and", "logical_or", "logical_not", "float32",
        *(function.__name__ for function in SPECIAL),
    ]
)  # fmt: skip
_COMPARISONS = {
    ast.Gt: "greater", ast.GtE: "greater_equal", ast.Lt: "less", ast.LtE: "less_equal",
    ast.Eq: "equal", ast.NotEq: "not_equal",
}  # fmt: skip
_PLAIN = frozenset(["shape", "size", "rank"])


class Translation:
    """Translates formulas over named arrays and plain values."""

    def __init__(self, space: Space, known: Mapping[str, Value | Any]) -> None:
        self.space = space
        self.known = known

    def value(self, formula: str | ast.expr) -> Value:
        """The array that a formula means."""
        node = trees.read(formula) if isinstance(formula, str) else formula
        return self._array(self._any(node))

    def _array(self, found: Any) -> Value:
        if isinstance(found, Value):
            return found
        if isinstance(found, bool | int | float | np.integer | np.floating | Fraction):
            number = exact(found)
            return Value((), lambda _: number)
        array = np.asarray(found)
        if array.dtype.kind not in "iufb" or array.size > 64:
            raise NotDerivable("a constant array")
        text = repr(array.tolist())
        return Value(array.shape, lambda indices: Array("constant", (text,), indices, array.shape))

    def _any(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name):
            if node.id in self.known:
                return self.known[node.id]
            if node.id in ("pi", "e"):
                return tensor(node.id, ())
            return CONSTANTS[node.id]
        if isinstance(node, ast.List | ast.Tuple):
            return [self._any(item) for item in node.elts]
        if isinstance(node, ast.Subscript):
            return self._subscript(node)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            found = self._any(node.operand)
            return self._times(self._array(-1), found) if isinstance(found, Value) else -found
        if isinstance(node, ast.BinOp):
            return self._operation(node)
        if isinstance(node, ast.Compare):
            pair = (node.left, node.comparators[0])
            return self._elementwise(_COMPARISONS[type(node.ops[0])], [self._any(n) for n in pair])
        if isinstance(node, ast.Call):
            return self._call(called(node), [self._any(a) for a in node.args])
        raise NotDerivable(type(node).__name__)

    def _subscript(self, node: ast.Subscript) -> Any:
        base, index = self._any(node.value), self._any(node.slice)
        if isinstance(base, Value) or not isinstance(index, int):
            raise NotDerivable("an index")
        return base[index]

    def _operation(self, node: ast.BinOp) -> Any:
        left, right = self._any(node.left), self._any(node.right)
        if not isinstance(left, Value) and not isinstance(right, Value):
            return arithmetic(node.op, left, right)
        a, b = self._array(left), self._array(right)
        if isinstance(node.op, ast.Add):
            return self._plus(a, b)
        if isinstance(node.op, ast.Sub):
            return self._plus(a, self._times(self._array(-1), b))
        if isinstance(node.op, ast.Mult):
            return self._times(a, b)
        if isinstance(node.op, ast.Div):
            return self._times(a, self._elementwise("reciprocal", [b]))
        if isinstance(node.op, ast.Pow):
            return self._elementwise("power", [a, b])
        raise NotDerivable(type(node.op).__name__)

    def _plus(self, a: Value, b: Value) -> Value:
        shape = np.broadcast_shapes(a.shape, b.shape)
        return Value(shape, lambda ix: Sum((a.fitted(ix), b.fitted(ix))))

    def _times(self, a: Value, b: Any) -> Value:
        other = self._array(b)
        shape = np.broadcast_shapes(a.shape, other.shape)
        return Value(shape, lambda ix: Product((a.fitted(ix), other.fitted(ix))))

    def _elementwise(self, function: str, args: list[Any]) -> Value:
        values = [self._array(arg) for arg in args]
        shape = np.broadcast_shapes(*(value.shape for value in values))
        return Value(shape, lambda ix: Apply(function, tuple(v.fitted(ix) for v in values)))

    def _call(self, name: str, args: list[Any]) -> Any:
        if name in _PLAIN:
            shape = self._array(args[0]).shape
            size = int(np.prod(shape, dtype=np.int64))
            return {"shape": shape, "size": size, "rank": len(shape)}[name]
        if not any(isinstance(arg, Value) for arg in flat(args)):
            if name in ("ones", "zeros", "eye"):
                return self._filled(name, args)
            if name in ELEMENTWISE:
                return self._elementwise(name, args)
            return FUNCTIONS[name](*(float(a) if isinstance(a, Fraction) else a for a in args))
        if name in ELEMENTWISE:
            return self._elementwise(name, args)
        method = getattr(self, f"_{name}", None)
        return method(*args) if method is not None else self._opaque(name, args)

    def _filled(self, name: str, args: list[Any]) -> Value:
        if name == "eye":
            shape = (args[0], args[1] if len(args) > 1 and args[1] is not None else args[0])
            if shape[0] != shape[1] or shape[0] == 1:
                return (
                    self._opaque("eye", args) if shape != (1, 1) else self._filled("ones", [shape])
                )
            return Value(shape, lambda ix: Delta(ix[0], ix[1]))
        shape = tuple(args[0]) if isinstance(args[0], list | tuple) else (args[0],)
        number = Number(Fraction(1 if name == "ones" else 0))
        return Value(shape, lambda _: number)

    def _ones_like(self, x: Value) -> Value:
        return self._filled("ones", [x.shape])

    def _zeros_like(self, x: Value) -> Value:
        return self._filled("zeros", [x.shape])

    def _opaque(self, name: str, args: list[Any]) -> Value:
        """A function of whole arrays, which the calculus does not look into."""
        parts: list[Grid | str] = []
        shapes: list[Any] = []
        for arg in args:
            if isinstance(arg, Value):
                indices = self.space.axes(arg.shape)
                parts.append(Grid(arg.at(indices), indices, arg.shape))
                shapes.append(np.zeros(arg.shape, dtype=np.int64))
            elif isinstance(arg, list) and any(isinstance(a, Value) for a in arg):
                raise NotDerivable(name)
            else:
                parts.append(repr(arg))
                shapes.append(arg)
        shape = shape_after(name, shapes)
        frozen = tuple(parts)
        return Value(shape, lambda ix: Array(name, frozen, ix, shape))

    def _split(self, x: Value, parts: Any, axis: int = 0) -> list[Value]:
        size = x.shape[axis % len(x.shape)]
        sizes = [size // parts] * parts if isinstance(parts, int) else list(parts)
        starts = [sum(sizes[:k]) for k in range(len(sizes))]
        pairs = zip(starts, sizes, strict=True)
        return [self._call("part", [x, axis, start, n]) for start, n in pairs]

    def _unstack(self, x: Value, axis: int = 0) -> list[Value]:
        return [self._opaque("take", [x, k, axis]) for k in range(x.shape[axis % len(x.shape)])]

    # What the calculus looks into.

    def _matmul(self, a: Value, b: Value) -> Value:
        shape = (*np.broadcast_shapes(a.shape[:-2], b.shape[:-2]), a.shape[-2], b.shape[-1])

        def at(ix: tuple[Index, ...]) -> Node:
            k = self.space.fresh(a.shape[-1])
            left, right = (*ix[:-2], ix[-2], k), (*ix[:-2], k, ix[-1])
            return total_over([k], Product((a.fitted(left), b.fitted(right))))

        return Value(shape, at)

    def _einsum(self, equation: str, *operands: Any) -> Value:
        terms, _, output = equation.replace(" ", "").partition("->")
        values = [self._array(operand) for operand in operands]
        if "." in equation:
            raise NotDerivable("an ellipsis")
        letters: dict[str, int] = {}
        for term, value in zip(terms.split(","), values, strict=True):
            for letter, size in zip(term, value.shape, strict=True):
                letters[letter] = max(letters.get(letter, 1), size)

        def at(ix: tuple[Index, ...]) -> Node:
            names: dict[str, Index] = dict(zip(output, ix, strict=True))
            inner = [letter for letter in letters if letter not in output]
            names |= {letter: self.space.fresh(letters[letter], letter) for letter in inner}
            factors = tuple(
                value.fitted(tuple(names[letter] for letter in term))
                for term, value in zip(terms.split(","), values, strict=True)
            )
            return total_over([names[letter] for letter in inner], Product(factors))

        return Value(tuple(letters.get(letter, 1) for letter in output), at)

    def _transpose(self, x: Value, perm: Any = None) -> Value:
        order = list(perm) if perm is not None else list(range(len(x.shape)))[::-1]

        def at(ix: tuple[Index, ...]) -> Node:
            return x.at(tuple(ix[order.index(axis)] for axis in range(len(order))))

        return Value(tuple(x.shape[axis] for axis in order), at)

    def _mT(self, x: Value) -> Value:  # noqa: N802  (named after the function it translates)
        rank = len(x.shape)
        return self._transpose(x, [*range(rank - 2), rank - 1, rank - 2])

    def _adjoint(self, x: Value) -> Value:
        return self._elementwise("conj", [self._mT(x)])

    def _sum(self, x: Value, axis: Any = None, keepdims: bool = False) -> Value:
        gone = counted(axis, len(x.shape))

        def at(ix: tuple[Index, ...]) -> Node:
            left, full = list(ix), []
            inner = []
            for i, size in enumerate(x.shape):
                if i in gone:
                    inner.append(self.space.fresh(size))
                    full.append(inner[-1])
                    if keepdims:
                        left.pop(0)
                else:
                    full.append(left.pop(0))
            return total_over(inner, x.at(tuple(full)))

        return Value(left_after(x.shape, gone, keepdims), at)

    def _mean(self, x: Value, axis: Any = None, keepdims: bool = False) -> Value:
        count = np.prod([x.shape[i] for i in counted(axis, len(x.shape))], dtype=np.int64)
        return self._times(
            self._array(Fraction(1, max(int(count), 1))), self._sum(x, axis, keepdims)
        )

    def _total(self, x: Value) -> Value:
        return self._sum(x)

    def _trace(self, x: Value) -> Value:
        return self._sum(self._diagonal(x), -1)

    def _diagonal(self, x: Value) -> Value:
        if x.shape[-1] != x.shape[-2]:
            return self._opaque("diagonal", [x])
        return Value(x.shape[:-1], lambda ix: x.at((*ix, ix[-1])))

    def _unreduce(self, x: Value, shape: Any, axis: Any = None, keepdims: bool = False) -> Value:
        target = tuple(shape)
        gone = counted(axis, len(target))

        def at(ix: tuple[Index, ...]) -> Node:
            own: tuple[Index, ...] = tuple(
                (0 if i in gone else ix[i]) for i in range(len(ix)) if keepdims or i not in gone
            )
            return x.at(own)

        return Value(target, at)

    def _unbroadcast(self, x: Value, shape: Any) -> Value:
        target = tuple(shape)
        extra = len(x.shape) - len(target)
        if x.shape == target:
            return x

        def at(ix: tuple[Index, ...]) -> Node:
            inner, full = [], []
            for i, size in enumerate(x.shape):
                if i < extra or (target[i - extra] == 1 and size != 1):
                    inner.append(self.space.fresh(size))
                    full.append(inner[-1])
                else:
                    full.append(ix[i - extra])
            return total_over(inner, x.at(tuple(full)))

        return Value(target, at)

    def _broadcast_to(self, x: Value, shape: Any) -> Value:
        return Value(tuple(shape), x.fitted)

    def _expand_dims(self, x: Value, axis: Any) -> Value:
        axes = [axis] if isinstance(axis, int) else list(axis)
        rank = len(x.shape) + len(axes)
        new = {one % rank for one in axes}
        sizes = iter(x.shape)
        shape = tuple(1 if i in new else next(sizes) for i in range(rank))
        return Value(shape, lambda ix: x.at(tuple(j for i, j in enumerate(ix) if i not in new)))

    def _column(self, x: Value) -> Value:
        return self._expand_dims(x, 1)

    def _row(self, x: Value) -> Value:
        return self._expand_dims(x, 0)

    def _vector(self, x: Value) -> Value:
        return self._reshape(x, [int(np.prod(x.shape))])

    def _squeeze(self, x: Value, axis: Any = None) -> Value:
        if axis is None:
            gone = {i for i, size in enumerate(x.shape) if size == 1}
        else:
            gone = set(counted(axis, len(x.shape)))
        return self._reshape(x, [size for i, size in enumerate(x.shape) if i not in gone])

    def _reshape(self, x: Value, shape: Any) -> Value:
        target = np.zeros(x.shape).reshape(tuple(shape)).shape
        if [n for n in target if n != 1] != [n for n in x.shape if n != 1]:
            return self._opaque("reshape", [x, list(target)])

        def at(ix: tuple[Index, ...]) -> Node:
            long = iter([i for i, size in zip(ix, target, strict=True) if size != 1])
            return x.at(tuple(0 if size == 1 else next(long) for size in x.shape))

        return Value(target, at)
