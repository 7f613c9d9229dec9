"""The arithmetic of low precision: the tape in float32 and below against the tape in float64.

Whether the formula is right was judged in double precision. What is left is how much of it the
gradient keeps when it is computed with 24, 11 or 8 bits. Rounding inside the function may cost many
units in the last place where something cancels, and no bound from outside tells how many. But
rounding is another one at every point, while a fault is the same. So the gradient is compared at
the point and at some neighbours, in units in the last place: what the errors have in common is the
fault, what they scatter is the rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import limits, tolerances
from gradcheck.checker.judge.rounding import arithmetic_spread
from gradcheck.checker.numerics.flatten import to_double
from gradcheck.checker.numerics.rng import generator
from gradcheck.checker.precision.error_statistics import (
    common_factor,
    epsilon_of,
    range_of,
    statistics,
)
from gradcheck.checker.precision.function_slope import REACHES, function_slope
from gradcheck.checker.precision.range_loss import leaves_range
from gradcheck.checker.subject.ended import Ended
from gradcheck.checker.subject.tensors import explain_exception, widen
from gradcheck.model import Comparison, Element, Mode, Verdict

if TYPE_CHECKING:
    from gradcheck.checker.reference.reference import Reference
    from gradcheck.checker.subject.problem import Operand
    from gradcheck.checker.subject.tape import Backward
    from gradcheck.model import Array


Slope = Callable[[tuple[int, ...], float], tuple[float, float]]
"""An element and a reach, to what the function's slope is off there, and ± that."""


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
        name = next(v.dtype.name for v in values if v.dtype.name in tolerances.ULPS)
        raise Ended(
            Verdict.ERROR,
            f"the function runs in float64, but not in {name}: {explain_exception(error)}",
        ) from error
    if not any(c.verdict in (Verdict.PASS, Verdict.KINK) for c in comparisons):
        return comparisons
    pairs = [(own, double)]
    rng = generator(problem.seed, 0x756C70)
    for _ in range(limits.NEIGHBOURS):
        beside = [
            _beside(operand, rng) if operand.differentiate else operand.value
            for operand in problem.operands
        ]
        wide = [widen(value) for value in beside]
        pairs.append((own_tape(beside, reference.upstream), double_tape(wide, reference.upstream)))
    positions = [i for i, operand in enumerate(problem.operands) if operand.differentiate]

    def slope(i: int, index: tuple[int, ...], reach: float) -> tuple[float, float]:
        at, upstream = positions[i], reference.upstream
        return function_slope(own_tape, double_tape, values, upstream, at, index, reach, rng)

    @cache
    def spreads() -> list[Array]:
        found = arithmetic_spread(problem, values, reference.upstream, own)
        return [spread.size for spread in found]

    def spread(i: int) -> Array:
        return spreads()[i]

    return [
        _judge(
            comparison,
            reference.moved[i].value,
            [(one.gradients[i], two.gradients[i]) for one, two in pairs],
            partial(slope, i),
            partial(spread, i),
            partial(leaves_range, problem, reference.upstream),
            another=_another_function(own, double),
        )
        for i, comparison in enumerate(comparisons)
    ]


def _another_function(own: Backward, double: Backward) -> str:
    """How the function is another one in low precision, if it is: then so is its gradient."""
    for ours, theirs in zip(own.outputs, double.outputs, strict=True):
        mine, right = to_double(ours), to_double(theirs)
        if not np.isfinite(right).all():
            continue
        if not np.isfinite(mine).all():
            return "is not finite at this point"
        # (What it rounds off where it cancels is small against its largest values.)
        off = np.abs(mine - right)
        if off.max(initial=0.0) > tolerances.ANOTHER_FUNCTION * np.abs(right).max(initial=0.0):
            worst = np.unravel_index(int(off.argmax()), off.shape)
            return f"is another one at this point: {mine[worst]:.4g} in place of {right[worst]:.4g}"
    return ""


def _beside(operand: Operand, rng: np.random.Generator) -> Array:
    """Other values nearby, inside the domain."""
    value = to_double(operand.value)
    change = value * tolerances.NEIGHBOUR_DISTANCE * rng.uniform(-1, 1, size=value.shape)
    if value.dtype.kind != "c":
        change = np.clip(change, (operand.low - value) / 2, (operand.high - value) / 2)
    return np.asarray(value + change).astype(operand.value.dtype)


