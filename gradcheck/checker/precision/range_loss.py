"""What leaves the range of a low precision on the way to a gradient.

The gradient of atan2 divides by x² + y², which in float16 is infinite from 256 on, and zero below
2⁻¹²: the formula is right, the result fits into float16, and yet it is lost. The function and its
gradient are traced in both precisions, and their results compared one by one.

Without it `test_squares` fails.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.checker import tolerances
from gradcheck.checker.numerics.vectors import range_of, to_double
from gradcheck.checker.subject.tape import Tape
from gradcheck.checker.subject.tensors import is_differentiable, widen

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gradcheck.checker.subject.problem import Problem
    from gradcheck.model import Array


def leaves_range(problem: Problem, upstream: Sequence[Array]) -> str:
    """The first result that is too large or too small for the problem's precision, in words.

    Empty if there is none, or if the function cannot be traced in the same way in both.
    """
    values = [operand.value for operand in problem.operands]
    try:
        own = Tape(problem.function, problem.operands).results(values, upstream)
        wide = [widen(value) for value in values]
        double = Tape(problem.function, problem.operands).results(wide, upstream)
    except Exception:  # what runs eagerly need not run in a graph
        return ""
    if [kind for kind, _ in own] != [kind for kind, _ in double]:
        return ""
    for lost in (_too_large, _too_small):
        for (kind, mine), (_, right) in zip(own, double, strict=True):
            found = _first(lost, mine, right)
            if found is not None:
                place = f"{found[0]:.3g} in place of {found[1]:.3g}"
                return f"{kind} leaves the range of {mine.dtype.name} on the way: {place}"
    return ""


def _first(
    lost: Callable[[Array, Array, np.dtype[Any]], Array], mine: Array, right: Array
) -> tuple[float, float] | None:
    """The size of the first number that is lost, and what it is in double precision."""
    if not is_differentiable(mine.dtype) or mine.shape != right.shape:
        return None
    size, true = np.abs(to_double(mine)).ravel(), np.abs(to_double(right)).ravel()
    out = np.flatnonzero(lost(size, true, mine.dtype))
    return None if not len(out) else (float(size[out[0]]), float(true[out[0]]))


def _too_large(size: Array, true: Array, dtype: np.dtype[Any]) -> Array:
    return np.asarray(~np.isfinite(size) & np.isfinite(true) & (true >= range_of(dtype)[1]))


def _too_small(size: Array, true: Array, dtype: np.dtype[Any]) -> Array:
    smallest, _ = range_of(dtype)
    return np.asarray((true < smallest) & (np.abs(size - true) > tolerances.FEW_DIGITS * true))
