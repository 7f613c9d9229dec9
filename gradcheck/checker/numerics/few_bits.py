"""Values of few bits: what tells that a function rounds to float32, bfloat16 or float16 inside."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import limits, tolerances

if TYPE_CHECKING:
    from gradcheck.model import Array


def few_bits(base: Array, values: Array) -> Array:
    """The unit in the last place of outputs whose values have few bits; NaN for the others.

    At points with all their bits a function that computes in double precision gives values with
    all their bits. One whose values all fit into 24, 11 or 8 bits rounds to them.

    Without it `test_rounding_inside_is_told` fails.
    """
    unit = np.full(base.shape, np.nan)
    mantissa, exponent = np.frexp(np.concatenate([base[np.newaxis], values]))
    exponent = np.where(mantissa == 0, -1000, exponent)
    scaled = np.ldexp(mantissa, max(limits.BITS))
    open_ = (scaled == np.rint(scaled)).all(axis=0) & (values != base).any(axis=0)
    # Whole numbers are no rounding but the function's own steps, as of floor or sign.
    open_ &= ~(values == np.rint(values)).all(axis=0)
    if not open_.any():
        return unit
    for bits in limits.BITS:
        scaled = np.ldexp(mantissa, bits)
        short = open_ & (scaled == np.rint(scaled)).all(axis=0)
        unit = np.where(short, np.ldexp(1.0, exponent.max(axis=0) - bits), unit)
        open_ &= ~short
    return unit


def only_switches(base: Array, coarse_lines: Array, unit: Array) -> Array:
    """Which outputs jump, on lines that one which rounds would climb in steps of a few units.

    They only happen to have few bits: a gradient of pooling does, whose upstream has few.

    Without it `test_a_switch_is_no_rounding` fails.
    """
    lines = coarse_lines.reshape(len(limits.COARSE_SPACINGS), limits.LINE_POINTS - 1, len(base))
    # (Over the longest one climbs more at a time.)
    start = np.broadcast_to(base, (len(lines) - 1, 1, len(base)))
    increments = np.abs(np.diff(lines[:-1], axis=1, prepend=start))
    least = np.where(increments > 0, increments, np.inf).min(axis=(0, 1))
    return np.asarray(np.isfinite(least) & (least > tolerances.SWITCHES * unit))


def is_short(values: Array) -> Array:
    """Whether each may have been rounded to few bits: who has all its digits was not."""
    mantissa, _ = np.frexp(values)
    scaled = np.ldexp(mantissa, max(limits.BITS))
    return np.asarray(scaled == np.rint(scaled))
