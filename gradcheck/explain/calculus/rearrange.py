"""The functions that move elements, as Einstein-notation expressions: `y[i] = x[i + 1]`.

An element that is read at a computed place is a sum over all elements with a condition,
`Σₘ x[m]·[m = i + 1]`, so the product rule and the contraction of deltas need nothing new. Outside
of the array no m meets the condition, which is what padding with zeros means.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradcheck.explain.calculus.axes import axis_groups, flat_place, index_parts, listed_axes
from gradcheck.explain.calculus.einstein import (
    Index,
    Node,
    NotDerivable,
    Product,
    Sum,
    Tensor,
    Total,
    select,
)
from gradcheck.explain.calculus.indices import Form, Lookup, Remainder, extent, form
from gradcheck.explain.calculus.translate import Translation, Value
from gradcheck.ops.language.index_text import parse_index
from gradcheck.ops.language.windows import output_sizes

__all__ = ["Rearrangement"]

Place = Form | Index
_AXES = "pqr"
"""The axes of space of what a window slides over."""


class Rearrangement(Translation):
    """A translation that also looks into the functions that move elements."""

    def _read(self, x: Value, places: list[Place], letters: str = "") -> Node:
        """The element of x at computed places; zero outside of x."""
        indices: list[Index] = []
        conditions: list[Node] = []
        bound: list[str] = []
        shown = letters if len(letters) == len(places) else " " * len(places)
        for place, size, letter in zip(places, x.shape, shown, strict=True):
            plain = form(place).index
            if plain is not None and extent(plain) == size:
                indices.append(plain)
                continue
            fresh = self.space.fresh(size, letter.strip())
            indices.append(fresh)
            conditions.append(select("=", fresh, place))
            bound += [fresh] if isinstance(fresh, str) else []
        body = Product((x.at(tuple(indices)), *conditions))
        return Total(tuple(bound), body) if bound else body

    def _write(self, values: Value, kept: list[Index], conditions: list[Node]) -> Node:
        """The sum of all values whose indices meet the conditions."""
        body = Product((values.at(tuple(kept)), *conditions))
        bound = tuple(index for index in kept if isinstance(index, str))
        return Total(bound, body) if bound else body

    def _pick(self, x: Value, index: str) -> Value:
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
            return self._read(x, places)

        return Value(np.broadcast_to(0, x.shape)[_array_index(index)].shape, at)

    def _put_slice(self, like: Value, index: str, values: Value) -> Value:
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
                    kept.append(self.space.fresh(next(sizes)))
                    place = form(kept[-1]) * part.step + part.start
                    conditions.append(select("=", next(target), place))
            return self._write(values, kept, conditions)

        return Value(like.shape, at)

    def _take(self, x: Value, indices: Any, axis: int = 0) -> Value:
        along = axis % len(x.shape)
        if not isinstance(indices, Value):
            return self._opaque("take", [x, indices, axis])
        rank = len(indices.shape)

        def at(ix: tuple[Index, ...]) -> Node:
            place = _lookup(indices, ix[along : along + rank], x.shape[along])
            return self._read(x, [*ix[:along], place, *ix[along + rank :]])

        shape = (*x.shape[:along], *indices.shape, *x.shape[along + 1 :])
        return Value(shape, at)

    def _gather_nd(self, x: Value, indices: Value) -> Value:
        outer, depth = indices.shape[:-1], indices.shape[-1]

        def at(ix: tuple[Index, ...]) -> Node:
            places = [
                _lookup(indices, (*ix[: len(outer)], k if depth > 1 else 0), x.shape[k])
                for k in range(depth)
            ]
            return self._read(x, [*places, *ix[len(outer) :]])

        return Value((*outer, *x.shape[depth:]), at)

    def _scatter_nd(self, indices: Value, values: Value, shape: Any) -> Value:
        target, depth = tuple(shape), indices.shape[-1]

        def at(ix: tuple[Index, ...]) -> Node:
            outer = [self.space.fresh(size) for size in indices.shape[:-1]]
            conditions = [
                select("=", ix[k], _lookup(indices, (*outer, k if depth > 1 else 0), target[k]))
                for k in range(depth)
            ]
            body = Product((values.at((*outer, *ix[depth:])), *conditions))
            bound = tuple(index for index in outer if isinstance(index, str))
            return Total(bound, body) if bound else body

        return Value(target, at)

    def _one_hot(self, indices: Value, count: int) -> Value:
        def at(ix: tuple[Index, ...]) -> Node:
            return select("=", ix[-1], _lookup(indices, ix[:-1], count))

        return Value((*indices.shape, count), at)

    def _flip(self, x: Value, axis: Any = None) -> Value:
        turned = listed_axes(axis, len(x.shape))

        def at(ix: tuple[Index, ...]) -> Node:
            places: list[Place] = [
                form(n - 1) - form(i) if k in turned else i
                for k, (i, n) in enumerate(zip(ix, x.shape, strict=True))
            ]
            return self._read(x, places)

        return Value(x.shape, at)

    def _roll(self, x: Value, shift: Any, axis: Any = None) -> Value:
        axes = listed_axes(axis, len(x.shape))
        moves = [shift] * len(axes) if isinstance(shift, int) else list(shift)

        def at(ix: tuple[Index, ...]) -> Node:
            places: list[Place] = list(ix)
            for along in set(axes):
                n = x.shape[along]
                total = sum(move for move, one in zip(moves, axes, strict=True) if one == along)
                if total % n:
                    places[along] = Form(((Remainder(form(ix[along]) - total, n), 1),))
            return self._read(x, places)

        return Value(x.shape, at)

    def _tile(self, x: Value, multiples: Any) -> Value:
        def at(ix: tuple[Index, ...]) -> Node:
            places: list[Place] = [
                i if m == 1 else Form(((Remainder(form(i), n), 1),))
                for i, n, m in zip(ix, x.shape, multiples, strict=True)
            ]
            return self._read(x, places)

        return Value(tuple(n * m for n, m in zip(x.shape, multiples, strict=True)), at)

    def _reshape(self, x: Value, shape: Any) -> Value:
        target = np.broadcast_to(0, x.shape).reshape(tuple(shape)).shape
        if [n for n in target if n != 1] == [n for n in x.shape if n != 1] or 0 in target:
            return super()._reshape(x, shape)

        def at(ix: tuple[Index, ...]) -> Node:
            # The axes fall into groups of equal size, from the front; only those mix.
            body: list[Node] = []
            own = [self.space.fresh(size) for size in x.shape]
            for old, new in axis_groups(x.shape, target):
                left, right = flat_place(own, x.shape, old), flat_place(list(ix), target, new)
                body.append(select("=", left, right))
            bound = tuple(index for index in own if isinstance(index, str))
            return Total(bound, Product((x.at(tuple(own)), *body)))

        return Value(target, at)

    def _part(self, x: Value, axis: int, start: int, size: int) -> Value:
        along = axis % len(x.shape)

        def at(ix: tuple[Index, ...]) -> Node:
            places: list[Place] = list(ix)
            places[along] = form(ix[along]) + start
            return self._read(x, places)

        return Value((*x.shape[:along], size, *x.shape[along + 1 :]), at)

    def _concatenate(self, values: list[Value], axis: int = 0) -> Value:
        along = axis % len(values[0].shape)
        total = sum(value.shape[along] for value in values)

        def at(ix: tuple[Index, ...]) -> Node:
            terms, start = [], 0
            for value in values:
                places: list[Place] = list(ix)
                places[along] = form(ix[along]) - start
                if value.shape[along]:
                    terms.append(self._read(value, places))
                start += value.shape[along]
            return Sum(tuple(terms))

        first = values[0].shape
        return Value((*first[:along], total, *first[along + 1 :]), at)

    def _stack(self, values: list[Value], axis: int = 0) -> Value:
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

    def _unstack(self, x: Value, axis: int = 0) -> list[Value]:
        along = axis % len(x.shape)
        rest = (*x.shape[:along], *x.shape[along + 1 :])

        def slice_at(k: int) -> Value:
            return Value(rest, lambda ix: self._read(x, [*ix[:along], k, *ix[along:]]))

        return [slice_at(k) for k in range(x.shape[along])]

    def _cumsum(self, x: Value, axis: int = 0) -> Value:
        along = axis % len(x.shape)

        def at(ix: tuple[Index, ...]) -> Node:
            k = self.space.fresh(x.shape[along])
            if not isinstance(k, str):
                return x.at(ix)
            here = x.at((*ix[:along], k, *ix[along + 1 :]))
            return Total((k,), Product((here, select("<=", k, ix[along]))))

        return Value(x.shape, at)

    def _band(self, x: Value, below: int | None, above: int | None) -> Value:
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

    def _band_part(self, x: Value, lower: int, upper: int) -> Value:
        return self._band(x, lower if lower >= 0 else None, upper if upper >= 0 else None)

    def _tril(self, x: Value, k: int = 0) -> Value:
        return self._band(x, None, k)

    def _triu(self, x: Value, k: int = 0) -> Value:
        return self._band(x, -k, None)

    def _diagonal(self, x: Value) -> Value:
        if x.shape[-1] == x.shape[-2]:
            return super()._diagonal(x)
        shape = (*x.shape[:-2], min(x.shape[-2:]))
        return Value(shape, lambda ix: self._read(x, [*ix, ix[-1]]))

    def _windows(self, x: Value, size: Any, strides: Any, padding: str, fill: float = 0.0) -> Value:
        if fill:
            return self._opaque("windows", [x, size, strides, padding, fill])
        space = x.shape[1:-1]
        window, steps = (
            (given,) * len(space) if isinstance(given, int) else tuple(given)
            for given in (size, strides)
        )
        places, before, _ = output_sizes(space, window, steps, padding)
        rank = len(space)

        def at(ix: tuple[Index, ...]) -> Node:
            inner = [
                form(ix[1 + k]) * steps[k] + form(ix[1 + rank + k]) - before[k] for k in range(rank)
            ]
            return self._read(x, [ix[0], *inner, ix[-1]], f"n{_AXES[:rank]}c")

        return Value((x.shape[0], *places, *window, x.shape[-1]), at)


def _array_index(text: str) -> Any:
    return parse_index(text)


def _lookup(indices: Value, at: tuple[Index, ...], below: int) -> Form:
    """An element of an array of whole numbers as a place."""
    node = indices.at(at)
    if not isinstance(node, Tensor):
        raise NotDerivable("computed indices")
    return Form(((Lookup(node.name, node.indices, below), 1),))
