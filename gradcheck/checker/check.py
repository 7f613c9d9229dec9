"""One Problem → one Result: every derivative that is asked for, and the verdict of the whole."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import limits
from gradcheck.checker.budget import Budget, Spent, spending
from gradcheck.checker.code_places import with_places
from gradcheck.checker.forward import check_forward
from gradcheck.checker.judge.notes import joined
from gradcheck.checker.reference.in_its_mode import in_its_mode
from gradcheck.checker.reference.point import Point, evaluate_at
from gradcheck.checker.second_order import gradient_problem
from gradcheck.checker.subject.ended import Ended
from gradcheck.checker.subject.explore import explored, in_its_own_precision, without_promotion
from gradcheck.checker.subject.in_either import is_low
from gradcheck.checker.subject.phases import (
    FREE_PHASE,
    depends_on_the_phase,
    shows_a_phase,
)
from gradcheck.checker.subject.quantile import along_the_quantile
from gradcheck.checker.subject.tape import GradientRaised, Tape
from gradcheck.checker.subject.tensors import FunctionRaised, call, explain_exception
from gradcheck.checker.verdict import judge_gradients
from gradcheck.errors import GradcheckError
from gradcheck.model import CheckKind, Comparison, Mode, Result, Stage, Verdict, worst_verdict

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradcheck.checker.subject.problem import Problem


def check_problem(problem: Problem, name: str) -> Result:
    """Check every derivative that the problem asks for; never raises for what the function does.

    Raises UsageError where the problem asks for a variable that the function does not read.
    """
    started = time.perf_counter()
    budget = Budget(problem.budget or limits.SECONDS_OF_A_CHECK, problem.timeout)
    try:
        with spending(budget), explored(problem) as whole:
            result = _checked(whole, name)
    except GradcheckError:
        raise
    except (Exception, Spent) as error:  # what the user's objects do when they are looked at
        ended = _as_verdict(error, CheckKind.REVERSE)
        result = Result(name, ended.verdict, message=ended.message, decided_by=ended.stage)
    return replace(result, seconds=time.perf_counter() - started)


def _checked(problem: Problem, name: str) -> Result:
    comparisons: list[Comparison] = []
    ended: Ended | None = None
    for kind in problem.checks:
        try:
            # Infinities and NaN are what this is about; numpy need not warn of them.
            with np.errstate(all="ignore"):
                comparisons += _CHECKS[kind](problem)
        except (Exception, Spent) as error:
            ended = _as_verdict(error, kind)
            break
    told = [(c.verdict, c.decided_by) for c in comparisons]
    if ended is not None:
        told.append((ended.verdict, ended.stage))
    verdict = worst_verdict([verdict for verdict, _ in told])
    return Result(
        id=name,
        verdict=verdict,
        comparisons=tuple(comparisons),
        message="" if ended is None else ended.message,
        decided_by=next((stage for each, stage in told if each is verdict), None),
    )


def _as_verdict(error: Exception | Spent, kind: CheckKind) -> Ended:
    """What it means for the check that something raised this."""
    match error:
        case Spent():
            return Ended(Verdict.INCONCLUSIVE, str(error), Stage.BUDGET)
        case Ended():
            return error
        case GradientRaised():
            what = {CheckKind.FORWARD: "forward-mode derivative"}.get(kind, "gradient")
            message = f"the forward pass is fine, but its {what} raised: {error}"
        case GradcheckError():
            message = str(error)
        case FunctionRaised():
            message = f"the function raised {error}"
        case _:  # a fault of ours must not take the other cases with it
            told = explain_exception(error)
            message = f"the check itself failed, please report this: {told}"
    return Ended(Verdict.ERROR, message)


def _evaluated(problem: Problem, tape: Tape | None = None) -> Point:
    """The function at its point, if it can be differentiated there at all."""
    if not any(operand.differentiate for operand in problem.operands):
        # (If it raises, that is what there is to tell.)
        call(problem.function, [operand.hold(operand.value) for operand in problem.operands])
        raise Ended(
            Verdict.ERROR,
            "there is nothing to differentiate: no input is floating-point or complex, and the "
            "function reads no variable that can be trained",
        )
    point = evaluate_at(problem, tape)
    if not point.outputs.shapes and problem.is_gradient:
        raise Ended(
            Verdict.DISCONNECTED,
            "the tape gives no gradient for any input, so there is none to differentiate again",
            Stage.CONNECTION,
        )
    if not point.outputs.shapes:
        raise Ended(Verdict.ERROR, "the function returns no floating-point or complex tensor")
    # (Of inputs without elements there is no other point.)
    if point.at.size and point.base.size and np.isnan(point.base).all():
        raise Ended(
            Verdict.INCONCLUSIVE,
            "every output of the function is NaN at this point: choose another one",
        )
    return point


def _reverse(problem: Problem, *, second: bool = False) -> list[Comparison]:
    problem = along_the_quantile(problem)
    comparisons = _in_either_precision(problem, lambda it: _judged(it, second=second))
    return [_with_remark(comparison, problem) for comparison in comparisons]


def _in_either_precision(
    problem: Problem, check: Callable[[Problem], list[Comparison]]
) -> list[Comparison]:
    """What the check gives; in the precision of the inputs alone, if in float64 it raises.

    (A tf.function makes its gradient while it goes forward under a tape: what raises there looks
    like the function itself, which had gone well without a tape.)
    """
    try:
        return check(problem)
    except (GradientRaised, FunctionRaised) as error:
        own = in_its_own_precision(problem, f"its gradient raised {error}")
        if own is None:
            raise
    return check(own)


def _judged(problem: Problem, *, second: bool) -> list[Comparison]:
    # (Who takes gradients in another way is not to be gone around.)
    recorded = problem.mode is Mode.EAGER and problem.tape is Tape
    tape: Tape | None = None
    if recorded:
        tape = None if is_low(problem.operands) else problem.recorded
        tape = tape or Tape(problem.function, problem.operands)
    point = _evaluated(problem, tape)
    comparisons = judge_gradients(point, tape)
    if problem.mode is not Mode.EAGER and not all(c.verdict.acceptable for c in comparisons):
        comparisons = _in_its_mode(problem) or comparisons
    return [_placed(c, point, second=second) for c in comparisons]


def _placed(comparison: Comparison, point: Point, *, second: bool) -> Comparison:
    """The comparison with the places in the user's code, if there is something left to spend."""
    try:
        return with_places(comparison, point, second=second)
    except Spent:
        return comparison


