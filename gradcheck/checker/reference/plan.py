"""How the derivatives are to be had: along which coordinates, in how many calls.

Every element is moved, if that is not too much: where few of a large input's elements interfere,
all of them can be moved at little cost. Who reaches what is found by group tests, which pay where
points need a call each, or where there are very many of them.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import limits, stepping, tolerances
from gradcheck.checker.numerics.choose_coordinates import Coordinates, Sampling, choose, sample_size
from gradcheck.checker.numerics.rng import generator
from gradcheck.checker.numerics.sparsity import Colouring, find_colouring
from gradcheck.checker.numerics.step_choice import HALVINGS
from gradcheck.checker.subject.row_function import OneByOne
from gradcheck.model.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcheck.checker.numerics.estimate import Evaluate
    from gradcheck.checker.reference.point import Point
    from gradcheck.checker.subject.tape import Backward
    from gradcheck.model import Array


@frozen()
class Plan:
    """Along which coordinates the inputs are moved, and which of them together."""

    coordinates: Coordinates
    tested: bool = False
    """Whether it was found out which coordinates may be moved together."""
    colouring: Colouring | None = None
    """Which coordinates may be moved together; None if none may, or if that is not known."""
    near: bool = False
    """Whether two small steps are to do along directions."""
    sample: int | None = None
    """How many coordinates a sample would take where all of a large input are moved."""


def make_plan(point: Point) -> Plan:
    """What to move. Calls the function only where tests pay even if points share a call.

    Without it `test_elements_that_do_not_interfere_are_all_judged` fails.
    """
    size = sample_size(point.inputs)
    if size is not None and point.precision is None:
        every = _tested(point, _choose(point))
        if every.colouring is not None and len(every.colouring.owner) <= size:
            return replace(every, sample=size)
    plan = with_sample(point)
    return with_sample(point, _smaller(point)) if _is_too_much(point, plan) else plan


def _is_too_much(point: Point, plan: Plan) -> bool:
    """Whether moving all that the plan moves takes more than a check should.

    Without it `test_a_layer_of_thousands_of_weights_is_sampled` fails.
    """
    count = len(plan.coordinates.space.unit)
    if plan.colouring is not None:
        count = min(count, len(plan.colouring.owner))
    return count * _numbers_of_each(point) > limits.MOVED_NUMBERS


def _numbers_of_each(point: Point) -> int:
    """How many numbers, of points and outputs, it takes to move one coordinate."""
    return 2 * len(HALVINGS) * (len(point.at) + len(point.base))


def _smaller(point: Point) -> Sampling:
    """A sample of all inputs that are not small, so large as to take what a check should."""
    large = sum(size > limits.FEWEST_SAMPLED for size in point.inputs.sizes)
    each = limits.MOVED_NUMBERS // (_numbers_of_each(point) * max(1, large))
    each = int(np.clip(each, limits.FEWEST_SAMPLED, limits.SAMPLED))
    return Sampling(whole=each, size=each)


def with_tests(point: Point, plan: Plan) -> Plan:
    """The plan once it is known which coordinates may be moved together."""
    return plan if plan.tested else _tested(point, plan.coordinates)


def with_sample(point: Point, sample: Sampling | None = None) -> Plan:
    """A plan in which a sample stands for the elements of a large input, if there is one.

    Without it `test_a_function_that_rounds_inside_is_sampled` fails.
    """
    coordinates = _choose(point, sample or Sampling(limits.BUDGET, limits.SAMPLED))
    if _pays_batched(point, coordinates):
        return _tested(point, coordinates)
    return Plan(coordinates)


def at_first_sight(point: Point, passed: Backward) -> Plan | None:
    """A plan for a function of which every point costs a call; None where it saves none.

    Of an input with many elements there are directions, and a few elements beside those for which
    directions cannot vouch: an error of 1e-8 of a gradient that is so small would drown in the
    round-off of a direction. Without it `test_a_scalar_loss_takes_few_calls` fails.
    """
    layout = point.inputs
    if sum(layout.sizes) <= limits.SEEN_SINGLY:
        return None
    gradient = layout.flatten([g for g in passed.gradients if g is not None])
    along = np.abs(gradient) * _choose(point).scale
    terms = point.weights * np.where(np.isfinite(point.base), point.base, 0.0)
    round_off = tolerances.ROUNDOFF_SAFETY * tolerances.LAST_DIGIT * float(np.linalg.norm(terms))
    spans = [slice(start, stop) for start, stop in pairwise(layout.offsets)]
    near = not any(_hidden(along[span], round_off, _NEAREST).any() for span in spans)
    rng = generator(point.problem.seed, 0x736967)
    singly = [
        _beside_directions(along[span], _tiny(point.at[span]), round_off, rng, near=near)
        if span.stop - span.start > limits.BESIDE_DIRECTIONS and given.structure == "general"
        else None
        for span, given in zip(spans, point.moved, strict=True)
    ]
    chosen = [rows for rows in singly if rows is not None]
    if not chosen or any(len(rows) > limits.SEEN_SINGLY for rows in chosen):
        return None
    return Plan(_choose(point, singly=singly), tested=True, near=near)


_NEAREST = stepping.FIRST_STEP * stepping.NEAR * HALVINGS[1]
"""The smaller of two small steps, in units."""


def _hidden(along: Array, round_off: float, finest: float) -> Array:
    """By element: whether 1e-8 of its derivative would drown in the round-off of a direction.

    What is small beside others counts as much as their parts would.
    """
    counts = np.maximum(along, tolerances.GOOD_OF_PARTS * along.max(initial=0.0))
    drowns = tolerances.BOUND_SAFETY * round_off / (finest * stepping.DIRECTION_UNIT)
    # (And however small it is, what is plainly wrong has to show.)
    drowned = (counts * tolerances.COUNTED <= drowns) | (along * tolerances.PLAINLY <= drowns)
    return np.asarray(drowned & (along != 0))


def _tiny(values: Array) -> Array:
    """By element: whether a move by its own size is nothing beside moves of the others.

    Then a direction says nothing of it, whatever its gradient is. Without it
    `test_elements_that_are_tiny_are_seen` fails.
    """
    size = np.abs(values)
    return np.asarray((size < tolerances.TINY * size.max(initial=0.0)) & (size != 0))


def _beside_directions(
    along: Array, tiny: Array, round_off: float, rng: np.random.Generator, *, near: bool
) -> Array:
    """Which elements of an input are moved by themselves where there are directions.

    Args:
        along: by element: the derivative over its size.
        tiny: by element: it is too small to be seen in a direction.
        round_off: of the function.
        rng: for those that only stand for others.
        near: whether directions are followed by two small steps.
    """
    finest = _NEAREST if near else stepping.FIRST_STEP * HALVINGS[-1]
    hidden = np.flatnonzero(_hidden(along, round_off, finest) | tiny)
    tells = along * tolerances.GOOD > tolerances.BOUND_SAFETY * round_off / _NEAREST
    plain = np.flatnonzero(tells)
    drawn = rng.choice(plain, min(len(plain), limits.BESIDE_DIRECTIONS), replace=False)
    return np.union1d(hidden, drawn)


def _choose(
    point: Point, sample: Sampling | None = None, singly: Sequence[Array | None] = ()
) -> Coordinates:
    given = (point.moved, point.inputs, point.at, point.problem.seed, point.precision)
    return choose(*given, sample=sample, singly=singly)


def _pays_batched(point: Point, coordinates: Coordinates) -> bool:
    return len(coordinates.space.unit) * len(point.base) >= limits.TESTS_PAY_BATCHED


def _tested(point: Point, coordinates: Coordinates) -> Plan:
    """Find out which coordinates may be moved together."""
    layout, inputs = point.inputs, []
    for i, shape in enumerate(layout.shapes):
        columns = coordinates.parts[i].columns
        if len(columns) != layout.sizes[i]:
            return Plan(coordinates, tested=True)
        inputs.append((columns, (*shape, 2) if layout.complex_[i] else shape))
    evaluator, space, seed = point.evaluator, coordinates.space, point.problem.seed

    def find(evaluate: Evaluate, *, batched: bool) -> Colouring | None:
        with np.errstate(all="ignore"):
            return find_colouring(evaluate, point.base, space, inputs, seed=seed, batched=batched)

    if _pays_batched(point, coordinates):
        with suppress(OneByOne):
            return Plan(coordinates, True, find(evaluator.together, batched=True))
    evaluator.expect(limits.CALLS_PER_NUMBER * len(space.unit))
    return Plan(coordinates, True, find(evaluator, batched=evaluator.is_batched))


def along_coordinates(point: Point, plan: Plan, passed: Backward) -> Array:
    """The analytic derivative along each coordinate; zero where there is none."""
    layout = point.inputs
    gradients = [
        np.zeros(shape) if gradient is None or gradient.shape != shape else gradient
        for gradient, shape in zip(passed.gradients, layout.shapes, strict=True)
    ]
    return plan.coordinates.space.project(layout.flatten(gradients))
