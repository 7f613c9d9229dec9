"""Whether a gradient that is off in low precision is off with its function, or by itself.

A function may be another one in float32 than in float64: TensorFlow's tanh is exactly 1 from 7.9 on
in float32, and its gradient there is exactly 0. That is the right gradient of this function. So
before the arithmetic of a gradient is blamed, elements are moved, each alone, and the
slope of what the function itself is off is compared with what the gradient is off. The difference
of two evaluations at the same points has no truncation error, only rounding, which scatters.

Without it `test_where_tanh_is_one` fails.
"""

from __future__ import annotations

from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import limits, tolerances
from gradcheck.checker.numerics.rng import generator
from gradcheck.checker.numerics.vectors import to_double
from gradcheck.checker.subject.alike import passes_alike
from gradcheck.checker.subject.batching import Calls, Carried
from gradcheck.checker.subject.row_function import OneByOne
from gradcheck.checker.subject.tensors import widen
from gradcheck.model import Mode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcheck.checker.reference.point import Point
    from gradcheck.checker.subject.problem import Differentiate
    from gradcheck.model import Array

_Line = tuple[int, tuple[int, ...], float]
"""The operand, its element that is moved, and how far."""


class FunctionSlopes:
    """By how much the slopes of a function along its elements are off in low precision.

    Only the way forth is gone. The points share a call where they can be carried along with one,
    until somebody asks for calls of their own. Without that
    `test_a_fault_of_a_layer_takes_few_calls` fails.
    """

    def __init__(self, point: Point, tape: Differentiate) -> None:
        """Nothing is called yet.

        Args:
            point: where, in double precision.
            tape: gives the outputs in low precision where a function is not called as it is.
        """
        self._point, self._tape = point, tape
        self._values = [operand.value for operand in point.problem.operands]
        self._moved = [i for i, o in enumerate(point.problem.operands) if o.differentiate]
        self._in_double: dict[_Line, Array] = {}
        """What the outputs weigh there: the same points are asked for once more, one by one."""
        self._together, self._shared = point.problem.mode is Mode.EAGER, False
        """Whether points may share a call, and whether some did."""

    @property
    def at_once(self) -> int:
        """For how many elements to ask together: where no points share a call, for each alone."""
        numbers = limits.SLOPE_POINTS * (len(self._point.at) + len(self._point.base))
        return max(1, limits.NUMBERS_AT_ONCE // max(1, numbers)) if self._together else 1

    def one_by_one(self) -> bool:
        """From now on no points share a call; False where none did anyway."""
        shared, self._together, self._shared = self._shared, False, False
        return shared

    def along(
        self, position: int, indices: Sequence[tuple[int, ...]], reach: float
    ) -> list[tuple[float, float]]:
        """For each of these real elements: how much the slope is off, and ± that.

        Raises OneByOne, once, where it turns out that the points do not share a call.

        Args:
            position: of the operand, among those that are differentiated.
            indices: of its elements that are moved, each alone.
            reach: how far, relative to itself.
        """
        lines = [(position, index, reach) for index in indices]
        moved = [self._beside(line) for line in lines]
        own = np.split(self._weighed(position, np.concatenate(moved)), len(lines))
        new = [i for i, line in enumerate(lines) if line not in self._in_double]
        if new:
            wide = self._weighed_in_double(position, np.concatenate([moved[i] for i in new]))
            for i, part in zip(new, np.split(wide, len(new)), strict=True):
                self._in_double[lines[i]] = part
        at = widen(self._values[self._moved[position]])
        return [
            _slope(_at(widen(values), line[1]) - at[line[1]], mine - self._in_double[line])
            for line, values, mine in zip(lines, moved, own, strict=True)
        ]

    def _beside(self, line: _Line) -> Array:
        """Values of the operand at the points of a line, in its own precision."""
        position, index, reach = line
        value = self._values[self._moved[position]]
        rng = generator(self._point.problem.seed, 0x736C6F)
        moved = np.repeat(widen(value)[np.newaxis], limits.SLOPE_POINTS, axis=0)
        _at(moved, index)[...] *= 1 + reach * rng.uniform(-1, 1, size=limits.SLOPE_POINTS)
        # (Rounded to its own precision, the element is not quite where it was sent.)
        return np.asarray(moved.astype(value.dtype))

    def _weighed_in_double(self, position: int, moved: Array) -> Array:
        """The outputs in double precision, weighed by the upstream, at each point."""
        point = self._point
        rows = np.repeat(point.at[np.newaxis], len(moved), axis=0)
        start, stop = point.inputs.offsets[position : position + 2]
        rows[:, start:stop] = widen(moved).reshape(len(moved), -1)
        return np.asarray(point.evaluator(rows) @ point.weights)

    def _weighed(self, position: int, moved: Array) -> Array:
        """The same in the function's own precision."""
        if self._point.problem.mode is not Mode.EAGER:
            outputs = self._through_the_tape(position, moved)
        else:
            outputs = self._called(position, moved)
        rows = self._point.outputs.flatten_rows([to_double(output) for output in outputs])
        return np.asarray(rows @ self._point.weights)

    def _called(self, position: int, moved: Array) -> list[Array]:
        # (The first row is the point, of which the outputs are known.)
        values = [self._values[i] for i in self._moved]
        stacked = [np.repeat(value[np.newaxis], 1 + len(moved), axis=0) for value in values]
        stacked[position][1:] = moved
        if not self._together:
            return self._calls.one_by_one([each[1:] for each in stacked])
        with suppress(Exception):  # it may look at values, or run what cannot be carried
            outputs = Carried(self._calls)(stacked)
            if passes_alike([output[0] for output in outputs], self._calls.outputs):
                self._shared = True
                return [output[1:] for output in outputs]
        self._together = False
        raise OneByOne

    @cached_property
    def _calls(self) -> Calls:
        problem = self._point.problem
        return Calls(problem, self._values)

    def _through_the_tape(self, position: int, moved: Array) -> list[Array]:
        """What a graph gives, which may be something else."""
        found = []
        for value in moved:
            values = list(self._values)
            values[self._moved[position]] = value
            found.append(self._tape(values, self._point.upstream).outputs)
        return [np.stack(outputs) for outputs in zip(*found, strict=True)]


def _at(stacked: Array, index: tuple[int, ...]) -> Array:
    """One element at all the points."""
    return np.asarray(np.moveaxis(stacked, 0, -1)[index])


def _slope(moves: Array, excess: Array) -> tuple[float, float]:
    """The slope of a parabola through the points, and its standard deviation times SIGMAS."""
    known = np.isfinite(excess)
    if known.sum() < limits.SLOPE_POINTS // 2:
        return 0.0, np.inf
    reach = float(np.abs(moves).max())
    if reach == 0:
        return 0.0, np.inf
    t = moves[known] / reach
    terms = np.stack([np.ones_like(t), t, t * t], axis=1)
    fitted, _, rank, _ = np.linalg.lstsq(terms, excess[known], rcond=None)
    if rank < terms.shape[1]:
        return 0.0, np.inf
    rest = excess[known] - terms @ fitted
    variance = float(rest @ rest) / (len(t) - terms.shape[1])
    deviation = np.sqrt(variance * np.linalg.inv(terms.T @ terms)[1, 1])
    return float(fitted[1]) / reach, tolerances.SLOPE_SIGMAS * float(deviation) / reach
