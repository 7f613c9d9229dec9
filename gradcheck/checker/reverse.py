"""The gradient of the tape against the numeric one, and against the closed formula."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import describe
from gradcheck.checker.compare import (
    ARITHMETIC,
    MISMATCH,
    VACUOUS,
    VACUOUS_IF_COARSE,
    Agreement,
    compare,
)
from gradcheck.checker.describe import Part
from gradcheck.checker.diagnose import diagnose
from gradcheck.checker.first_sight import first_sight
from gradcheck.checker.formula import judge_formulas
from gradcheck.checker.moves import largest
from gradcheck.checker.nonfinite import reach_nonfinite
from gradcheck.checker.notes import another_shape
from gradcheck.checker.precision import judge_precision
from gradcheck.checker.rounding import Roundings, another_each_time, as_slack, in_place
from gradcheck.checker.search import find_wrong_element
from gradcheck.checker.ties import judge_ties
from gradcheck.errors import UsageError
from gradcheck.model import Array, Comparison, Estimate, Mode, Verdict

if TYPE_CHECKING:
    from gradcheck.checker.analytic import Backward
    from gradcheck.checker.problem import Differentiate, Problem
    from gradcheck.checker.reference import Reference
    from gradcheck.checker.space import Directions
    from gradcheck.checker.spread import Spread

SUSPICIOUS_CALLS = 32
"""How often a function is called again before its gradient is blamed."""

CONFIRMED = 64
"""How many of the coordinates that look wrong are looked at again with other steps."""

CANCELLED = 2.0**-12
"""What a derivative that cancels counts for, relative to the outputs' moves."""

LOST_ON_THE_WAY = 2.0**-30
"""Share of the numbers that meet in a gradient (the upstream, the outputs, these by an input) that
rounding may take from it: four million times the last digit, for what is larger on the way."""

STILL = 2.0**-40
"""Share of the outputs' size that they may seem to move by rounding alone."""


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
            mine = _take(estimate, part.span)
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
    reference.evaluator.must_repeat(SUSPICIOUS_CALLS)
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
        return describe.disconnected(reference, part, _take(estimate, part.span))
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
    mine = _take(estimate, part.span)
    size = _size_that_matters(reference, mine, analytic)
    tolerance = reference.problem.tolerance
    if tolerance is not None and 0 < size < tolerance.atol:
        name = reference.moved[part.position].name
        raise UsageError(
            f"the tolerance cannot fail: atol {tolerance.atol:g} is above the largest derivative "
            f"of {name}, {size:.3g}"
        )
    mine, agreement = _judge(reference, roundings, part, analytic, mine, size)
    directed = None
    space = reference.coordinates.directions
    if space is not None and along is not None and len(part.directions):
        full = in_place(
            reference, part.position, np.asarray(roundings.passed.gradients[part.position])
        )
        directed = _judge_directions(reference, roundings, part, space, full, along, size)
    comparison = describe.compared(reference, part, analytic, mine, agreement, directed)
    if comparison.verdict is not Verdict.MISMATCH:
        return comparison
    if space is not None and directed is not None and agreement.overall is not Verdict.MISMATCH:
        worst = int(part.directions[np.argmax(directed.error / directed.tolerance)])
        vector = space.vectors[worst]
        found = find_wrong_element(reference, part.position, full, vector)
        return replace(comparison, worst=() if found is None else (found,))
    return replace(comparison, diagnosis=diagnose(comparison, reference))


def _judge(
    reference: Reference,
    roundings: Roundings,
    part: Part,
    analytic: Array,
    estimate: Estimate,
    size: float,
) -> tuple[Estimate, Agreement]:
    """Compare element by element; what looks wrong is looked at again, alone and closer."""
    tolerance = reference.problem.tolerance
    excused = ~reference.point_is_finite[part.span]
    # What only reaches outputs that are not finite cannot be seen to move.
    unseen = np.zeros(len(analytic), dtype=bool)
    if not np.isfinite(reference.evaluator.base).all():
        moves = estimate.scale * reference.coordinates.space.unit[part.span]
        still = moves <= STILL * largest(reference.weights * reference.evaluator.base)
        unseen = (still & (analytic != 0)) | np.isnan(estimate.numeric)
        broken = np.flatnonzero(~np.isfinite(analytic) & ~unseen)
        unseen[broken] = reach_nonfinite(reference, part.columns[broken])
    slack: Array | float = 0.0
    confirmed, nudged = np.zeros(len(analytic), dtype=bool), False
    while True:
        agreement = compare(
            analytic,
            estimate,
            reference=size,
            slack=slack,
            tolerance=tolerance,
            excused=excused,
            beyond_reach=unseen,
            vacuous=VACUOUS_IF_COARSE if reference.is_coarse else VACUOUS,
        )
        wrong = agreement.grades == MISMATCH
        surely = wrong & confirmed
        if not wrong.any() or (surely.any() and nudged):
            return estimate, replace(agreement, rounding=nudged and not wrong.any())
        if surely.any():
            unit = reference.coordinates.space.unit[part.span]
            most = _most_to_lose(reference, size, unit)
            if (agreement.error > most)[surely].any():
                return estimate, agreement
            nudged = True
            spread = roundings.on_the_way[part.position]
            slack = np.maximum(slack, _slack(reference, part, spread, analytic, estimate))
            continue
        suspects = np.flatnonzero(wrong)
        suspects = np.sort(suspects[np.argsort(-agreement.error[suspects])][:CONFIRMED])
        # (Smaller steps would show nothing but rounding of a coarse function, and of an empty one
        # nothing at all.)
        if not reference.is_coarse and len(reference.evaluator.base):
            refuted = reference.elements.confirm(part.columns[suspects], analytic[suspects])
            unseen[suspects] |= ~refuted
            estimate = _take(reference.elements.estimate(), part.span)
        confirmed[suspects] = True
        spread = roundings.of_inputs[part.position]
        slack = np.maximum(slack, _slack(reference, part, spread, analytic, estimate))


