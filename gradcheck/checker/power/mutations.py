"""What people get wrong in gradients, as changes that can be planted in a correct one.

A mutation takes the gradient of one input, and what its author would have had at hand, and gives
the wrong one. The sizes below `COUNTED` are there to find how small an error may be and still be
caught; a gradient that is wrong by less than that hurts nobody.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import causes, limits, tolerances

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from gradcheck.model import Array, Shape

SIZES = tuple(float(f"1e-{exponent}") for exponent in range(1, 13))
"""Relative errors that are planted, from the largest to the smallest."""

WHOLE, ELEMENT = "whole", "element"
"""The two families that come in sizes."""


@dataclass(frozen=True, eq=False)
class Scene:
    """One backward pass: what a gradient function has at hand, and so what it can mix up."""

    position: int
    """The input whose gradient is changed, among those that are differentiated."""
    element: int
    """Its element that is singled out, by flat index."""
    inputs: Sequence[Array]
    """The values of the inputs that are differentiated."""
    outputs: Sequence[Array]
    gradients: Sequence[Array | None]
    for_ones: Callable[[], Sequence[Array | None]]
    """The gradients that an upstream of ones would give."""

    @property
    def gradient(self) -> Array:
        """The correct gradient of the input."""
        return np.asarray(self.gradients[self.position])

    @property
    def value(self) -> Array:
        """The value of the input."""
        return self.inputs[self.position]


@dataclass(frozen=True, eq=False)
class Mutation:
    """One way to be wrong."""

    name: str
    """Stable and unique within an input: `sign`, `whole 1e-3`, `shifted axis 0`."""
    text: str
    """The wrong gradient in a few words."""
    change: Callable[[Scene], Array | None]
    """The wrong gradient of the scene's input."""
    family: str = ""
    size: float | None = None
    """The relative error, where the mutation comes in sizes."""

    @property
    def counted(self) -> bool:
        """Whether a check is expected to catch it."""
        return self.size is None or self.size >= tolerances.COUNTED


def mutations(scene: Scene, names: Sequence[str]) -> Iterator[Mutation]:
    """All that can be planted in the gradient of the scene's input; `names` are the inputs'."""
    for size in SIZES:
        yield _scaled(size)
    for size in SIZES:
        yield _scaled_element(size)
    yield Mutation("sign", "has the wrong sign", lambda s: -s.gradient)
    yield Mutation("zero", "is zero", lambda s: np.zeros_like(s.gradient))
    yield Mutation(
        "constant",
        f"has {causes.CONSTANT_ADDED:g} of its largest element added",
        _with_constant,
    )
    yield from _rearranged(scene.value.shape)
    yield Mutation("upstream ignored", "is that for an upstream of ones", _for_ones)
    yield from _averaged(scene)
    yield from _from_elsewhere(scene, names)
    if np.iscomplexobj(scene.gradient):
        yield Mutation("conjugate", "lacks a conjugate", lambda s: np.conj(s.gradient))
    yield from _factors(scene)
    yield from _holes(scene.value.shape)
    yield Mutation("nan", "is NaN at one element", _with_nan)
    yield Mutation("none", "is None", lambda _: None)


def _scaled(size: float) -> Mutation:
    def change(scene: Scene) -> Array:
        return _like(scene.gradient * (1 + size), scene.gradient)

    text = f"is too large by {_power(size)}"
    return Mutation(f"{WHOLE} {_power(size)}", text, change, WHOLE, size)


def _scaled_element(size: float) -> Mutation:
    def change(scene: Scene) -> Array:
        changed = scene.gradient.copy()
        if changed.size:
            changed.flat[scene.element] *= 1 + size
        return changed

    text = f"is too large by {_power(size)} at one element"
    return Mutation(f"{ELEMENT} {_power(size)}", text, change, ELEMENT, size)


def _power(size: float) -> str:
    """`1e-3`."""
    return f"{size:.0e}".replace("e-0", "e-")


def _with_constant(scene: Scene) -> Array:
    gradient = scene.gradient
    largest = np.max(np.abs(gradient[np.isfinite(gradient)]), initial=0)
    return _like(gradient + causes.CONSTANT_ADDED * largest, gradient)


def _rearranged(shape: Shape) -> Iterator[Mutation]:
    """The right numbers in the wrong places."""
    rank = len(shape)
    last_two = (*range(rank - 2), rank - 1, rank - 2)
    if 2 <= rank <= limits.PERMUTED_RANK:
        for order in permutations(range(rank)):
            fits = order != tuple(range(rank)) and tuple(shape[axis] for axis in order) == shape
            if fits and any(shape[axis] > 1 and axis != i for i, axis in enumerate(order)):
                name, text = f"permuted {list(order)}", f"has its axes in the order {list(order)}"
                if order == last_two:
                    name, text = "transposed", "is transposed"
                yield Mutation(name, text, _permuted(order))
    for axis, size in enumerate(shape):
        if size > 1:
            text = f"is shifted by one along axis {axis}"
            yield Mutation(f"shifted axis {axis}", text, _shifted(axis))
        if size > 2:  # for two elements a shift and a reversal are the same
            text = f"is reversed along axis {axis}"
            yield Mutation(f"reversed axis {axis}", text, _reversed(axis))


