"""From numbers along coordinates to a Comparison that names elements of an input."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.checker import limits, tolerances
from gradcheck.checker.judge.agreement import (
    INCONCLUSIVE,
    KINK,
    NONFINITE,
    Agreement,
    relative_error,
)
from gradcheck.checker.judge.notes import notes_on
from gradcheck.checker.numerics.safe_norms import largest
from gradcheck.model import Array, Comparison, Element, Estimate, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcheck.checker.reference.reference import Reference


AS_MEANT = "If that is meant, say `grad: false` for the input, or `expect: disconnected`"


@dataclass(frozen=True, eq=False)
class Part:
    """One input's share of the coordinates."""

    position: int
    """Of the input among those that are differentiated."""
    span: slice
    """Its coordinates in the space of elements, which follow each other."""
    directions: Array
    """Its coordinates in the space of directions."""

    @classmethod
    def of(cls, reference: Reference, position: int) -> Part:
        """The share of the input at this position."""
        coordinates = reference.coordinates
        owner = coordinates.direction_owner
        mine = np.flatnonzero(owner == position) if len(owner) else owner
        return cls(position, coordinates.span(position), mine)

    @property
    def columns(self) -> Array:
        """Its coordinates in the space of elements, one by one."""
        return np.arange(self.span.start, self.span.stop)

    @property
    def count(self) -> int:
        """How many they are."""
        return int(self.span.stop - self.span.start)


