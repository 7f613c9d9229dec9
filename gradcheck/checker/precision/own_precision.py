"""A function and its gradients in the precision of its inputs, beside those in float64.

Each of these is evaluated once, when it is asked for: at the point, at neighbours of it, and in
arithmetic that rounds differently each time.
"""

from __future__ import annotations

from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import limits, tolerances
from gradcheck.checker.budget import Spent
from gradcheck.checker.judge.rounding import arithmetic_spread, gradient_spread
from gradcheck.checker.numerics.rng import generator
from gradcheck.checker.numerics.vectors import epsilon_of, to_double
from gradcheck.checker.precision.excused import Excuses
from gradcheck.checker.precision.function_slope import FunctionSlopes
from gradcheck.checker.precision.range_loss import leaves_range
from gradcheck.checker.subject.alike import passes_alike
from gradcheck.checker.subject.ended import Ended
from gradcheck.checker.subject.other_outputs import must_have_shapes
from gradcheck.checker.subject.refusals import NoGradient, told_untraceable
from gradcheck.checker.subject.tape import Tape
from gradcheck.checker.subject.tensors import explain_exception, widen
from gradcheck.model import Mode, Stage, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gradcheck.checker.reference.point import Point
    from gradcheck.checker.subject.operand import Operand
    from gradcheck.checker.subject.problem import Differentiate, Problem
    from gradcheck.checker.subject.tape import Backward
    from gradcheck.model import Array

Pair = tuple["Array | None", "Array | None"]
"""A gradient in its own precision, and in float64."""


