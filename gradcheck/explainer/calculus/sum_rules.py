"""The functions that are sums of products, or that lay axes otherwise, by their elements."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.explainer.calculus.axes import counted_axes, shape_without
from gradcheck.explainer.calculus.einstein import Delta, Node, NotDerivable, Product, total_over
from gradcheck.explainer.calculus.gather_rules import take_plain
from gradcheck.explainer.calculus.values import (
    Rule,
    Translator,
    Value,
    as_value,
    elementwise,
    filled,
    opaque,
    times,
)

if TYPE_CHECKING:
    from gradcheck.explainer.calculus.indices import Index

__all__ = ["SUM_RULES", "reshape_ones", "square_diagonal"]


def _matmul(t: Translator, a: Value, b: Value) -> Value:
    shape = (*np.broadcast_shapes(a.shape[:-2], b.shape[:-2]), a.shape[-2], b.shape[-1])

    def at(ix: tuple[Index, ...]) -> Node:
        k = t.space.fresh(a.shape[-1])
        left, right = (*ix[:-2], ix[-2], k), (*ix[:-2], k, ix[-1])
        return total_over([k], Product((a.fitted(left), b.fitted(right))))

    return Value(shape, at)


def _einsum(t: Translator, equation: str, *operands: Any) -> Value:
    terms, _, output = equation.replace(" ", "").partition("->")
    values = [as_value(operand) for operand in operands]
    if "." in equation:
        raise NotDerivable("an ellipsis")
    letters: dict[str, int] = {}
    for term, value in zip(terms.split(","), values, strict=True):
        for letter, size in zip(term, value.shape, strict=True):
            letters[letter] = max(letters.get(letter, 1), size)

    def at(ix: tuple[Index, ...]) -> Node:
        names: dict[str, Index] = dict(zip(output, ix, strict=True))
        inner = [letter for letter in letters if letter not in output]
        names |= {letter: t.space.fresh(letters[letter], letter) for letter in inner}
        factors = tuple(
            value.fitted(tuple(names[letter] for letter in term))
            for term, value in zip(terms.split(","), values, strict=True)
        )
        return total_over([names[letter] for letter in inner], Product(factors))

    return Value(tuple(letters.get(letter, 1) for letter in output), at)


def _transpose(_t: Translator, x: Value, perm: Any = None) -> Value:
    order = list(perm) if perm is not None else list(range(len(x.shape)))[::-1]

    def at(ix: tuple[Index, ...]) -> Node:
        return x.at(tuple(ix[order.index(axis)] for axis in range(len(order))))

    return Value(tuple(x.shape[axis] for axis in order), at)


def _mT(t: Translator, x: Value) -> Value:  # noqa: N802  (named after the function it translates)
    rank = len(x.shape)
    return _transpose(t, x, [*range(rank - 2), rank - 1, rank - 2])


def _adjoint(t: Translator, x: Value) -> Value:
    return elementwise("conj", [_mT(t, x)])


def _sum(t: Translator, x: Value, axis: Any = None, keepdims: bool = False) -> Value:
    gone = counted_axes(axis, len(x.shape))

    def at(ix: tuple[Index, ...]) -> Node:
        left, full = list(ix), []
        inner = []
        for i, size in enumerate(x.shape):
            if i in gone:
                inner.append(t.space.fresh(size))
                full.append(inner[-1])
                if keepdims:
                    left.pop(0)
            else:
                full.append(left.pop(0))
        return total_over(inner, x.at(tuple(full)))

    return Value(shape_without(x.shape, gone, keepdims), at)


def _mean(t: Translator, x: Value, axis: Any = None, keepdims: bool = False) -> Value:
    count = np.prod([x.shape[i] for i in counted_axes(axis, len(x.shape))], dtype=np.int64)
    return times(Fraction(1, max(int(count), 1)), _sum(t, x, axis, keepdims))


def _total(t: Translator, x: Value) -> Value:
    return _sum(t, x)


def _trace(t: Translator, x: Value) -> Value:
    return _sum(t, t.call("diagonal", [x]), -1)


def square_diagonal(t: Translator, x: Value) -> Value:
    """The diagonal of square matrices; any other is left closed."""
    if x.shape[-1] != x.shape[-2]:
        return opaque(t.space, "diagonal", [x])
    return Value(x.shape[:-1], lambda ix: x.at((*ix, ix[-1])))


def _diag_matrix(_t: Translator, x: Value) -> Value:
    """Matrices with the vectors of the last axis on their diagonals."""
    if x.shape[-1] == 1:
        return Value((*x.shape, 1), lambda ix: x.at(ix[:-1]))
    return Value(
        (*x.shape, x.shape[-1]), lambda ix: Product((Delta(ix[-2], ix[-1]), x.at(ix[:-1])))
    )


def _unreduce(
    _t: Translator, x: Value, shape: Any, axis: Any = None, keepdims: bool = False
) -> Value:
    target = tuple(shape)
    gone = counted_axes(axis, len(target))

    def at(ix: tuple[Index, ...]) -> Node:
        own: tuple[Index, ...] = tuple(
            (0 if i in gone else ix[i]) for i in range(len(ix)) if keepdims or i not in gone
        )
        return x.at(own)

    return Value(target, at)


def _unbroadcast(t: Translator, x: Value, shape: Any) -> Value:
    target = tuple(shape)
    extra = len(x.shape) - len(target)
    if x.shape == target:
        return x

    def at(ix: tuple[Index, ...]) -> Node:
        inner, full = [], []
        for i, size in enumerate(x.shape):
            if i < extra or (target[i - extra] == 1 and size != 1):
                inner.append(t.space.fresh(size))
                full.append(inner[-1])
            else:
                full.append(ix[i - extra])
        return total_over(inner, x.at(tuple(full)))

    return Value(target, at)


def _broadcast_to(_t: Translator, x: Value, shape: Any) -> Value:
    return Value(tuple(shape), x.fitted)


def _expand_dims(_t: Translator, x: Value, axis: Any) -> Value:
    axes = [axis] if isinstance(axis, int) else list(axis)
    rank = len(x.shape) + len(axes)
    new = {one % rank for one in axes}
    sizes = iter(x.shape)
    shape = tuple(1 if i in new else next(sizes) for i in range(rank))
    return Value(shape, lambda ix: x.at(tuple(j for i, j in enumerate(ix) if i not in new)))


def _column(t: Translator, x: Value) -> Value:
    return _expand_dims(t, x, 1)


def _row(t: Translator, x: Value) -> Value:
    return _expand_dims(t, x, 0)


def _vector(t: Translator, x: Value) -> Value:
    flat: Value = t.call("reshape", [x, [int(np.prod(x.shape))]])
    return flat


def _squeeze(t: Translator, x: Value, axis: Any = None) -> Value:
    if axis is None:
        gone = {i for i, size in enumerate(x.shape) if size == 1}
    else:
        gone = set(counted_axes(axis, len(x.shape)))
    kept = [size for i, size in enumerate(x.shape) if i not in gone]
    squeezed: Value = t.call("reshape", [x, kept])
    return squeezed


def reshape_ones(t: Translator, x: Value, shape: Any) -> Value:
    """A shape with other axes of size 1; any other change is left closed."""
    target = np.zeros(x.shape).reshape(tuple(shape)).shape
    if [n for n in target if n != 1] != [n for n in x.shape if n != 1]:
        return opaque(t.space, "reshape", [x, list(target)])

    def at(ix: tuple[Index, ...]) -> Node:
        long = iter([i for i, size in zip(ix, target, strict=True) if size != 1])
        return x.at(tuple(0 if size == 1 else next(long) for size in x.shape))

    return Value(target, at)


def _ones_like(t: Translator, x: Value) -> Value:
    return filled(t.space, "ones", [x.shape])


def _zeros_like(t: Translator, x: Value) -> Value:
    return filled(t.space, "zeros", [x.shape])


def _split(t: Translator, x: Value, parts: Any, axis: int = 0) -> list[Value]:
    size = x.shape[axis % len(x.shape)]
    sizes = [size // parts] * parts if isinstance(parts, int) else list(parts)
    starts = [sum(sizes[:k]) for k in range(len(sizes))]
    pairs = zip(starts, sizes, strict=True)
    return [t.call("part", [x, axis, start, n]) for start, n in pairs]


def _unstack(t: Translator, x: Value, axis: int = 0) -> list[Value]:
    count = x.shape[axis % len(x.shape)]
    return [t.call("take", [x, k, axis]) for k in range(count)]


def _take(t: Translator, x: Value, indices: Any, axis: int = 0) -> Value:
    """One slice is read at its place; several are left closed."""
    if isinstance(indices, int):
        return take_plain(t, x, indices, axis)
    return opaque(t.space, "take", [x, indices, axis])


def _array(_t: Translator, x: Value) -> Value:
    return x


SUM_RULES: dict[str, Rule] = {
    "adjoint": _adjoint,
    "array": _array,
    "broadcast_to": _broadcast_to,
    "column": _column,
    "diag_matrix": _diag_matrix,
    "diagonal": square_diagonal,
    "einsum": _einsum,
    "expand_dims": _expand_dims,
    "mT": _mT,
    "matmul": _matmul,
    "mean": _mean,
    "ones_like": _ones_like,
    "reshape": reshape_ones,
    "row": _row,
    "split": _split,
    "squeeze": _squeeze,
    "sum": _sum,
    "take": _take,
    "total": _total,
    "trace": _trace,
    "transpose": _transpose,
    "unbroadcast": _unbroadcast,
    "unreduce": _unreduce,
    "unstack": _unstack,
    "vector": _vector,
    "zeros_like": _zeros_like,
}
"""By function of the language. Functions that move elements are left closed by these rules."""
