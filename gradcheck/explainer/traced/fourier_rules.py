"""Fourier transforms as products with cosines and sines, one axis after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gradcheck.explainer.traced.pair_texts import Half, Pair, difference, part, total

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradcheck.explainer.traced.pair_texts import Pairs
    from gradcheck.model import Array, Shape

__all__ = ["FOURIER_RULES"]

_LETTERS = "abcdefghijklmnopqrstuvw"


def _turns(given: int, gives: int, size: int) -> tuple[Array, Array]:
    """Cosines and sines of 2π·j·k/n; rows behind the n-th are zero: those are left out."""
    steps = np.outer(np.arange(given), np.arange(gives)) % size
    # (Of a quarter of a turn the cosine is 0, where the number π makes it 6e-17.)
    sines = np.sin(2 * np.pi * np.arange(size) / size)
    cosines = np.cos(2 * np.pi * np.arange(size) / size)
    quarters = 4 * np.arange(size) % size == 0
    sines, cosines = (np.where(quarters, np.round(x), x) for x in (sines, cosines))
    kept = (np.arange(given) < size)[:, None]
    # (Of -0.0 there is none: it would be printed.)
    return np.where(kept, cosines[steps], 0.0) + 0.0, np.where(kept, sines[steps], 0.0) + 0.0


def _along(half: Half, shape: Shape, axis: int, matrix: str) -> Half:
    """The product with a matrix along an axis, counted from the end."""
    if len(shape) == 1:
        return part(half, f"tf.linalg.matvec({matrix}, {{}}, transpose_a=True)")
    if axis == -1:
        return part(half, f"tf.matmul({{}}, {matrix})")
    given = _LETTERS[: len(shape)]
    gives = given.replace(given[axis], "z")
    return part(half, f"tf.einsum('{given},{given[axis]}z->{gives}', {{}}, {matrix})")


def _names(
    op: Pairs,
    cosines: Array,
    sines: Array,
    size: int,
    *,
    sign: str = "",
    more: str = "",
    code: str = "",
) -> tuple[str, str]:
    """The names of the two matrices, with what is said of them.

    Args:
        op: what asks for them.
        cosines: the one.
        sines: the other.
        size: how many steps make a turn.
        sign: of the sines.
        more: what is said of a factor.
        code: that factor, behind both.
    """
    told = f"(2π·j·k/{size}){more}, of row j and column k"
    given, gives = cosines.shape
    if given > size:
        code = f" * tf.cast(tf.range({given})[:, None] < {size}, G.dtype){code}"
    turns = f"tf.cast(tf.range({given})[:, None] * tf.range({gives}) % {size}, G.dtype)"
    made = f"(2 * math.pi / {size} * {turns}){code}"
    return (
        op.constant(cosines, f"cos{told}", f"tf.cos{made}"),
        op.constant(sines, f"{sign}sin{told}", f"{sign}tf.sin{made}"),
    )


def _transformed(
    op: Pairs, pair: Pair, shape: Shape, axis: int, *, gives: int, size: int, back: bool = False
) -> Pair:
    """Σⱼ zⱼ·exp(∓2πi·j·k/n) along one axis: with its 1/n on the way back."""
    cosines, sines = _turns(shape[axis], gives, size)
    # exp(∓iφ) = cos φ + i·s, where s is the sine, with a minus on the way there.
    over, sign = (size, "") if back else (1, "-")
    sines = (sines if back else -sines) / over + 0.0
    factor = f"/{size}" * back
    code = f" / {size}" * back
    c, s = _names(op, cosines / over, sines, size, sign=sign, more=factor, code=code)
    a, b = (_along(half, shape, axis, c) for half in pair)
    if not sines.any():
        return a, b
    turned, more = (_along(half, shape, axis, s) for half in pair)
    return difference(a, more), total(b, turned)


def _complex(axes: int, *, back: bool) -> Callable[[Pairs], Pair]:
    def rule(op: Pairs) -> Pair:
        shape, found = op.shape(0), op.pair(0)
        for axis in range(-1, -axes - 1, -1):
            size = shape[axis]
            found = _transformed(op, found, shape, axis, gives=size, size=size, back=back)
        return found

    return rule


def _of_reals(axes: int) -> Callable[[Pairs], Pair]:
    def rule(op: Pairs) -> Pair:
        shape, sizes = list(op.shape(0)), op.plain(1)
        found: Pair = (op.x(0), None)
        for axis in range(-1, -axes - 1, -1):
            gives = sizes[-1] // 2 + 1 if axis == -1 else sizes[axis]
            found = _transformed(op, found, tuple(shape), axis, gives=gives, size=sizes[axis])
            shape[axis] = gives
        return found

    return rule


def _to_reals(axes: int) -> Callable[[Pairs], Pair]:
    """Half of the frequencies stand for their conjugates too: those count twice."""

    def rule(op: Pairs) -> Pair:
        shape, sizes, found = list(op.shape(0)), op.plain(1), op.pair(0)
        for axis in range(-axes, -1):
            size = sizes[axis]
            found = _transformed(op, found, tuple(shape), axis, gives=size, size=size, back=True)
            shape[axis] = size
        size, kept = sizes[-1], shape[-1]
        places = np.arange(kept)
        times = np.where(2 * places % size == 0, 1.0, 2.0) * (places < size // 2 + 1)
        cosines, sines = (times[:, None] * x / size for x in _turns(kept, size, size))
        told = f"·w/{size}, w = 1 for j = 0 and n/2, else 2"
        code = f" * tf.constant({times[:, None].tolist()}, G.dtype) / {size}"
        c, s = _names(op, cosines, sines, size, more=told, code=code)
        real = _along(found[0], tuple(shape), -1, c)
        imaginary = _along(found[1], tuple(shape), -1, s) if sines.any() else None
        return difference(real, imaginary), None

    return rule


FOURIER_RULES: dict[str, Callable[[Pairs], Pair]] = {
    "FFT": _complex(1, back=False),
    "FFT2D": _complex(2, back=False),
    "FFT3D": _complex(3, back=False),
    "IFFT": _complex(1, back=True),
    "IFFT2D": _complex(2, back=True),
    "IFFT3D": _complex(3, back=True),
    "IRFFT": _to_reals(1),
    "IRFFT2D": _to_reals(2),
    "IRFFT3D": _to_reals(3),
    "RFFT": _of_reals(1),
    "RFFT2D": _of_reals(2),
    "RFFT3D": _of_reals(3),
}
"""By kind of op: its rule."""
