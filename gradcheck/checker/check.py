"""One Problem → one Result: every derivative that is asked for, and the verdict of the whole."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import costs
from gradcheck.checker.budget import Budget, Spent, spending
from gradcheck.checker.code_places import may_have_places, with_places
from gradcheck.checker.forward import check_forward
from gradcheck.checker.jacobian import check_jacobian
from gradcheck.checker.judge.notes import joined
from gradcheck.checker.raised import as_verdict
from gradcheck.checker.reference.in_its_mode import AnotherInItsMode, in_its_mode
from gradcheck.checker.reference.point import Point, evaluate_at
from gradcheck.checker.remarks import with_remarks
from gradcheck.checker.second_order import gradient_problem
from gradcheck.checker.second_ways import with_other_ways
from gradcheck.checker.subject.ended import Ended
from gradcheck.checker.subject.explore import in_its_own_precision, with_all, without_promotion
from gradcheck.checker.subject.in_either import Promotable, is_low
from gradcheck.checker.subject.quantile import along_the_quantile
from gradcheck.checker.subject.refusals import NoGradient
from gradcheck.checker.subject.tape import GradientRaised, Tape
from gradcheck.checker.subject.tensors import FunctionRaised, call
from gradcheck.checker.verdict import judge_gradients
from gradcheck.errors import GradcheckError
from gradcheck.model import (
    CheckKind,
    Comparison,
    Mode,
    Result,
    Stage,
    Verdict,
    worst_verdict,
)

if TYPE_CHECKING:
    from gradcheck.checker.numerics.estimate import Noise
    from gradcheck.checker.subject.gradient_of import Gradient
    from gradcheck.checker.subject.problem import Problem


def check_problem(problem: Problem, name: str) -> Result:
    """Check every derivative that the problem asks for; never raises for what the function does.

    Raises UsageError where the problem asks for a variable that the function does not read.
    """
    started = time.perf_counter()
    budget = Budget(problem.budget or costs.SECONDS_OF_A_CHECK, problem.timeout)
    try:
        with spending(budget), ExitStack() as at_the_end:
            comparisons, ended = _checked(with_all(problem, at_the_end))
    except GradcheckError:
        raise
    except (Exception, Spent) as error:  # what the user's objects do when they are looked at
        comparisons, ended = [], [as_verdict(error, CheckKind.REVERSE, problem.mode)]
    told = [(c.verdict, c.decided_by) for c in comparisons]
    told += [(each.verdict, each.stage) for each in ended]
    verdict = worst_verdict([verdict for verdict, _ in told])
    return Result(
        id=name,
        verdict=verdict,
        comparisons=tuple(comparisons),
        message="; ".join(dict.fromkeys(each.message for each in ended)),
        decided_by=next((stage for each, stage in told if each is verdict), None),
        seconds=time.perf_counter() - started,
    )


def _checked(problem: Problem) -> tuple[list[Comparison], list[Ended]]:
    """What each of the checks tells of the inputs, and those that ended before."""
    comparisons: list[Comparison] = []
    ended: list[Ended] = []
    for kind in problem.checks:
        try:
            _must_be_for_samples(problem, kind)
            # Infinities and NaN are what this is about; numpy need not warn of them.
            with np.errstate(all="ignore"):
                comparisons += _CHECKS[kind](problem)
        except (Exception, Spent) as error:
            ended.append(as_verdict(error, kind, problem.mode))
            if isinstance(error, Spent):
                break
    return comparisons, ended


def _must_be_for_samples(problem: Problem, kind: CheckKind) -> None:
    """End a check of samples that are differentiated implicitly, if it is not of the tape."""
    if problem.cdf is not None and kind is not CheckKind.REVERSE:
        message = f"`cdf` is for the reverse check: there is nothing to compare a {kind} one with"
        raise Ended(Verdict.SKIPPED, message)


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
    first = point.base[0] if point.at.size and point.base.size else 0.0
    if np.isnan(first) and np.isnan(point.base).all():
        raise Ended(
            Verdict.INCONCLUSIVE,
            "every output of the function is NaN at this point: choose another one",
        )
    return point


def _reverse(problem: Problem, *, second: bool = False) -> list[Comparison]:
    problem = along_the_quantile(problem)
    comparisons = _in_either_precision(problem, partial(_judged, second=second))
    return with_remarks(comparisons, problem)


def _in_either_precision(
    problem: Problem, check: Callable[[Problem], list[Comparison]]
) -> list[Comparison]:
    """What the check gives; in the precision of the inputs alone, if in float64 it raises.

    (A tf.function makes its gradient while it goes forward under a tape: what raises there looks
    like the function itself, which had gone well without a tape.)
    """
    try:
        return check(problem)
    except (GradientRaised, FunctionRaised, NoGradient) as error:
        own = in_its_own_precision(problem, f"its gradient raised {error}")
        if own is None:
            raise
    return check(own)


def _judged(problem: Problem, *, second: bool) -> list[Comparison]:
    point, tape = _recorded(problem)
    comparisons = _compared(point, tape)
    if all(c.verdict.acceptable for c in comparisons):
        return comparisons
    point, comparisons = _without_twin(problem, comparisons) or (point, comparisons)
    return _placed(comparisons, point, second=second)


def _recorded(problem: Problem) -> tuple[Point, Tape | None]:
    """The function at its point, and what has recorded that call, if anything has."""
    tape: Tape | None = None
    # (Who takes gradients in another way is not to be gone around.)
    if problem.mode is Mode.EAGER and problem.tape is Tape:
        low = is_low(problem.operands)
        tape = problem.recorded_in_double if low else problem.recorded
        tape = tape or Tape(problem.function, problem.operands)
    point = _evaluated(problem, tape)
    if tape is not None and isinstance(problem.function, Promotable) and point.two_questions:
        # (To find that it has to be promoted took a pass there and back. Without it
        # `test_the_trial_has_gone_back_already` fails.)
        tape = problem.function.recorded_in_double or tape
    return point, tape


def _compared(point: Point, tape: Tape | None) -> list[Comparison]:
    problem = point.problem

    def judge(at: Point, noise: Noise | None) -> list[Comparison]:
        return judge_gradients(at, None, noise, same=True)

    try:
        comparisons = judge_gradients(point, tape)
    except AnotherInItsMode:
        return _in_its_mode(problem, judge) or judge_gradients(point, tape, same=True)
    return _unless_its_mode_tells(problem, comparisons, judge)


def _without_twin(
    problem: Problem, told: list[Comparison]
) -> tuple[Point, list[Comparison]] | None:
    """What is said of a layer that was made again, once it is promoted instead; None if it is not.

    Its configuration need not tell all that it is. Without it
    `test_a_layer_that_is_not_what_its_configuration_says` fails.

    Args:
        problem: judged by what was made again.
        told: what is said of that; it stands where there is no budget for more.
    """
    if problem.without_twin is None:
        return None
    try:
        point, tape = _recorded(replace(problem.without_twin(), tape=problem.tape))
        if not point.two_questions:
            return None
        again = _compared(point, tape)
    except (Spent, GradientRaised, FunctionRaised, NoGradient):
        return None
    pairs = zip(told, again, strict=True)
    return point, [first if c.decided_by is Stage.BUDGET else c for first, c in pairs]


def _placed(comparisons: list[Comparison], point: Point, *, second: bool) -> list[Comparison]:
    """The comparisons with the places in the user's code, as far as there is something to spend."""
    placed = list(comparisons)
    with suppress(Spent):
        if may_have_places(comparisons, point):
            for i, comparison in enumerate(comparisons):
                placed[i] = with_places(comparison, point, second=second)
    return placed


