"""How much of a gradient is rounding.

A gradient cannot be better than its inputs. They are changed at random in their last digits, in
double precision; what that changes in the gradient, rounding may change too. Nor can it be better
than its arithmetic, which shows when all of the upstream is made larger by the same factor, and
when every result on the way to it is changed in its last digit.
"""

from __future__ import annotations

from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import limits, tolerances
from gradcheck.checker.judge.gradient_spread import Spread
from gradcheck.checker.judge.repeat import gradient_must_repeat
from gradcheck.checker.numerics.rng import generator
from gradcheck.checker.numerics.vectors import largest, to_double
from gradcheck.checker.subject.alike import passes_alike
from gradcheck.checker.subject.monte_carlo import rounding_anew
from gradcheck.model import Mode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcheck.checker.numerics.estimate import Noise
    from gradcheck.checker.reference.point import Point
    from gradcheck.checker.subject.problem import Differentiate, Formula, Problem
    from gradcheck.checker.subject.tape import Backward
    from gradcheck.model import Array


class Roundings:
    """What rounding does to the gradients of a check; each found out once, when it is asked for."""

    def __init__(self, point: Point, passed: Backward, noise: Noise) -> None:
        """Nothing is measured yet.

        Args:
            point: where.
            passed: the gradients as they are.
            noise: of the function.
        """
        self._point = point
        self._passed = passed
        self._noise = noise

    @cached_property
    def of_inputs(self) -> list[Spread]:
        """What each input's gradient is at inputs that differ in their last digits.

        Without the part of constants `test_constants_that_were_rounded_are_no_fault` fails.
        """
        # A function that rounds inside would not notice a change that it rounds away. One whose
        # constants were rounded before it was promoted may have others forward than back, the root
        # of two here and two there: it is granted what such a change of its inputs does.
        constants = self._point.constants / 2
        change = max(tolerances.LAST_DIGITS, self._noise.rounds_to / 2, constants)
        return gradient_spread(self._point, self._passed, change)

    @cached_property
    def on_the_way(self) -> list[Spread]:
        """What it is where the results on the way to it round differently."""
        return self._arithmetic[0]

    @cached_property
    def scale(self) -> float:
        """The size of the numbers that the outputs are made of, whatever is left of those.

        Rounding on the way moves an output by the last digit of what it was made of.

        Without it `test_outputs_that_are_zero_themselves` fails.
        """
        moved = [np.abs(spread.size) for spread in self._arithmetic[1]]
        weighed = zip(moved, self._point.upstream, strict=True)
        most = max((largest(size * np.abs(ct)) for size, ct in weighed), default=0.0)
        return most / tolerances.LAST_DIGIT

    @cached_property
    def _arithmetic(self) -> tuple[list[Spread], list[Spread]]:
        at, outputs = self._point, [Spread(output) for output in self._passed.outputs]
        spreads = arithmetic_spread(at.problem, at.values, at.upstream, self._passed, outputs)
        return spreads, outputs


def as_slack(point: Point, position: int, spread: Spread) -> Array:
    """What the gradient of an input may be off by rounding, by real number of the point."""
    size = spread.size
    if point.inputs.complex_[position]:
        size = size + 1j * size
    full = in_place(point, position, tolerances.ROUNDING_SAFETY * size)
    return np.where(np.isfinite(full), full, 0.0)


def in_place(point: Point, position: int, gradient: Array) -> Array:
    """One input's gradient as real numbers at its place in the flat point, zero elsewhere."""
    zeros = [np.zeros(shape) for shape in point.inputs.shapes]
    zeros[position] = gradient
    return point.inputs.flatten(zeros)


def gradient_spread(point: Point, base: Backward, change: float) -> list[Spread]:
    """How each gradient changes, element by element, over a few random changes.

    Without it `test_a_wave_that_is_short_against_its_argument` and
    `test_a_gradient_that_rounds_whatever_its_inputs_are` fail.

    Args:
        point: the problem in double precision.
        base: the gradients as they are.
        change: how large the relative change of the inputs and of the upstream is at most.

    Ends the check where the gradient is another one each time: its own randomness would
    be taken for rounding, and excuse whatever it says.
    """
    problem = point.problem
    rng = generator(problem.seed, 0x726E64)
    spreads = _no_spreads(problem, base)
    tape = problem.tape(problem.function, problem.operands, Mode.EAGER)
    gradient_must_repeat(point, tape)
    if point.evaluator.is_traced:
        tape = _traced_or(tape, point, base)
    moved = [i for i, operand in enumerate(problem.operands) if operand.differentiate]
    ties = _ties([point.values[i] for i in moved])
    for _ in range(limits.ROUNDING_DRAWS):
        values = _beside(point.values, moved, ties, change, rng)
        # A gradient is linear in its upstream, but what it rounds on the way is not. (The factor
        # is close to one, so that a fault that is not linear either is no excuse for itself.)
        factor = 1 + tolerances.UPSTREAM_SCALED * rng.uniform(0.5, 1.0)
        upstream = [factor * _changed(to_double(ct), change, rng) for ct in point.upstream]
        _add(spreads, base, tape(values, upstream), factor)
    return spreads


