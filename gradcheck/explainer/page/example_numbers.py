"""Values, gradients and Jacobians at one point, computed by the formulas that a page prints.

A gradient is linear in the upstream gradient: with 1 for one element of G and 0 for the others the
formula gives that element's row of the Jacobian, and the gradient is the sum of G times the rows.
"""

from __future__ import annotations

import contextlib
import math
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.errors import ExplainError
from gradcheck.explainer.worked_example import Jacobian, Numbers, Upstream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from gradcheck.explainer.worked_example import Place
    from gradcheck.model import Array, Shape

__all__ = ["MOST_SHOWN_ELEMENTS", "Route", "numbers_of", "too_large"]

MOST_SHOWN_ELEMENTS = 100
"""Of an input, and of all outputs: more numbers are not looked at one by one."""
_MOST_INSIDE = 10_000
"""Of a value between them: small inputs may be repeated to something that fills the memory."""

_SAME = 1e-9
"""Relative: a gradient that moves by less does not depend on what was moved."""

_ROUNDING = 2.0**-44
"""Relative to the largest entry of a Jacobian: less is rounding."""


@dataclass(frozen=True, slots=True)
class Route:
    """How the values are computed on the way forward, and the gradients on the way back."""

    shapes: Mapping[str, Shape]
    """Of all inputs."""
    wanted: Mapping[str, str]
    """The inputs whose gradients are looked at, with their symbols."""
    moving: tuple[str, ...]
    """The inputs that have a gradient."""
    symbols: tuple[tuple[str, str], ...]
    """Of each output: that of its upstream gradient, and its own."""
    forward: Callable[[Mapping[str, Array]], dict[str, Any]]
    """From the inputs to the values of all names."""
    outputs: Callable[[Mapping[str, Any]], list[Any]]
    """Of all names those of the outputs."""
    back: Callable[[Mapping[str, Any], list[Array]], dict[str, Array]]
    """From those and the upstream gradients to the gradients of all places."""


def numbers_of(
    route: Route, values: Mapping[str, Array], upstream: list[Array] | None, *, given: bool
) -> Numbers:
    """Everything at a point; ExplainError where there is nothing to show.

    Args:
        route: how it is computed.
        values: of the inputs.
        upstream: the gradients of the outputs; drawn where it is None.
        given: whether the point was asked for.
    """
    if any(np.iscomplexobj(value) for value in values.values()):
        raise ExplainError("the numbers are complex")
    known = route.forward(values)
    outputs = [_real(value) for value in route.outputs(known)]
    weights = _upstream(outputs) if upstream is None else upstream
    if [value.shape for value in weights] != [value.shape for value in outputs]:
        raise ExplainError("G is not of the shape of the output")
    gradients = {n: _real(value) for n, value in route.back(known, weights).items()}
    if not all(np.isfinite(value).all() for value in (*outputs, *gradients.values())):
        raise ExplainError("not all numbers are finite at this point")
    matrices = _matrices(route, known, outputs)

    @cache
    def dependence() -> dict[str, dict[str, Array]]:
        return _dependence(route, values, outputs)

    def made_of(name: str) -> Callable[[], dict[str, Array]]:
        return lambda: dependence()[name]

    shown = {name: _real(value) for name, value in known.items() if _is_array(value)}
    return Numbers(
        given,
        {**shown, **{name: np.asarray(value) for name, value in values.items()}},
        gradients,
        tuple(
            Upstream(symbol, output, value, result)
            for (symbol, output), value, result in zip(route.symbols, weights, outputs, strict=True)
        ),
        tuple(
            Jacobian(name, symbol, tuple(route.shapes[name]), matrices[name], made_of(name))
            for name, symbol in route.wanted.items()
        ),
    )


def _is_array(value: Any) -> bool:
    return (
        isinstance(value, np.ndarray | np.generic | float) and np.asarray(value).dtype.kind == "f"
    )


