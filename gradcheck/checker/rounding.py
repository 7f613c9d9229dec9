"""How much of a gradient is rounding.

A gradient cannot be better than its inputs. They are changed at random in their last digits, in
double precision; what that changes in the gradient, rounding may change too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker.analytic import Backward, Tape
from gradcheck.checker.layout import to_double

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gradcheck.checker.reference import Reference
    from gradcheck.model import Array

DRAWS = 4
"""Two terms that cancel can do so in one draw, hardly in all of them."""


def gradient_spread(
    reference: Reference, base: Backward, relative: Mapping[str, float]
) -> list[Array]:
    """The largest change of each gradient, element by element, over a few random changes.

    Args:
        reference: the problem in double precision.
        base: the gradients as they are.
        relative: by name of the input, how large its relative change is; the upstream changes by
            the largest of them.
    """
    problem = reference.problem
    rng = np.random.default_rng([problem.seed, 0x726E64])
    spreads = [np.zeros(operand.value.shape) for operand in reference.moved]
    largest = max(relative.values(), default=0.0)
    tape = Tape(problem.function, problem.operands)
    for _ in range(DRAWS):
        values = [
            _changed(value, relative[operand.name], rng) if operand.differentiate else value
            for value, operand in zip(reference.values, problem.operands, strict=True)
        ]
        upstream = [_changed(to_double(ct), largest, rng) for ct in reference.upstream]
        moved = tape(values, upstream)
        for spread, before, after in zip(spreads, base.gradients, moved.gradients, strict=True):
            if before is not None and after is not None and before.shape == spread.shape:
                with np.errstate(all="ignore"):
                    np.fmax(spread, np.abs(to_double(after) - to_double(before)), out=spread)
    return spreads


def _changed(value: Array, relative: float, rng: np.random.Generator) -> Array:
    signs = rng.choice([-1.0, 1.0], size=value.shape)
    return np.asarray(value * (1 + relative * signs)).astype(value.dtype)
