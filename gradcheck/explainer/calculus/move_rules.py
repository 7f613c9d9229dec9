"""The functions that move elements from whole axes to others: `y[i] = x[i + 1]`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.explainer.calculus.axes import axis_groups, counted_axes, flat_place
from gradcheck.explainer.calculus.einstein import Node, Product, Sum, select, total_over
from gradcheck.explainer.calculus.gather_rules import GATHER_RULES, read_at
from gradcheck.explainer.calculus.indices import Form, Index, Place, Remainder, form
from gradcheck.explainer.calculus.sum_rules import reshape_ones, square_diagonal
from gradcheck.explainer.calculus.values import Rule, Translator, Value, opaque
from gradcheck.ops.language.windows import output_sizes

if TYPE_CHECKING:
    from gradcheck.model import Shape

__all__ = ["MOVE_RULES"]

_WINDOW_AXES = "pqr"
"""Letters for the axes of space that a window slides over."""


def _flip(t: Translator, x: Value, axis: Any = None) -> Value:
    turned = counted_axes(axis, len(x.shape))

    def at(ix: tuple[Index, ...]) -> Node:
        places: list[Place] = [
            form(n - 1) - form(i) if k in turned else i
            for k, (i, n) in enumerate(zip(ix, x.shape, strict=True))
        ]
        return read_at(t, x, places)

    return Value(x.shape, at)


def _roll(t: Translator, x: Value, shift: Any, axis: Any = None) -> Value:
    axes = counted_axes(axis, len(x.shape))
    moves = [shift] * len(axes) if isinstance(shift, int) else list(shift)

    def at(ix: tuple[Index, ...]) -> Node:
        places: list[Place] = list(ix)
        for along in set(axes):
            n = x.shape[along]
            total = sum(move for move, one in zip(moves, axes, strict=True) if one == along)
            if total % n:
                places[along] = Form(((Remainder(form(ix[along]) - total, n), 1),))
        return read_at(t, x, places)

    return Value(x.shape, at)


def _tile(t: Translator, x: Value, multiples: Any) -> Value:
    def at(ix: tuple[Index, ...]) -> Node:
        places: list[Place] = [
            i if m == 1 else Form(((Remainder(form(i), n), 1),))
            for i, n, m in zip(ix, x.shape, multiples, strict=True)
        ]
        return read_at(t, x, places)

    return Value(tuple(n * m for n, m in zip(x.shape, multiples, strict=True)), at)


def _reshape(t: Translator, x: Value, shape: Any) -> Value:
    target = np.broadcast_to(0, x.shape).reshape(tuple(shape)).shape
    if [n for n in target if n != 1] == [n for n in x.shape if n != 1] or 0 in target:
        return reshape_ones(t, x, shape)

    def at(ix: tuple[Index, ...]) -> Node:
        # The axes fall into groups of equal size, from the front; only those mix.
        body: list[Node] = []
        own = [t.space.fresh(size) for size in x.shape]
        for old, new in axis_groups(x.shape, target):
            left, right = flat_place(own, x.shape, old), flat_place(list(ix), target, new)
            body.append(select("=", left, right))
        return total_over(own, Product((x.at(tuple(own)), *body)))

    return Value(target, at)


def _part(t: Translator, x: Value, axis: int, start: int, size: int) -> Value:
    along = axis % len(x.shape)

    def at(ix: tuple[Index, ...]) -> Node:
        places: list[Place] = list(ix)
        places[along] = form(ix[along]) + start
        return read_at(t, x, places)

    return Value((*x.shape[:along], size, *x.shape[along + 1 :]), at)


def _concatenate(t: Translator, values: list[Value], axis: int = 0) -> Value:
    along = axis % len(values[0].shape)
    total = sum(value.shape[along] for value in values)

    def at(ix: tuple[Index, ...]) -> Node:
        terms, start = [], 0
        for value in values:
            places: list[Place] = list(ix)
            places[along] = form(ix[along]) - start
            if value.shape[along]:
                terms.append(read_at(t, value, places))
            start += value.shape[along]
        return Sum(tuple(terms))

    first = values[0].shape
    return Value((*first[:along], total, *first[along + 1 :]), at)


def _stack(_t: Translator, values: list[Value], axis: int = 0) -> Value:
    first = values[0].shape
    along = axis % (len(first) + 1)

    def at(ix: tuple[Index, ...]) -> Node:
        rest = (*ix[:along], *ix[along + 1 :])
        return Sum(
            tuple(
                Product((value.at(rest), select("=", ix[along], k)))
                for k, value in enumerate(values)
            )
        )

    return Value((*first[:along], len(values), *first[along:]), at)


def _unstack(t: Translator, x: Value, axis: int = 0) -> list[Value]:
    along = axis % len(x.shape)
    rest = (*x.shape[:along], *x.shape[along + 1 :])

    def slice_at(k: int) -> Value:
        return Value(rest, lambda ix: read_at(t, x, [*ix[:along], k, *ix[along:]]))

    return [slice_at(k) for k in range(x.shape[along])]


def _cumsum(t: Translator, x: Value, axis: int = 0) -> Value:
    along = axis % len(x.shape)

    def at(ix: tuple[Index, ...]) -> Node:
        k = t.space.fresh(x.shape[along])
        if not isinstance(k, str):
            return x.at(ix)
        here = x.at((*ix[:along], k, *ix[along + 1 :]))
        return total_over([k], Product((here, select("<=", k, ix[along]))))

    return Value(x.shape, at)


def _band(x: Value, below: int | None, above: int | None) -> Value:
    """The diagonals from `below` under the main one to `above` over it; None keeps all."""

    def at(ix: tuple[Index, ...]) -> Node:
        row, column = form(ix[-2]), form(ix[-1])
        conditions = []
        if below is not None:
            conditions.append(select("<=", row, column + below))
        if above is not None:
            conditions.append(select("<=", column, row + above))
        return Product((x.at(ix), *conditions))

    return Value(x.shape, at)


def _band_part(_t: Translator, x: Value, lower: int, upper: int) -> Value:
    return _band(x, lower if lower >= 0 else None, upper if upper >= 0 else None)


def _tril(_t: Translator, x: Value, k: int = 0) -> Value:
    return _band(x, None, k)


def _triu(_t: Translator, x: Value, k: int = 0) -> Value:
    return _band(x, -k, None)


def _diagonal(t: Translator, x: Value) -> Value:
    if x.shape[-1] == x.shape[-2]:
        return square_diagonal(t, x)
    shape = (*x.shape[:-2], min(x.shape[-2:]))
    return Value(shape, lambda ix: read_at(t, x, [*ix, ix[-1]]))


def _windows(
    t: Translator, x: Value, size: Any, strides: Any, padding: str, fill: float = 0.0
) -> Value:
    if fill:
        return opaque(t.space, "windows", [x, size, strides, padding, fill])
    places, window, steps, before = _sliding(x.shape[1:-1], size, strides, padding)
    rank = len(window)

    def at(ix: tuple[Index, ...]) -> Node:
        inner = [
            form(ix[1 + k]) * steps[k] + form(ix[1 + rank + k]) - before[k] for k in range(rank)
        ]
        return read_at(t, x, [ix[0], *inner, ix[-1]], f"n{_WINDOW_AXES[:rank]}c")

    return Value((x.shape[0], *places, *window, x.shape[-1]), at)


def _unwindows(
    t: Translator, windows: Value, x: Value, size: Any, strides: Any, padding: str
) -> Value:
    """The opposite of `_windows`: each place of x gets the sum over the windows that see it."""
    window, steps, before = _sliding(x.shape[1:-1], size, strides, padding)[1:]
    rank = len(window)

    def at(ix: tuple[Index, ...]) -> Node:
        places = [t.space.fresh(n) for n in windows.shape[1 : 1 + rank]]
        inside = [t.space.fresh(n) for n in window]
        met = [
            select("=", ix[1 + k], form(places[k]) * steps[k] + form(inside[k]) - before[k])
            for k in range(rank)
        ]
        seen = windows.at((ix[0], *places, *inside, ix[-1]))
        return total_over([*places, *inside], Product((seen, *met)))

    return Value(x.shape, at)


def _sliding(
    space: Shape, size: Any, strides: Any, padding: str
) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """The places along each axis, the window, its steps, and what is padded before."""
    window, steps = (
        (given,) * len(space) if isinstance(given, int) else tuple(given)
        for given in (size, strides)
    )
    places, before, _ = output_sizes(space, window, steps, padding)
    return tuple(places), window, steps, tuple(before)


MOVE_RULES: dict[str, Rule] = GATHER_RULES | {
    "band_part": _band_part,
    "concatenate": _concatenate,
    "cumsum": _cumsum,
    "diagonal": _diagonal,
    "flip": _flip,
    "part": _part,
    "reshape": _reshape,
    "roll": _roll,
    "stack": _stack,
    "tile": _tile,
    "tril": _tril,
    "triu": _triu,
    "unstack": _unstack,
    "unwindows": _unwindows,
    "windows": _windows,
}
"""By function of the language, what is read and written at given places among them."""