def _traced_or(tape: Differentiate, point: Point, base: Backward) -> Differentiate:
    """The tape of a graph, if it says the same at the point; else the one there is.

    Without it `test_gradients_of_a_loop_are_drawn_in_a_graph` fails.
    """
    problem = point.problem
    traced = problem.tape(problem.function, problem.operands, Mode.GRAPH)
    with suppress(Exception):  # what runs eagerly need not run in a graph
        if passes_alike(traced(point.values, point.upstream).gradients, base.gradients):
            return traced
    return tape


def arithmetic_spread(
    problem: Problem,
    values: Sequence[Array],
    upstream: Sequence[Array],
    base: Backward,
    outputs: Sequence[Spread] = (),
) -> list[Spread]:
    """How each gradient changes when every result on the way to it rounds differently.

    Not at all where the function cannot be traced: then this tells nothing.

    Args:
        problem: whose gradients they are.
        values: of all the operands, in the precision of the gradients.
        upstream: the cotangent.
        base: the gradients as they are.
        outputs: what the outputs are is added to these, if they are wanted too.
    """
    spreads = _no_spreads(problem, base)
    tape = problem.tape(problem.function, problem.operands, Mode.EAGER)
    for draw in range(limits.ROUNDING_DRAWS):
        try:
            with rounding_anew(draw):
                moved = tape(values, upstream)
        except Exception:  # what runs eagerly need not run in a graph
            break
        _add(spreads, base, moved)
        for spread, output in zip(outputs, moved.outputs, strict=False):
            spread.add(to_double(output))
    return spreads


def _no_spreads(problem: Problem, base: Backward) -> list[Spread]:
    moved = [operand for operand in problem.operands if operand.differentiate]
    return [
        Spread(np.zeros(operand.value.shape) if gradient is None else gradient)
        for operand, gradient in zip(moved, base.gradients, strict=True)
    ]


def _add(spreads: list[Spread], base: Backward, moved: Backward, factor: float = 1.0) -> None:
    """Take in what the gradients are at a neighbour whose upstream is so many times as large."""
    for spread, before, after in zip(spreads, base.gradients, moved.gradients, strict=True):
        if before is not None and after is not None and before.shape == after.shape:
            with np.errstate(all="ignore"):
                spread.add(np.asarray(to_double(after) / factor))


def _beside(
    base: Sequence[Array],
    moved: Sequence[int],
    ties: tuple[Array, Array],
    change: float,
    rng: np.random.Generator,
) -> list[Array]:
    """Values of all the operands, of which those that are moved differ in their last digits.

    Few numbers differ so little: two that are equal may well be so again. But a fault that equal
    numbers have must not be met again at some neighbours, where it would look like rounding.

    Without it `test_a_fault_where_two_results_are_equal` fails.
    """
    for _ in range(limits.NEIGHBOUR_TRIES):
        values = list(base)
        for i in moved:
            values[i] = _changed(base[i], change, rng)
        one, other = (_numbers([values[i] for i in moved])[side] for side in ties)
        if len(one) > limits.UNTIED or not (one == other).any():
            break
    return values


def _ties(arrays: Sequence[Array]) -> tuple[Array, Array]:
    """The places of pairs of equal numbers; zeros do not count, which stay zeros."""
    numbers = _numbers(arrays)
    order = np.argsort(numbers, kind="stable")
    first, second = order[:-1], order[1:]
    equal = (numbers[first] == numbers[second]) & (numbers[first] != 0)
    return first[equal], second[equal]


def _numbers(arrays: Sequence[Array]) -> Array:
    return np.concatenate([array.ravel() for array in arrays])


def _changed(value: Array, relative: float, rng: np.random.Generator) -> Array:
    # Of random size: two signs alone would give an element two values, which may round alike.
    sizes = rng.uniform(0.25, 1.0, size=value.shape) * rng.choice([-1.0, 1.0], size=value.shape)
    return np.asarray(value * (1 + relative * sizes)).astype(value.dtype)


def formula_spread(
    formula: Formula, inputs: list[Array], upstream: list[Array], outputs: list[Array], seed: int
) -> Array:
    """The largest change of a formula's values when all that it is given changes in the last digit.

    Without it `test_rounding_in_a_formula_is_no_fault_and_no_proof` fails.

    Args:
        formula: a closed one.
        inputs: of the function, in double precision.
        upstream: the cotangent.
        outputs: of the function.
        seed: for the changes.
    """
    rng = generator(seed, 0x666D6C)

    def beside(arrays: list[Array]) -> list[Array]:
        return [
            _changed(a, tolerances.LAST_DIGIT, rng) if a.dtype.kind in "fc" else a for a in arrays
        ]

    with np.errstate(all="ignore"):
        base = np.asarray(formula(inputs, upstream, outputs))
        spread = np.zeros(base.shape)
        for _ in range(limits.ROUNDING_DRAWS):
            moved = np.asarray(formula(beside(inputs), beside(upstream), beside(outputs)))
            spread = np.fmax(spread, np.abs(moved - base))
    return spread
