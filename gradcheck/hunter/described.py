"""A failing call asked again as its function is meant to be called: this runs in a worker.

Eagerly, kernels take shapes that their descriptions do not allow, by chance of how they are
written: fewer axes than are described, and what is broadcast where nothing says so. Losses take
any decimals for the number of a class. What fails there, and not as it is meant, is a matter of
opinion.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.hunter.around_point import SAME_COARSE, value_of
from gradcheck.hunter.documented import axes_described, demands_a_shape
from gradcheck.hunter.drafts import (
    Draft,
    array_of,
    copied,
    is_differentiated,
    tensors,
    with_array,
)
from gradcheck.hunter.failures import Failure, FailureKind
from gradcheck.hunter.run_script import run_script
from gradcheck.hunter.script import program_of
from gradcheck.hunter.script_parts import NoScriptError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

    IsRight = Callable[[FailureKind, ModuleType, str, str], bool]

    from gradcheck.model import Array

MOST_SHAPES = 12
"""Shapes that one input is asked for again with."""


def right_as_described(module: ModuleType, request: dict[str, Any], is_right: IsRight) -> str:
    """How the call is meant, where it is right so; empty where it is wrong in all shapes.

    Without it `test_what_fails_outside_of_what_is_described` fails.
    """
    kind, value = FailureKind(request["kind"]), value_of(module)
    for draft in described_calls(request["draft"]):
        again, wrong = _run(draft, request)
        # (What raises is not taken in that shape, or no better in it.)
        if again is None or not np.isclose(value_of(again), value, rtol=SAME_COARSE):
            continue
        if is_right(kind, again, wrong, str(request["dtype"])):
            shapes = {name: list(a.shape) for name, a in _named(draft)}
            return f"it is right with the shapes that are described, as {shapes}"
    return ""


def right_with_classes(module: ModuleType, request: dict[str, Any], is_right: IsRight) -> str:
    """Which input is read as whole numbers, where it is right with those; else empty.

    Labels may be given as decimals, and -1.5 is no class. Without it
    `test_decimals_that_are_no_classes` fails.
    """
    draft, kind = request["draft"], FailureKind(request["kind"])
    for path, array in _arrays(draft):
        if array.dtype.kind != "f" or (array == np.abs(np.trunc(array))).all():
            continue
        same, _ = _run(_with(draft, _for_one(path, np.trunc)), request)
        if same is None or value_of(same) != value_of(module):
            continue
        first, wrong = _run(_with(draft, _for_one(path, np.zeros_like)), request)
        if first is not None and is_right(kind, first, wrong, str(request["dtype"])):
            return f"{path[0]} is read as whole numbers, and it is right with zeros"
    return ""


def _run(draft: Draft, request: dict[str, Any]) -> tuple[ModuleType | None, str]:
    """A call's program after it ran, and what it names as wrong; None where it raises."""
    kind = FailureKind(request["kind"])
    failure = Failure(kind, (request["wrong"],), about=request["about"], text=request["text"])
    try:
        program = program_of(draft, failure)
    except NoScriptError:
        return None, ""
    module, _, raised = run_script(program.text)
    return (None if raised else module), program.wrong


def _named(draft: Draft) -> Iterator[tuple[str, Array]]:
    return ((str(path[0]), array) for path, array in _arrays(draft) if array.dtype.kind in "fc")


def described_calls(draft: Draft) -> Iterator[Draft]:
    """The call with the axes that are described, and with each shape that one may be meant in.

    Which of several shapes is the described one is not known: whoever takes one of them for
    another tells nothing of its own.
    """
    least = axes_described(draft)
    fewer = {path: n for path, n in least.items() if n > 0}
    if fewer:
        yield _with(draft, lambda path, a: _wider(a, fewer.get(path, 0)))
    if demands_a_shape(draft):
        sizes = {size for _, a in _arrays(draft) for size in (*a.shape, *_wholes(a))}
        for path, array in _arrays(draft):
            if array.dtype.kind not in "fc":
                continue
            for shape in itertools.islice(_other_shapes(array, sizes), MOST_SHAPES):
                yield _with(draft, _one(path, shape))


def _one(path: tuple[Any, ...], shape: tuple[int, ...]) -> Callable[[Any, Array], Array]:
    return _for_one(path, lambda array: _as_shape(array, shape))


def _for_one(
    path: tuple[Any, ...], made: Callable[[Array], Array]
) -> Callable[[Any, Array], Array]:
    return lambda each, array: made(array) if each == path else array


def _as_shape(array: Array, shape: tuple[int, ...]) -> Array:
    same = array.size == int(np.prod(shape))
    return array.reshape(shape) if same else np.array(np.broadcast_to(array, shape))


def _wholes(array: Array) -> list[int]:
    """What may be the size of an axis: the numbers of places and shapes."""
    return [int(n) for n in array.ravel() if 0 < n < 8] if array.dtype.kind in "iu" else []


def _other_shapes(array: Array, sizes: set[int]) -> Iterator[tuple[int, ...]]:
    """Those with as many elements and other axes of one, and those that it is broadcast to."""
    plain = tuple(size for size in array.shape if size != 1)
    found = {plain, *((*(1,) * n, *array.shape) for n in (1, 2))}
    longer = sorted(size for size in sizes if size > 1)
    for shape in (array.shape, (1, *array.shape)):
        ones = [n for n, size in enumerate(shape) if size == 1]
        for chosen in itertools.product((1, *longer), repeat=len(ones)):
            new = list(shape)
            for place, size in zip(ones, chosen, strict=True):
                new[place] = size
            found.add(tuple(new))
    yield from sorted(found - {array.shape}, key=lambda shape: (len(shape), shape))


def _wider(array: Array, axes: int) -> Array:
    return array.reshape((1,) * (axes - array.ndim) + array.shape) if axes > array.ndim else array


def _arrays(draft: Draft) -> Iterator[tuple[tuple[Any, ...], Array]]:
    for path, entry in tensors(draft):
        array = array_of(entry)
        if array is not None and (is_differentiated(entry) or array.dtype.kind in "iufc"):
            yield path, array


def _with(draft: Draft, made: Callable[[tuple[Any, ...], Array], Array]) -> Draft:
    new = copied(draft)
    for path, entry in tensors(new):
        array = array_of(entry)
        if array is not None and array.size:
            kept = {k: v for k, v in entry.items() if k not in ("values", "shape", "sample")}
            entry.clear()
            entry.update(with_array(kept, made(path, array)))
    return new
