"""What pictures show and no verdict needs: the function around one element, and its Jacobian.

This comes after the verdict and changes nothing of it. It is done only for the verdicts that
somebody asked for, and has a budget of its own.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import limits, stepping
from gradcheck.checker.budget import Budget, Spent, spending
from gradcheck.checker.numerics.vectors import changed
from gradcheck.checker.subject.row_function import OneByOne
from gradcheck.model import CloseUp, Verdict

if TYPE_CHECKING:
    from gradcheck.checker.judge.evidence import Evidence, OfInput
    from gradcheck.model import Array, Comparison

_SIDES = np.array([1.0, -1.0])


def with_close_ups(evidence: Evidence, told: list[Comparison]) -> list[Comparison]:
    """The comparisons, those with pictures that were asked for.

    Args:
        evidence: what they come from.
        told: one for each of its inputs.
    """
    wanted = evidence.point.problem.close_ups
    if not any(c.verdict in wanted for c in told):
        return told
    with spending(Budget(limits.SECONDS_OF_A_PICTURE)), np.errstate(all="ignore"):
        given = zip(evidence.inputs, told, strict=True)
        return [_seen(evidence, own, c) if c.verdict in wanted else c for own, c in given]


def _seen(evidence: Evidence, own: OfInput, told: Comparison) -> Comparison:
    # (Whatever the function does at these points: the verdict stands.)
    try:
        told = replace(told, close_up=_close_up(evidence, own, told))
        return replace(told, jacobian=_jacobian(evidence, own))
    except (Exception, Spent):
        return told


def _close_up(evidence: Evidence, own: OfInput, told: Comparison) -> CloseUp | None:
    """The function along the element that stands out most."""
    column = _column(evidence, own, told)
    if column is None:
        return None
    point, space = evidence.point, evidence.plan.coordinates.space
    ladder = space.unit[column] * stepping.ODD * 0.5 ** np.array(stepping.CLOSE_UP_HALVINGS)
    deltas = np.outer(ladder, _SIDES)
    inside = _inside(evidence, column, deltas)
    points, actual = space.points(
        np.full(deltas.size, column), np.where(inside, deltas, 0.0).ravel()
    )
    outputs = _outputs(evidence, points, at_any_price=told.verdict is not Verdict.PASS)
    if outputs is None:
        return None
    # (Outputs may be infinite or NaN in places that do not move.)
    change = np.where(changed(outputs, point.base), outputs - point.base, 0.0) @ point.weights
    change = np.where(inside, change.reshape(deltas.shape), np.nan)
    (right, left), (up, down) = change.T, actual.reshape(deltas.shape).T
    place = column - own.part.span.start
    numeric = float(own.estimate.numeric[place])
    flat = int(evidence.plan.coordinates.element[column])
    return CloseUp(
        index=told.worst[0].index,
        imaginary=point.inputs.complex_[own.part.position] and bool(flat % 2),
        analytic=float(own.analytic[place]),
        numeric=numeric,
        bound=float(own.estimate.bound[place]),
        chosen=float(own.estimate.step[place]),
        steps=_short(ladder, 4),
        errors=_short(np.abs((right - left) / (up - down) - numeric), 2),
        right=_short(right, 4),
        left=_short(left, 4),
    )


def _column(evidence: Evidence, own: OfInput, told: Comparison) -> int | None:
    """The coordinate of the worst element; None where there is none, or it was not moved."""
    if not told.worst or not own.can_be_compared or not own.part.count:
        return None
    index, shape = told.worst[0].index, told.shape
    first = int(np.ravel_multi_index(index, shape)) if shape else 0
    elements = evidence.plan.coordinates.element[own.part.span]
    parts = 2 if evidence.point.inputs.complex_[own.part.position] else 1
    places = np.flatnonzero(elements // parts == first)
    if not len(places):
        return None
    error = np.nan_to_num(np.abs(own.analytic - own.estimate.numeric)[places], nan=np.inf)
    return int(own.part.span.start + places[error.argmax()])


def _jacobian(evidence: Evidence, own: OfInput) -> tuple[str, ...]:
    """Which outputs move with which elements, and which way."""
    point, coordinates, part = evidence.point, evidence.plan.coordinates, own.part
    size, outputs = point.inputs.sizes[part.position], len(point.base)
    if (
        max(size, outputs) > limits.JACOBIAN_SIDE
        or min(size, outputs) < 2
        or part.count != size
        or coordinates.space.partners is not None
        or any(point.inputs.complex_)
        or any(point.outputs.complex_)
    ):
        return ()
    deltas = stepping.JACOBIAN_MOVE * np.outer(coordinates.space.unit[part.columns], _SIDES)
    deltas = np.where(_inside(evidence, part.columns[:, np.newaxis], deltas), deltas, 0.0)
    points, _ = coordinates.space.points(np.repeat(part.columns, 2), deltas.ravel())
    found = _outputs(evidence, points, at_any_price=False)
    if found is None:
        return ()
    right, left = found[::2], found[1::2]
    moves = changed(right, point.base) | changed(left, point.base)
    signs = np.where(right > left, "+", np.where(right < left, "-", "?"))
    return tuple("".join(row) for row in np.where(moves, signs, "0").T)


def _inside(evidence: Evidence, columns: Array | int, deltas: Array) -> Array:
    """Which of these moves stay in the domain."""
    space = evidence.plan.coordinates.space
    return np.asarray((deltas <= space.room_up[columns]) & (-deltas <= space.room_down[columns]))


def _outputs(evidence: Evidence, points: Array, *, at_any_price: bool) -> Array | None:
    """What the function gives there; None where each point would cost a call, and that is much."""
    evaluator = evidence.point.evaluator
    try:
        return evaluator.together(points)
    except OneByOne:
        return evaluator(points) if at_any_price else None


def _short(values: Array, digits: int) -> tuple[float, ...]:
    return tuple(float(f"{value:.{digits}g}") for value in values.tolist())
