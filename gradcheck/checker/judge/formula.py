"""The third oracle: a closed formula, declared with the op or claimed in the spec."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import tolerances
from gradcheck.checker.judge.rounding import formula_spread
from gradcheck.checker.numerics.flatten import to_double
from gradcheck.model import Array, Comparison, Verdict

if TYPE_CHECKING:
    from gradcheck.checker.reference.reference import Reference
    from gradcheck.checker.subject.problem import Formula
    from gradcheck.checker.subject.tape import Backward


def judge_formulas(
    comparisons: list[Comparison], reference: Reference, passed: Backward
) -> list[Comparison]:
    """Put the formula's values beside the others, and judge where they tell more."""
    oracles = ((reference.problem.formulas, False), (reference.problem.claims, True))
    judged = list(comparisons)
    for i, gradient in enumerate(passed.gradients):
        for source, claimed in oracles:
            formula = source.get(judged[i].name)
            if formula is not None and gradient is not None:
                judged[i] = _judge(judged[i], formula, gradient, reference, passed, claimed)
    return judged


def _judge(
    comparison: Comparison,
    formula: Formula,
    gradient: Array,
    reference: Reference,
    passed: Backward,
    claimed: bool,
) -> Comparison:
    what = "the claimed gradient" if claimed else "the declared formula"
    inputs = [
        to_double(value) if value.dtype.kind in "fcV" else value for value in reference.values
    ]
    outputs = [to_double(output) for output in passed.outputs]
    try:
        with np.errstate(all="ignore"):
            values = np.asarray(formula(inputs, list(reference.upstream), outputs))
    except Exception as raised:  # whatever a formula of the user's may raise
        note = f"{what} cannot be evaluated: {type(raised).__name__}: {raised}"
        return replace(comparison, verdict=Verdict.ERROR, note=_also(comparison.note, note))
    if values.shape != comparison.shape:
        note = (
            f"{what} has shape {list(values.shape)}, but {comparison.name} has shape "
            f"{list(comparison.shape)}: a gradient has the shape of its input"
        )
        return replace(comparison, verdict=Verdict.MISMATCH, note=_also(comparison.note, note))
    if not np.issubdtype(values.dtype, np.number) and values.dtype != np.bool_:
        note = f"{what} is not a number"
        return replace(comparison, verdict=Verdict.ERROR, note=_also(comparison.note, note))
    comparison = _with_values(comparison, values)
    if not comparison.elements:
        return comparison
    structure = _structure(reference, comparison.name)
    gradient, values = within(to_double(gradient), structure), within(values, structure)
    with np.errstate(all="ignore"):
        error = np.abs(to_double(gradient) - values)
        largest = np.max(np.abs(values[np.isfinite(values)]), initial=0.0)
        allowed = tolerances.FORMULA * largest
        if comparison.bound is not None and comparison.verdict is not Verdict.INCONCLUSIVE:
            # Where the function itself is noisy, two formulas may differ as much as it does.
            allowed = allowed + np.nan_to_num(comparison.bound, nan=0.0, posinf=0.0)
        same = (error <= allowed) | (gradient == values) | (np.isnan(gradient) & np.isnan(values))
    if not same.all() and not claimed and _is_contradicted(comparison, values):
        index = _worst(same, error)
        note = (
            f"{what} does not hold at this point and was left aside: at {_place(index)} it gives "
            f"{values[index]:.8g}, where the tape and the numeric derivative agree"
        )
        return replace(comparison, note=_also(comparison.note, note))
    agrees = bool(same.all())
    # What overflows in a formula of ours says nothing, neither for the tape nor against it.
    same |= ~np.isfinite(values) & (not claimed)
    if not same.all():
        # Before blame: how much of the difference may be rounding in the formula?
        spread = formula_spread(
            formula, inputs, list(reference.upstream), outputs, reference.problem.seed
        )
        with np.errstate(all="ignore"):
            same |= error <= allowed + tolerances.FORMULA_SAFETY * within(spread, structure)
    if same.all():
        if agrees and comparison.verdict is Verdict.INCONCLUSIVE:
            note = f"{what} agrees with the tape where the numeric derivative could not judge"
            return replace(comparison, verdict=Verdict.PASS, note=note, failing=0)
        return comparison
    if comparison.verdict is Verdict.MISMATCH:
        return comparison
    if comparison.verdict is Verdict.KINK and not claimed:
        # At a kink two formulas may choose different values, and both be right.
        return comparison
    index = _worst(same, error)
    note = (
        f"{what} differs from the tape at {_place(index)}: it gives {values[index]:.8g}, the tape "
        f"{gradient[index]:.8g}"
    )
    if comparison.verdict in (Verdict.PASS, Verdict.KINK):
        note += ", and the numeric derivative agrees with the tape"
    failing = int((~same).sum())
    return replace(
        comparison, verdict=Verdict.MISMATCH, note=_also(comparison.note, note), failing=failing
    )


def _is_contradicted(comparison: Comparison, values: Array) -> bool:
    """Whether the numeric derivative, which agrees with the tape, speaks against the formula."""
    if comparison.verdict is not Verdict.PASS:
        return False
    numeric, bound = comparison.numeric, comparison.bound
    if numeric is None or bound is None:
        return False
    with np.errstate(all="ignore"):
        largest = np.max(np.abs(numeric[np.isfinite(numeric)]), initial=0.0)
        against = (
            np.abs(values - numeric)
            > tolerances.BOUND_SAFETY * bound + tolerances.FORMULA * largest
        )
        against |= np.isfinite(numeric) & ~np.isfinite(values)
    return bool(against.any())


def _worst(same: Array, error: Array) -> tuple[int, ...]:
    """Where the error is largest among those that are not the same."""
    most = np.argmax(np.where(same, -1, np.nan_to_num(error, nan=np.inf)))
    return tuple(int(i) for i in np.unravel_index(most, same.shape))


def within(gradient: Array, structure: str) -> Array:
    """The part of a gradient that a change within the structure can see.

    Of a symmetric matrix both halves move together, so how a gradient is shared out between them
    is a convention: TensorFlow's differs from op to op.
    """
    if structure == "symmetric":
        return np.asarray((gradient + np.conj(np.swapaxes(gradient, -1, -2))) / 2)
    return np.tril(gradient) if structure == "lower" else gradient


def _structure(reference: Reference, name: str) -> str:
    return next(o.structure for o in reference.problem.operands if o.name == name)


def _with_values(comparison: Comparison, values: Array) -> Comparison:
    worst = tuple(
        replace(element, formula=values[element.index].item()) for element in comparison.worst
    )
    return replace(comparison, worst=worst, formula=values)


def _place(index: tuple[int, ...]) -> str:
    return str(list(index)) if index else "the scalar"


def _also(first: str, second: str) -> str:
    return f"{first}; {second}" if first else second
