"""The arithmetic of low precision: the tape in float32 and below against the tape in float64.

Whether the formula is right was judged in double precision. What is left is how much of it the
gradient keeps when it is computed with 24, 11 or 8 bits, measured in units in the last place. What
must be lost is measured too: inputs and upstream are rounded at random in their last place, in
double precision, and a gradient may change by a few times as much as that makes it change.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gradcheck.checker.analytic import Backward, backward
from gradcheck.checker.layout import to_double
from gradcheck.checker.reference import Reference
from gradcheck.checker.tensors import explain_exception, is_floating
from gradcheck.model import Array, Comparison, Element, Verdict

ULPS = 16.0
"""Units in the last place that a gradient may be off by itself."""

CONDITION = 8.0
"""How many times the change that rounding its inputs makes a gradient may be off."""

DRAWS = 3


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
    spreads = _spreads(reference, double)
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


def _epsilon(dtype: np.dtype[np.generic]) -> float:
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
        allowed = ULPS * epsilon * np.abs(theirs) + CONDITION * spread
        # Below the smallest normal number there are no relative digits to keep.
        allowed = allowed + ULPS * _smallest(own.dtype)
        broken = ~np.isfinite(mine) & np.isfinite(theirs)
        wrong = broken | (error > allowed)
        scale = np.maximum(np.abs(theirs), spread / epsilon)
        ulps = np.where(scale > 0, error / (epsilon * scale), 0.0)
    worst_ulps = float(np.nan_to_num(ulps, posinf=np.inf).max())
    if not wrong.any():
        note = f"in {comparison.dtype} within {worst_ulps:.2g} ulp of float64"
        return replace(
            comparison, note=f"{comparison.note}; {note}" if comparison.note else note
        )
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


def _smallest(dtype: np.dtype[np.generic]) -> float:
    if dtype.name == "bfloat16":
        return 2.0**-126
    return float(np.finfo(dtype).tiny)


def _spreads(reference: Reference, double: Backward) -> list[Array]:
    """How much rounding the inputs and the upstream changes each gradient, in double precision."""
    problem = reference.problem
    rng = np.random.default_rng([problem.seed, 0x756C70])
    spreads = [np.zeros(operand.value.shape) for operand in reference.moved]
    for _ in range(DRAWS):
        values = [
            _rounded(value, operand.value.dtype, rng) if operand.differentiate else value
            for value, operand in zip(reference.values, problem.operands, strict=True)
        ]
        dtype = reference.moved[0].value.dtype
        upstream = [_rounded(to_double(ct), dtype, rng) for ct in reference.upstream]
        moved = backward(problem.function, problem.operands, values, upstream)
        for spread, before, after in zip(spreads, double.gradients, moved.gradients, strict=True):
            if before is not None and after is not None and before.shape == spread.shape:
                with np.errstate(all="ignore"):
                    np.fmax(spread, np.abs(to_double(after) - to_double(before)), out=spread)
    return spreads


def _rounded(value: Array, dtype: np.dtype[np.generic], rng: np.random.Generator) -> Array:
    signs = rng.choice([-1.0, 1.0], size=value.shape)
    return np.asarray(value * (1 + _epsilon(dtype) / 2 * signs))
