"""The other ways to a second derivative, beside a tape around a tape: each must give the same.

One that differs by more than rounding is judged in its turn, by the numeric derivative: a wrong way
is not hidden by a right one, and no tolerance decides that it is wrong.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.checker import tolerances
from gradcheck.checker.budget import Spent
from gradcheck.checker.judge.figures import place
from gradcheck.checker.judge.notes import joined
from gradcheck.checker.judge.rounding import arithmetic_spread
from gradcheck.checker.numerics.rng import generator
from gradcheck.checker.numerics.vectors import epsilon_of, largest
from gradcheck.checker.reference.point import evaluate_at
from gradcheck.checker.subject.ended import Ended
from gradcheck.checker.subject.in_either import InEither
from gradcheck.checker.subject.refusals import NoGradient
from gradcheck.checker.subject.second_order_ways import SecondTaker, SecondWay
from gradcheck.checker.subject.tape import GradientRaised
from gradcheck.model import Diagnosis, Mode, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gradcheck.checker.reference.point import Point
    from gradcheck.checker.subject.gradient_of import Gradient
    from gradcheck.checker.subject.problem import Problem
    from gradcheck.checker.subject.tape import Backward
    from gradcheck.model import Array, Comparison

    Judge = Callable[[Problem], list[Comparison]]

EAGERLY_NESTED = (
    f"{SecondWay.NESTED_FORWARD} was left out: eagerly, what TensorFlow gives for it depends on "
    "what ran before"
)
"""It keeps the trace of an op's forward derivative by shapes, whether or not two of its inputs are
one tensor; see `docs/numerics.md`."""


def with_other_ways(
    problem: Problem, gradient: Gradient, told: list[Comparison], judge: Judge
) -> list[Comparison]:
    """What was told of a tape around a tape, and what the other ways give.

    Args:
        problem: whose function is the gradient.
        gradient: that function itself.
        told: one comparison for each input.
        judge: what judges the gradients of a problem.
    """
    if isinstance(problem.function, InEither) and problem.function.is_promoted:
        note = "other ways were left out: the function has no double precision of its own"
        return [_also(c, note) for c in told]
    try:
        return _compared(problem, gradient, told, judge)
    except Spent as spent:
        return [_also(c, f"other ways were left out: {spent}") for c in told]


def _compared(
    problem: Problem, gradient: Gradient, told: list[Comparison], judge: Judge
) -> list[Comparison]:
    point = evaluate_at(problem)
    mode = Mode.EAGER if point.two_questions else problem.mode
    whole = problem.tape_in(mode)(point.values, point.upstream)
    left_out = [EAGERLY_NESTED] if mode is Mode.EAGER else []
    wrong: list[tuple[SecondWay, str, list[Comparison]]] = []
    for way in SecondWay:
        nested = way is SecondWay.NESTED_FORWARD
        if way is SecondWay.REVERSE_OVER_REVERSE or (nested and mode is Mode.EAGER):
            continue
        taker = SecondTaker(gradient, problem.operands, mode, way)
        compared = partial(_nested if nested else _whole, taker, point, whole.gradients)
        try:
            differs = compared() and compared(_lost_on_the_way(point, whole))
            if differs:
                wrong.append((way, differs, judge(_with_way(problem, gradient, way))))
        except (NoGradient, GradientRaised, Ended) as error:
            left_out.append(f"{way} was left out: {_why(error)}")
    for way, differs, again in wrong:
        told = [_the_worse(*pair, way, differs) for pair in zip(told, again, strict=True)]
    return [_also(c, *left_out) for c in told]


def _why(error: Exception) -> str:
    if isinstance(error, NoGradient):
        return f"{error.op} has no gradient in TensorFlow"
    return str(error)


def _also(comparison: Comparison, *notes: str) -> Comparison:
    """Of what is right, with what was not looked at."""
    if not comparison.verdict.acceptable:
        return comparison
    return replace(comparison, note=joined(comparison.note, *notes))


def _with_way(problem: Problem, gradient: Gradient, way: SecondWay) -> Problem:
    """The problem whose gradients are those that this way gives."""

    def tape(_: Any, operands: Any, mode: Mode = Mode.EAGER) -> SecondTaker:
        return SecondTaker(gradient, operands, mode, way)

    return replace(problem, tape=tape, without_twin=None)


def _the_worse(told: Comparison, way_told: Comparison, way: SecondWay, differs: str) -> Comparison:
    """What was told, or what is to be said of a way that is wrong."""
    if way_told.verdict.acceptable:
        return told
    text = f"{way} is wrong: {differs}"
    if way_told.verdict is Verdict.INCONCLUSIVE:
        # (It is off by no more than what rounding explains, or hides.)
        return replace(told, note=joined(told.note, f"{way} differs within rounding: {differs}"))
    if not told.verdict.acceptable:
        return replace(told, note=joined(told.note, text))
    cause = (
        f"{way} does not give what {SecondWay.REVERSE_OVER_REVERSE} gives, {_judged(told)}: look "
        "at how ops on the way are differentiated in forward mode"
    )
    diagnosis = Diagnosis("second-order way", cause)
    return replace(way_told, note=joined(text, way_told.note), diagnosis=diagnosis, places=())


def _judged(told: Comparison) -> str:
    """What is known of a tape around a tape: of few bits, no more than how far off it is.

    Without it `test_what_is_said_of_the_other_way` fails.
    """
    if told.verdict is Verdict.PASS and told.dtype not in ("float16", "bfloat16"):
        return "which is right"
    return f"which ends as {told.verdict}" + (f" ({told.note})" if told.note else "")


def _lost_on_the_way(point: Point, whole: Backward) -> list[Array]:
    """By operand: what a tape around a tape may be off by the rounding on its way.

    Of a softmax that is sure, results of the size of one cancel there, and leave nothing. Without
    it `test_what_one_way_loses` fails.
    """
    spreads = arithmetic_spread(point.problem, point.values, point.upstream, whole)
    return [tolerances.ROUNDING_SAFETY * spread.size for spread in spreads]


def _whole(
    taker: SecondTaker,
    point: Point,
    reverse: Sequence[Array | None],
    lost: Sequence[Array | float] = (),
) -> str:
    """How the way differs from what a tape around the tape gives; empty if by rounding alone."""
    found = taker.product(point.values, point.upstream)
    lost = lost or [0.0] * len(found)
    for operand, ours, theirs, granted in zip(point.moved, found, reverse, lost, strict=True):
        mine = np.zeros(operand.value.shape) if ours is None else ours
        other = np.zeros(operand.value.shape) if theirs is None else theirs
        with np.errstate(all="ignore"):
            same = (mine == other) | (np.isnan(mine) & np.isnan(other))
            off = np.where(same, 0.0, np.nan_to_num(np.abs(mine - other), nan=np.inf))
        off = np.where(off <= granted, 0.0, off)
        if largest(off) > _rounding(point) * max(largest(mine), largest(other)):
            at = tuple(int(n) for n in np.unravel_index(int(off.argmax()), off.shape))
            return (
                f"{operand.name} at {place(at)} has {mine[at]:.6g}, and {other[at]:.6g} by "
                f"{SecondWay.REVERSE_OVER_REVERSE}"
            )
    return ""


def _nested(
    taker: SecondTaker,
    point: Point,
    reverse: Sequence[Array | None],
    lost: Sequence[Array | float] = (),
) -> str:
    """The same of nested forward mode, along a random direction of each input."""
    rng = generator(point.problem.seed, 0x6E6573)
    shapes = [operand.value.shape for operand in point.moved]
    for position, (operand, theirs) in enumerate(zip(point.moved, reverse, strict=True)):
        direction = [np.zeros(shape) for shape in shapes]
        direction[position] = rng.choice([-1.0, 1.0], size=shapes[position])
        product = np.zeros(shapes[position]) if theirs is None else theirs
        ours = taker.along(point.values, point.upstream, direction)
        other = float(np.sum(direction[position] * np.real(product)))
        size = float(np.sum(np.abs(product)))
        granted = float(np.sum(lost[position])) if lost else 0.0
        if not abs(ours - other) <= _rounding(point) * max(size, abs(ours)) + granted:
            if ours == other or (np.isnan(ours) and np.isnan(other)):
                continue
            return (
                f"along a random direction of {operand.name} it has {ours:.6g}, and "
                f"{SecondWay.REVERSE_OVER_REVERSE} {other:.6g}"
            )
    return ""


def _rounding(point: Point) -> float:
    """The share below which a difference is none: it decides nothing but whether to look closer."""
    precision = np.dtype(np.float64) if point.precision is None else point.precision
    return tolerances.ARITHMETIC * epsilon_of(precision) / epsilon_of(np.dtype(np.float64))
