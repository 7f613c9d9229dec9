"""The arithmetic of low precision: the tape in float32 and below against the tape in float64.

Whether the formula is right was judged in double precision. What is left is how much of it the
gradient keeps when it is computed with 24, 11 or 8 bits. Rounding inside the function may cost many
units in the last place where something cancels, and no bound from outside tells how many. But
rounding is another one at every point, while a fault is the same. So the gradient is compared at
the point and at some neighbours, in units in the last place: what the errors have in common is the
fault, what they scatter is the rounding.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.checker.layout import to_double
from gradcheck.checker.tensors import explain_exception, widen
from gradcheck.model import Comparison, Element, Mode, Verdict

if TYPE_CHECKING:
    from gradcheck.checker.analytic import Backward
    from gradcheck.checker.reference import Reference
    from gradcheck.model import Array

NEIGHBOURS = 8

APART = 2.0**-5
"""How far the neighbours are, relative to each element: far enough to round differently."""

ULPS = {"float32": 4.0, "complex64": 4.0, "float16": 0.5, "bfloat16": 0.5}
"""Units in the last place that the errors of an element may have in common: approximations of
float32 err smoothly by a few; what is coarser is computed in float32 and rounded once."""

LARGEST_ULPS = 16.0
"""Units in the last place of the largest element that every element may be off: what its parts
lost before they cancelled."""

SCATTER = 1.5
"""How many standard deviations of their scatter the errors' mean may be off (it is that of nine,
so by chance a third of one)."""

CHANCE = 8.0
"""How many standard deviations a common factor may be off by chance."""

FEWEST_TO_POOL = 32
"""Elements, over all the points, that it takes to see a common factor."""

OUTLIER = 8.0
"""How many standard deviations the error at the point itself may be off."""


class LowPrecisionRaised(Exception):  # noqa: N818  (it becomes a verdict)
    """The function or its gradient has no kernel for the precision that the case asks for."""


def judge_precision(
    comparisons: list[Comparison], reference: Reference, double: Backward
) -> list[Comparison]:
    """Compare the gradient in its own precision with the one in double precision."""
    problem = reference.problem
    values = [operand.value for operand in problem.operands]
    own_tape = problem.tape(problem.function, problem.operands, problem.mode)
    double_tape = problem.tape(problem.function, problem.operands, Mode.EAGER)
    try:
        own = own_tape(values, reference.upstream)
    except Exception as error:
        name = next(v.dtype.name for v in values if v.dtype.name in ULPS)
        raise LowPrecisionRaised(
            f"the function runs in float64, but not in {name}: {explain_exception(error)}"
        ) from error
    if not any(c.verdict in (Verdict.PASS, Verdict.KINK) for c in comparisons):
        return comparisons
    pairs = [(own, double)]
    rng = np.random.default_rng([problem.seed, 0x756C70])
    for _ in range(NEIGHBOURS):
        beside = [
            _beside(value, rng) if operand.differentiate else value
            for value, operand in zip(values, problem.operands, strict=True)
        ]
        wide = [widen(value) for value in beside]
        pairs.append((own_tape(beside, reference.upstream), double_tape(wide, reference.upstream)))
    return [
        _judge(
            comparison,
            reference.moved[i].value,
            [(one.gradients[i], two.gradients[i]) for one, two in pairs],
        )
        for i, comparison in enumerate(comparisons)
    ]


def _beside(value: Array, rng: np.random.Generator) -> Array:
    moved = to_double(value) * (1 + APART * rng.uniform(-1, 1, size=value.shape))
    return np.asarray(moved).astype(value.dtype)


def _judge(
    comparison: Comparison, value: Array, pairs: list[tuple[Array | None, Array | None]]
) -> Comparison:
    own, double = pairs[0]
    judged = comparison.verdict in (Verdict.PASS, Verdict.KINK)
    if own is None or double is None or not judged or comparison.dtype not in ULPS:
        return comparison
    if own.dtype.name != comparison.dtype:
        note = f"the gradient is {own.dtype.name}, its input {comparison.dtype}"
        return replace(comparison, verdict=Verdict.MISMATCH, note=note)
    if own.shape != comparison.shape:
        note = f"in {comparison.dtype} the gradient has shape {list(own.shape)}"
        return replace(comparison, verdict=Verdict.MISMATCH, note=note)
    if not own.size:
        return comparison
    errors = np.array(
        [to_double(a) - to_double(b) for a, b in pairs if a is not None and b is not None]
    )
    mine, theirs = to_double(own), to_double(double)
    epsilon = _epsilon(own.dtype)
    largest = np.max(np.abs(theirs[np.isfinite(theirs)]), initial=0.0)
    mean, scatter = np.abs(errors.mean(axis=0)), errors.std(axis=0)
    allowed = ULPS[comparison.dtype] * epsilon * np.abs(theirs)
    # Below the smallest normal number there are no relative digits to keep.
    allowed = allowed + LARGEST_ULPS * (epsilon * largest + _smallest(own.dtype))
    broken = ~np.isfinite(mine) & np.isfinite(theirs)
    wrong = broken | (mean > allowed + SCATTER * scatter)
    wrong |= np.abs(errors[0]) > allowed + OUTLIER * scatter
    if _common_factor(errors, pairs) > ULPS[comparison.dtype] * epsilon:
        wrong |= theirs != 0
    unit = epsilon * np.maximum(np.abs(theirs), largest * epsilon)
    ulps = np.where(unit > 0, np.abs(errors[0]) / unit, 0.0)
    if not wrong.any():
        note = f"in {comparison.dtype} within {np.nan_to_num(ulps).max():.2g} ulp of float64"
        return replace(comparison, note=f"{comparison.note}; {note}" if comparison.note else note)
    error = np.nan_to_num(np.abs(errors[0]), nan=np.inf)
    order = np.argsort(-np.where(wrong, error, -1.0).ravel())[: min(5, int(wrong.sum()))]
    indices = [tuple(int(i) for i in np.unravel_index(p, own.shape)) for p in order]
    note = (
        f"the formula is right in float64, but the arithmetic of {comparison.dtype} loses it: "
        f"{ulps[indices[0]]:.3g} ulp, here and at neighbouring points (numeric is the gradient in "
        "float64)"
    )
    return replace(
        comparison,
        verdict=Verdict.NONFINITE if broken.any() else Verdict.MISMATCH,
        note=note,
        failing=int(wrong.sum()),
        worst=tuple(
            Element(
                index=index,
                value=widen(value)[index].item(),
                analytic=mine[index].item(),
                numeric=theirs[index].item(),
                bound=float(allowed[index] + SCATTER * scatter[index]),
            )
            for index in indices
        ),
        max_abs_error=float(error.max()),
        analytic=mine,
        numeric=theirs,
    )


def _common_factor(errors: Array, pairs: list[tuple[Array | None, Array | None]]) -> float:
    """By what share of themselves all the elements are off together, beyond chance.

    One element's rounding hides a factor of 1.01 in bfloat16; that of all of them, at all the
    points, does not.
    """
    double = np.array([to_double(b) for a, b in pairs if a is not None and b is not None])
    known = np.isfinite(errors) & np.isfinite(double)
    error, size = errors[known], double[known]
    power = float(np.vdot(size, size).real)
    if power == 0 or len(size) < FEWEST_TO_POOL:
        return 0.0
    factor = float(np.vdot(size, error).real) / power
    rest = error - factor * size
    chance = float(np.sqrt(np.vdot(rest, rest).real / len(rest) / power))
    return abs(factor) - CHANCE * chance


def _epsilon(dtype: np.dtype[Any]) -> float:
    """The unit in the last place of one; bfloat16 has eight bits, and numpy does not know it."""
    if dtype.name == "bfloat16":
        return 2.0**-7
    return float(np.finfo(dtype).eps)


def _smallest(dtype: np.dtype[Any]) -> float:
    if dtype.name == "bfloat16":
        return 2.0**-126
    return float(np.finfo(dtype).tiny)
