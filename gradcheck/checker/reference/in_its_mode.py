"""A function that gives other outputs as a graph, or compiled, than it does eagerly.

XLA has algorithms of its own for eigenvectors and singular vectors, and they come out with other
signs, and with fewer digits: they iterate until a millionth is left. That is another function, and
its gradient has to be compared with its own derivative, to the digits that it has.

Without it `test_other_signs_in_another_mode` fails.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gradcheck.checker import tolerances
from gradcheck.checker.numerics.noise import measure_noise
from gradcheck.checker.numerics.vectors import Layout, largest
from gradcheck.checker.reference.plan import make_plan
from gradcheck.checker.reference.point import evaluate_at
from gradcheck.checker.subject.as_graph import as_graph
from gradcheck.checker.subject.other_outputs import must_have_shapes
from gradcheck.checker.subject.rounding_ops import FACTORS
from gradcheck.checker.subject.tensors import FunctionRaised, widen
from gradcheck.model import ANOTHER_IN_ITS_MODE, Mode

if TYPE_CHECKING:
    from gradcheck.checker.numerics.estimate import Noise
    from gradcheck.checker.reference.point import Point
    from gradcheck.checker.subject.problem import Problem
    from gradcheck.checker.subject.tape import Backward
    from gradcheck.model import Array


_MAY_HOLD_THEM = frozenset(
    {"Eig", "Case", "If", "StatelessIf", "While", "StatelessWhile"}
    | {"PartitionedCall", "StatefulPartitionedCall", "EagerPyFunc", "PyFunc"}
)
"""Ops that iterate as well, and those of which nobody sees what they run."""


_ITERATE = frozenset({"Eig", "SelfAdjointEigV2", "Svd"})
"""Ops for which XLA has an algorithm that iterates until a millionth is left."""


class AnotherInItsMode(Exception):  # noqa: N818  (it tells the way to go)
    """In its mode the function gives other outputs than eagerly."""


def must_be_the_same_in_its_mode(point: Point, passed: Backward) -> None:
    """Raise AnotherInItsMode where a pass in the mode of the problem gave other outputs.

    Outputs of other shapes end the check. Without it `test_another_function_in_a_graph` fails.
    """
    layout = Layout.of(passed.outputs)
    must_have_shapes(point.outputs.shapes, layout.shapes, point.problem.mode.value)
    if layout != point.outputs:
        return
    if _are_apart(point.base, point.outputs.flatten(passed.outputs)):
        raise AnotherInItsMode


def _are_apart(eager: Array, other: Array) -> bool:
    with np.errstate(all="ignore"):
        apart = largest(np.where(eager == other, 0.0, eager - other))
    return apart > tolerances.OTHER_MODE * largest(eager)


class OfItsMode(NamedTuple):
    """A function as it is in its mode."""

    point: Point
    noise: Noise
    """What it is off there at least."""
    note: str
    """What is to be said of a gradient that was compared there."""


def in_its_mode(problem: Problem) -> OfItsMode | None:
    """The function in the mode of the problem, if it gives other outputs there.

    Eigenvalues that iterate come out with more digits than the vectors, of which their gradient is
    made: without them `test_eigenvalues_in_xla` fails.

    It is taken in float64, or in its own precision where it takes no other: without that
    `test_what_is_drawn_otherwise_in_xla_and_in_float32_alone` fails.

    """
    if problem.mode is Mode.EAGER:
        return None
    wide = tuple(
        replace(o, value=widen(o.value)) if o.captured is None else o for o in problem.operands
    )
    both = _in_both(replace(problem, operands=wide)) or _in_both(problem)
    if both is None:
        return None
    eager, point = both
    if eager.outputs.shapes != point.outputs.shapes:
        return None
    if _are_apart(eager.base, point.base):
        note = (
            f"{ANOTHER_IN_ITS_MODE}{problem.mode}: it gives other outputs there than eagerly, "
            "where its gradient is right too, and was compared with the derivative of what it is "
            "there"
        )
        return OfItsMode(point, _at_least(point), note)
    iterate = sorted(problem.kinds & _ITERATE)
    if problem.mode is not Mode.XLA or not iterate:
        return None
    note = f"XLA iterates in {', '.join(iterate)} and leaves a millionth, of which the bar knows"
    return OfItsMode(point, _at_least(point), note)


def _in_both(problem: Problem) -> tuple[Point, Point] | None:
    """The function eagerly and in its mode, if it takes its operands so."""
    # (It would be compiled anew for every number of points that share a call.)
    own = replace(
        problem,
        function=as_graph(problem.function, problem.mode),
        takes_other_shapes=False,
        ops=0,
        recorded=None,
        recorded_in_double=None,
        keeps_its_digits=False,
        is_exact=False,
    )
    try:
        return evaluate_at(problem), evaluate_at(own)
    except FunctionRaised:  # what runs under a tape need not run without one
        return None


def _at_least(point: Point) -> Noise:
    """The function's noise, and no less than what algorithms that iterate leave, if it has such.

    What they are off is smooth, and does not show as noise. Of any other function, as one that
    drops at random, bars that wide would hide what there is to see: without that
    `test_what_drops_at_random_has_narrow_bars` fails.
    """
    scale, seed = make_plan(point).coordinates.scale, point.problem.seed
    noise = measure_noise(point.evaluator, point.at, point.base, scale, seed)
    if not point.problem.kinds & (FACTORS | _MAY_HOLD_THEM):
        return noise
    share = tolerances.ITERATED
    level = np.maximum(noise.level, share * largest(point.base))
    return replace(noise, level=level, relative=max(noise.relative, share))