def _in_its_mode(problem: Problem) -> list[Comparison]:
    """What is to be said of a function that is another one in its mode; nothing if it is not.

    Eagerly it has all its digits: there the formula is judged. Then the gradient in its mode is
    compared with the derivative there.
    """
    found = in_its_mode(problem)
    if found is None:
        return []
    eager = judge_gradients(_evaluated(replace(problem, mode=Mode.EAGER)))
    if not all(c.verdict.acceptable for c in eager):
        return eager
    note = (
        f"in {problem.mode} the function gives other outputs than eagerly, where its gradient is "
        "right: it was compared with the derivative there"
    )
    point, noise = found
    there = judge_gradients(point, None, noise)
    return [
        replace(c, dtype=first.dtype, note=joined(c.note, note))
        for c, first in zip(there, eager, strict=True)
    ]


def _with_remark(comparison: Comparison, problem: Problem) -> Comparison:
    """What has to be told where a gradient is not right: of samples, of complex eigenvectors."""
    if comparison.verdict not in (Verdict.MISMATCH, Verdict.INCONCLUSIVE):
        return comparison
    if problem.remark:
        comparison = replace(comparison, note=joined(comparison.note, problem.remark))
    values = [operand.value for operand in problem.operands]
    if not shows_a_phase(problem.function, values):
        return comparison
    if not depends_on_the_phase(problem.function, values):
        return comparison
    # (Of what has no derivative no gradient is wrong.)
    return replace(
        comparison,
        verdict=Verdict.INCONCLUSIVE,
        note=joined(comparison.note, FREE_PHASE),
        diagnosis=None,
    )


def _forward(problem: Problem) -> list[Comparison]:
    def forward(own: Problem) -> list[Comparison]:
        return check_forward(_evaluated(without_promotion(own)))

    return _in_either_precision(problem, forward)


def _second(problem: Problem) -> list[Comparison]:
    derived = gradient_problem(_evaluated(problem))
    return [replace(c, check=CheckKind.SECOND) for c in _reverse(derived, second=True)]


_CHECKS: dict[CheckKind, Callable[[Problem], list[Comparison]]] = {
    CheckKind.REVERSE: _reverse,
    CheckKind.FORWARD: _forward,
    CheckKind.SECOND: _second,
}
