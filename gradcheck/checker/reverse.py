"""The gradient of the tape against the numeric one, and against the closed formula."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from gradcheck.checker.analytic import Backward, backward
from gradcheck.checker.compare import Agreement, compare, relative_error
from gradcheck.checker.diagnose import diagnose
from gradcheck.checker.formula import judge_formulas
from gradcheck.checker.precision import judge_precision
from gradcheck.checker.problem import Problem
from gradcheck.checker.reference import Reference
from gradcheck.checker.tensors import widen
from gradcheck.errors import UsageError
from gradcheck.model import (
    Array,
    CheckKind,
    Comparison,
    Element,
    Estimate,
    Mode,
    Scalar,
    Verdict,
)

WORST = 5
"""How many elements a comparison names."""

CONFIRMED = 64
"""How many of the coordinates that look wrong are looked at again with other steps."""

WOBBLE = 2.0**-50
"""Relative change of the inputs that shows how much of a gradient is rounding."""


def check_reverse(problem: Problem, reference: Reference) -> list[Comparison]:
    """One comparison per input that is differentiated."""
    # In low precision there are two questions: here the formula is judged, in double precision;
    # `judge_precision` judges the arithmetic.
    mode = Mode.EAGER if reference.is_low and not reference.no_double else problem.mode
    passed = backward(
        problem.function, problem.operands, reference.values, reference.upstream, mode
    )
    comparisons = _compare_inputs(reference, passed)
    comparisons = judge_formulas(comparisons, reference, passed)
    if reference.is_low and not reference.no_double:
        comparisons = judge_precision(comparisons, reference, passed)
    return comparisons


@dataclass(frozen=True, eq=False)
class _Part:
    """The coordinates of one input."""

    columns: Array
    """Of the elements' space."""
    directions: Array
    """Of the directions' space."""


def _compare_inputs(reference: Reference, passed: Backward) -> list[Comparison]:
    coordinates, layout = reference.coordinates, reference.evaluator.inputs
    estimate, along = reference.elements.run(), reference.directions.run()
    comparisons = []
    for i, (operand, gradient) in enumerate(
        zip(reference.moved, passed.gradients, strict=True)
    ):
        part = _Part(
            np.flatnonzero(coordinates.owner == i),
            np.flatnonzero(coordinates.direction_owner == i),
        )
        comparison = Comparison(
            name=operand.name,
            verdict=Verdict.PASS,
            shape=operand.value.shape,
            dtype=operand.value.dtype.name,
            judged=len(part.columns) // (2 if layout.complex_[i] else 1),
            directions=len(part.directions),
        )
        if gradient is None:
            comparisons.append(_disconnected(comparison, _take(estimate, part.columns), reference))
        elif gradient.shape != operand.value.shape:
            note = (
                f"the gradient has shape {list(gradient.shape)}, but its input has shape "
                f"{list(operand.value.shape)}"
            )
            comparisons.append(replace(comparison, verdict=Verdict.MISMATCH, note=note))
        elif not operand.value.size:
            note = "the input is empty: only the shape of its gradient was checked"
            comparisons.append(replace(comparison, note=note))
        else:
            full = np.zeros(layout.offsets[-1])
            full[layout.offsets[i] : layout.offsets[i + 1]] = _flat(gradient, layout.complex_[i])
            comparisons.append(
                _compare_one(reference, comparison, part, i, full, estimate, along)
            )
    return comparisons


def _compare_one(
    reference: Reference,
    comparison: Comparison,
    part: _Part,
    position: int,
    full: Array,
    estimate: Estimate,
    along: Estimate,
) -> Comparison:
    """Judge one input, and look twice before calling it wrong."""
    coordinates = reference.coordinates
    tolerance = reference.problem.tolerance
    analytic = coordinates.space.project(full)[part.columns]
    excused = ~reference.point_is_finite[part.columns]
    mine, mine_along = _take(estimate, part.columns), _take(along, part.directions)
    size = _reference_size(reference, mine)
    if tolerance is not None and 0 < size < tolerance.atol:
        raise UsageError(
            f"the tolerance cannot fail: atol {tolerance.atol:g} is above the largest derivative "
            f"of {comparison.name}, {size:.3g}"
        )
    agreement = compare(
        analytic, mine, reference=size, tolerance=tolerance, excused=excused
    )
    directed = compare(
        coordinates.directions.project(full)[part.directions],
        mine_along,
        reference=size,
        tolerance=tolerance,
    )
    if Verdict.MISMATCH in (agreement.overall, directed.overall):
        suspects = np.flatnonzero(agreement.verdicts == Verdict.MISMATCH)
        suspects = suspects[np.argsort(-agreement.error[suspects])][:CONFIRMED]
        confirmed = reference.elements.confirm(part.columns[suspects], agreement.error[suspects])
        mine = _take(confirmed, part.columns)
        wobble = _wobble(reference, position)
        agreement = compare(
            analytic,
            mine,
            reference=size,
            tolerance=tolerance,
            excused=excused,
            slack=_project(reference, wobble, part.columns),
        )
        directed = compare(
            coordinates.directions.project(full)[part.directions],
            mine_along,
            reference=size,
            tolerance=tolerance,
            slack=4 * np.abs(coordinates.directions.vectors[part.directions]) @ wobble,
        )
    return _describe(
        reference, comparison, part, position, full, analytic, mine, agreement, directed
    )