def too_large(places: Sequence[Place]) -> str:
    """Why these values are not computed, by their shapes alone; empty where they can be."""
    for place in places:
        size = sum(math.prod(shape) for shape in place.shapes)
        ends = not place.op or place is places[-1]
        most = MOST_SHOWN_ELEMENTS if ends else _MOST_INSIDE
        if not size:
            return f"{place.symbol} has no elements"
        if size > most:
            told = f"{most} can be looked at one by one" if ends else f"{most} are computed"
            return f"{place.symbol} has {size} elements, and {told}: give smaller shapes"
    return ""


def _real(value: Any) -> Array:
    array = np.asarray(value)
    if array.dtype.kind == "c":
        raise ExplainError("the numbers are complex")
    return array.astype(np.float64)


def _upstream(outputs: list[Array]) -> list[Array]:
    """Numbers with one digit, none of them 0."""
    rng = np.random.default_rng(0)
    found = []
    for value in outputs:
        signs = rng.choice([-1.0, 1.0], value.shape)
        found.append(np.asarray(signs * np.round(rng.uniform(0.15, 1.5, value.shape), 1)))
    return found


def _split(flat: Array, like: list[Array]) -> list[Array]:
    ends = np.cumsum([value.size for value in like])[:-1]
    return [
        part.reshape(value.shape) for part, value in zip(np.split(flat, ends), like, strict=True)
    ]


def _matrices(route: Route, known: Mapping[str, Any], outputs: list[Array]) -> dict[str, Array]:
    count = sum(value.size for value in outputs)
    rows: dict[str, list[Array]] = {name: [] for name in route.wanted}
    for unit in np.eye(count):
        found = route.back(known, _split(unit, outputs))
        for name, kept in rows.items():
            if np.shape(found[name]) != tuple(route.shapes[name]):
                raise ExplainError(f"the gradient of {name} is not of its shape")
            kept.append(np.ravel(_real(found[name])))
    return {name: _without_rounding(np.array(kept)) for name, kept in rows.items()}


def _without_rounding(matrix: Array) -> Array:
    """What is nothing but rounding beside the largest entry is zero: the pattern shows it."""
    least = _ROUNDING * float(np.max(np.abs(matrix), initial=0.0))
    return np.where(np.abs(matrix) <= least, 0.0, matrix)


def _dependence(
    route: Route, values: Mapping[str, Array], outputs: list[Array]
) -> dict[str, dict[str, Array]]:
    """Which elements of the inputs each element of a gradient depends on: each is moved alone.

    By a little, and so far that another element may be the largest. G is one of its own, with no
    zero and no symmetry that would hide something.
    """
    rng = np.random.default_rng(1)
    weights = [rng.uniform(0.5, 1.5, value.shape) for value in outputs]

    def gradients(point: Mapping[str, Array]) -> dict[str, Array]:
        found = route.back(route.forward(point), weights)
        return {name: np.ravel(_real(found[name])) for name in route.wanted}

    start = gradients(values)
    found: dict[str, dict[str, Array]] = {name: {} for name in route.wanted}
    for source in route.moving:
        size = int(np.size(values[source]))
        depends = {n: np.zeros((start[n].size, size), dtype=bool) for n in route.wanted}
        for place in range(size):
            for point in _moved(values, source, place):
                # (Outside of the domain there may be none: a matrix without an inverse.)
                with contextlib.suppress(ArithmeticError, ValueError, IndexError, ExplainError):
                    there = gradients(point)
                    for name, before in start.items():
                        depends[name][:, place] |= _differs(there[name], before)
        for name, which in depends.items():
            if which.any():
                found[name][source] = which
    return found


def _moved(values: Mapping[str, Array], source: str, place: int) -> Iterator[dict[str, Array]]:
    """The point with one element moved."""
    reach = 1.0 + 2.0 * float(np.max(np.abs(values[source])))
    for by in (1e-3, reach, -reach):
        moved = np.array(values[source], dtype=np.float64)
        moved.flat[place] += by
        yield {**values, source: moved}


def _differs(there: Array, before: Array) -> Array:
    scale = float(np.max(np.abs(before), initial=0.0)) or 1.0
    with np.errstate(all="ignore"):
        # (NaN is another number.)
        return np.asarray(~(np.abs(there - before) <= _SAME * scale))
