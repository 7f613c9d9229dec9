"""From numbers along coordinates to figures that name elements of an input, and to a Comparison."""

from __future__ import annotations

from dataclasses import fields, replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.checker import limits
from gradcheck.checker.judge.agreement import INCONCLUSIVE, KINK, NONFINITE, relative_error
from gradcheck.checker.numerics.vectors import (
    largest,
    largest_first,
    name_of,
    somewhere_so,
    widest,
)
from gradcheck.model import Comparison, Element, Stage, Verdict
from gradcheck.model.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcheck.checker.judge.agreement import Agreement
    from gradcheck.checker.judge.evidence import Evidence, OfInput
    from gradcheck.checker.reference.point import Point
    from gradcheck.model import Array


@frozen()
class Figures:
    """What a Comparison tells in numbers, before there is a verdict."""

    judged: int
    directions: int
    max_abs_error: float | None = None
    max_rel_error: float | None = None
    error_bar: float | None = None
    worst: tuple[Element, ...] = ()
    failing: int = 0
    analytic: Array | None = None
    numeric: Array | None = None
    bound: Array | None = None
    formula: Array | None = None

    def with_formula(self, values: Array) -> Figures:
        """These figures beside what a formula gives."""
        worst = tuple(
            replace(element, formula=values[element.index].item()) for element in self.worst
        )
        return replace(self, worst=worst, formula=values)


_FIGURES = [field.name for field in fields(Figures)]
_NUMBERS = attrgetter(*_FIGURES)


def comparison(
    own: OfInput, figures: Figures, verdict: Verdict, stage: Stage, note: str = "", **changed: Any
) -> Comparison:
    """The verdict on one input, with its reason and its figures; some of them may be others."""
    told = dict(zip(_FIGURES, _NUMBERS(figures), strict=True))
    return Comparison(
        name=own.operand.name,
        verdict=verdict,
        shape=own.operand.value.shape,
        dtype=name_of(own.operand.value.dtype),
        note=note,
        decided_by=stage,
        **{**told, **changed},
    )


def counts(evidence: Evidence, own: OfInput) -> Figures:
    """How many elements and directions there are, and nothing about how they fared."""
    return Figures(_judged_elements(evidence, own), len(own.part.directions))


