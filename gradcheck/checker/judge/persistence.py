"""Whether what a gradient is off in float64 stays, where inputs have other last digits in float32.

Labels that are rounded to float32 add up to one but for their last digits, and the gradient of the
cross-entropy takes for granted that they do. So do others that inputs have unit length, or are
orthogonal. In float64 what is missing shows, and is no fault: it is another one, with the other
sign as often as not, at each of the points that the same numbers could have been rounded to. A
fault is the same at all of these. One that is smaller than what last digits do shows where elements
are looked at together (`explained.py`); where nothing would show, nothing passes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from gradcheck.checker import limits, tolerances
from gradcheck.checker.budget import Spent
from gradcheck.checker.judge.agreement import INCONCLUSIVE, MISMATCH, PASS
from gradcheck.checker.judge.explained import explained
from gradcheck.checker.judge.rounding import in_place
from gradcheck.checker.numerics.vectors import epsilon_of, largest
from gradcheck.checker.reference.point import evaluate_at
from gradcheck.checker.subject.nudged_constants import problem_beside
from gradcheck.checker.subject.tensors import is_low_precision, widen
from gradcheck.model import Mode, Stage

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gradcheck.checker.judge.agreement import Agreement
    from gradcheck.checker.judge.evidence import OfInput
    from gradcheck.checker.numerics.coordinates import Space
    from gradcheck.checker.numerics.estimate import Estimate
    from gradcheck.checker.reference.derivatives import Derivatives
    from gradcheck.checker.reference.point import Point
    from gradcheck.checker.subject.operand import Operand
    from gradcheck.model import Array


EXCUSE = (
    "what the gradient is off in float64 hangs on the last digits of the inputs or constants in "
    "their own precision, as where it takes for granted that they add up to one"
)


HIDDEN = (
    "other last digits of the inputs or constants make the gradient off by as much, and a "
    "factor of all of it would not show among that: choose inputs for which it is larger, or more "
    "digits"
)


def unless_it_is_rounding(
    derivatives: Derivatives, own: OfInput, along: Estimate | None = None
) -> OfInput:
    """What is known of an input, without mismatches that other last digits would undo.

    Without it `test_labels_that_add_up_to_one_in_float32` fails.

    Args:
        derivatives: the numeric side, in double precision.
        own: judged, of less than that.
        along: the numeric derivative along the random directions of all the inputs.
    """
    point = derivatives.point
    if not point.two_questions or derivatives.is_rough:
        return own

    def excused() -> OfInput:
        told = _elements_excused(derivatives, own)
        return told if along is None else _directions_excused(derivatives, told, along)

    return with_other_digits(point.problem.operands, excused, own)


def _elements_excused(derivatives: Derivatives, own: OfInput) -> OfInput:
    agreement = own.agreement
    if agreement is None or not agreement.failing.any():
        return own
    worst = agreement.worst(limits.PERSISTENT)
    plan = derivatives.plan.coordinates
    off = partial(_off, derivatives, own, plan.space)
    rows = np.union1d(worst, _companions(worst, agreement.error, own.operand.value.shape))
    excused = _excused(off(worst), off(rows), agreement)
    return own if excused is None else replace(own, agreement=excused, stage=Stage.ROUNDING)


def _directions_excused(derivatives: Derivatives, own: OfInput, along: Estimate) -> OfInput:
    """The same along random directions: without it `test_more_classes_than_are_moved` fails."""
    directed, space = own.directed, derivatives.plan.coordinates.directions
    if directed is None or space is None or not directed.failing.any():
        return own
    columns = own.part.directions[directed.worst(limits.PERSISTENT)]
    off = _Off(derivatives, own, space, columns, along.take(columns))
    excused = _excused(off, None, directed)
    return own if excused is None else replace(own, directed=excused, stage=Stage.ROUNDING)


def _off(derivatives: Derivatives, own: OfInput, space: Space, rows: Array) -> _Off:
    return _Off(derivatives, own, space, own.part.columns[rows], own.estimate.take(rows))


def _companions(worst: Array, error: Array, shape: tuple[int, ...]) -> Array:
    """The neighbours along each axis of the two worst: what has to add up does so along one."""
    first = worst[np.argsort(-error[worst])][: limits.ACCOMPANIED]
    if int(np.prod(shape)) != len(error):
        return np.asarray(np.minimum(first + 1, len(error) - 1))
    places = np.array(np.unravel_index(first, shape))
    found = [first]
    for axis in range(len(shape)):
        step = np.zeros((len(shape), 1), dtype=int)
        step[axis] = 1
        found.append(np.ravel_multi_index(tuple(places + step), shape, "wrap"))
    return np.unique(np.concatenate(found))


@dataclass(frozen=True, eq=False)
class _Off:
    """What a gradient is off along some coordinates that look wrong."""

    derivatives: Derivatives
    own: OfInput
    space: Space
    """The coordinates of all the inputs."""
    columns: Array
    """Which of them these are."""
    estimate: Estimate
    """The numeric derivative along these."""

    @property
    def longest(self) -> float:
        """How far the longest of them moves the point: an element by one."""
        vectors = getattr(self.space, "vectors", None)
        if vectors is None:
            return 1.0
        return largest(np.linalg.norm(vectors[self.columns], axis=1))

    @property
    def known(self) -> Array:
        """How well what they are off is known."""
        size = np.maximum(np.abs(self.estimate.numeric), self.estimate.scale)
        return np.asarray(
            tolerances.BOUND_SAFETY * self.estimate.bound + tolerances.ARITHMETIC * size
        )

    @property
    def gradient(self) -> Array:
        """The gradient along them, at the point itself."""
        return self.of(self.derivatives.point, self.own.gradient)

    def of(self, point: Point, gradient: Array | None) -> Array:
        """A gradient of the input along them."""
        full = in_place(point, self.own.part.position, np.asarray(gradient))
        return np.asarray(self.space.project(full)[self.columns])


def _excused(off: _Off, together: _Off | None, agreement: Agreement) -> Agreement | None:
    """How they compare once what is off is granted; None if it stays, or is too much.

    Args:
        off: what looks wrong, the worst of it.
        together: these, and some beside them; None if that would cost too much.
        agreement: how all of them compare.
    """
    derivatives, own = off.derivatives, off.own
    point = derivatives.point
    wrong = agreement.grades == MISMATCH
    unit = max(
        epsilon_of(operand.precision)
        for operand in point.problem.operands
        if is_low_precision(operand.value.dtype)
    )
    # (What is left where parts cancel is no measure for these: that is the upstream. But a factor
    # that is rounded shows in what is left.)
    size = own.size_that_matters(point.weights * derivatives.noise.counted(point.base))
    most = unit * max(size, largest(point.weights)) * off.longest
    error = agreement.error[wrong]
    if not wrong.any() or (error > most).any():
        return None
    factors = bool((error <= unit * size).all())
    slope = off.estimate.numeric
    if stays(off.gradient - slope, slope, partial(_beside, off, factors)):
        return None
    passing = replace(agreement, grades=np.where(wrong, PASS, agreement.grades), excuse=EXCUSE)
    if together is None:
        return passing
    draws = range(limits.PERSISTENCE_DRAWS, limits.PERSISTENCE_DRAWS + limits.EXPLAINING_DRAWS)
    told = explained(
        together.gradient - together.estimate.numeric,
        together.estimate.numeric,
        [_beside(together, factors, draw)[0] for draw in draws],
        together.known,
    )
    if not told.fits:
        return None
    if told.hides > tolerances.HIDDEN_SHARE:
        grades = np.where(wrong, INCONCLUSIVE, agreement.grades)
        return replace(agreement, grades=grades, excuse=HIDDEN)
    return passing


def stays(here: Array, slope: Array, beside: Callable[[int], tuple[Array, Array]]) -> bool:
    """Whether any of these is off by as much in too many draws; no more are made than that takes.

    A wrong factor of a gradient that is another one with other last digits is off by as much of it.
    And what is off at the point alone is no rounding, which is everywhere.

    Without it `test_no_more_draws_than_it_takes`, `test_a_factor_of_what_nearly_cancels` and
    `test_what_is_off_at_the_point_alone` fail.

    Args:
        here: what is off at the point.
        slope: the derivatives there.
        beside: what is off where last digits are others, by draw, and the derivatives there.
    """
    undone = np.zeros(len(here), dtype=int)
    most = np.zeros(len(here))
    for draw in range(limits.PERSISTENCE_DRAWS):
        there, slope_there = beside(draw)
        changes = np.abs(there - here)
        with np.errstate(all="ignore"):
            share = np.abs(there / slope_there - here / slope) * np.abs(slope)
        # (Of a gradient of zero all is off.)
        changes = np.where(here == -slope, changes, np.minimum(changes, share))
        # (NaN is no excuse.)
        undone += np.abs(here) <= tolerances.PERSISTS * changes
        most = np.fmax(most, np.abs(there))
        missing = limits.UNDOING_DRAWS - undone
        if (missing <= 0).all() and (most >= tolerances.ROUNDS_BESIDE * np.abs(here)).all():
            return False
        if (missing >= limits.PERSISTENCE_DRAWS - draw).any():
            break
    return True


def _beside(off: _Off, factors: bool, draw: int) -> tuple[Array, Array]:
    """What is off, and the derivative, where inputs and constants have other last digits."""
    derivatives, own = off.derivatives, off.own
    before, upstream = derivatives.point.problem, derivatives.point.upstream
    problem = problem_beside(before, draw, own.operand.precision, upstream, factors=factors)
    point = evaluate_at(problem)
    tape = problem.tape(problem.function, problem.operands, Mode.EAGER)
    passed = tape(point.values, upstream)
    # (The same coordinates as there, in other places. So near by, the steps that were good are so
    # again.)
    space = replace(off.space, point=point.at)
    numeric = replace(derivatives, point=point).by_steps(off.columns, off.estimate.finest, space)
    return off.of(point, passed.gradients[own.part.position]) - numeric, numeric


_Told = TypeVar("_Told")


def with_other_digits(
    operands: Sequence[Operand], ask: Callable[[], _Told], otherwise: _Told
) -> _Told:
    """What is found out where these have other last digits; variables get back what they held.

    Args:
        operands: of the function.
        ask: gives them other values.
        otherwise: what is known where the function is not defined there.
    """
    try:
        return ask()
    except Spent:
        raise
    except Exception:  # it may be defined at the point alone
        return otherwise
    finally:
        put_back(operands)


def put_back(operands: Sequence[Operand]) -> None:
    """Give the variables that hold operands what they held."""
    for operand in operands:
        if operand.captured is not None:
            operand.hold(operand.value)
            if operand.captured.double is not None:
                operand.hold(widen(operand.value))
