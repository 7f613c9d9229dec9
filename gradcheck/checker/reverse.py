"""The gradient of the tape against the numeric one, and against the closed formula."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import limits, tolerances
from gradcheck.checker.diagnose.diagnose import diagnose
from gradcheck.checker.judge import describe
from gradcheck.checker.judge.agreement import some_of
from gradcheck.checker.judge.bisect import find_wrong_element
from gradcheck.checker.judge.confirm import judge_directions, judge_elements
from gradcheck.checker.judge.describe import Part
from gradcheck.checker.judge.formula import judge_formulas
from gradcheck.checker.judge.notes import another_shape
from gradcheck.checker.judge.quick_check import first_sight
from gradcheck.checker.judge.rounding import Roundings, another_each_time, in_place
from gradcheck.checker.judge.ties import judge_ties
from gradcheck.checker.numerics.safe_norms import largest
from gradcheck.checker.precision.low_precision import judge_precision
from gradcheck.errors import UsageError
from gradcheck.model import Array, Comparison, Estimate, Mode, Verdict

if TYPE_CHECKING:
    from gradcheck.checker.reference.reference import Reference
    from gradcheck.checker.subject.problem import Differentiate, Problem
    from gradcheck.checker.subject.tape import Backward


def check_reverse(problem: Problem, reference: Reference) -> list[Comparison]:
    """One comparison per input that is differentiated."""
    # In low precision there are two questions: here the formula is judged, in double precision;
    # `judge_precision` judges the arithmetic.
    two_questions = reference.is_low and not reference.no_double
    mode = Mode.EAGER if two_questions else problem.mode
    tape: Differentiate
    if reference.tape is not None and mode is Mode.EAGER:
        tape = reference.tape
        passed = reference.tape.back(reference.upstream)
    else:
        tape = problem.tape(problem.function, problem.operands, mode)
        passed = tape(reference.values, reference.upstream)
    analytic = _along_elements(reference, passed)
    sight = first_sight(reference, passed, analytic)
    lost = sight is None or reference.must_sample(int(sight.doubtful.sum()))
    if lost and reference.sample():
        analytic = _along_elements(reference, passed)
        sight = first_sight(reference, passed, analytic)
    along = None
    if sight is None:
        estimate, along = reference.differentiate(), reference.along_directions()
    elif sight.doubtful.any():
        estimate = reference.differentiate(sight.estimate, sight.doubtful)
    else:
        estimate = sight.estimate
    comparisons, roundings = [], Roundings(reference, passed)
    for i in range(len(passed.gradients)):
        part = Part.of(reference, i)
        if sight is not None and part.count and sight.settled[part.span].all():
            mine = some_of(estimate, part.span)
            comparisons.append(describe.agreeing(reference, part, analytic[part.span], mine))
        else:
            comparisons.append(
                _compare_input(reference, roundings, part, analytic, estimate, along)
            )
    comparisons = judge_ties(comparisons, reference, analytic, estimate)
    if not all(comparison.verdict is Verdict.PASS for comparison in comparisons):
        _must_be_deterministic(reference, tape, passed)
    comparisons = judge_formulas(comparisons, reference, passed)
    return judge_precision(comparisons, reference, passed) if two_questions else comparisons


def _along_elements(reference: Reference, passed: Backward) -> Array:
    """The analytic derivative along each coordinate; zero where there is none."""
    layout = reference.evaluator.inputs
    gradients = [
        np.zeros(shape) if gradient is None or gradient.shape != shape else gradient
        for gradient, shape in zip(passed.gradients, layout.shapes, strict=True)
    ]
    return reference.coordinates.space.project(layout.flatten(gradients))


def _must_be_deterministic(reference: Reference, tape: Differentiate, passed: Backward) -> None:
    """Before blame: is it the same function, and the same gradient, again?"""
    # A few calls can agree by chance (a coin that fell the same way).
    reference.evaluator.must_repeat(limits.REPEATED_BEFORE_BLAME)
    for _ in range(2):
        again = tape(reference.values, reference.upstream)
        for operand, one, other in zip(
            reference.moved, passed.gradients, again.gradients, strict=True
        ):
            if (
                one is not None
                and other is not None
                and not np.array_equal(one, other, equal_nan=one.dtype.kind in "fc")
            ):
                raise another_each_time(operand.name)


def _compare_input(
    reference: Reference,
    roundings: Roundings,
    part: Part,
    analytic: Array,
    estimate: Estimate,
    along: Estimate | None,
) -> Comparison:
    comparison = describe.blank(reference, part)
    gradient = roundings.passed.gradients[part.position]
    if gradient is None:
        return describe.disconnected(reference, part, some_of(estimate, part.span))
    if gradient.shape != comparison.shape:
        note = another_shape(gradient.shape, comparison.shape, reference.evaluator.outputs.shapes)
        return replace(comparison, verdict=Verdict.MISMATCH, note=note)
    wanted = reference.evaluator.dtype(part.position)
    if gradient.dtype != wanted:
        note = f"the gradient is {gradient.dtype.name}, its input {wanted.name}"
        return replace(comparison, verdict=Verdict.MISMATCH, note=note)
    if not gradient.size:
        note = "the input is empty: only the shape and dtype of its gradient were checked"
        return replace(comparison, note=note)
    return _compare_elements(reference, roundings, part, analytic[part.span], estimate, along)


def _compare_elements(
    reference: Reference,
    roundings: Roundings,
    part: Part,
    analytic: Array,
    estimate: Estimate,
    along: Estimate | None,
) -> Comparison:
    """Judge one input, and look twice before calling it wrong."""
    mine = some_of(estimate, part.span)
    size = _size_that_matters(reference, mine, analytic)
    tolerance = reference.problem.tolerance
    if tolerance is not None and 0 < size < tolerance.atol:
        name = reference.moved[part.position].name
        raise UsageError(
            f"the tolerance cannot fail: atol {tolerance.atol:g} is above the largest derivative "
            f"of {name}, {size:.3g}"
        )
    mine, agreement = judge_elements(reference, roundings, part, analytic, mine, size)
    directed = None
    space = reference.coordinates.directions
    if space is not None and along is not None and len(part.directions):
        full = in_place(
            reference, part.position, np.asarray(roundings.passed.gradients[part.position])
        )
        directed = judge_directions(reference, roundings, part, space, full, along, size)
    comparison = describe.compared(reference, part, analytic, mine, agreement, directed)
    if comparison.verdict is not Verdict.MISMATCH:
        return comparison
    if space is not None and directed is not None and agreement.overall is not Verdict.MISMATCH:
        worst = int(part.directions[np.argmax(directed.error / directed.tolerance)])
        vector = space.vectors[worst]
        found = find_wrong_element(reference, part.position, full, vector)
        return replace(comparison, worst=() if found is None else (found,))
    return replace(comparison, diagnosis=diagnose(comparison, reference))


def _size_that_matters(reference: Reference, estimate: Estimate, analytic: Array) -> float:
    """The size of a derivative that counts for this input; a bound must be well below it."""
    size = max(largest(estimate.numeric), largest(analytic))
    # Derivatives that cancel to nothing are still known well if the bound is tiny against what
    # the outputs move.
    size = max(size, tolerances.CANCELLED * largest(estimate.scale))
    if size > 0:
        return size
    # Nothing moves, and the gradient says so too: there is only the size of the outputs.
    return largest(reference.weights * reference.evaluator.base)