def _describe(
    reference: Reference,
    comparison: Comparison,
    part: _Part,
    position: int,
    full: Array,
    analytic: Array,
    estimate: Estimate,
    agreement: Agreement,
    directed: Agreement,
) -> Comparison:
    """Put numbers and names to what was found."""
    layout = reference.evaluator.inputs
    verdict = agreement.overall
    note = _note(agreement, reference)
    if directed.overall is not Verdict.PASS and verdict in (Verdict.PASS, Verdict.KINK):
        verdict = directed.overall
        note = (
            "no single element that was sampled shows it, but the derivative along a random "
            "direction of all of them does"
        )
    judged = agreement.verdicts != Verdict.INCONCLUSIVE
    error = np.where(judged & np.isfinite(agreement.error), agreement.error, 0.0)
    rest = slice(layout.offsets[position], layout.offsets[position + 1])
    numeric, bound = np.full(len(full), np.nan), np.full(len(full), np.nan)
    left, right = numeric.copy(), numeric.copy()
    first = reference.coordinates.space.positions[part.columns, 0]
    numeric[first], bound[first] = estimate.numeric, estimate.bound
    left[first] = np.where(estimate.kink, estimate.left, np.nan)
    right[first] = np.where(estimate.kink, estimate.right, np.nan)
    shown = full.copy()
    shown[first] = analytic
    arrays = [
        layout_part(a[rest], comparison.shape, layout.complex_[position])
        for a in (shown, numeric, bound, left, right)
    ]
    failing = np.isin(agreement.verdicts, [Verdict.PASS, Verdict.KINK], invert=True)
    ranking = _ranking(agreement)
    worst = _elements(
        reference.coordinates.element[part.columns][ranking],
        comparison,
        widen(reference.moved[position].value),
        arrays,
        limit=WORST if failing.any() else 1,
        complex_=layout.complex_[position],
    )
    finite_bound = estimate.bound[np.isfinite(estimate.bound)]
    described = replace(
        comparison,
        verdict=verdict,
        note=note,
        max_abs_error=float(error.max(initial=0.0)),
        max_rel_error=float(relative_error(error, analytic, estimate).max(initial=0.0)),
        error_bar=float(finite_bound.max(initial=0.0)),
        worst=worst,
        failing=int(failing.sum()),
        analytic=arrays[0],
        numeric=arrays[1],
        bound=np.abs(arrays[2]),
    )
    if verdict is not Verdict.MISMATCH:
        return described
    return replace(described, diagnosis=diagnose(described, reference))


def _disconnected(
    comparison: Comparison, estimate: Estimate, reference: Reference
) -> Comparison:
    """None from the tape: say whether the output moves all the same."""
    moves = np.abs(estimate.numeric) > BIGGER_THAN_BOUND * estimate.bound
    moves |= estimate.kink
    if not moves.any():
        note = (
            "the tape and the numeric derivative agree: the output does not depend on this input. "
            "It may be unused, or the result was computed outside the function and captured as a "
            "constant"
        )
        return replace(
            comparison, verdict=Verdict.DISCONNECTED, note=note, failing=comparison.elements
        )
    largest = int(np.argmax(np.where(moves, np.abs(estimate.numeric), 0.0)))
    element = int(reference.coordinates.element[_columns_of(reference, comparison)][largest])
    if np.iscomplexobj(reference.evaluator.inputs.unflatten(reference.evaluator.point)[0]):
        element //= 2
    index = tuple(int(i) for i in np.unravel_index(element, comparison.shape))
    note = (
        f"the output does move with this input: its numeric derivative at {list(index)} is "
        f"{estimate.numeric[largest]:.6g} ± {estimate.bound[largest]:.1g}, so a gradient is missing"
    )
    return replace(
        comparison, verdict=Verdict.DISCONNECTED, note=note, failing=int(moves.sum())
    )


BIGGER_THAN_BOUND = 4.0
"""How far above its bound a derivative must be to say that an output moves."""


def _columns_of(reference: Reference, comparison: Comparison) -> Array:
    names = [operand.name for operand in reference.moved]
    return np.flatnonzero(reference.coordinates.owner == names.index(comparison.name))


