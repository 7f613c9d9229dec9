"""Whether what a gradient is off in float64 stays, where inputs have other last digits in float32.

Labels that are rounded to float32 add up to one but for their last digits, and the gradient of the
cross-entropy takes for granted that they do. So do others that inputs have unit length, or are
orthogonal. In float64 what is missing shows, and is no fault: it is another one, with the other
sign as often as not, at each of the points that the same numbers could have been rounded to. A
fault is the same at all of these.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import limits, tolerances
from gradcheck.checker.budget import Spent
from gradcheck.checker.judge.agreement import MISMATCH, PASS
from gradcheck.checker.numerics.vectors import epsilon_of
from gradcheck.checker.reference.plan import along_coordinates
from gradcheck.checker.reference.point import evaluate_at
from gradcheck.checker.subject.nudged_constants import NudgedConstants, nudged
from gradcheck.checker.subject.tensors import is_low_precision, widen
from gradcheck.model import Mode, Stage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcheck.checker.judge.evidence import OfInput
    from gradcheck.checker.reference.derivatives import Derivatives
    from gradcheck.checker.subject.operand import Operand
    from gradcheck.model import Array


EXCUSE = (
    "what the gradient is off in float64 hangs on the last digits of the inputs or constants in "
    "their own precision, as where it takes for granted that they add up to one"
)


def unless_it_is_rounding(derivatives: Derivatives, own: OfInput) -> OfInput:
    """What is known of an input, without mismatches that other last digits would undo.

    Without it `test_labels_that_add_up_to_one_in_float32` fails.

    Args:
        derivatives: the numeric side, in double precision.
        own: judged, of less than that.
    """
    point, agreement = derivatives.point, own.agreement
    if agreement is None or not point.two_questions or derivatives.is_rough:
        return own
    wrong = agreement.grades == MISMATCH
    unit = max(
        epsilon_of(operand.precision)
        for operand in point.problem.operands
        if is_low_precision(operand.value.dtype)
    )
    size = own.size_that_matters(point.weights * derivatives.noise.counted(point.base))
    most = unit * size
    if not wrong.any() or (agreement.error[wrong] > most).any():
        return own
    columns = own.part.columns[agreement.worst(limits.PERSISTENT)]
    try:
        if _persists(derivatives, own, columns):
            return own
    except Spent:
        raise
    except Exception:  # it may be defined at the point alone
        return own
    finally:
        put_back(point.problem.operands)
    grades = np.where(wrong, PASS, agreement.grades)
    excused = replace(agreement, grades=grades, excuse=EXCUSE)
    return replace(own, agreement=excused, stage=Stage.ROUNDING)


def _persists(derivatives: Derivatives, own: OfInput, columns: Array) -> bool:
    """Whether any of these is off by as much in too many draws; no more are made than that takes.

    Without it `test_no_more_draws_than_it_takes` fails.
    """
    worst = columns - own.part.span.start
    here = own.analytic[worst] - own.estimate.numeric[worst]
    undone = np.zeros(len(columns), dtype=int)
    for draw in range(limits.PERSISTENCE_DRAWS):
        changes = np.abs(_off_beside(derivatives, own, columns, draw) - here)
        # (NaN is no excuse.)
        undone += np.abs(here) <= tolerances.PERSISTS * changes
        missing = limits.UNDOING_DRAWS - undone
        if (missing <= 0).all():
            return False
        if (missing >= limits.PERSISTENCE_DRAWS - draw).any():
            break
    return True


def _off_beside(derivatives: Derivatives, own: OfInput, columns: Array, draw: int) -> Array:
    """What the gradient is off along these, where inputs and constants have other last digits."""
    problem = derivatives.point.problem
    operands = tuple(
        replace(operand, value=nudged(operand.value, draw))
        if is_low_precision(operand.value.dtype)
        else operand
        for operand in problem.operands
    )
    function = NudgedConstants(problem.function, draw, own.operand.precision)
    point = evaluate_at(
        replace(
            problem,
            function=function,
            operands=operands,
            mode=Mode.EAGER,
            recorded=None,
            recorded_in_double=None,
        )
    )
    tape = problem.tape(function, operands, Mode.EAGER)
    passed = tape(point.values, derivatives.point.upstream)
    # (The same coordinates as there, in other places.)
    space = replace(derivatives.plan.coordinates.space, point=point.at)
    coordinates = replace(derivatives.plan.coordinates, space=space)
    plan = replace(derivatives.plan, coordinates=coordinates)
    analytic = along_coordinates(point, plan, passed)[columns]
    # (So near by, the steps that were good are so again.)
    first = own.estimate.finest[columns - own.part.span.start]
    return analytic - replace(derivatives, point=point, plan=plan).by_steps(columns, first)


def put_back(operands: Sequence[Operand]) -> None:
    """Give the variables that hold operands what they held."""
    for operand in operands:
        if operand.captured is not None:
            operand.hold(operand.value)
            if operand.captured.double is not None:
                operand.hold(widen(operand.value))
