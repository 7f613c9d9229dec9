"""The forward accumulator against the numeric derivative, along single elements or directions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import limits
from gradcheck.checker.judge.agreement import (
    NONFINITE,
    compare,
    must_be_able_to_fail,
    relative_error,
)
from gradcheck.checker.judge.figures import index_of
from gradcheck.checker.judge.notes import what_was_judged
from gradcheck.checker.numerics.rng import generator
from gradcheck.checker.numerics.vectors import largest, widest
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
    if single:
        # (By one, so that what is told is a derivative.)
        block = np.eye(size)
    else:
        block = rng.choice([-1.0, 1.0], size=(limits.DIRECTIONS, size)) * scale
    vectors = np.zeros((len(block), layout.offsets[-1]))
    vectors[:, span] = block
    moved = np.array([_along(point, accumulator, vector) for vector in vectors])
    estimate = derivatives.along(vectors, scale if single else None)
    matters = largest(estimate.scale) or largest(
        point.weights * derivatives.noise.counted(point.base)
    )
    told = max(largest(estimate.numeric), largest(moved))
    must_be_able_to_fail(point.problem.tolerance, told, operand.name)
    agreement = compare(moved, estimate, reference=matters, tolerance=point.problem.tolerance)
    # (What is NaN or infinite is as wrong as that.)
    error = np.nan_to_num(agreement.error, nan=np.inf, posinf=np.inf)
    error = np.where(np.isfinite(error) | (agreement.grades == NONFINITE), error, 0.0)
    most = float(error.max(initial=0.0))
    relative = relative_error(agreement.error, moved, estimate)
    worst: tuple[Element, ...] = ()
    if single and len(moved):
        row = int(np.argmax(error))
        worst = (_element(point, position, moved, estimate, row),)
    return Comparison(
        name=operand.name,
        verdict=agreement.overall,
        shape=operand.value.shape,
        dtype=operand.value.dtype.name,
        check=CheckKind.FORWARD,
        judged=operand.value.size if single else 0,
        directions=0 if single else limits.DIRECTIONS,
        max_abs_error=most,
        max_rel_error=float(relative.max(initial=0.0)) if np.isfinite(most) else most,
        error_bar=widest(estimate.bound),
        failing=int(agreement.failing.sum()),
        worst=worst,
        note=what_was_judged(point, operand) if agreement.overall.acceptable else "",
        decided_by=Stage.FORWARD,
    )


def _along(point: Point, accumulator: Accumulator, vector: Array) -> float:
    """The derivative of the scalar along one vector, by the forward accumulator."""
    moved = accumulator(point.values, point.inputs.unflatten(vector))
    return float(point.outputs.flatten(moved.moves) @ point.weights)


def _element(point: Point, position: int, analytic: Array, estimate: Estimate, row: int) -> Element:
    """The element that this row of the comparison moves."""
    index = index_of(row, point, position)
    return Element(
        index=index,
        value=point.moved[position].value[index].item(),
        analytic=float(analytic[row]),
        numeric=float(estimate.numeric[row]),
        bound=float(estimate.bound[row]),
    )
