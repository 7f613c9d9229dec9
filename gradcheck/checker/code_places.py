"""Where in the user's code a wrong gradient is made.

The gradient functions that the gradient goes through are checked, each by itself, as functions of
what they were given: those that are wrong are named. Those that are right are not to blame. What
cannot be checked so, such as a gradient that is registered for an op, is named where nothing else
is known to be wrong.

Without it `test_the_one_of_two_that_is_wrong` fails.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.checker import causes
from gradcheck.checker.judge.notes import IS_MISSING
from gradcheck.checker.reference.point import evaluate_at
from gradcheck.checker.second_order import gradient_problem
from gradcheck.checker.subject.gradient_functions import (
    CustomCall,
    any_registered,
    gradient_functions,
    may_be_any,
)
from gradcheck.checker.subject.operand import Operand
from gradcheck.checker.subject.problem import Problem
from gradcheck.checker.subject.tape import Tape
from gradcheck.checker.verdict import judge_gradients
from gradcheck.model import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcheck.checker.reference.point import Point
    from gradcheck.checker.subject.gradient_functions import GradientFunction
    from gradcheck.model import CodePlace, Comparison


def with_places(comparison: Comparison, point: Point, *, second: bool = False) -> Comparison:
    """The comparison, pointing at the user's gradient functions that are to blame.

    Args:
        comparison: of one input.
        point: the function at its point.
        second: whether that function is itself a gradient: then those are to blame whose own
            gradients are wrong.
    """
    problem = point.problem
    if not _is_fault(comparison) or problem.tape is not Tape:
        return comparison
    ran = gradient_functions(problem.function, problem.operands, point.upstream, comparison.name)
    return replace(comparison, places=_to_blame(ran, second, problem))


def may_have_places(comparisons: Sequence[Comparison], point: Point) -> bool:
    """Whether any of them may point anywhere: one pass is asked for all the inputs that are wrong.

    Of a single one, its own pass tells as much. Without it
    `test_where_nothing_of_the_users_runs_inputs_share_a_pass` fails. And of a library's function
    none is asked for at all, as `test_in_a_function_of_tensorflow_nobody_looks` has it and
    `test_unless_the_user_has_registered_a_gradient_for_one_of_its_ops`.
    """
    problem, names = point.problem, {c.name for c in comparisons if _is_fault(c)}
    if problem.tape is not Tape:
        return True
    if problem.is_of_a_library and not (problem.is_gradient or any_registered(problem.kinds)):
        return False
    if len(names) < 2:
        return True
    return may_be_any(problem.function, problem.operands, point.upstream, names)


def _is_fault(comparison: Comparison) -> bool:
    if comparison.verdict is Verdict.DISCONNECTED:
        return IS_MISSING in comparison.note
    return comparison.verdict in (Verdict.MISMATCH, Verdict.NONFINITE)


def _to_blame(
    ran: Sequence[GradientFunction], second: bool, whole: Problem
) -> tuple[CodePlace, ...]:
    wrong: dict[CodePlace, bool | None] = {}
    """By place: whether it is wrong; None where that cannot be told."""
    for number, function in enumerate(ran):
        known = wrong.get(function.place, False)
        if known is not True:
            tried = function.call is not None and number < causes.TRIED_CALLS
            found = _is_wrong(function.call, second, whole) if tried and function.call else None
            wrong[function.place] = found if known is False or found else known
    named = [place for place, known in wrong.items() if known]
    if not named:
        named = [place for place, known in wrong.items() if known is None]
    return tuple(named[: causes.NAMED_PLACES])


def _is_wrong(call: CustomCall, second: bool, whole: Problem) -> bool | None:
    """Whether this function has a wrong gradient at what it was given; None if nobody can tell."""
    try:
        point = evaluate_at(_problem(call, whole))
        if second:
            point = evaluate_at(gradient_problem(point)[0])
        comparisons = judge_gradients(point, causes=False, same=True, repeats=True)
    except Exception:  # whatever the user's function does
        return None
    if any(_is_fault(comparison) for comparison in comparisons):
        return True
    known = (Verdict.PASS, Verdict.KINK, Verdict.DISCONNECTED)
    return False if comparisons and all(c.verdict in known for c in comparisons) else None


def _problem(call: CustomCall, whole: Problem) -> Problem:
    """The function under `tf.custom_gradient`, as a problem of its own.

    It runs some of the ops of the whole: what is known of all of these holds for it.

    Without it `test_a_place_takes_few_calls` fails.
    """
    import tensorflow as tf

    leaves = tf.nest.flatten(call.arguments)
    moving = [i for i, moves in enumerate(call.moves) if moves and _is_number(leaves[i])]
    decorated = tf.custom_gradient(call.function)

    def function(*tensors: Any) -> Any:
        given = list(leaves)
        for i, tensor in zip(moving, tensors, strict=True):
            given[i] = tensor
        return decorated(*tf.nest.pack_sequence_as(call.arguments, given), **call.keywords)

    operands = [Operand(name=str(i), value=np.asarray(leaves[i].numpy())) for i in moving]
    return Problem(
        function=function,
        operands=tuple(operands),
        takes_other_shapes=whole.takes_other_shapes,
        repeats=whole.repeats,
        ops=whole.ops,
    )


def _is_number(leaf: Any) -> bool:
    return bool(leaf.dtype.is_floating or leaf.dtype.is_complex)
