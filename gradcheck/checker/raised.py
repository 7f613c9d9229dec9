"""What it means for a check that something raised: its verdict, and what to say."""

from __future__ import annotations

import traceback
from typing import TYPE_CHECKING

from gradcheck.checker.budget import Spent
from gradcheck.checker.subject.ended import Ended
from gradcheck.checker.subject.refusals import (
    OUT_OF_REACH,
    UNTRACED,
    NoGradient,
    must_be_compiled,
    told_untraceable,
    told_without_gradient,
)
from gradcheck.checker.subject.tape import GradientRaised
from gradcheck.checker.subject.tensors import FunctionRaised, explain_exception
from gradcheck.errors import GradcheckError
from gradcheck.model import CheckKind, Mode, Result, Stage, Verdict

if TYPE_CHECKING:
    from collections.abc import Collection

OURS = "the check itself failed"
"""How the message begins of what is no fault of the function's."""


def _where(error: Exception) -> str:
    """The line of ours that raised it, or called what did: a report without it helps nobody."""
    frames = [(frame.f_code, line) for frame, line in traceback.walk_tb(error.__traceback__)]
    for code, line in reversed(frames):
        _, found, path = code.co_filename.rpartition("gradcheck/")
        if found:
            return f" (gradcheck/{path}:{line}, in {code.co_name})"
    return ""


def as_verdict(error: Exception | Spent, kind: CheckKind, mode: Mode = Mode.EAGER) -> Ended:
    """What it means for the check, in this mode, that something raised this."""
    if isinstance(error, FunctionRaised | GradientRaised):
        try:
            must_be_compiled(error, mode)
        except Ended as ended:
            return ended
    match error:
        case Spent():
            return Ended(Verdict.INCONCLUSIVE, str(error), Stage.BUDGET)
        case Ended():
            return error
        case NoGradient():
            message = told_without_gradient(error.op, kind)
        case GradientRaised():
            what = {
                CheckKind.FORWARD: "forward-mode derivative",
                CheckKind.JACOBIAN: "Jacobian",
            }.get(kind, "gradient")
            message = f"the forward pass is fine, but its {what} raised: {error}"
            message += told_untraceable(message)
        case GradcheckError():
            message = str(error)
        case FunctionRaised():
            message = f"the function raised {error}"
            message += told_untraceable(message)
        case _:  # a fault of ours must not take the other cases with it
            told = explain_exception(error)
            message = f"{OURS}, please report this: {told}{_where(error)}"
    return Ended(Verdict.ERROR, message)


def told_out_of_reach(result: Result, checks: Collection[CheckKind], mode: Mode) -> bool:
    """Whether the check ended because an op has no gradient, and not where the tape alone goes.

    Second derivatives and forward mode go through the gradient's own ops: TensorFlow has no
    gradient for some of them. Without it `test_what_a_run_adds_and_tensorflow_has_not` fails.
    Nor is a function that asks for numbers one for graphs.
    """
    if result.verdict is not Verdict.ERROR:
        return False
    if UNTRACED in result.message:
        return mode is not Mode.EAGER
    return bool(OUT_OF_REACH.search(result.message)) and CheckKind.REVERSE not in checks