def blank(reference: Reference, part: Part, **told: Any) -> Comparison:
    """A comparison that says what is compared, and nothing about how it went but what is told."""
    operand = reference.moved[part.position]
    judged = part.count
    if reference.evaluator.inputs.complex_[part.position]:
        # (The diagonal of a Hermitian matrix is real: not every element has two coordinates.)
        judged = len(np.unique(reference.coordinates.element[part.span] // 2))
    return Comparison(
        name=operand.name,
        verdict=told.pop("verdict", Verdict.PASS),
        shape=operand.value.shape,
        dtype=operand.value.dtype.name,
        judged=told.pop("judged", judged),
        directions=len(part.directions),
        **told,
    )


def disconnected(reference: Reference, part: Part, estimate: Estimate) -> Comparison:
    """None from the tape: say whether the output moves all the same."""
    comparison = blank(reference, part, verdict=Verdict.DISCONNECTED)
    moves = (np.abs(estimate.numeric) > tolerances.SURELY_MOVES * estimate.bound) | estimate.kink
    if estimate.kink.any() and not (np.abs(estimate.left) + np.abs(estimate.right))[moves].any():
        note = (
            "the output jumps at this point, and on both sides its derivative is zero: None is as "
            f"good an answer as there is. {AS_MEANT}"
        )
        return replace(comparison, note=note, failing=comparison.elements)
    if not moves.any():
        note = (
            "the tape and the numeric derivative agree: the output does not move with this input. "
            "It is not used, or the output is constant around this point, or the result was "
            f"computed outside the function and captured as a constant. {AS_MEANT}"
        )
        return replace(comparison, note=note, failing=comparison.elements)
    most = int(np.argmax(np.where(moves, np.abs(estimate.numeric), 0.0)))
    flat = int(reference.coordinates.element[part.span][most])
    index = index_of(flat, reference, part.position)
    note = (
        f"the output does move with this input: its numeric derivative at {place(index)} is "
        f"{estimate.numeric[most]:.6g} ± {estimate.bound[most]:.1g}, so a gradient is missing"
    )
    return replace(comparison, note=note, failing=int(moves.sum()))


def compared(
    reference: Reference,
    part: Part,
    gradient: Array,
    estimate: Estimate,
    agreement: Agreement,
    directed: Agreement | None,
) -> Comparison:
    """What the agreement of coordinates means for the input.

    Args:
        reference: the numeric side.
        part: the coordinates of this input.
        gradient: the analytic derivative along each of them.
        estimate: the numeric one.
        agreement: how they compare.
        directed: how they compare along random directions.
    """
    verdict = agreement.overall
    note = "; ".join(notes_on(reference, part, gradient, estimate, agreement))
    along = Verdict.PASS if directed is None else directed.overall
    if along is not Verdict.PASS and verdict in (Verdict.PASS, Verdict.KINK):
        verdict = along
        note = (
            "no single element that was sampled shows it, but the derivative along a random "
            "direction of all of them does"
        )

    element = reference.coordinates.element[part.span]
    arrays = _Arrays.of(reference, part, gradient, estimate)
    # (A complex element has two coordinates.)
    parts = 2 if reference.evaluator.inputs.complex_[part.position] else 1
    # What is infinite cannot be moved, and was not judged.
    finite = reference.point_is_finite[part.span]
    wrong = np.flatnonzero(agreement.failing)
    failing = len(np.unique(element[wrong] // parts))
    # (Where nothing is wrong, a kink is what a reader wants to see.)
    notable = len(wrong) or int(np.count_nonzero(agreement.grades == KINK))
    shown = _ranked(agreement)[: max(1, min(notable, 2 * limits.WORST))]
    indices = [index_of(int(flat), reference, part.position) for flat in element[shown]]
    error = agreement.error
    judged = (agreement.grades != INCONCLUSIVE) & np.isfinite(error)
    if not judged.all():
        error = np.where(judged, error, 0.0)
    return blank(
        reference,
        part,
        verdict=verdict,
        note=note,
        judged=len(np.unique(element[finite] // parts)),
        max_abs_error=float(error.max(initial=0.0)),
        max_rel_error=float(relative_error(error, gradient, estimate).max(initial=0.0)),
        error_bar=largest(estimate.bound),
        worst=tuple(
            arrays.element(index) for index in list(dict.fromkeys(indices))[: limits.WORST]
        ),
        failing=failing,
        analytic=arrays.analytic,
        numeric=arrays.numeric,
        bound=arrays.bound,
    )


def agreeing(reference: Reference, part: Part, gradient: Array, estimate: Estimate) -> Comparison:
    """The comparison of an input whose derivatives are all known well, and as they should be."""
    arrays = _Arrays.of(reference, part, gradient, estimate)
    error, size = np.abs(gradient - estimate.numeric), np.abs(estimate.numeric)
    told = size > estimate.bound
    worst = int(error.argmax())
    flat = int(reference.coordinates.element[part.span.start + worst])
    return blank(
        reference,
        part,
        max_abs_error=float(error[worst]),
        max_rel_error=float((error / np.where(told, size, np.inf)).max()),
        error_bar=float(estimate.bound.max()),
        worst=(arrays.element(index_of(flat, reference, part.position)),),
        analytic=arrays.analytic,
        numeric=arrays.numeric,
        bound=arrays.bound,
    )


def place(index: Sequence[int]) -> str:
    """An index as people write it; a scalar has none."""
    return str(list(index)) if index else "the scalar"


@dataclass(frozen=True, eq=False)
class _Arrays:
    """What the oracles say, in the input's shape; NaN where no coordinate is."""

    value: Array
    analytic: Array
    numeric: Array
    bound: Array
    sides: tuple[Array, Array] | None
    """The one-sided derivatives, NaN where there is no kink; None if there is none at all."""

    @classmethod
    def of(cls, reference: Reference, part: Part, gradient: Array, estimate: Estimate) -> _Arrays:
        layout, point = reference.evaluator.inputs, reference.evaluator.point
        size, start = layout.sizes[part.position], layout.offsets[part.position]
        is_complex, shape = layout.complex_[part.position], layout.shapes[part.position]

        def spread_out(values: Array) -> Array:
            full = values
            if part.count != size:
                full = np.full(size, np.nan)
                element = reference.coordinates.element[part.span]
                if is_complex:
                    full[element | 1] = 0.0  # (what is real by nature has no imaginary part)
                full[element] = values
            return (full.view(np.complex128) if is_complex else full).reshape(shape)

        sides = None
        if estimate.kink.any():
            left, right = (
                spread_out(np.where(estimate.kink, side, np.nan))
                for side in (estimate.left, estimate.right)
            )
            sides = left, right
        value = point[start : start + size]
        return cls(
            value=(value.view(np.complex128) if is_complex else value).reshape(shape),
            analytic=spread_out(gradient),
            numeric=spread_out(estimate.numeric),
            bound=np.abs(spread_out(estimate.bound)) if is_complex else spread_out(estimate.bound),
            sides=sides,
        )

    def element(self, index: tuple[int, ...]) -> Element:
        left = right = None
        if self.sides is not None and not np.isnan(self.sides[0][index]):
            left, right = (side[index].item() for side in self.sides)
        return Element(
            index=index,
            value=self.value[index].item(),
            analytic=self.analytic[index].item(),
            numeric=self.numeric[index].item(),
            bound=self.bound[index].item(),
            left=left,
            right=right,
        )


def index_of(flat: int, reference: Reference, position: int) -> tuple[int, ...]:
    """The index in the input of a real number of its flat form."""
    layout = reference.evaluator.inputs
    element = flat // (2 if layout.complex_[position] else 1)
    return tuple(int(i) for i in np.unravel_index(element, layout.shapes[position]))


def _ranked(agreement: Agreement) -> Array:
    """Coordinates from the one that stands out most to the one that stands out least."""
    if not agreement.grades.any():
        # (NaN would not have passed.)
        return np.array([agreement.error.argmax()]) if len(agreement.error) else np.zeros(0, int)
    # NaN is as bad as an error can be.
    error = np.where(np.isnan(agreement.error), np.inf, agreement.error)
    return np.lexsort((-error, -np.minimum(agreement.grades, NONFINITE)))
