"""The forward accumulator against the numeric derivative, along single elements or directions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import limits
from gradcheck.checker.judge.agreement import compare, must_be_able_to_fail, relative_error
from gradcheck.checker.judge.figures import index_of
from gradcheck.checker.judge.notes import what_was_judged
from gradcheck.checker.numerics.matrix_kinds import Moved, moved_elements
from gradcheck.checker.numerics.rng import generator
from gradcheck.checker.numerics.vectors import largest
from gradcheck.checker.reference.derivatives import Derivatives, with_measured_noise
from gradcheck.checker.reference.plan import make_plan
from gradcheck.checker.subject.accumulator import Accumulator
from gradcheck.model import Array, CheckKind, Comparison, Element, Mode, Stage

if TYPE_CHECKING:
    from gradcheck.checker.numerics.estimate import Estimate, Noise
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
    return [_compared(derivatives, accumulator, i, rng) for i in range(len(point.moved))]


def _compared(
    derivatives: Derivatives, accumulator: Accumulator, position: int, rng: np.random.Generator
) -> Comparison:
    """The comparison of the input at this position."""
    point = derivatives.point
    operand, layout = point.moved[position], point.inputs
    start, size = layout.offsets[position], layout.sizes[position]
    single = size <= limits.FORWARD_ELEMENTS
    span = slice(start, start + size)
    scale = derivatives.plan.coordinates.scale[span]
    elements = moved_elements(operand.structure, operand.value.shape, size)
    if single:
        block, unit = _one_by_one(elements, size), scale[elements.position]
    else:
        signs = rng.choice([-1.0, 1.0], size=(limits.DIRECTIONS, len(elements.position)))
        block, unit = _together(elements, signs * scale[elements.position], size), None
    vectors = np.zeros((len(block), layout.offsets[-1]))
    vectors[:, span] = block
    moved = np.array([_along(point, accumulator, vector) for vector in vectors])
    estimate = derivatives.along(vectors, unit)
    matters = largest(estimate.scale) or largest(
        point.weights * derivatives.noise.counted(point.base)
    )
    told = max(largest(estimate.numeric), largest(moved))
    must_be_able_to_fail(point.problem.tolerance, told, operand.name)
    agreement = compare(moved, estimate, reference=matters, tolerance=point.problem.tolerance)
    relative = relative_error(agreement.error, moved, estimate)
    worst: tuple[Element, ...] = ()
    if single and len(moved):
        row = int(np.argmax(np.nan_to_num(agreement.error)))
        flat = int(elements.position[row])
        worst = (_element(point, position, moved, estimate, row, flat),)
    return Comparison(
        name=operand.name,
        verdict=agreement.overall,
        shape=operand.value.shape,
        dtype=operand.value.dtype.name,
        check=CheckKind.FORWARD,
        judged=operand.value.size if single else 0,
        directions=0 if single else limits.DIRECTIONS,
        max_abs_error=float(np.nan_to_num(agreement.error).max(initial=0.0)),
        max_rel_error=float(relative.max(initial=0.0)),
        error_bar=float(np.nan_to_num(estimate.bound).max(initial=0.0)),
        failing=int(agreement.failing.sum()),
        worst=worst,
        note=what_was_judged(point, operand) if agreement.overall.acceptable else "",
        decided_by=Stage.FORWARD,
    )


def _one_by_one(elements: Moved, size: int) -> Array:
    """A row for each coordinate, which moves by one, so that what is told is a derivative.

    A matrix of a kind stays one: without it `test_a_symmetric_matrix_stays_one` fails.
    """
    return _together(elements, np.eye(len(elements.position)), size)


def _together(elements: Moved, moves: Array, size: int) -> Array:
    """Rows of elements of the input, from rows of moves of its coordinates."""
    rows = np.zeros((len(moves), size))
    rows[:, elements.position] = moves
    if elements.partners is not None:
        np.add.at(rows.T, elements.partners.position, (elements.partners.weight * moves).T)
    return rows


def _along(point: Point, accumulator: Accumulator, vector: Array) -> float:
    """The derivative of the scalar along one vector, by the forward accumulator."""
    moved = accumulator(point.values, point.inputs.unflatten(vector))
    return float(point.outputs.flatten(moved.moves) @ point.weights)


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