def _judged_elements(evidence: Evidence, own: OfInput) -> int:
    if not evidence.point.inputs.complex_[own.part.position]:
        return own.part.count
    # (The diagonal of a Hermitian matrix is real: not every element has two coordinates.)
    return _distinct(evidence.plan.coordinates.element[own.part.span] // 2)


def _distinct(elements: Array) -> int:
    """How many different ones there are; of a million `np.unique` takes a second."""
    return int(np.count_nonzero(np.bincount(elements)))


def figures_of(evidence: Evidence, own: OfInput) -> Figures:
    """The figures of an input, from whatever stage judged it."""
    if own.agreement is not None:
        return _judged(evidence, own, own.agreement)
    if own.gradient is None or own.misfit or not own.part.count:
        return counts(evidence, own)
    return _settled(evidence, own)


def _settled(evidence: Evidence, own: OfInput) -> Figures:
    """The figures of an input whose derivatives are all known well, and as they should be."""
    arrays = _Arrays.of(evidence, own)
    estimate = own.estimate
    error, size = np.abs(own.analytic - estimate.numeric), np.abs(estimate.numeric)
    told = size > estimate.bound
    worst = int(error.argmax())
    flat = int(evidence.plan.coordinates.element[own.part.span.start + worst])
    return Figures(
        judged=_judged_elements(evidence, own),
        directions=len(own.part.directions),
        max_abs_error=float(error[worst]),
        max_rel_error=float(np.maximum.reduce(error / np.where(told, size, np.inf))),
        error_bar=float(np.maximum.reduce(estimate.bound)),
        worst=(arrays.element(index_of(flat, evidence.point, own.part.position)),),
        analytic=arrays.analytic,
        numeric=arrays.numeric,
        bound=arrays.bound,
    )


def _judged(evidence: Evidence, own: OfInput, agreement: Agreement) -> Figures:
    """The figures of an input that was compared coordinate by coordinate."""
    point, coordinates = evidence.point, evidence.plan.coordinates
    position, span = own.part.position, own.part.span
    element = coordinates.element[span]
    arrays = _Arrays.of(evidence, own)
    # (A complex element has two coordinates.)
    parts = 2 if point.inputs.complex_[position] else 1
    # What is infinite cannot be moved, and was not judged.
    finite = np.isfinite(point.at[coordinates.space.position[span]])
    wrong = np.flatnonzero(agreement.failing)
    # (Where nothing is wrong, a kink is what a reader wants to see.)
    notable = len(wrong) or int(np.count_nonzero(agreement.grades == KINK))
    shown = _ranked(agreement)[: max(1, min(notable, 2 * limits.WORST))]
    indices = dict.fromkeys(index_of(int(flat), point, position) for flat in element[shown])
    error = agreement.error
    # (What is NaN or infinite is as wrong as that.)
    told = np.isfinite(error) | (agreement.grades == NONFINITE)
    judged = (agreement.grades != INCONCLUSIVE) & told
    if not judged.all():
        error = np.where(judged, error, 0.0)
    relative = relative_error(error, own.analytic, own.estimate)
    most, most_relative = _most(error, relative)
    failing = _distinct(element[wrong] // parts)
    if own.tie is not None:
        most, most_relative = max(own.tie.error, most), max(own.tie.relative, most_relative)
        failing += own.tie.elements
    # (Where nothing could be judged there is no error to tell.)
    nothing = not judged.any()
    return replace(
        counts(evidence, own),
        judged=_distinct(element[finite] // parts),
        max_abs_error=None if nothing else most,
        max_rel_error=None if nothing else most_relative,
        error_bar=None if nothing else widest(own.estimate.bound),
        worst=tuple(arrays.element(index) for index in list(indices)[: limits.WORST]),
        failing=failing,
        analytic=arrays.analytic,
        numeric=arrays.numeric,
        bound=arrays.bound,
    )


def _most(error: Array, relative: Array) -> tuple[float, float]:
    """The largest error, and the largest relative one; infinite where the first is."""
    most = float(error.max(initial=0.0))
    return most, float(relative.max(initial=0.0)) if np.isfinite(most) else most


def along_directions(
    own: OfInput, directed: Agreement, found: Element | None
) -> dict[str, float | tuple[Element, ...] | None]:
    """The figures where random directions refute a gradient: of the element that was found.

    Where none stands out, of the direction that shows most: elements of a sample say nothing of it.

    Without it `test_the_figures_are_those_of_what_is_wrong` fails.
    """
    if found is None:
        worst = int(np.argmax(directed.error / directed.tolerance))
        return {"max_abs_error": float(directed.error[worst]), "max_rel_error": None}
    analytic, numeric = float(np.real(found.analytic)), float(np.real(found.numeric))
    error, size = abs(analytic - numeric), max(abs(analytic), abs(numeric))
    return {
        "worst": (found,),
        "max_abs_error": error,
        "max_rel_error": error / size if size else 0.0,
        "error_bar": max(float(np.real(found.bound)), largest(own.estimate.bound)),
    }


def place(index: Sequence[int]) -> str:
    """An index as people write it; a scalar has none."""
    return str(list(index)) if index else "the scalar"


def index_of(flat: int, point: Point, position: int) -> tuple[int, ...]:
    """The index in the input of a real number of its flat form."""
    layout = point.inputs
    element, index = flat // (2 if layout.complex_[position] else 1), []
    for length in reversed(layout.shapes[position]):
        element, along = divmod(element, length)
        index.append(along)
    return tuple(reversed(index))


@frozen()
class _Arrays:
    """What the oracles say, in the input's shape; NaN where no coordinate is."""

    value: Array
    analytic: Array
    numeric: Array
    bound: Array
    sides: tuple[Array, Array] | None
    """The one-sided derivatives, NaN where there is no kink; None if there is none at all."""

    @classmethod
    def of(cls, evidence: Evidence, own: OfInput) -> _Arrays:
        point, part, estimate = evidence.point, own.part, own.estimate
        layout = point.inputs
        size, start = layout.sizes[part.position], layout.offsets[part.position]
        is_complex, shape = layout.complex_[part.position], layout.shapes[part.position]

        def spread_out(values: Array) -> Array:
            full = values
            if part.count != size:
                full = np.full(size, np.nan)
                element = evidence.plan.coordinates.element[part.span]
                if is_complex:
                    full[element | 1] = 0.0  # (what is real by nature has no imaginary part)
                full[element] = values
            return (full.view(np.complex128) if is_complex else full).reshape(shape)

        sides = None
        if somewhere_so(estimate.kink):
            left, right = (
                spread_out(np.where(estimate.kink, side, np.nan))
                for side in (estimate.left, estimate.right)
            )
            sides = left, right
        value = point.at[start : start + size]
        return cls(
            value=(value.view(np.complex128) if is_complex else value).reshape(shape),
            analytic=spread_out(own.analytic),
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


def _ranked(agreement: Agreement) -> Array:
    """Coordinates from the one that stands out most to the one that stands out least."""
    if not agreement.grades.any():
        # (NaN would not have passed.)
        return np.array([agreement.error.argmax()]) if len(agreement.error) else np.zeros(0, int)
    # NaN is as bad as an error can be.
    error = np.where(np.isnan(agreement.error), np.inf, agreement.error)
    order = largest_first(error)
    ranked: Array = order[
        np.argsort(-np.minimum(agreement.grades[order], NONFINITE), kind="stable")
    ]
    return ranked
