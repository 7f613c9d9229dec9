"""The arithmetic of low precision: the tape in float32 and below against the tape in float64.

Whether the formula is right was judged in double precision. What is left is how much of it the
gradient keeps when it is computed with 24, 11 or 8 bits, measured in units in the last place. What
must be lost is measured too: inputs and upstream are rounded at random in their last place, in
double precision, and a gradient may change by a few times as much as that makes it change.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.checker.analytic import Backward, backward
from gradcheck.checker.layout import to_double
from gradcheck.checker.rounding import gradient_spread
from gradcheck.checker.tensors import explain_exception, is_floating
from gradcheck.model import Array, Comparison, Element, Verdict

if TYPE_CHECKING:
    from gradcheck.checker.reference import Reference

ULPS = 16.0
"""Units in the last place that a gradient may be off by itself."""

LARGEST_ULPS = 4.0
"""Units in the last place of the largest element that every element may be off: what its parts
lost before they cancelled."""

CONDITION = 8.0
"""How many times the change that rounding its inputs makes a gradient may be off."""


def judge_precision(
    comparisons: list[Comparison], reference: Reference, double: Backward
) -> list[Comparison]:
    """Compare the gradient in its own precision with the one in double precision."""
    problem = reference.problem
    own_values = [operand.value for operand in problem.operands]
    name = next(v.dtype.name for v in own_values if v.dtype.name not in _DOUBLE and _real(v))
    try:
        own = backward(
            problem.function, problem.operands, own_values, reference.upstream, problem.mode
        )
    except Exception as error:
        raise LowPrecisionRaised(
            f"the function runs in float64, but not in {name}: {explain_exception(error)}"
        ) from error
    last_place = {o.name: _epsilon(o.value.dtype) / 2 for o in reference.moved}
    spreads = gradient_spread(reference, double, last_place)
    return [
        _judge(comparison, mine, theirs, spread)
        for comparison, mine, theirs, spread in zip(
            comparisons, own.gradients, double.gradients, spreads, strict=True
        )
    ]


class LowPrecisionRaised(Exception):  # noqa: N818  (it becomes a verdict)
    """The function or its gradient has no kernel for the precision that the case asks for."""


_DOUBLE = {"float64", "complex128"}


def _real(value: Array) -> bool:
    return is_floating(value.dtype) or value.dtype.kind == "c"


def _epsilon(dtype: np.dtype[Any]) -> float:
    """The unit in the last place of one; bfloat16 has eight bits, and numpy does not know it."""
    if dtype.name == "bfloat16":
        return 2.0**-7
    return float(np.finfo(dtype).eps)


def _judge(
    comparison: Comparison, own: Array | None, double: Array | None, spread: Array
) -> Comparison:
    if own is None or double is None or comparison.verdict not in (Verdict.PASS, Verdict.KINK):
        return comparison
    if own.dtype.name != comparison.dtype:
        note = f"the gradient is {own.dtype.name}, its input {comparison.dtype}"
        return replace(comparison, verdict=Verdict.MISMATCH, note=note)
    if own.shape != comparison.shape:
        note = f"in {comparison.dtype} the gradient has shape {list(own.shape)}"
        return replace(comparison, verdict=Verdict.MISMATCH, note=note)
    if not own.size:
        return comparison
    mine, theirs = to_double(own), to_double(double)
    epsilon = _epsilon(own.dtype)
    with np.errstate(all="ignore"):
        error = np.abs(mine - theirs)
        largest = np.max(np.abs(theirs[np.isfinite(theirs)]), initial=0.0)
        allowed = ULPS * epsilon * np.abs(theirs) + CONDITION * spread
        allowed = allowed + LARGEST_ULPS * epsilon * largest
        # Below the smallest normal number there are no relative digits to keep.
        allowed = allowed + ULPS * _smallest(own.dtype)
        broken = ~np.isfinite(mine) & np.isfinite(theirs)
        wrong = broken | (error > allowed)
        scale = np.maximum(np.abs(theirs), spread / epsilon)
        ulps = np.where(scale > 0, error / (epsilon * scale), 0.0)
    worst_ulps = float(np.nan_to_num(ulps, posinf=np.inf).max())
    if not wrong.any():
        note = f"in {comparison.dtype} within {worst_ulps:.2g} ulp of float64"
        return replace(comparison, note=f"{comparison.note}; {note}" if comparison.note else note)
    order = np.argsort(-np.where(wrong, np.nan_to_num(error, nan=np.inf), -1.0).ravel())[:5]
    worst = []
    for position in order[: int(wrong.sum())]:
        index = tuple(int(i) for i in np.unravel_index(position, own.shape))
        worst.append(
            Element(
                index=index,
                value=float("nan"),
                analytic=mine[index].item(),
                numeric=theirs[index].item(),
                bound=float(allowed[index]),
            )
        )
    note = (
        f"the formula is right in float64, but the arithmetic of {comparison.dtype} loses it: "
        f"{worst_ulps:.3g} ulp (numeric here is the gradient in float64)"
    )
    return replace(
        comparison,
        verdict=Verdict.NONFINITE if broken.any() else Verdict.MISMATCH,
        note=note,
        failing=int(wrong.sum()),
        worst=tuple(worst),
        max_abs_error=float(np.nan_to_num(error, nan=np.inf).max()),
        analytic=mine,
    )


def _smallest(dtype: np.dtype[Any]) -> float:
    if dtype.name == "bfloat16":
        return 2.0**-126
    return float(np.finfo(dtype).tiny)