def _permuted(order: tuple[int, ...]) -> Callable[[Scene], Array]:
    return lambda scene: np.ascontiguousarray(scene.gradient.transpose(order))


def _shifted(axis: int) -> Callable[[Scene], Array]:
    return lambda scene: np.roll(scene.gradient, 1, axis)


def _reversed(axis: int) -> Callable[[Scene], Array]:
    return lambda scene: np.flip(scene.gradient, axis)


def _for_ones(scene: Scene) -> Array | None:
    return scene.for_ones()[scene.position]


def _averaged(scene: Scene) -> Iterator[Mutation]:
    """Where the input was broadcast, its gradient is a sum: not a mean."""
    shape = scene.value.shape
    factors = set()
    for output in scene.outputs:
        padded = (1,) * (output.ndim - len(shape)) + shape
        repeated = [o for i, o in zip(padded, output.shape, strict=False) if i == 1 and o > 1]
        aligned = all(i in (1, o) for i, o in zip(padded, output.shape, strict=False))
        if len(padded) == output.ndim and aligned and repeated:
            factors |= {*repeated, int(np.prod(repeated))}
    for factor in sorted(factors):
        text = f"is averaged over a broadcast axis of {factor}, not summed"
        yield Mutation(f"averaged {factor}", text, _divided(factor))


def _divided(factor: int) -> Callable[[Scene], Array]:
    return lambda scene: _like(scene.gradient / factor, scene.gradient)


def _from_elsewhere(scene: Scene, names: Sequence[str]) -> Iterator[Mutation]:
    """Another input's gradient, where the shape and dtype give no hint."""
    mine = scene.gradient
    for other, gradient in enumerate(scene.gradients):
        if other == scene.position or gradient is None:
            continue
        if (gradient.shape, gradient.dtype) == (mine.shape, mine.dtype):
            yield Mutation(f"that of {names[other]}", f"is that of {names[other]}", _taken(other))


def _taken(other: int) -> Callable[[Scene], Array | None]:
    return lambda scene: scene.gradients[other]


def _factors(scene: Scene) -> Iterator[Mutation]:
    """A factor of the chain rule too many."""
    yield Mutation(
        "factor x", "has a factor of x too much", lambda s: _like(s.gradient * s.value, s.gradient)
    )
    if len(scene.outputs) == 1 and scene.outputs[0].shape == scene.value.shape:
        yield Mutation(
            "factor out",
            "has a factor of the output too much",
            lambda s: _like(s.gradient * _as(s.outputs[0], s.gradient), s.gradient),
        )


def _holes(shape: Shape) -> Iterator[Mutation]:
    """Right, except in some region, where it is zero."""
    size = int(np.prod(shape, dtype=np.int64))
    if size <= 1:
        return
    corner = (0,) * len(shape)
    yield Mutation("corner", "is zero at its first element", _zeroed(corner))
    for axis, length in enumerate(shape):
        if 1 < length < size:
            where: tuple[int | slice, ...] = (*(slice(None),) * axis, -1)
            text = f"is zero in the last slice of axis {axis}"
            yield Mutation(f"slice axis {axis}", text, _zeroed(where))
    if all(length > 2 for length in shape):
        inside = (slice(1, -1),) * len(shape)
        yield Mutation("border", "is zero along its border", _only(inside))


def _zeroed(where: tuple[int | slice, ...]) -> Callable[[Scene], Array]:
    def change(scene: Scene) -> Array:
        changed = scene.gradient.copy()
        changed[where] = 0
        return changed

    return change


def _only(where: tuple[slice, ...]) -> Callable[[Scene], Array]:
    def change(scene: Scene) -> Array:
        changed = np.zeros_like(scene.gradient)
        changed[where] = scene.gradient[where]
        return changed

    return change


def _with_nan(scene: Scene) -> Array:
    changed = scene.gradient.copy()
    if changed.size:
        changed.flat[scene.element] = np.nan
    return changed


def _like(changed: Array, original: Array) -> Array:
    """In the original's dtype, which numpy's own arithmetic may have left."""
    return np.asarray(_as(changed, original).astype(original.dtype))


def _as(values: Array, original: Array) -> Array:
    """Without an imaginary part where the original has none."""
    return np.asarray(values if np.iscomplexobj(original) else values.real)
