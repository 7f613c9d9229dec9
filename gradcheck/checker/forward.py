"""The forward accumulator against the numeric derivative, along single elements or directions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import limits, tolerances
from gradcheck.checker.budget import current
from gradcheck.checker.duality import BothModes, Dual, told
from gradcheck.checker.forward_own import OwnMoves
from gradcheck.checker.forward_vectors import vectors_of
from gradcheck.checker.forward_zeros import granted_zeros
from gradcheck.checker.judge.agreement import (
    INCONCLUSIVE,
    KINK,
    MISMATCH,
    NONFINITE,
    Agreement,
    compare,
    must_be_able_to_fail,
    relative_error,
)
from gradcheck.checker.judge.figures import index_of
from gradcheck.checker.judge.nonfinite import nobody_sees, reach_nonfinite
from gradcheck.checker.judge.notes import (
    IS_MISSING,
    joined,
    left_open_by_budget,
    what_was_judged,
)
from gradcheck.checker.judge.unknown_notes import on_the_unknown
from gradcheck.checker.numerics.matrix_kinds import moved_elements
from gradcheck.checker.numerics.rng import generator
from gradcheck.checker.numerics.vectors import largest, widest
from gradcheck.checker.reference.hidden_noise import listening
from gradcheck.checker.reference.measured import with_measured_noise
from gradcheck.checker.reference.plan import make_plan
from gradcheck.checker.subject.accumulator import Accumulator
from gradcheck.model import (
    Array,
    CheckKind,
    Comparison,
    Element,
    Mode,
    Stage,
    Tolerance,
    Verdict,
)

NO_MOVE = f"forward mode gives None, and the outputs move with this input, {IS_MISSING}"

if TYPE_CHECKING:
    from gradcheck.checker.numerics.estimate import Estimate, Noise
    from gradcheck.checker.reference.derivatives import Derivatives
    from gradcheck.checker.reference.point import Point


def check_forward(point: Point, noise: Noise | None = None) -> list[Comparison]:
    """One comparison per input that is differentiated.

    Args:
        point: the function at its point.
        noise: of the function, where it is known already.
    """
    problem = point.problem
    derivatives = with_measured_noise(point, make_plan(point), noise)
    rng = generator(problem.seed, 0x6A76)
    mode = Mode.EAGER if point.two_questions else problem.mode
    accumulator = Accumulator(problem.function, problem.operands, mode)
    both = BothModes(point, accumulator, mode, derivatives.noise)
    own = OwnMoves(both) if point.two_questions else None
    return [_compared(derivatives, both, own, i, rng) for i in range(len(point.moved))]


def _compared(
    derivatives: Derivatives,
    both: BothModes,
    own: OwnMoves | None,
    position: int,
    rng: np.random.Generator,
) -> Comparison:
    """The comparison of the input at this position."""
    point = derivatives.point
    operand, layout = point.moved[position], point.inputs
    start, size = layout.offsets[position], layout.sizes[position]
    single = size <= limits.FORWARD_ELEMENTS
    elements = moved_elements(operand.structure, operand.value.shape, size)
    vectors, unit = vectors_of(derivatives, elements, start, size, None if single else rng)
    dual = both.along(vectors)
    moved = dual.forward
    estimate = derivatives.along(vectors, unit)
    largest_told = max(largest(estimate.numeric), largest(moved))
    must_be_able_to_fail(point.problem.tolerance, largest_told, operand.name)
    outputs = largest(point.weights * derivatives.noise.counted(point.base))
    matters = largest(estimate.scale) or outputs
    along = _Along(vectors, unit, start + elements.position if single else None, matters)
    estimate, agreement = _looked_at_twice(derivatives, moved, estimate, along)
    agreement, dual = granted_zeros(agreement, estimate, dual, point, derivatives.noise, unit)
    # (What is NaN or infinite is as wrong as that.)
    error = np.nan_to_num(agreement.error, nan=np.inf, posinf=np.inf)
    error = np.where(np.isfinite(error) | (agreement.grades == NONFINITE), error, 0.0)
    most = float(error.max(initial=0.0))
    relative = relative_error(agreement.error, moved, estimate)
    verdict, note, failing, row = _with_duality(both, dual, vectors, estimate, agreement, point)
    stage = Stage.FORWARD
    if verdict.acceptable and own is not None:
        stage, verdict, note, failing = own.told(verdict, dual, vectors)
    if verdict.acceptable:
        note = what_was_judged(point, operand)
    elif verdict is Verdict.INCONCLUSIVE and stage is Stage.FORWARD:
        stage, note = _unknown(derivatives, estimate, agreement)
    elif verdict is Verdict.MISMATCH and not moved.any() and both.is_silent(position, vectors):
        verdict, note = Verdict.DISCONNECTED, NO_MOVE
    worst: tuple[Element, ...] = ()
    if single and row is not None:
        flat = int(elements.position[row])
        worst = (_element(point, position, moved, estimate, row, flat),)
    return Comparison(
        name=operand.name,
        verdict=verdict,
        shape=operand.value.shape,
        dtype=operand.value.dtype.name,
        check=CheckKind.FORWARD,
        judged=operand.value.size if single else 0,
        directions=0 if single else limits.DIRECTIONS,
        max_abs_error=most,
        max_rel_error=float(relative.max(initial=0.0)) if np.isfinite(most) else most,
        error_bar=widest(estimate.bound),
        failing=int(failing.sum()),
        worst=worst,
        note=note,
        decided_by=stage,
    )


def _unknown(
    derivatives: Derivatives, estimate: Estimate, agreement: Agreement
) -> tuple[Stage, str]:
    """Who left it open, and why.

    Without it `test_what_forward_mode_leaves_open_is_said` fails.
    """
    never = np.isnan(estimate.numeric) & (agreement.grades == INCONCLUSIVE)
    if never.any() and current().is_spent:
        return Stage.BUDGET, left_open_by_budget(never)
    return Stage.FORWARD, on_the_unknown(derivatives, estimate, agreement)


@dataclass(frozen=True, eq=False)
class _Along:
    """Along what an input is moved."""

    vectors: Array
    """A row each."""
    unit: Array | None
    """How many times each."""
    places: Array | None
    """Which number of the point each moves; None for random directions."""
    matters: float
    """The size of a derivative that counts."""


def _looked_at_twice(
    derivatives: Derivatives, moved: Array, estimate: Estimate, along: _Along
) -> tuple[Estimate, Agreement]:
    """What is known once what looks wrong was moved again, closer; and how it compares.

    Of what is infinite nothing can be said, nor of what is lost where it stands still.

    Without it `test_numbers_that_are_huge_or_tiny_are_no_fault` fails.
    """
    point = derivatives.point
    excused = None if along.places is None else ~np.isfinite(point.at[along.places])
    output = largest(point.weights * derivatives.noise.counted(point.base))
    least = tolerances.STILL * output / (1.0 if along.unit is None else along.unit)
    unseen = nobody_sees(point, along.places, moved, estimate, least)

    def compared() -> Agreement:
        return compare(
            moved,
            estimate,
            reference=along.matters,
            tolerance=point.problem.tolerance,
            excused=excused,
            beyond_reach=unseen,
        )

    agreement = compared()
    wrong = agreement.grades == MISMATCH
    louder = listening(derivatives) if wrong.any() else derivatives
    if louder is not derivatives:
        # Else `test_what_is_added_to_what_is_huge_in_forward_mode` fails.
        again = louder.along(along.vectors, along.unit)
        return _looked_at_twice(louder, moved, again, along)
    if along.places is not None:
        unseen[wrong] |= reach_nonfinite(point, along.places[wrong])
        agreement = compared()
    suspects = agreement.worst(limits.CONFIRMED)
    if not len(suspects) or derivatives.is_coarse or not len(point.base):
        return estimate, agreement
    estimate, refuted = derivatives.along_again(
        along.vectors, along.unit, estimate, moved, suspects
    )
    unseen[suspects] |= ~refuted
    return estimate, compared()


def _with_duality(
    both: BothModes,
    dual: Dual,
    vectors: Array,
    estimate: Estimate,
    agreement: Agreement,
    point: Point,
) -> tuple[Verdict, str, Array, int | None]:
    """The verdict of both comparisons, a note, who is wrong, and the row that stands out most."""
    verdict, failing = agreement.overall, agreement.failing
    if not len(vectors):
        return verdict, "", failing, None
    row = int(np.argmax(np.nan_to_num(agreement.error)))
    if verdict is Verdict.MISMATCH:
        return verdict, _who(dual, estimate, row), failing, row
    if not (verdict.acceptable or verdict is Verdict.INCONCLUSIVE):
        return verdict, "", failing, row
    apart, bars = _apart(both, dual, vectors, agreement, point.problem.tolerance)
    if not apart.any():
        return verdict, "", failing, row
    row = int(np.argmax(np.where(apart, dual.apart, 0.0)))
    note = joined(told(dual, row, bars[row]), _who(dual, estimate, row))
    return Verdict.MISMATCH, note, failing | apart, row


def _apart(
    both: BothModes,
    dual: Dual,
    vectors: Array,
    agreement: Agreement,
    tolerance: Tolerance | None,
) -> tuple[Array, Array]:
    """By vector: whether forward and reverse mode differ, and from where on they do.

    At a kink each may have chosen a side of its own.
    """
    bars = dual.rounding.copy()
    if tolerance is not None:
        bars = np.maximum(bars, tolerance.atol + tolerance.rtol * np.abs(dual.reverse))
    asked = np.flatnonzero((dual.apart > bars) & (agreement.grades != KINK))
    if len(asked):
        measured = both.with_measured_rounding(dual, asked, vectors)
        bars[asked] = np.maximum(bars[asked], measured)
    return (dual.apart > bars) & (agreement.grades != KINK), bars


def _who(dual: Dual, estimate: Estimate, row: int) -> str:
    """Which of the two modes the numeric derivative is with, if it can tell."""
    bar = tolerances.BOUND_SAFETY * estimate.bound[row] + dual.rounding[row]
    ours, theirs = (
        bool(abs(each[row] - estimate.numeric[row]) <= bar) for each in (dual.forward, dual.reverse)
    )
    if ours == theirs:
        return ""
    right, wrong = ("forward", "reverse") if ours else ("reverse", "forward")
    return f"the numeric derivative is with {right} mode: {wrong} mode is wrong"


def _element(
    point: Point, position: int, analytic: Array, estimate: Estimate, row: int, flat: int
) -> Element:
    """The element that this row of the comparison moves, the real number `flat` of the input."""
    index = index_of(flat, point, position)
    return Element(
        index=index,
        value=point.moved[position].value[index].item(),
        analytic=float(analytic[row]),
        numeric=float(estimate.numeric[row]),
        bound=float(estimate.bound[row]),
    )
