"""Forward mode against reverse mode: ⟨u, Jv⟩ and ⟨Jᵀu, v⟩ are one number, but for rounding.

This takes no differences, so that its bar is some units in the last place, where that of a numeric
derivative is some hundreds. The bar grows only by what is measured: how far both numbers move when
the inputs move in their last digit.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import limits, tolerances
from gradcheck.checker.judge.persistence import stays, with_other_digits
from gradcheck.checker.judge.rounding import arithmetic_spread, as_slack
from gradcheck.checker.numerics.rng import generator
from gradcheck.checker.numerics.vectors import epsilon_of, range_of
from gradcheck.checker.reference.point import evaluate_at
from gradcheck.checker.subject.accumulator import Accumulator
from gradcheck.checker.subject.nudged_constants import problem_beside
from gradcheck.checker.subject.other_outputs import must_have_shapes
from gradcheck.checker.subject.tape import Tape
from gradcheck.checker.subject.tensors import is_low_precision
from gradcheck.model import Mode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcheck.checker.numerics.estimate import Noise
    from gradcheck.checker.reference.point import Point
    from gradcheck.model import Array, Shape


@dataclass(frozen=True, eq=False)
class Dual:
    """What both modes say along some vectors."""

    forward: Array
    """By vector: ⟨u, Jv⟩."""
    reverse: Array
    """By vector: ⟨Jᵀu, v⟩."""
    rounding: Array
    """By vector: how far they may be apart, if nothing is lost but the last digits."""

    @property
    def apart(self) -> Array:
        """By vector: how far they are apart."""
        with np.errstate(all="ignore"):
            same = (self.forward == self.reverse) | (
                np.isnan(self.forward) & np.isnan(self.reverse)
            )
            return np.where(
                same, 0.0, np.nan_to_num(np.abs(self.forward - self.reverse), nan=np.inf)
            )

    def without(self, zeros: Array, least: Array | float) -> Dual:
        """The same, but that both are nothing where these are, and so much apart says nothing."""
        rounding = np.maximum(self.rounding, np.nan_to_num(least))
        return Dual(self.forward * ~zeros, self.reverse * ~zeros, rounding)


def _in_shape(gradient: Array | None, shape: Shape) -> Array:
    if gradient is None:
        return np.zeros(shape)
    return gradient if gradient.shape == shape else np.full(shape, np.nan)


class BothModes:
    """Forward and reverse mode of one function."""

    def __init__(self, point: Point, accumulator: Accumulator, mode: Mode, noise: Noise) -> None:
        """Nothing runs yet.

        Args:
            point: the function at its point.
            accumulator: forward mode.
            mode: that of both.
            noise: of the function.
        """
        self.point, self.accumulator, self._mode, self._noise = point, accumulator, mode, noise
        self._tape = Tape(point.problem.function, point.problem.operands, mode)
        precision = np.dtype(np.float64) if point.precision is None else point.precision
        double = epsilon_of(np.dtype(np.float64))
        share = tolerances.ARITHMETIC * self._last_digit() / double
        self._share = max(share, tolerances.BOUND_SAFETY * noise.relative)
        # (Below the smallest normal number there are no relative digits to keep.)
        self._least = share * range_of(precision)[0]
        self._misshapen = np.zeros(len(point.at), dtype=bool)
        """The elements whose gradient has another shape."""

    def _last_digit(self) -> float:
        """The unit in the last place of what the function computes in, at the point or inside.

        Without it `test_a_function_that_computes_in_less_inside` fails.
        """
        point = self.point
        precision = np.dtype(np.float64) if point.precision is None else point.precision
        inside = [2.0 ** (1 - limits.BITS_OF[name]) for name in point.problem.rounds_in]
        least = float(np.finfo(np.float32).eps) if point.rounds else 0.0
        return max(epsilon_of(precision), least, *inside)

    def along(self, vectors: Array, values: Sequence[Array] | None = None) -> Dual:
        """What they say along these vectors, a row each; at the point, or at other values."""
        point = self.point
        at = point.values if values is None else values
        forward, sizes = [], []
        for vector in vectors:
            moved = self.accumulator(at, point.inputs.unflatten(vector))
            shapes = [output.shape for output in moved.outputs]
            must_have_shapes(point.outputs.shapes, shapes, str(self._mode))
            moves = point.outputs.flatten(moved.moves)
            # (Nor must an output that is infinite, where the element does not move it.)
            moves = np.where(np.isnan(moves) & ~np.isfinite(point.base), 0.0, moves)
            forward.append(float(moves @ point.weights))
            sizes.append(float(np.abs(moves) @ np.abs(point.weights)))
        flat = self._at_point if values is None else self._gradient(values)
        with np.errstate(all="ignore"):
            # (An element that is infinite and does not move must not come in as NaN.)
            terms = np.where(vectors == 0, 0.0, vectors * flat)
        reverse = np.abs(terms).sum(axis=1)
        rounding = self._share * np.nan_to_num(np.array(sizes) + reverse) + self._least
        # What leaves the range of numbers on its way back says nothing about the way forth.
        misshapen = (vectors != 0) @ self._misshapen
        rounding = np.where(np.isfinite(reverse) | misshapen, rounding, np.inf)
        return Dual(np.array(forward), terms.sum(axis=1), rounding)

    def sizes(self, dual: Dual) -> Array:
        """By vector: how large the terms are that are summed, on the way forth and back."""
        return np.asarray(np.maximum(dual.rounding - self._least, 0.0) / self._share)

    @cached_property
    def _at_point(self) -> Array:
        return self._gradient(self.point.values)

    def _gradient(self, values: Sequence[Array]) -> Array:
        """The gradients as one vector; zero where there is none, NaN where the shape is wrong.

        Without it `test_a_gradient_of_another_shape` fails.
        """
        point = self.point
        gradients = self._tape(values, point.upstream).gradients
        pairs = list(zip(gradients, point.inputs.shapes, strict=True))
        wrong = [np.full(shape, g is not None and g.shape != shape) for g, shape in pairs]
        self._misshapen = point.inputs.flatten(wrong) != 0
        return point.inputs.flatten([_in_shape(g, shape) for g, shape in pairs])

    def is_silent(self, position: int, vectors: Array) -> bool:
        """Whether forward mode knows of no output how it moves with this input, and says None.

        Without it `test_none_beside_an_input_that_moves` fails.
        """
        point, accumulator = self.point, self.accumulator
        if accumulator.silent or len(point.moved) == 1:
            return accumulator.silent
        operand = point.moved[position]
        alone = accumulator.of_one(operand)
        alone(point.values, [point.inputs.unflatten(vectors[0])[position]])
        return alone.silent

    def with_measured_rounding(self, dual: Dual, rows: Array, vectors: Array) -> Array:
        """By one of these rows: how far both may be apart, with what last digits do to them.

        (What rounds inside would not notice a change that it rounds away. Else
        `test_what_rounds_inside_where_nobody_sees_it` fails.)
        """
        point = self.point
        digit = max(self._last_digit(), self._noise.rounds_to)
        rng = generator(point.problem.seed, 0x6475616C)
        spread = np.zeros(len(rows))
        for _ in range(limits.DUAL_NEIGHBOURS):
            signs = rng.choice([-1.0, 1.0], size=point.at.shape)
            moved = point.inputs.unflatten(point.at * (1 + digit * signs))
            there = self.along(vectors[rows], self.beside(moved))
            with np.errstate(all="ignore"):
                for ours, theirs in ((there.forward, dual.forward), (there.reverse, dual.reverse)):
                    spread = np.maximum(spread, np.nan_to_num(np.abs(ours - theirs[rows])))
        bars = dual.rounding[rows] + tolerances.BOUND_SAFETY * spread
        apart = dual.apart[rows]
        if (apart > bars).any():
            bars = bars + np.abs(vectors[rows]) @ self._lost_on_the_way()
        left = rows[apart > bars]
        if len(left) and self._hangs_on_last_digits(dual, left, vectors):
            bars = np.maximum(bars, apart)
        return bars

    def _lost_on_the_way(self) -> Array:
        """By number of the point: what the gradient may be off by the rounding on its way.

        Of a softmax that is sure, results of the size of one cancel. Without it
        `test_what_reverse_mode_loses_alone` fails.
        """
        point, lost = self.point, np.zeros(len(self._at_point))
        base = self._tape(point.values, point.upstream)
        for i, spread in enumerate(
            arithmetic_spread(point.problem, point.values, point.upstream, base)
        ):
            if spread.size.shape == point.inputs.shapes[i]:
                lost += as_slack(point, i, spread)
        return lost

    def _hangs_on_last_digits(self, dual: Dual, rows: Array, vectors: Array) -> bool:
        """Whether what these are apart is undone by other last digits of inputs and constants.

        Of less than double precision: a constant that was rounded in one mode and not in the other
        is no fault of either. Without it `test_a_constant_of_float32_in_either_mode` fails.
        """
        point = self.point
        lows = [o.precision for o in point.moved if is_low_precision(o.value.dtype)]
        if not point.two_questions or not lows:
            return False
        unit = max(map(epsilon_of, lows))
        most = unit / self._share * dual.rounding[rows]
        apart = (dual.forward - dual.reverse)[rows]
        if not (np.abs(apart) <= most).all():
            return False

        def beside(draw: int) -> tuple[Array, Array]:
            there = evaluate_at(problem_beside(point.problem, draw, lows[0], point.upstream))
            accumulator = Accumulator(there.problem.function, there.problem.operands, Mode.EAGER)
            moved = BothModes(there, accumulator, Mode.EAGER, self._noise).along(vectors[rows])
            return moved.forward - moved.reverse, moved.forward

        def undone() -> bool:
            return not stays(apart, dual.forward[rows], beside)

        return with_other_digits(point.problem.operands, undone, False)

    def beside(self, moved: Sequence[Array]) -> list[Array]:
        """The values of all operands, with these in place of those that are differentiated."""
        given = iter(moved)
        operands = self.point.problem.operands
        return [
            next(given).astype(value.dtype) if operand.differentiate else value
            for value, operand in zip(self.point.values, operands, strict=True)
        ]


def told(dual: Dual, row: int, bar: float) -> str:
    """How the two modes differ most, in a sentence."""
    return (
        f"forward and reverse mode differ: ⟨u, Jv⟩ is {dual.forward[row]:.9g} and ⟨Jᵀu, v⟩ is "
        f"{dual.reverse[row]:.9g}, {dual.apart[row]:.2g} apart where rounding explains {bar:.1g}"
    )
