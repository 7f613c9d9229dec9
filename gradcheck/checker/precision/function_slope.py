"""Whether a gradient that is off in low precision is off with its function, or by itself.

A function may be another one in float32 than in float64: TensorFlow's tanh is exactly 1 from 7.9 on
in float32, and its gradient there is exactly 0. That is the right gradient of this function. So
before the arithmetic of a gradient is blamed, one element after the other is moved alone, and the
slope of what the function itself is off is compared with what the gradient is off. The difference
of two evaluations at the same points has no truncation error, only rounding, which scatters.

Without it `test_where_tanh_is_one` fails.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import limits, tolerances
from gradcheck.checker.numerics.vectors import to_double
from gradcheck.checker.subject.tensors import widen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcheck.checker.subject.problem import Differentiate
    from gradcheck.model import Array


def function_slope(
    own: Differentiate,
    double: Differentiate,
    values: Sequence[Array],
    upstream: Sequence[Array],
    position: int,
    index: tuple[int, ...],
    reach: float,
    rng: np.random.Generator,
) -> tuple[float, float]:
    """By how much the function's slope along a real element is off in low precision, and ± that.

    Args:
        own: the function in its own precision.
        double: the same in double precision.
        values: of all the operands, in their own precision.
        upstream: weighs the outputs.
        position: of the operand that is moved.
        index: of its element that is moved.
        reach: how far, relative to itself.
        rng: for where to.
    """
    base = widen(values[position])
    moves, excess = [], []
    for share in rng.uniform(-1, 1, size=limits.SLOPE_POINTS):
        beside = list(values)
        moved = base.copy()
        moved[index] *= 1 + reach * share
        beside[position] = np.asarray(moved).astype(values[position].dtype)
        wide = [widen(value) for value in beside]
        # Rounded to its own precision, the element is not quite where it was sent.
        moves.append(wide[position][index] - base[index])
        both = (own(beside, upstream).outputs, double(wide, upstream).outputs)
        changes = [
            np.sum(np.real(np.conj(ct) * (to_double(a) - to_double(b))))
            for ct, a, b in zip(upstream, *both, strict=True)
        ]
        excess.append(sum(changes))
    return _slope(np.array(moves), np.array(excess))


def _slope(moves: Array, excess: Array) -> tuple[float, float]:
    """The slope of a parabola through the points, and its standard deviation times SIGMAS."""
    known = np.isfinite(excess)
    if known.sum() < limits.SLOPE_POINTS // 2:
        return 0.0, np.inf
    reach = float(np.abs(moves).max())
    if reach == 0:
        return 0.0, np.inf
    t = moves[known] / reach
    terms = np.stack([np.ones_like(t), t, t * t], axis=1)
    fitted, _, rank, _ = np.linalg.lstsq(terms, excess[known], rcond=None)
    if rank < terms.shape[1]:
        return 0.0, np.inf
    rest = excess[known] - terms @ fitted
    variance = float(rest @ rest) / (len(t) - terms.shape[1])
    deviation = np.sqrt(variance * np.linalg.inv(terms.T @ terms)[1, 1])
    return float(fitted[1]) / reach, tolerances.SLOPE_SIGMAS * float(deviation) / reach
