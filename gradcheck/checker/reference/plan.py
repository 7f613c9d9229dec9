"""How the derivatives are to be had: along which coordinates, in how many calls.

Every element is moved, if that is not too much: where few of a large input's elements interfere,
all of them can be moved at little cost. Who reaches what is found by group tests, which pay where
points need a call each, or where there are very many of them.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import limits
from gradcheck.checker.numerics.choose_coordinates import Coordinates, choose, sample_size
from gradcheck.checker.numerics.sparsity import Colouring, find_colouring
from gradcheck.checker.subject.row_function import OneByOne

if TYPE_CHECKING:
    from gradcheck.checker.numerics.estimate import Evaluate
    from gradcheck.checker.reference.point import Point


@dataclass(frozen=True, eq=False)
class Plan:
    """Along which coordinates the inputs are moved, and which of them together."""

    coordinates: Coordinates
    tested: bool = False
    """Whether it was found out which coordinates may be moved together."""
    colouring: Colouring | None = None
    """Which coordinates may be moved together; None if none may, or if that is not known."""
    sample: int | None = None
    """How many coordinates a sample would take where all of a large input are moved."""


def make_plan(point: Point) -> Plan:
    """What to move. Calls the function only where tests pay even if points share a call.

    Without it `test_elements_that_do_not_interfere_are_all_judged` fails.
    """
    size = sample_size(point.inputs)
    if size is not None and point.precision is None:
        every = _tested(point, _choose(point, sample=False))
        if every.colouring is not None and len(every.colouring.owner) <= size:
            return replace(every, sample=size)
    return with_sample(point)


def with_tests(point: Point, plan: Plan) -> Plan:
    """The plan once it is known which coordinates may be moved together."""
    return plan if plan.tested else _tested(point, plan.coordinates)


def with_sample(point: Point) -> Plan:
    """A plan in which a sample stands for the elements of a large input, if there is one.

    Without it `test_a_function_that_rounds_inside_is_sampled` fails.
    """
    coordinates = _choose(point, sample=True)
    if _pays_batched(point, coordinates):
        return _tested(point, coordinates)
    return Plan(coordinates)


def _choose(point: Point, *, sample: bool) -> Coordinates:
    seed = point.problem.seed
    return choose(point.moved, point.inputs, point.at, seed, point.precision, sample=sample)


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
    evaluator.probe()
    return Plan(coordinates, True, find(evaluator, batched=evaluator.is_batched))
