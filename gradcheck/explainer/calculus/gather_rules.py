"""The functions that read and write elements at given places: slices, gathers, scatters.

An element that is read at a computed place is a sum over all elements with a condition,
`Σₘ x[m]·[m = i + 1]`, so the product rule and the contraction of deltas need nothing new. Outside
of the array no m meets the condition, which is what padding with zeros means.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradcheck.explainer.calculus.axes import index_parts
from gradcheck.explainer.calculus.einstein import (
    Node,
    NotDerivable,
    Product,
    Tensor,
    select,
    total_over,
)
from gradcheck.explainer.calculus.indices import Form, Index, Lookup, Place, extent, form
from gradcheck.explainer.calculus.values import Rule, Translator, Value, opaque
from gradcheck.ops.language.index_text import parse_index

__all__ = ["GATHER_RULES", "read_at", "take_plain"]


def read_at(t: Translator, x: Value, places: list[Place], letters: str = "") -> Node:
    """The element of x at computed places; zero outside of x."""
    indices: list[Index] = []
    conditions: list[Node] = []
    bound: list[Index] = []
    shown = letters if len(letters) == len(places) else " " * len(places)
    for place, size, letter in zip(places, x.shape, shown, strict=True):
        plain = form(place).index
        if plain is not None and extent(plain) == size:
            indices.append(plain)
            continue
        fresh = t.space.fresh(size, letter.strip())
        indices.append(fresh)
        conditions.append(select("=", fresh, place))
        bound.append(fresh)
    return total_over(bound, Product((x.at(tuple(indices)), *conditions)))


def _write(values: Value, kept: list[Index], conditions: list[Node]) -> Node:
    """The sum of all values whose indices meet the conditions."""
    return total_over(kept, Product((values.at(tuple(kept)), *conditions)))


def _pick(t: Translator, x: Value, index: str) -> Value:
    parts = index_parts(index, x.shape)

    def at(ix: tuple[Index, ...]) -> Node:
        free = iter(ix)
        places: list[Place] = []
        for part in parts:
            own: Place = next(free) if not isinstance(part, int) else part
            if isinstance(part, range):
                places.append(form(own) * part.step + part.start)
            elif isinstance(part, int):
                places.append(part)
        return read_at(t, x, places)

    return Value(np.broadcast_to(0, x.shape)[parse_index(index)].shape, at)


def _put_slice(t: Translator, like: Value, index: str, values: Value) -> Value:
    parts = index_parts(index, like.shape)

    def at(ix: tuple[Index, ...]) -> Node:
        target = iter(ix)
        sizes = iter(values.shape)
        kept: list[Index] = []
        conditions: list[Node] = []
        for part in parts:
            if part is None:
                next(sizes)
                kept.append(0)
            elif isinstance(part, int):
                conditions.append(select("=", next(target), part))
            else:
                kept.append(t.space.fresh(next(sizes)))
                place = form(kept[-1]) * part.step + part.start
                conditions.append(select("=", next(target), place))
        return _write(values, kept, conditions)

    return Value(like.shape, at)


def _take(t: Translator, x: Value, indices: Any, axis: int = 0) -> Value:
    along = axis % len(x.shape)
    if not isinstance(indices, Value):
        return take_plain(t, x, indices, axis)
    rank = len(indices.shape)

    def at(ix: tuple[Index, ...]) -> Node:
        place = _lookup(indices, ix[along : along + rank], x.shape[along])
        return read_at(t, x, [*ix[:along], place, *ix[along + rank :]])

    shape = (*x.shape[:along], *indices.shape, *x.shape[along + 1 :])
    return Value(shape, at)


def take_plain(t: Translator, x: Value, indices: Any, axis: int = 0) -> Value:
    """The slice at a number, which is a place like any other; of a list it is left closed."""
    along = axis % len(x.shape)
    if not isinstance(indices, int):
        return opaque(t.space, "take", [x, indices, axis])
    place = indices % x.shape[along]
    shape = (*x.shape[:along], *x.shape[along + 1 :])
    return Value(shape, lambda ix: read_at(t, x, [*ix[:along], place, *ix[along:]]))


def _gather_nd(t: Translator, x: Value, indices: Value) -> Value:
    outer, depth = indices.shape[:-1], indices.shape[-1]

    def at(ix: tuple[Index, ...]) -> Node:
        places = [
            _lookup(indices, (*ix[: len(outer)], k if depth > 1 else 0), x.shape[k])
            for k in range(depth)
        ]
        return read_at(t, x, [*places, *ix[len(outer) :]])

    return Value((*outer, *x.shape[depth:]), at)


def _scatter_nd(t: Translator, indices: Value, values: Value, shape: Any) -> Value:
    target, depth = tuple(shape), indices.shape[-1]

    def at(ix: tuple[Index, ...]) -> Node:
        outer = [t.space.fresh(size) for size in indices.shape[:-1]]
        conditions = [
            select("=", ix[k], _lookup(indices, (*outer, k if depth > 1 else 0), target[k]))
            for k in range(depth)
        ]
        return total_over(outer, Product((values.at((*outer, *ix[depth:])), *conditions)))

    return Value(target, at)


def _scatter_add(t: Translator, like: Value, indices: Any, values: Value, axis: int = 0) -> Value:
    """Sums by index: at each place all the values whose index it is."""
    along = axis % len(like.shape)
    if not isinstance(indices, Value):
        return opaque(t.space, "scatter_add", [like, indices, values, axis])

    def at(ix: tuple[Index, ...]) -> Node:
        places = [t.space.fresh(size) for size in indices.shape]
        condition = select("=", ix[along], _lookup(indices, tuple(places), like.shape[along]))
        own = values.at((*ix[:along], *places, *ix[along + 1 :]))
        return total_over(places, Product((own, condition)))

    return Value(like.shape, at)


def _one_hot(_t: Translator, indices: Value, count: int) -> Value:
    def at(ix: tuple[Index, ...]) -> Node:
        return select("=", ix[-1], _lookup(indices, ix[:-1], count))

    return Value((*indices.shape, count), at)


def _lookup(indices: Value, at: tuple[Index, ...], below: int) -> Form:
    """An element of an array of whole numbers as a place."""
    node = indices.at(at)
    if not isinstance(node, Tensor):
        raise NotDerivable("computed indices")
    return Form(((Lookup(node.name, node.indices, below), 1),))


GATHER_RULES: dict[str, Rule] = {
    "gather_nd": _gather_nd,
    "one_hot": _one_hot,
    "pick": _pick,
    "put_slice": _put_slice,
    "scatter_add": _scatter_add,
    "scatter_nd": _scatter_nd,
    "take": _take,
}
"""By function of the language."""
