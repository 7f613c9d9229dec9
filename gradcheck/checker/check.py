"""One Problem → one Result: the steps of a check in their order, and the verdict of the whole."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker.forward import check_forward
from gradcheck.checker.reference.reference import Reference
from gradcheck.checker.reverse import check_reverse
from gradcheck.checker.second_order import gradient_problem
from gradcheck.checker.subject.ended import Ended
from gradcheck.checker.subject.phases import FREE_PHASE, shows_a_phase
from gradcheck.checker.subject.tape import GradientRaised, Tape
from gradcheck.checker.subject.tensors import FunctionRaised, explain_exception
from gradcheck.errors import GradcheckError
from gradcheck.model import CheckKind, Comparison, Mode, Result, Verdict, worst_verdict

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradcheck.checker.subject.problem import Problem


def check_problem(problem: Problem, name: str) -> Result:
    """Check every derivative that the problem asks for; never raises for what the function does."""
    started = time.perf_counter()
    comparisons: list[Comparison] = []
    message = ""
    verdict: Verdict | None = None
    for kind in problem.checks:
        try:
            # Infinities and NaN are what this is about; numpy need not warn of them.
            with np.errstate(all="ignore"):
                comparisons += _CHECKS[kind](problem)
        except Ended as ended:
            verdict, message = ended.verdict, ended.message
        except GradientRaised as error:
            what = {CheckKind.FORWARD: "forward-mode derivative"}.get(kind, "gradient")
            verdict = Verdict.ERROR
            message = f"the forward pass is fine, but its {what} raised: {error}"
        except GradcheckError as error:
            verdict, message = Verdict.ERROR, str(error)
        except FunctionRaised as error:
            verdict, message = Verdict.ERROR, f"the function raised {error}"
        except Exception as error:  # a fault of ours must not take the other cases with it
            verdict = Verdict.ERROR
            message = f"the check itself failed, please report this: {explain_exception(error)}"
        if verdict is not None:
            break
    verdicts = [c.verdict for c in comparisons]
    return Result(
        id=name,
        verdict=worst_verdict([*verdicts, verdict] if verdict else verdicts),
        comparisons=tuple(comparisons),
        message=message,
        seconds=time.perf_counter() - started,
    )


def _reference(problem: Problem, tape: Tape | None = None) -> Reference:
    """The function at its point, if it can be differentiated there at all."""
    if not any(operand.differentiate for operand in problem.operands):
        raise Ended(
            Verdict.ERROR,
            "there is nothing to differentiate: no input is floating-point or complex",
        )
    reference = Reference(problem, tape)
    if not reference.evaluator.outputs.shapes:
        raise Ended(Verdict.ERROR, "the function returns no floating-point or complex tensor")
    if reference.evaluator.base.size and np.isnan(reference.evaluator.base).all():
        raise Ended(
            Verdict.INCONCLUSIVE,
            "every output of the function is NaN at this point: choose another one",
        )
    return reference


def _reverse(problem: Problem) -> list[Comparison]:
    tape = Tape(problem.function, problem.operands) if problem.mode is Mode.EAGER else None
    comparisons = check_reverse(problem, _reference(problem, tape))
    return [_with_remark(comparison, problem) for comparison in comparisons]


def _with_remark(comparison: Comparison, problem: Problem) -> Comparison:
    """What a function of complex eigenvectors has to be told, where its gradient is not right."""
    if comparison.verdict not in (Verdict.MISMATCH, Verdict.INCONCLUSIVE):
        return comparison
    if not shows_a_phase(problem.function, [operand.value for operand in problem.operands]):
        return comparison
    return replace(comparison, note="; ".join(filter(None, [comparison.note, FREE_PHASE])))


def _forward(problem: Problem) -> list[Comparison]:
    return check_forward(problem, _reference(problem))


def _second(problem: Problem) -> list[Comparison]:
    derived = gradient_problem(problem, _reference(problem))
    return [replace(c, check=CheckKind.SECOND) for c in _reverse(derived)]


_CHECKS: dict[CheckKind, Callable[[Problem], list[Comparison]]] = {
    CheckKind.REVERSE: _reverse,
    CheckKind.FORWARD: _forward,
    CheckKind.SECOND: _second,
}