def _judge_directions(
    reference: Reference,
    roundings: Roundings,
    part: Part,
    space: Directions,
    full: Array,
    along: Estimate,
    size: float,
) -> Agreement:
    """Compare along the random directions that stand for the elements of a large input."""
    tolerance = reference.problem.tolerance
    analytic, estimate = space.project(full)[part.directions], _take(along, part.directions)
    agreement = compare(analytic, estimate, reference=size, tolerance=tolerance)
    if agreement.overall is not Verdict.MISMATCH:
        return agreement
    slack = _along(space, reference, part, roundings.of_inputs)
    agreement = compare(analytic, estimate, reference=size, tolerance=tolerance, slack=slack)
    most = _most_to_lose(reference, size, space.unit[part.directions])
    if agreement.overall is Verdict.MISMATCH and not (agreement.error > most).any():
        slack = _along(space, reference, part, roundings.on_the_way)
        agreement = compare(analytic, estimate, reference=size, tolerance=tolerance, slack=slack)
    return agreement


def _size_that_matters(reference: Reference, estimate: Estimate, analytic: Array) -> float:
    """The size of a derivative that counts for this input; a bound must be well below it."""
    size = max(largest(estimate.numeric), largest(analytic))
    # Derivatives that cancel to nothing are still known well if the bound is tiny against what
    # the outputs move.
    size = max(size, CANCELLED * largest(estimate.scale))
    if size > 0:
        return size
    # Nothing moves, and the gradient says so too: there is only the size of the outputs.
    return largest(reference.weights * reference.evaluator.base)


def _most_to_lose(reference: Reference, size: float, unit: Array) -> Array:
    """By coordinate: an error that no rounding on the way explains, at a glance.

    What that does is dear to find out: the gradient has to be traced.
    """
    weights, base = reference.weights, reference.evaluator.base
    output = largest(weights * base)
    # (A function that rounds to fewer digits inside loses more.)
    share = LOST_ON_THE_WAY * max(1.0, reference.noise.rounds_to * 2.0**52)
    return share * (max(size, output, largest(weights)) + output / unit)


def _along(space: Directions, reference: Reference, part: Part, spreads: list[Spread]) -> Array:
    """By direction: what the gradient may be off by rounding."""
    rounding = as_slack(reference, part.position, spreads[part.position])
    return space.project_size(rounding)[part.directions]


def _slack(
    reference: Reference, part: Part, spread: Spread, analytic: Array, estimate: Estimate
) -> Array:
    """By coordinate: what the gradient may be off by rounding."""
    rounding = as_slack(reference, part.position, spread)
    slack = reference.coordinates.space.project_size(rounding)[part.span]
    # Beside a kink the gradient is another one, which excuses no value that it has nowhere.
    slack[estimate.kink & _beyond(reference, part, spread, analytic)] = 0.0
    return slack


def _beyond(reference: Reference, part: Part, spread: Spread, analytic: Array) -> Array:
    """By coordinate: whether the gradient is outside of all that it is at the point's neighbours.

    Where elements move in pairs, nobody can tell.
    """
    space = reference.coordinates.space
    if space.partners is not None:
        return np.zeros(len(analytic), dtype=bool)
    low, high = (
        space.project(in_place(reference, part.position, end))[part.span] for end in spread.ends
    )
    margin = ARITHMETIC * np.maximum(np.abs(low), np.abs(high))
    return np.asarray((analytic < low - margin) | (analytic > high + margin))


def _take(estimate: Estimate, columns: Array | slice) -> Estimate:
    return Estimate(
        numeric=estimate.numeric[columns],
        bound=estimate.bound[columns],
        step=estimate.step[columns],
        scale=estimate.scale[columns],
        left=estimate.left[columns],
        right=estimate.right[columns],
        kink=estimate.kink[columns],
        evaluations=estimate.evaluations,
    )