class OwnPrecision:
    """The gradients of a problem in both precisions."""

    def __init__(self, point: Point, double: Backward) -> None:
        """Take the gradients in their own precision; ends the check where the function raises.

        Args:
            point: where, in double precision.
            double: the gradients there.
        """
        problem = point.problem
        self._point, self._problem = point, problem
        self._upstream = point.upstream
        self._values = [operand.value for operand in problem.operands]
        self._own = problem.tape(problem.function, problem.operands, problem.mode)
        self._double = problem.tape(problem.function, problem.operands, Mode.EAGER)
        self._at_point_double = double
        self._together, self._shared = problem.tape is Tape, False
        """Whether points may share a pass, and whether some do."""
        try:
            self._at_point = self._pass_at_point()
        except (Ended, NoGradient):
            # (XLA cannot compile it, or an op has no gradient: that is known to its last word.)
            raise
        except Exception as error:
            low = next(v.dtype.name for v in self._values if v.dtype.name in tolerances.ULPS)
            where = low if problem.mode is Mode.EAGER else f"{low} in {problem.mode}"
            told = f"the function runs in float64, but not in {where}: {explain_exception(error)}"
            told += told_untraceable(told)
            raise Ended(Verdict.ERROR, told, Stage.PRECISION) from error

    @cached_property
    def _rng(self) -> np.random.Generator:
        return generator(self._problem.seed, 0x756C70)

    def pair(self, position: int) -> Pair:
        """The gradients of one input at the point."""
        return self._at_point.gradients[position], self._at_point_double.gradients[position]

    def pairs(self, position: int) -> list[Pair]:
        """The gradients of one input, at the point and at its neighbours."""
        return [(one.gradients[position], two.gradients[position]) for one, two in self._passes]

    def spread(self, position: int) -> Array:
        """What rounding on the way does to one input's gradient, by element."""
        return self._spreads[position]

    def conditioning(self, position: int) -> Array:
        """What last digits of the inputs and the upstream do to one input's gradient in float64."""
        return self._conditioning[position]

    def steepness(self, position: int, indices: Array) -> Array:
        """The slope that outputs would have which an element changes by all that they are.

        Args:
            position: of the input.
            indices: of its elements, in the flat input: one is moved at a time.
        """
        point = self._point
        rows = np.repeat(point.at[np.newaxis], len(indices), axis=0)
        columns = point.inputs.offsets[position] + indices
        rows[np.arange(len(indices)), columns] *= 1 + limits.SLOPE_REACHES[0]
        weighed = np.abs(point.base * point.weights)
        with np.errstate(all="ignore"):
            moves = point.evaluator(rows) != point.base
            size = np.where(moves, weighed, 0.0).sum(axis=1)
            return np.asarray(size / np.abs(point.at[columns]))

    @cached_property
    def _conditioning(self) -> list[Array]:
        unit = max(
            epsilon_of(value.dtype) for value in self._values if value.dtype.name in tolerances.ULPS
        )
        spreads = gradient_spread(self._point, self._at_point_double, unit)
        return [spread.size for spread in spreads]

    @cached_property
    def excuses(self) -> Excuses:
        """What the function's own slopes in low precision excuse."""
        return Excuses(self._slopes)

    @cached_property
    def _slopes(self) -> FunctionSlopes:
        return FunctionSlopes(self._point, self._own)

    def leaves_range(self) -> str:
        """The first result on the way that is too large or too small for it, in words."""
        try:
            return leaves_range(self._problem, self._upstream)
        except Spent:  # (What is known to be wrong is said without that.)
            return ""

    @cached_property
    def another_function(self) -> str:
        """How the function is another one in low precision, if it is: then so is its gradient.

        Without it `test_one_that_is_another_in_low_precision_alone` fails.
        """
        for ours, theirs in zip(self._at_point.outputs, self._at_point_double.outputs, strict=True):
            mine, right = to_double(ours), to_double(theirs)
            if not np.isfinite(right).all():
                continue
            if not np.isfinite(mine).all():
                return "is not finite at this point"
            # (What it rounds off where it cancels is small against its largest values.)
            off = np.abs(mine - right)
            most = tolerances.ANOTHER_FUNCTION * np.abs(right).max(initial=0.0)
            if off.max(initial=0.0) > most:
                worst = np.unravel_index(int(off.argmax()), off.shape)
                found, wanted = mine[worst], right[worst]
                return f"is another one at this point: {found:.4g} in place of {wanted:.4g}"
        return ""

    @property
    def is_finite(self) -> bool:
        """Whether all the outputs are, in low precision."""
        return all(np.isfinite(to_double(each)).all() for each in self._at_point.outputs)

    def _pass_at_point(self) -> Backward:
        problem = self._problem
        if problem.recorded is not None and problem.recorded.recorded and _is_eager(problem):
            passed = problem.recorded.back(self._upstream)
            problem.note_judged(problem.recorded)
            return passed
        passed = self._own(self._values, self._upstream)
        shapes = [output.shape for output in passed.outputs]
        low = " and ".join({v.dtype.name for v in self._values if v.dtype.name in tolerances.ULPS})
        where = low if problem.mode is Mode.EAGER else problem.mode.value
        must_have_shapes(self._point.outputs.shapes, shapes, where)
        problem.note_judged(self._own)
        return passed

    def one_by_one(self) -> bool:
        """From now on, the neighbours get passes of their own; False where they had them anyway.

        So do the points of slopes.
        """
        alone = self._slopes.one_by_one()
        if self._shared:
            self._together = self._shared = False
            self.__dict__.pop("_passes", None)
            return True
        return alone

    @cached_property
    def _passes(self) -> list[tuple[Backward, Backward]]:
        at = self._points
        own = self._at_all(self._own, self._at_point, _each(at), _is_eager(self._problem))
        wide = self._at_all(self._double, self._at_point_double, _each(map(widen, at)))
        return list(zip(own, wide, strict=True))

    @cached_property
    def _points(self) -> list[Array]:
        """By operand: its values at the point and, behind that, at its neighbours."""
        operands = self._problem.operands
        moved = [operand.value.size for operand in operands if operand.differentiate]
        # (Neighbour by neighbour, and for each the operands in their order.)
        drawn = self._rng.uniform(-1, 1, size=(limits.NEIGHBOURS, sum(moved)))
        columns = iter(np.split(drawn, np.cumsum(moved)[:-1], axis=1))
        return [
            _beside(operand, next(columns))
            if operand.differentiate
            else np.broadcast_to(operand.value, (1 + limits.NEIGHBOURS, *operand.value.shape))
            for operand in operands
        ]

    def _at_all(
        self, tape: Differentiate, first: Backward, points: list[list[Array]], eager: bool = True
    ) -> list[Backward]:
        """The passes at these points, of which the first is known: together, if that is right."""
        if not (self._together and eager and isinstance(tape, Tape)):
            return [first, *(tape(values, self._upstream) for values in points[1:])]
        for stacking in dict.fromkeys((self._point.evaluator.stacking, None)):
            with suppress(Exception):  # it may look at values, or run what cannot be carried
                shared = tape.at_all(points, self._upstream, stacking)
                if passes_alike(shared[0].gradients, first.gradients):
                    self._shared = True
                    return [first, *shared[1:]]
        return [first, *(tape(values, self._upstream) for values in points[1:])]

    @cached_property
    def _spreads(self) -> list[Array]:
        found = arithmetic_spread(self._problem, self._values, self._upstream, self._at_point)
        return [spread.size for spread in found]


def _beside(operand: Operand, drawn: Array) -> Array:
    """The operand's values, and other ones nearby, inside the domain, one for each row."""
    value = to_double(operand.value)
    change = value * tolerances.NEIGHBOUR_DISTANCE * drawn.reshape(len(drawn), *value.shape)
    if value.dtype.kind != "c" and not operand.is_unbounded:
        change = np.clip(change, (operand.low - value) / 2, (operand.high - value) / 2)
    nearby = (value + change).astype(operand.value.dtype)
    return np.concatenate([operand.value[np.newaxis], nearby])


def _each(at_all: Iterable[Array]) -> list[list[Array]]:
    """By point: the values of the operands there."""
    return [list(values) for values in zip(*at_all, strict=True)]


def _is_eager(problem: Problem) -> bool:
    """Whether the gradients are the tape's own, without a graph."""
    return problem.mode is Mode.EAGER and problem.tape is Tape
