"""The gradient as a function in its own right, so that its own gradient can be checked."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gradcheck.checker import stepping
from gradcheck.checker.subject.gradient_of import Gradient
from gradcheck.checker.subject.in_either import InEither, Promotable
from gradcheck.checker.subject.known_kernels import all_repeat, all_take_other_shapes
from gradcheck.checker.subject.phases import may_show_a_phase
from gradcheck.checker.subject.recording import Recording, recording
from gradcheck.checker.subject.tensors import call
from gradcheck.model import CheckKind

if TYPE_CHECKING:
    from gradcheck.checker.reference.point import Point
    from gradcheck.checker.subject.problem import Problem
    from gradcheck.checker.subject.tensors import Function


def gradient_problem(point: Point) -> tuple[Problem, Gradient]:
    """The problem whose function is the gradient of this one, for the same upstream; and that."""
    problem, upstream = point.problem, list(point.upstream)
    if problem.upstream == "random":
        # A gradient that is constant is made of the upstream alone: with few bits it would look
        # like one that rounds to them.
        upstream = [stepping.ALL_BITS * ct for ct in upstream]
    gradient = Gradient(problem.function, problem.operands, upstream)
    function: Function = gradient
    if isinstance(problem.function, InEither):
        # (What is promoted has a gradient, and that one none: it is promoted as a function.)
        direct = not problem.function.is_promoted
        function = Promotable(gradient, problem.operands, direct=direct)
    seen = _recorded(gradient, problem)
    derived = replace(
        problem,
        function=function,
        upstream="random",
        formulas={},
        claims={},
        checks=(CheckKind.REVERSE,),
        # (What the gradient runs are other kernels than the function's.)
        takes_other_shapes=all_take_other_shapes(seen.kinds),
        may_have_phases=may_show_a_phase(seen.kinds),
        repeats=all_repeat(seen.kinds),
        ops=seen.ops,
        kinds=frozenset(seen.kinds),
        recorded=None,
        recorded_in_double=None,
        without_twin=None,
        keeps_its_digits=False,
        is_exact=False,
        cdf=None,
        is_gradient=True,
        judged=[],
    )
    return derived, gradient


def _recorded(gradient: Function, problem: Problem) -> Recording:
    """What one call of the gradient runs."""
    arguments = [operand.hold(operand.value) for operand in problem.operands]
    with recording() as seen:
        call(gradient, arguments)
    return seen
