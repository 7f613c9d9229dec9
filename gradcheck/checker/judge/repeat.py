"""Does a function, and does its gradient, give the same again?

But for the last digits: the order of a sum may differ from call to call, and that is rounding.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import limits, tolerances
from gradcheck.checker.numerics.vectors import to_double
from gradcheck.checker.subject.ended import Ended
from gradcheck.checker.subject.gradient_functions import any_registered
from gradcheck.model import Stage, Verdict

if TYPE_CHECKING:
    from gradcheck.checker.judge.evidence import Evidence
    from gradcheck.checker.reference.point import Point
    from gradcheck.checker.subject.problem import Differentiate
    from gradcheck.model import Array


def must_repeat(evidence: Evidence) -> None:
    """End the check unless the function and its gradients are the same at the point each time."""
    point = evidence.point
    # (Many outputs do not all agree by chance.)
    many = len(point.base) > limits.LARGE_POINT
    point.evaluator.must_repeat(limits.REPEATED_CALLS if many else limits.REPEATED_BEFORE_BLAME)
    for _ in range(_passes(point)):
        again = evidence.tape(point.values, point.upstream)
        for operand, one, other in zip(
            point.moved, evidence.passed.gradients, again.gradients, strict=True
        ):
            if one is None or other is None or one.shape != other.shape:
                continue
            if not _same_but_for_rounding(to_double(one), to_double(other)):
                raise _another_each_time(operand.name)


def _passes(point: Point) -> int:
    """How many more: one where they are dear, and nothing of the user's runs in them.

    Without it `test_dear_passes_of_a_library_are_few` fails.
    """
    problem = point.problem
    surely = problem.surely_repeats and not any_registered(problem.kinds)
    return 1 if surely and point.passes_are_dear else limits.REPEATED_CALLS - 1


def gradient_must_repeat(point: Point, tape: Differentiate) -> None:
    """End the check unless the gradient is the same each time, but for its rounding.

    Without it `test_nor_does_its_randomness_pass_for_rounding` fails.
    """
    passes = [tape(point.values, point.upstream) for _ in range(limits.REPEATED_CALLS)]
    for again in passes[1:]:
        for operand, one, other in zip(
            point.moved, passes[0].gradients, again.gradients, strict=True
        ):
            if one is None or other is None or one.shape != other.shape:
                continue
            if not _same_but_for_rounding(to_double(one), to_double(other)):
                raise _another_each_time(operand.name)


def _same_but_for_rounding(one: Array, other: Array) -> bool:
    with np.errstate(all="ignore"):
        apart, size = np.abs(one - other), np.abs(one)
    known = np.isfinite(apart)
    most = tolerances.REORDERED * size[known].max(initial=0.0)
    return not apart[known].max(initial=0.0) > most


def _another_each_time(name: str) -> Ended:
    """What is said of an input whose gradient does not repeat itself."""
    return Ended(
        Verdict.INCONCLUSIVE,
        f"the gradient of {name} is not deterministic: it differs from one call to the next. Fix "
        "its seed (tf.random.stateless_…)",
        Stage.REPEATABILITY,
    )
