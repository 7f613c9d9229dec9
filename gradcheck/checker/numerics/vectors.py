"""Lists of tensors as one flat real vector, and back; how large its numbers are, and which changed.

The numerics work on rows of real float64 numbers. A complex element takes two of them, its real and
its imaginary part, which also is TensorFlow's convention for gradients: with `L = Re⟨ct, f⟩` the
gradient's real part is the derivative along the real axis and its imaginary part the one along the
imaginary axis.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from itertools import accumulate
from math import isfinite, prod
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcheck.model import Array, Shape


def to_double(array: Array) -> Array:
    """The same numbers as float64 or complex128; integers and booleans become float64."""
    wide: Array = array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)
    return wide


def changed(found: Array, before: Array) -> Array:
    """Where they differ; NaN is as good as NaN."""
    return np.asarray((found != before) & ~(np.isnan(found) & np.isnan(before)))


def everywhere_so(flags: Array) -> bool:
    """Whether all of these are true; of few numpy's own way takes ten times as long."""
    return int(np.count_nonzero(flags)) == flags.size


def somewhere_so(flags: Array) -> bool:
    """Whether any of these is true."""
    return int(np.count_nonzero(flags)) > 0


def largest(values: Array) -> float:
    """The largest finite size; zero if there is none."""
    size = float(np.maximum.reduce(np.abs(values), axis=None, initial=0.0))
    if isfinite(size):
        return size
    return float(np.abs(values[np.isfinite(values)]).max(initial=0.0))


def widest(bars: Array) -> float:
    """The widest finite error bar; infinite if none is finite: a bar of zero claims much."""
    if len(bars) and not np.isfinite(bars).any():
        return float(np.inf)
    return largest(bars)


def largest_first(sizes: Array) -> Array:
    """Where they stand from the largest to the smallest; those within a few millionths by place.

    So what is shown is the same on a processor that rounds otherwise: elements that share one fault
    are often off by the same, but for the last digits.
    """
    with np.errstate(divide="ignore"):
        keys = np.round(np.log2(sizes) * 2.0**17)
    order: Array = np.argsort(-keys, kind="stable")
    return order


@dataclass(frozen=True)
class Layout:
    """Where each tensor lies in the flat vector."""

    shapes: tuple[Shape, ...]
    complex_: tuple[bool, ...]

    @classmethod
    def of(cls, arrays: Sequence[Array]) -> Layout:
        """The layout of these arrays."""
        shapes = tuple([array.shape for array in arrays])
        return _layout_of(shapes, tuple([array.dtype.kind == "c" for array in arrays]))

    @classmethod
    def flat(cls, arrays: Sequence[Array]) -> tuple[Layout, Array]:
        """The layout of these arrays, and the arrays as one vector."""
        layout = cls.of(arrays)
        return layout, layout.flatten(arrays)

    @cached_property
    def sizes(self) -> list[int]:
        """How many real numbers each tensor takes."""
        return [
            prod(shape) * (2 if is_complex else 1)
            for shape, is_complex in zip(self.shapes, self.complex_, strict=True)
        ]

    @cached_property
    def offsets(self) -> list[int]:
        """Where each tensor starts, and the total at the end."""
        return [0, *accumulate(self.sizes)]

    def flatten(self, arrays: Sequence[Array]) -> Array:
        """The arrays as one vector."""
        parts = [_real(a, two).ravel() for a, two in zip(arrays, self.complex_, strict=True)]
        if len(parts) == 1:
            return parts[0]
        return np.concatenate(parts) if parts else np.zeros(0)

    def flatten_rows(self, stacked: Sequence[Array]) -> Array:
        """Arrays with a leading axis each, as one row per entry of that axis."""
        rows = stacked[0].shape[0] if stacked else 1
        parts = []
        for array, is_complex, shape in zip(stacked, self.complex_, self.shapes, strict=True):
            parts.append(_real(array.reshape(rows, prod(shape)), is_complex))
        if len(parts) == 1:
            return parts[0]
        return np.concatenate(parts, axis=1) if parts else np.zeros((rows, 0))

    def unflatten_rows(self, rows: Array) -> list[Array]:
        """One row per point, as arrays with a leading axis each."""
        arrays = []
        for i, (shape, is_complex) in enumerate(zip(self.shapes, self.complex_, strict=True)):
            part = rows[:, self.offsets[i] : self.offsets[i + 1]]
            if is_complex:
                part = np.ascontiguousarray(part).view(np.complex128)
            arrays.append(part.reshape(len(rows), *shape))
        return arrays

    def unflatten(self, vector: Array) -> list[Array]:
        """One vector, as arrays."""
        return [a[0] for a in self.unflatten_rows(vector[np.newaxis])]


_layout_of = lru_cache(maxsize=256)(Layout)
"""Cases of a suite have the same few shapes, and of each a check asks for its sizes."""


def _real(array: Array, is_complex: bool) -> Array:
    """Real numbers; of complex ones, two for each along the last axis."""
    if is_complex:
        return np.ascontiguousarray(array, dtype=np.complex128).view(np.float64)
    return array.astype(np.float64, copy=False)


@cache
def name_of(dtype: np.dtype[Any]) -> str:
    """Its name, which numpy puts together anew each time."""
    return dtype.name


@cache
def epsilon_of(dtype: np.dtype[Any]) -> float:
    """The unit in the last place of one; bfloat16 has eight bits, and numpy does not know it."""
    if dtype.name == "bfloat16":
        return 2.0**-7
    return float(np.finfo(dtype).eps)


@cache
def range_of(dtype: np.dtype[Any]) -> tuple[float, float]:
    """The smallest normal and the largest number."""
    if dtype.name == "bfloat16":
        return 2.0**-126, 2.0**128
    return float(np.finfo(dtype).tiny), float(np.finfo(dtype).max)
