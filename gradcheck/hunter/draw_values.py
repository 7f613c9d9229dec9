"""Numbers to call a function with: plain ones, and the points where gradient functions are wrong.

Those are zeros, ties, the ends of domains, the ends of the number range, repeated and unsorted
indices, empty axes and axes of one: where a formula divides, where a branch changes, where several
elements share something.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gradcheck.hunter.drafts import COMPLEX, rounded
from gradcheck.start.shape_ladder import shape_sets

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gradcheck.model import Array, Shape

Draw = np.random.Generator

MOST_ELEMENTS = 200
"""Of a tensor: what is wrong shows in few, and few are quick to look at."""

_EXPONENTS = {"float16": 3, "bfloat16": 30, "float32": 30, "complex64": 15}
"""Powers of ten that are huge for a type and still have room for a product; 100 for the others."""


def _normal(rng: Draw, shape: Shape) -> Array:
    return rng.normal(size=shape)


def _spd(rng: Draw, shape: Shape) -> Array:
    """Positive definite matrices where the shape has them; else positive numbers."""
    if len(shape) < 2 or shape[-1] != shape[-2]:
        return rng.uniform(0.5, 2.0, size=shape)
    half = rng.normal(size=shape)
    return np.asarray(half @ np.swapaxes(half, -1, -2) + shape[-1] * np.eye(shape[-1]))


def _with_some(value: float) -> Callable[[Draw, Shape], Array]:
    """Numbers of which about a third are this one."""

    def drawn(rng: Draw, shape: Shape) -> Array:
        return np.where(rng.random(shape) < 0.35, value, rng.normal(size=shape))

    return drawn


def _ties(rng: Draw, shape: Shape) -> Array:
    return rng.choice([0.5, 2.0], size=shape)


PLAIN: dict[str, Callable[[Draw, Shape], Array]] = {
    "normal": _normal,
    "positive": lambda rng, shape: rng.uniform(0.5, 2.0, size=shape),
    "unit": lambda rng, shape: rng.uniform(0.1, 0.9, size=shape),
    "above one": lambda rng, shape: rng.uniform(1.25, 3.0, size=shape),
    "positive definite": _spd,
}
"""By name: points at which most functions are smooth."""

SPECIAL: dict[str, Callable[[Draw, Shape], Array]] = {
    "zeros": lambda _, shape: np.zeros(shape),
    "some zeros": _with_some(0.0),
    "ones": lambda _, shape: np.ones(shape),
    "some ones": _with_some(1.0),
    "ties": _ties,
    "whole": lambda rng, shape: rng.integers(-3, 4, size=shape).astype(float),
    "large": lambda rng, shape: 30.0 * rng.normal(size=shape),
}
"""By name: points that are special to some function."""


def values(rng: Draw, shape: Shape, dtype: str, *, special: bool) -> tuple[str, Array]:
    """Values of the shape, with the name of how they were drawn."""
    styles = {**PLAIN, **(SPECIAL if special else {})}
    names = [*styles, *(("huge", "tiny", "infinite") if special else ())]
    weights = np.array([4.0 if name in ("normal", "positive") else 1.0 for name in names])
    weights[names.index("unit")] = 2.0
    name = str(rng.choice(names, p=weights / weights.sum()))
    if name in styles:
        drawn = np.asarray(styles[name](rng, shape))
        turned = styles[name](rng, shape) if dtype in COMPLEX else None
    else:
        drawn, turned = _extreme(name, rng, shape, dtype), None
    if turned is not None and name == "positive definite" and len(shape) > 1:
        turned = np.tril(turned) - np.swapaxes(np.tril(turned), -1, -2) if _square(shape) else None
        turned = None if turned is None else 0.1 * turned
    if turned is not None:
        drawn = drawn + 1j * np.asarray(turned)
    elif dtype in COMPLEX:
        drawn = drawn + 0.0j
    return name, rounded(np.asarray(drawn))


def _square(shape: Shape) -> bool:
    return len(shape) > 1 and shape[-1] == shape[-2]


def _extreme(name: str, rng: Draw, shape: Shape, dtype: str) -> Array:
    plain = rng.normal(size=shape)
    power = _EXPONENTS.get(dtype, 100)
    extreme = {"huge": 10.0**power, "tiny": 10.0**-power, "infinite": np.inf}[name]
    chosen = rng.random(shape) < 0.4
    return np.where(chosen, np.where(plain < 0, -extreme, extreme), plain)


def shapes(rng: Draw, count: int) -> list[Shape]:
    """Shapes of so many tensors that belong to one call."""
    sizes = _sizes(rng)

    def of_rank(rank: int) -> Shape:
        return tuple(int(rng.choice(sizes)) for _ in range(rank))

    way = rng.random()
    first = of_rank(int(rng.choice([0, 1, 2, 2, 3, 3, 4, 4, 5], p=None)))
    if way < 0.3 and count:
        ladder = list(shape_sets(count, layer=False, image=bool(rng.integers(2))))
        drawn = [tuple(shape) for shape in ladder[int(rng.integers(len(ladder)))]]
    elif way < 0.55:
        drawn = [first] * count
    elif way < 0.8:
        parts = (first[-1:], first[:1], (), first[1:], first[:-1], first)
        drawn = [first, *(parts[int(rng.integers(len(parts)))] for _ in range(count - 1))]
    else:
        drawn = [of_rank(int(rng.integers(0, 5))) for _ in range(count)]
    return [_bounded(shape) for shape in drawn[:count]]


def _sizes(rng: Draw) -> Sequence[int]:
    """The sizes that the axes of a call may have: often one alone, so that shapes fit."""
    way = rng.random()
    if way < 0.55:
        return [int(rng.choice([2, 3, 4]))]
    if way < 0.75:
        return [1, int(rng.choice([2, 3]))]
    return [0, 2, 3] if way < 0.8 else [2, 3, 4, 5]


def _bounded(shape: Shape) -> Shape:
    sizes = list(shape)
    while np.prod(sizes, dtype=float) > MOST_ELEMENTS:
        sizes[int(np.argmax(sizes))] -= 1
    return tuple(sizes)


def whole_numbers(rng: Draw, name: str, shape: Shape) -> Array:
    """Whole numbers for a parameter of this name, beside a tensor of this shape.

    The name decides as a rule; now and then any other way is tried, for names may mislead.
    """
    way = next((each for words, each in _WAYS if any(word in name for word in words)), None)
    if way is None or rng.random() < 0.2:
        way = _ANY[int(rng.integers(len(_ANY)))]
    return np.asarray(way(rng, shape), dtype=np.int64)


def _axis(rng: Draw, shape: Shape) -> Array:
    rank = max(1, len(shape))
    return np.asarray(rng.integers(-rank, rank))


def _axes(rng: Draw, shape: Shape) -> Array:
    count = int(rng.integers(0, len(shape) + 1))
    return np.sort(rng.permutation(len(shape))[:count])


def _permutation(rng: Draw, shape: Shape) -> Array:
    return rng.permutation(len(shape))


def _same_shape(_: Draw, shape: Shape) -> Array:
    return np.array(shape, dtype=np.int64)


def _larger_shape(rng: Draw, shape: Shape) -> Array:
    return np.array([*([2] if rng.integers(2) else []), *(max(1, s) for s in shape)])


def _pairs(rng: Draw, shape: Shape) -> Array:
    return rng.integers(0, 2, size=(max(1, len(shape)), 2))


def _indices(rng: Draw, shape: Shape) -> Array:
    """Places along the first axis, some of them twice."""
    size = shape[0] if shape else 1
    count = int(rng.integers(0, 4))
    last = ((), (1,), (len(shape),))[int(rng.integers(3))]
    return rng.integers(0, max(1, size), size=(count, *last) if rng.integers(4) else ())


def _segments(rng: Draw, shape: Shape) -> Array:
    drawn = rng.integers(0, 3, size=shape[:1] or (1,))
    return np.sort(drawn) if rng.integers(2) else drawn


def _count(rng: Draw, _: Shape) -> Array:
    return np.asarray(rng.integers(1, 4))


def _zeros(_: Draw, shape: Shape) -> Array:
    return np.zeros(len(shape), dtype=np.int64)


def _ones(_: Draw, shape: Shape) -> Array:
    return np.ones(len(shape), dtype=np.int64)


def _image_size(rng: Draw, _: Shape) -> Array:
    return rng.integers(1, 6, size=2)


def _lengths(rng: Draw, shape: Shape) -> Array:
    """Of the last axes: as they are, a little less, a little more."""
    count = int(rng.integers(1, max(2, min(len(shape), 3) + 1)))
    sizes = np.array(shape[-count:] or (1,), dtype=np.int64)
    return np.asarray(np.maximum(1, sizes + rng.choice([-1, 0, 0, 1], size=len(sizes))))


def _like(rng: Draw, shape: Shape) -> Array:
    return rng.integers(0, 2, size=shape)


_ANY = (
    *(_axis, _axes, _permutation, _same_shape, _pairs, _indices, _segments, _count),
    *(_zeros, _ones, _image_size, _like, _lengths),
)
_WAYS: tuple[tuple[tuple[str, ...], Callable[[Draw, Shape], Array]], ...] = (
    (("num_segments", "num_split", "depth", "num_"), _count),
    (("fft_length",), _lengths),
    (("axis", "dim", "split_dim", "batch_dims"), _axis),
    (("axes", "reduction_ind"), _axes),
    (("perm",), _permutation),
    (("padding", "crops"), _pairs),
    (("segment", "partition"), _segments),
    (("ind", "ids", "label", "token", "position"), _indices),
    (("begin", "offset", "start"), _zeros),
    (("strides", "multiples", "window", "ksize", "rates", "dilations"), _ones),
    (("newshape", "shape"), _same_shape),
    (("size",), _image_size),
    (("k", "n", "lower", "upper", "num"), _count),
)
"""By a part of the name; the first that fits."""
