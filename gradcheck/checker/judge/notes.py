"""What a reader of a comparison should know besides its numbers, in sentences."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import tolerances
from gradcheck.checker.budget import current
from gradcheck.checker.judge.agreement import INCONCLUSIVE, MISMATCH, NONFINITE, Agreement
from gradcheck.checker.judge.figures import index_of, place
from gradcheck.checker.judge.unknown_notes import on_the_unknown, output_at
from gradcheck.checker.numerics.vectors import largest
from gradcheck.checker.subject.refusals import told_not_differentiable
from gradcheck.model import JUDGED_SOME, NO_DOUBLE, NOTHING_TO_JUDGE, Stage, Verdict

if TYPE_CHECKING:
    from gradcheck.checker.judge.evidence import Evidence, OfInput
    from gradcheck.checker.numerics.estimate import Estimate
    from gradcheck.checker.reference.derivatives import Derivatives
    from gradcheck.checker.reference.point import Point
    from gradcheck.checker.subject.operand import Operand
    from gradcheck.model import Array

AS_MEANT = "If that is meant, say `grad: false` for the input, or `expect: disconnected`"

IS_MISSING = "so a gradient is missing"
"""What is said of None from the tape where the output moves: a fault, and not a fact."""

EMPTY = f"{NOTHING_TO_JUDGE}: no elements, only the shape and dtype of the gradient were checked"
NO_OUTPUTS = f"{NOTHING_TO_JUDGE}: the outputs have no elements, the gradient is zero"

ONLY_TOGETHER = (
    "no single element that was sampled shows it, but the derivative along a random direction of "
    "all of them does"
)


def joined(*notes: str) -> str:
    """Several notes as one."""
    return "; ".join(note for note in notes if note)


OTHER_OUTPUTS = "the outputs that are differentiated do not depend on it"


def is_for_other_outputs(evidence: Evidence, own: OfInput) -> bool:
    """Whether a variable only matters for outputs that were not asked for: that is no fault.

    Without it `test_weights_of_another_output` fails.
    """
    problem = evidence.point.problem
    return (
        problem.some_outputs and own.operand.captured is not None and not _moves(own.estimate).any()
    )


LINEAR = (
    "the gradient does not move with this input, as that of a function that is linear in it: None "
    "from the tape is right"
)


def stands_still(evidence: Evidence, own: OfInput) -> bool:
    """Whether the outputs are known not to move with an input, to bars that say something.

    Without it `test_none_is_right_for_a_constant_gradient` fails.
    """
    point, space, part = evidence.point, evidence.plan.coordinates, own.part
    told = [(own.estimate, space.space.unit[part.span])]
    if space.directions is not None and evidence.along is not None:
        unit = space.directions.unit[part.directions]
        told.append((evidence.along.take(part.directions), unit))
    # (A gradient may be zero throughout.)
    output = largest(point.weights * point.base) or largest(point.weights)
    return all(
        not _moves(estimate).any()
        and bool((estimate.bound * unit <= tolerances.VACUOUS * output).all())
        for estimate, unit in told
    )


def linear(evidence: Evidence, own: OfInput) -> tuple[str, dict[str, float]]:
    """What is said where None is right, and in which figures."""
    note = joined(LINEAR, what_was_judged(evidence.point, own.operand))
    return note, {"max_abs_error": 0.0, "error_bar": largest(own.estimate.bound)}


def jumps_between_constants(own: OfInput) -> bool:
    """Whether the output jumps with an input at this point, and stands still on either side."""
    estimate = own.estimate
    moves = _moves(estimate)
    sides = np.abs(estimate.left) + np.abs(estimate.right)
    return bool(moves.any()) and bool((estimate.kink | ~moves).all()) and not sides[moves].any()


JUMPS = (
    "the gradient jumps at this point, and on both sides it does not move with this input: None "
    "from the tape is right"
)


def _moves(estimate: Estimate) -> Array:
    surely = np.abs(estimate.numeric) > tolerances.SURELY_MOVES * estimate.bound
    return np.asarray(surely | estimate.kink)


def missing_gradient(evidence: Evidence, own: OfInput) -> tuple[str, int]:
    """None from the tape: whether the output moves all the same, and with how many elements."""
    estimate, elements = own.estimate, own.operand.value.size
    moves = _moves(estimate)
    if jumps_between_constants(own):
        note = (
            "the output jumps at this point, and on both sides its derivative is zero: None is as "
            f"good an answer as there is. {AS_MEANT}"
        )
        return note, elements
    if not moves.any():
        note = (
            "the tape and the numeric derivative agree: the output does not move with this input. "
            "It is not used, or the output is constant around this point, or the result was "
            "computed outside the function and captured as a constant. "
            f"{evidence.point.problem.hint or AS_MEANT}"
        )
        return note, elements
    most = int(np.argmax(np.where(moves, np.abs(estimate.numeric), 0.0)))
    flat = int(evidence.plan.coordinates.element[own.part.span][most])
    index = index_of(flat, evidence.point, own.part.position)
    note = (
        f"the output does move with this input: its numeric derivative at {place(index)} is "
        f"{estimate.numeric[most]:.6g} ± {estimate.bound[most]:.1g}, {IS_MISSING}"
    )
    problem = evidence.point.problem
    hint = problem.hint or told_not_differentiable(problem.kinds)
    return f"{note}. {hint}" if hint else note, int(moves.sum())


def on_numbers(evidence: Evidence, own: OfInput) -> str:
    """What a reader of the numbers should know besides."""
    agreement, derivatives = own.agreement, evidence.derivatives
    judged = what_was_judged(evidence.point, own.operand) if own.suggestion[0].acceptable else ""
    if own.stage is Stage.BUDGET and agreement is not None:
        return joined(_left_open(evidence, own, agreement), judged)
    if not own.part.count or agreement is None or derivatives is None:
        return judged
    agreed = agreement.overall in (Verdict.PASS, Verdict.KINK)
    if agreed and own.directed is not None and own.directed.overall is not Verdict.PASS:
        return ONLY_TOGETHER
    return joined(
        _on_the_function(derivatives),
        _on_nonfinite(evidence, own, agreement.grades == NONFINITE),
        _on_kinks(own, agreement),
        _on_rounding(derivatives, agreement),
        on_the_unknown(derivatives, own, agreement),
        judged,
    )


def _left_open(evidence: Evidence, own: OfInput, agreement: Agreement) -> str:
    """How much is not known since the budget was spent, and what of it looks wrong."""
    unknown = agreement.grades == INCONCLUSIVE
    if not unknown.any():
        return ""
    budget, numeric, bound = current(), own.estimate.numeric, own.estimate.bound
    with np.errstate(all="ignore"):
        off = np.abs(own.analytic - numeric)
        apart = unknown & (off > tolerances.DISJOINT * bound)
    note = (
        f"{budget.what}: {np.count_nonzero(unknown)} of {len(unknown)} derivatives are left open; "
        f"{budget.raised_by}"
    )
    if not apart.any():
        return note
    most = int(np.argmax(np.where(apart, off, -1.0)))
    flat = int(evidence.plan.coordinates.element[own.part.span][most])
    index = index_of(flat, evidence.point, own.part.position)
    return joined(
        note,
        f"one that looks wrong and was not confirmed: {place(index)}, {own.analytic[most]:.6g} "
        f"where the first steps gave {numeric[most]:.6g} ± {bound[most]:.1g}",
    )


def what_was_judged(point: Point, operand: Operand) -> str:
    """What a pass does not say: that there was nothing to judge, or outputs that are no numbers.

    Without it `test_a_pass_says_what_it_did_not_judge` fails.
    """
    if not operand.value.size:
        return EMPTY
    if not len(point.base):
        return NO_OUTPUTS
    finite = np.isfinite(point.base)
    if finite.all():
        return ""
    numbers = [np.ravel(output) for output in point.outputs.unflatten(point.base)]
    outputs = np.concatenate([values.astype(np.complex128) for values in numbers])
    nan = int(np.isnan(outputs).sum())
    infinite = int((~np.isfinite(outputs)).sum()) - nan
    lost = " and ".join(
        f"{count} {'is' if count == 1 else 'are'} {kind}"
        for count, kind in ((nan, "NaN"), (infinite, "infinite"))
        if count
    )
    return f"{JUDGED_SOME}{len(outputs) - nan - infinite} of {len(outputs)} outputs: {lost}"


def _on_the_function(derivatives: Derivatives) -> str:
    no_double, rounds_to = derivatives.point.no_double, derivatives.noise.rounds_to
    if no_double:
        return f"{NO_DOUBLE}, so the numeric derivative was taken in its own ({no_double})"
    if rounds_to and derivatives.is_rough:
        return (
            f"the function rounds inside, to about {-math.log2(rounds_to):.0f} bits, and the bar "
            "is that wide"
        )
    return ""


def _on_kinks(own: OfInput, agreement: Agreement) -> str:
    if not (own.estimate.kink & (agreement.grades == MISMATCH)).any():
        return ""
    return (
        "the function has a kink there: its gradient may be anything between the one-sided "
        "derivatives, but not outside of them"
    )


def _on_rounding(derivatives: Derivatives, agreement: Agreement) -> str:
    if not agreement.rounding:
        return agreement.excuse
    if derivatives.noise.rounds_to:
        return "what the gradient is off is what its own arithmetic rounds off"
    return (
        "what the gradient is off is what its own arithmetic loses where results cancel on the "
        "way to it"
    )


def _on_nonfinite(evidence: Evidence, own: OfInput, broken: Array) -> str:
    """How many elements are NaN, how many infinite, and what the function is there."""
    if not broken.any():
        return ""
    point, position, gradient = evidence.point, own.part.position, own.analytic
    parts = 2 if point.inputs.complex_[position] else 1
    element = evidence.plan.coordinates.element[own.part.span] // parts
    nan, infinite = (
        np.unique(element[broken & kind]) for kind in (np.isnan(gradient), np.isinf(gradient))
    )
    counts = [(nan, "NaN"), (infinite, "infinite")]
    said = " and ".join(f"{len(at)} {kind}" for at, kind in counts if len(at))
    base, outputs = point.base, point.outputs
    if not len(base):
        return f"{said}, of a function whose output is empty"
    if not np.isfinite(base).all():
        finite = int(np.isfinite(base).sum())
        return f"{said}; {finite} of the {len(base)} numbers that the function returns are finite"
    if outputs.shapes == (point.inputs.shapes[position],):
        first = int(np.union1d(nan, infinite)[0])
        there = output_at(point, first * (2 if outputs.complex_[0] else 1))
        return f"{said}, where the function is finite ({there})"
    there = output_at(point, 0)
    if len(base) > 1:
        there = f"its outputs lie between {base.min():.6g} and {base.max():.6g}"
    return f"{said}; the function is finite ({there})"