_Judge = Callable[["Point", "Noise | None"], list[Comparison]]


def _unless_its_mode_tells(
    problem: Problem, told: list[Comparison], judge: _Judge
) -> list[Comparison]:
    """What was told, or what is to be said of a function that is another one in its mode."""
    if problem.mode is Mode.EAGER or all(c.verdict.acceptable for c in told):
        return told
    return _in_its_mode(problem, judge) or told


def _in_its_mode(problem: Problem, judge: _Judge) -> list[Comparison]:
    """What is to be said of a function that is another one in its mode; nothing if it is not.

    Eagerly it has all its digits: there the formula is judged. Then the gradient in its mode is
    compared with the derivative there.
    """
    found = in_its_mode(problem)
    if found is None:
        return []
    eager = judge(_evaluated(replace(problem, mode=Mode.EAGER)), None)
    if not all(c.verdict.acceptable for c in eager):
        return eager
    there = judge(found.point, found.noise)
    return [
        replace(c, dtype=first.dtype, note=joined(c.note, found.note))
        for c, first in zip(there, eager, strict=True)
    ]


def _forward(problem: Problem) -> list[Comparison]:
    def forward(own: Problem) -> list[Comparison]:
        own = without_promotion(own)
        return _unless_its_mode_tells(own, check_forward(_evaluated(own)), check_forward)

    return _in_either_precision(problem, forward)


def _jacobian(problem: Problem) -> list[Comparison]:
    def jacobian(own: Problem) -> list[Comparison]:
        own = without_promotion(own)
        return check_jacobian(_evaluated(own), partial(_judged, second=False))

    return _in_either_precision(problem, jacobian)


def _second(problem: Problem) -> list[Comparison]:
    derived, gradient = _derived(problem)
    told = _reverse(derived, second=True)
    told = with_other_ways(derived, gradient, told, partial(_judged, second=True))
    return [replace(c, check=CheckKind.SECOND) for c in told]


def _derived(problem: Problem) -> tuple[Problem, Gradient]:
    derived, gradient = gradient_problem(_evaluated(problem))
    other = problem.without_twin
    if other is None:
        return derived, gradient
    return replace(derived, without_twin=lambda: _derived(other())[0]), gradient


_CHECKS: dict[CheckKind, Callable[[Problem], list[Comparison]]] = {
    CheckKind.REVERSE: _reverse,
    CheckKind.FORWARD: _forward,
    CheckKind.SECOND: _second,
    CheckKind.JACOBIAN: _jacobian,
}
