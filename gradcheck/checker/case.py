"""One Case → one Result, in this process."""

from __future__ import annotations

import time
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING

from gradcheck.checker import limits
from gradcheck.checker.check import check_problem
from gradcheck.checker.raised import told_out_of_reach
from gradcheck.checker.subject.build_function import build, distribution
from gradcheck.checker.subject.draw_inputs import operands
from gradcheck.checker.subject.ended import Ended
from gradcheck.checker.subject.evaluate_formulas import claims, formulas
from gradcheck.checker.subject.problem import Problem, Wanted
from gradcheck.checker.subject.tensors import FunctionRaised
from gradcheck.checker.subject.watched_gradients import watching
from gradcheck.errors import GradcheckError
from gradcheck.model import Case, Comparison, Result, Stage, Verdict
from gradcheck.spec.resolve import resolve

if TYPE_CHECKING:
    from collections.abc import Collection

    from gradcheck.model import GradientCall


def check_case(
    case: Case,
    *,
    allow: Collection[str] = (),
    root: str = ".",
    close_ups: Collection[Verdict] = (),
    called: bool = False,
) -> Result:
    """Run one case; never raises for what the case does.

    Args:
        case: what to check.
        allow: the packages whose functions it may call.
        root: where those are found.
        close_ups: the verdicts of which somebody wants to see pictures.
        called: tell which registered gradient functions were called.
    """
    with watching() if called else nullcontext():
        return _checked(case, allow, root, close_ups, set() if called else None)


def _checked(
    case: Case,
    allow: Collection[str],
    root: str,
    close_ups: Collection[Verdict],
    called: set[GradientCall] | None,
) -> Result:
    started = time.perf_counter()
    try:
        problem = problem_of(case, allow=allow, root=root)
    except Ended as ended:
        return _ended(case, ended.verdict, ended.message, started)
    except FunctionRaised as error:
        return _ended(case, Verdict.ERROR, f"the function raised {error}", started)
    except GradcheckError as error:
        where = getattr(error, "location", None) or case.target.location
        return _ended(case, Verdict.ERROR, f"{where}: {error}", started)
    except ValueError as error:
        return _ended(case, Verdict.ERROR, f"{case.location}: {error}", started)
    asked = replace(problem, close_ups=frozenset(close_ups), called=called)
    result = check_problem(asked, case.id)
    if case.added and told_out_of_reach(result, case.checks, case.mode):
        result = replace(result, verdict=Verdict.SKIPPED, decided_by=None)
    return replace(
        result,
        case=case,
        called=None if called is None else tuple(sorted(called)),
        comparisons=tuple(_light(comparison) for comparison in result.comparisons),
        seconds=time.perf_counter() - started,
    )


def problem_of(case: Case, *, allow: Collection[str], root: str) -> Problem:
    """What the case asks; raises GradcheckError or ValueError where that cannot be built."""
    resolved = resolve(case)
    return Problem(
        function=build(resolved, allow=allow, root=root),
        operands=operands(resolved),
        wanted=Wanted(trainable=case.variables),
        upstream=case.upstream,
        formulas=formulas(resolved),
        claims=claims(resolved),
        mode=case.mode,
        checks=case.checks,
        seed=case.seed,
        tolerance=case.tolerance,
        cdf=distribution(resolved),
        budget=case.budget,
        timeout=case.timeout,
    )


def _ended(case: Case, verdict: Verdict, message: str, started: float) -> Result:
    seconds = time.perf_counter() - started
    stage = None if verdict is Verdict.SKIPPED else Stage.SET_UP
    return Result(case.id, verdict, message=message, seconds=seconds, case=case, decided_by=stage)


def _light(comparison: Comparison) -> Comparison:
    """Without the arrays that are too large to travel and that nobody would read."""
    if comparison.numeric is None or comparison.numeric.size <= limits.KEPT_ELEMENTS:
        return comparison
    return replace(comparison, analytic=None, numeric=None, bound=None, formula=None)
