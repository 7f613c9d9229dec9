"""What it means for a check that something raised: its verdict, and what to say."""

from __future__ import annotations

from gradcheck.checker.budget import Spent
from gradcheck.checker.subject.ended import Ended
from gradcheck.checker.subject.refusals import NoGradient, told_without_gradient
from gradcheck.checker.subject.tape import GradientRaised
from gradcheck.checker.subject.tensors import FunctionRaised, explain_exception
from gradcheck.errors import GradcheckError
from gradcheck.model import CheckKind, Stage, Verdict


def as_verdict(error: Exception | Spent, kind: CheckKind) -> Ended:
    """What it means for the check that something raised this."""
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
        case GradcheckError():
            message = str(error)
        case FunctionRaised():
            message = f"the function raised {error}"
        case _:  # a fault of ours must not take the other cases with it
            told = explain_exception(error)
            message = f"the check itself failed, please report this: {told}"
    return Ended(Verdict.ERROR, message)