def _note(agreement: Agreement, reference: Reference) -> str:
    notes = []
    if reference.no_double:
        notes.append(
            "the function has no double precision, so the numeric derivative was taken in its own "
            f"({reference.no_double})"
        )
    unknown = int((agreement.verdicts == Verdict.INCONCLUSIVE).sum())
    if unknown and agreement.overall is Verdict.INCONCLUSIVE:
        notes.append(f"the error bar hides {unknown} of {len(agreement.verdicts)} derivatives")
        if not np.isfinite(reference.evaluator.base).all():
            notes.append("the function itself is not finite at this point")
    return "; ".join(notes)


def _reference_size(reference: Reference, estimate: Estimate) -> float:
    """The size of a derivative that matters for this input: how much the outputs move."""
    scale = estimate.scale[np.isfinite(estimate.scale)].max(initial=0.0)
    if scale > 0:
        return float(scale)
    finite = np.where(np.isfinite(reference.evaluator.base), reference.evaluator.base, 0.0)
    return float(np.linalg.norm(reference.weights * finite))


def _wobble(reference: Reference, position: int) -> Array:
    """How much the analytic gradient changes when the inputs change in their last digits.

    That is what a correct gradient may be off by rounding, by element of the flat point.
    """
    layout, evaluator = reference.evaluator.inputs, reference.evaluator
    spread = np.zeros(layout.offsets[-1])
    rest = slice(layout.offsets[position], layout.offsets[position + 1])
    rng = np.random.default_rng([reference.problem.seed, 0x776F])
    base: Array | None = None
    for sign in (0.0, 1.0, 1.0):
        moved = evaluator.point * (1 + sign * WOBBLE * rng.choice([-1, 1], evaluator.point.shape))
        values = list(reference.values)
        moved_values = iter(layout.unflatten(moved))
        for i, operand in enumerate(reference.problem.operands):
            if operand.differentiate:
                values[i] = next(moved_values).astype(values[i].dtype)
        passed = backward(
            reference.problem.function, reference.problem.operands, values, reference.upstream
        )
        gradient = passed.gradients[position]
        if gradient is None or gradient.shape != layout.shapes[position]:
            return spread
        flat = _flat(gradient, layout.complex_[position])
        if base is None:
            base = flat
        with np.errstate(all="ignore"):
            spread[rest] = np.fmax(spread[rest], np.abs(flat - base))
    return spread


def _project(reference: Reference, wobble: Array, columns: Array) -> Array:
    space = reference.coordinates.space
    projected: Array = (
        (wobble[space.positions[columns]] * np.abs(space.weights[columns])).sum(axis=1) * 4
    )
    return np.nan_to_num(projected, posinf=0.0)


def _take(estimate: Estimate, columns: Array) -> Estimate:
    fields = ("numeric", "bound", "step", "scale", "left", "right", "kink")
    return replace(estimate, **{name: getattr(estimate, name)[columns] for name in fields})


def _flat(gradient: Array, is_complex: bool) -> Array:
    if is_complex:
        return np.ascontiguousarray(gradient, dtype=np.complex128).ravel().view(np.float64)
    return np.real(gradient).astype(np.float64).ravel()


def layout_part(values: Array, shape: tuple[int, ...], is_complex: bool) -> Array:
    """The real numbers of one input, as an array of its shape."""
    if is_complex:
        values = np.ascontiguousarray(values).view(np.complex128)
    return values.reshape(shape)


def _ranking(agreement: Agreement) -> Array:
    """Coordinates from the one that stands out most to the one that stands out least."""
    order = {Verdict.NONFINITE: 3, Verdict.MISMATCH: 3, Verdict.INCONCLUSIVE: 2, Verdict.KINK: 1}
    with np.errstate(all="ignore"):
        excess = agreement.error / agreement.tolerance
    excess = np.nan_to_num(excess, nan=0.0, posinf=np.finfo(float).max)
    grade = np.array([order.get(verdict, 0) for verdict in agreement.verdicts])
    # Below the tolerance the ratio is a matter of chance: the larger error is more telling.
    return np.lexsort((-agreement.error, -excess, -grade))


def _elements(
    flat: Array,
    comparison: Comparison,
    value: Array,
    arrays: Sequence[Array],
    *,
    limit: int,
    complex_: bool,
) -> tuple[Element, ...]:
    analytic, numeric, bound, left, right = arrays
    elements: dict[tuple[int, ...], Element] = {}
    for position in flat:
        where = int(position) // (2 if complex_ else 1)
        index = tuple(int(i) for i in np.unravel_index(where, comparison.shape))
        if index in elements:
            continue
        elements[index] = Element(
            index=index,
            value=value[index].item(),
            analytic=analytic[index].item(),
            numeric=numeric[index].item(),
            bound=abs(bound[index].item()),
            left=_or_none(left[index].item()),
            right=_or_none(right[index].item()),
        )
        if len(elements) == limit:
            break
    return tuple(elements.values())


def _or_none(value: Scalar) -> Scalar | None:
    return None if np.isnan(value) else value


__all__ = ["CheckKind", "check_reverse", "layout_part"]
