"""Gradients outside of what they may be at a kink, judged beside it, where there is none.

Where more than two elements tie, a gradient may be right and yet outside of the one-sided
derivatives along single elements: beside the kink it is one of several, which lie as far apart. But
these are derivatives of a smooth function, and can be judged: a gradient that has the wrong sign at
the kink mostly has it there too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import causes, limits
from gradcheck.checker.budget import Spent
from gradcheck.checker.diagnose.elsewhere import moved_by_shares
from gradcheck.checker.judge.agreement import INCONCLUSIVE, MISMATCH, compare
from gradcheck.checker.judge.persistence import put_back
from gradcheck.checker.numerics.rng import generator
from gradcheck.checker.reference.point import Point, evaluate_at
from gradcheck.model import Comparison, Stage, Verdict

if TYPE_CHECKING:
    from gradcheck.checker.judge.evidence import Evidence, OfInput
    from gradcheck.model import Array

Judge = Callable[[Point], list[Comparison]]


def refuted_beside(evidence: Evidence, judge: Judge) -> Evidence:
    """The evidence; what is outside of a kink's sides is wrong where the gradient is so beside it.

    Without it `test_outside_of_a_kink_and_wrong_beside_it` fails.

    Args:
        evidence: about all the inputs, judged.
        judge: compares the gradients at another point, and does not ask this again.
    """
    if evidence.derivatives is None:
        return evidence
    outside = [_outside(evidence, own) for own in evidence.inputs]
    asked = {i for i, rows in enumerate(outside) if rows.any()}
    if not asked:
        return evidence
    wrong: set[int] = set()
    for draw in range(limits.BESIDE_KINKS):
        wrong |= _wrong_beside(evidence, judge, draw) & asked
        if wrong == asked:
            break
    inputs = list(evidence.inputs)
    for i in sorted(wrong):
        agreement = inputs[i].agreement
        if agreement is not None:
            grades = np.where(outside[i], MISMATCH, agreement.grades)
            told = replace(agreement, grades=grades)
            inputs[i] = replace(inputs[i], agreement=told, stage=Stage.CONFIRMATION)
    return replace(evidence, inputs=tuple(inputs))


def _outside(evidence: Evidence, own: OfInput) -> Array:
    """By coordinate: at a kink, outside of its sides, and excused by what is beside it."""
    agreement, estimate, derivatives = own.agreement, own.estimate, evidence.derivatives
    nobody = np.zeros(len(own.analytic), dtype=bool)
    if agreement is None or derivatives is None or own.suggestion[0] is not Verdict.INCONCLUSIVE:
        return nobody
    open_ones = estimate.kink & (agreement.grades == INCONCLUSIVE)
    if not open_ones.any():
        return nobody
    point = evidence.point
    size = own.size_that_matters(point.weights * derivatives.noise.counted(point.base))
    strictly = compare(own.analytic, estimate, reference=size)
    return np.asarray(open_ones & (strictly.grades == MISMATCH))


def _wrong_beside(evidence: Evidence, judge: Judge, draw: int) -> set[int]:
    """The inputs whose gradients the numbers refute at another point close by."""
    problem = evidence.point.problem
    rng = generator(problem.seed + draw, 0x6B696E6B)
    operands = tuple(
        replace(operand, value=moved_by_shares(operand, causes.BESIDE, rng))
        for operand in problem.operands
    )
    beside = replace(problem, operands=operands, recorded=None, recorded_in_double=None)
    try:
        told = judge(evaluate_at(beside))
    except Spent:
        raise
    except Exception:  # it may be defined at the point alone
        return set()
    finally:
        put_back(problem.operands)
    return {
        i
        for i, comparison in enumerate(told)
        if comparison.verdict is Verdict.MISMATCH and comparison.decided_by is not Stage.PRECISION
    }
