"""Does a function, and does its gradient, give the same again?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import limits
from gradcheck.checker.judge.rounding import another_each_time

if TYPE_CHECKING:
    from gradcheck.checker.judge.evidence import Evidence


def must_repeat(evidence: Evidence) -> None:
    """End the check unless the function and its gradients are the same at the point each time."""
    point = evidence.point
    point.evaluator.must_repeat(limits.REPEATED_BEFORE_BLAME)
    for _ in range(2):
        again = evidence.tape(point.values, point.upstream)
        for operand, one, other in zip(
            point.moved, evidence.passed.gradients, again.gradients, strict=True
        ):
            if (
                one is not None
                and other is not None
                and not np.array_equal(one, other, equal_nan=one.dtype.kind in "fc")
            ):
                raise another_each_time(operand.name)
