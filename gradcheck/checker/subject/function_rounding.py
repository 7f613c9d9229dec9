"""What a function rounds off on the way to its outputs, however little is left of it there.

The logarithm of one less a last digit is nearly zero, and stands still until that digit moves. Over
short steps such a function has no slope, and no noise either: nothing that it gives tells that it
was made of larger numbers. It shows when the results on the way are changed in their last digits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.checker import limits
from gradcheck.checker.budget import Spent
from gradcheck.checker.numerics.vectors import to_double
from gradcheck.checker.subject.alike import passes_alike
from gradcheck.checker.subject.carry.passes import passes_at
from gradcheck.checker.subject.monte_carlo import Nudges
from gradcheck.checker.subject.tensors import call

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcheck.checker.subject.problem import Problem
    from gradcheck.model import Array


def rounded_off(problem: Problem, values: Sequence[Array]) -> list[Array] | None:
    """By output: how far it moves where the results on the way to it round differently.

    None where that is not to be had: the function cannot be carried, or is another one then.

    Args:
        problem: whose function it is.
        values: of all the operands, in double precision.
    """

    def forth(arguments: list[Any], _upstream: list[Any], _given: list[Any]) -> Any:
        return call(problem.function, arguments), []

    points = [values] * (1 + limits.ROUNDING_DRAWS)
    try:
        found = passes_at(forth, problem.operands, points, [], Nudges(problem.seed, inside=True))
        held = [
            operand.hold(value) for operand, value in zip(problem.operands, values, strict=True)
        ]
        alone = [np.asarray(output.numpy()) for output in call(problem.function, held)]
    except Spent:
        raise
    except Exception:  # not everything can be carried
        return None
    plain, *drawn = ([to_double(output) for output in outputs] for outputs, _ in found)
    shared = found[0][0]
    if len(shared) != len(alone) or not passes_alike(shared, alone, drawn):
        return None
    with np.errstate(all="ignore"):
        return [_spread(output, [each[i] for each in drawn]) for i, output in enumerate(plain)]


def _spread(output: Array, drawn: Sequence[Array]) -> Array:
    """How far the draws are from the output, by number; those that are not finite tell nothing."""
    parts = [np.abs(np.real(each - output)) for each in drawn]
    most = np.max(np.where(np.isfinite(parts), parts, 0.0), axis=0)
    if not np.iscomplexobj(output):
        return np.asarray(most)
    parts = [np.abs(np.imag(each - output)) for each in drawn]
    return np.asarray(most + 1j * np.max(np.where(np.isfinite(parts), parts, 0.0), axis=0))