def _judge(
    comparison: Comparison,
    value: Array,
    pairs: list[tuple[Array | None, Array | None]],
    slope: Slope,
    spread: Callable[[], Array],
    out_of_range: Callable[[], str],
    *,
    another: str,
) -> Comparison:
    own, double = pairs[0]
    judged = comparison.verdict in (Verdict.PASS, Verdict.KINK)
    if own is None or double is None or not judged or comparison.dtype not in tolerances.ULPS:
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
    epsilon = epsilon_of(own.dtype)
    largest = np.max(np.abs(theirs[np.isfinite(theirs)]), initial=0.0)
    smallest, highest = range_of(own.dtype)
    mean, scatter = statistics(errors)
    allowed = tolerances.ULPS[comparison.dtype] * epsilon * np.abs(theirs)
    # Below the smallest normal number there are no relative digits to keep.
    allowed = allowed + tolerances.LARGEST_ULPS * (epsilon * largest + smallest)
    # What is beyond the largest number is infinite in this precision, and rightly so.
    broken = ~np.isfinite(mine) & np.isfinite(theirs) & (np.abs(theirs) < highest)
    wrong = broken | (np.abs(mean) > allowed + tolerances.SCATTER * scatter)
    wrong |= np.isfinite(mine) & (np.abs(errors[0]) > allowed + tolerances.OUTLIER * scatter)
    if wrong.any() and not broken.any():
        wrong = _off_by_itself(wrong, errors[0], allowed, slope, to_be_shown=False)
    lost = np.zeros_like(wrong)
    if wrong.any() and not broken.any():
        # What cancels may lose all that there is, and the same at every point.
        lost = wrong & (np.abs(errors[0]) <= allowed + tolerances.ROUNDING_SAFETY * spread())
        wrong &= ~lost
    if (
        common_factor(errors, pairs, epsilon, smallest)
        > tolerances.ULPS[comparison.dtype] * epsilon
    ):
        common = np.isfinite(mine) & (np.abs(theirs) > smallest)
        common = _off_by_itself(common, errors[0], allowed, slope, to_be_shown=True)
        # What is left must have the factor without those that the function excuses.
        if (
            common_factor(errors, pairs, epsilon, smallest, common)
            > tolerances.ULPS[comparison.dtype] * epsilon
        ):
            wrong |= common
    unit = epsilon * np.maximum(np.abs(theirs), largest * epsilon)
    ulps = np.where(unit > 0, np.abs(errors[0]) / unit, 0.0)
    if lost.any() and not wrong.any():
        note = (
            f"the formula is right in float64; in {comparison.dtype} results cancel on the way to "
            f"the gradient, and rounding hides {int(lost.sum())} of its elements"
        )
        failing = int(lost.sum())
        return replace(comparison, verdict=Verdict.INCONCLUSIVE, note=note, failing=failing)
    if not wrong.any():
        note = f"in {comparison.dtype} within {np.nan_to_num(ulps).max():.2g} ulp of float64"
        return replace(comparison, note=f"{comparison.note}; {note}" if comparison.note else note)
    if another:
        note = f"in {comparison.dtype} the function itself {another}"
        failing = int(wrong.sum())
        return replace(comparison, verdict=Verdict.INCONCLUSIVE, note=note, failing=failing)
    error = np.nan_to_num(np.abs(errors[0]), nan=np.inf)
    order = np.argsort(-np.where(wrong, error, -1.0).ravel())[: min(5, int(wrong.sum()))]
    indices = [tuple(int(i) for i in np.unravel_index(p, own.shape)) for p in order]
    note = (
        f"the formula is right in float64, but the arithmetic of {comparison.dtype} loses it: "
        f"{ulps[indices[0]]:.3g} ulp, here and at neighbouring points (numeric is the gradient in "
        "float64)"
    )
    cause = out_of_range()
    return replace(
        comparison,
        verdict=Verdict.NONFINITE if broken.any() else Verdict.MISMATCH,
        note=f"{note}; {cause}" if cause else note,
        failing=int(wrong.sum()),
        worst=tuple(
            Element(
                index=index,
                value=widen(value)[index].item(),
                analytic=mine[index].item(),
                numeric=theirs[index].item(),
                bound=float(allowed[index] + tolerances.SCATTER * scatter[index]),
            )
            for index in indices
        ),
        max_abs_error=float(error.max()),
        analytic=mine,
        numeric=theirs,
    )


def _off_by_itself(
    wrong: Array,
    error: Array,
    allowed: Array,
    slope: Slope,
    *,
    to_be_shown: bool,
) -> Array:
    """Those of the wrong elements whose error is not that of the function's own slope.

    Where the worst of them are all excused, the others are too.

    Args:
        wrong: the elements that look wrong.
        error: what each is off.
        allowed: what each may be off.
        slope: what the function's slope is off, and ± that.
        to_be_shown: whether the slope must show the error, and not only leave room for it.
    """
    ratio = np.where(wrong, np.abs(error) / np.where(allowed > 0, allowed, 1.0), -1.0)
    worst = np.argsort(-ratio.ravel())[: min(limits.SLOPES, int(wrong.sum()))]
    left = np.array(wrong)  # (of a scalar a copy would be no array)
    for place in worst:
        index = tuple(int(i) for i in np.unravel_index(place, wrong.shape))
        if np.iscomplexobj(error):
            continue  # (Only one direction of the complex plane would be moved along.)
        for reach in REACHES:
            off, deviation = slope(index, reach)
            # (Three quarters of it will do: where a function is clamped it curves.)
            shown = max(abs(error[index] - off), deviation) <= abs(error[index]) / 4
            possible = abs(error[index] - off) <= allowed[index] + deviation < np.inf
            if shown or (possible and reach == REACHES[0] and not to_be_shown):
                left[index] = False
                break
    return left if left.ravel()[worst].any() else np.zeros_like(wrong)
