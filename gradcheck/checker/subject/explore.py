"""What a function brings along: the variables it reads, and what it keeps from call to call.

It is called once, watched. The variables become operands beside the inputs, and whatever calls
change is put back after each of them, and when the check is over.
"""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from gradcheck.checker import limits
from gradcheck.checker.subject import keras_twin
from gradcheck.checker.subject.callee import Callee, everything
from gradcheck.checker.subject.captured import captured_operands, disconnection_hint
from gradcheck.checker.subject.in_either import InEither, Promotable, either_promoted, is_low
from gradcheck.checker.subject.kept_state import KeptState
from gradcheck.checker.subject.known_kernels import (
    all_keep_their_digits,
    all_repeat,
    all_take_other_shapes,
)
from gradcheck.checker.subject.quantile import REPARAMETERISED, draws
from gradcheck.checker.subject.reachable import Reachable, reachable
from gradcheck.checker.subject.recording import Recording, known_resources, recording
from gradcheck.checker.subject.substituted import WithReads
from gradcheck.checker.subject.tape import Tape
from gradcheck.checker.subject.tensors import widen

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gradcheck.checker.subject.operand import Operand
    from gradcheck.checker.subject.problem import Problem
    from gradcheck.checker.subject.tensors import Function


@contextmanager
def explored(problem: Problem) -> Iterator[Problem]:
    """The problem with all that its function brings along; everything is put back at the end.

    Raises UsageError where the problem asks for a variable that the function does not read.
    """
    with ExitStack() as at_the_end:
        yield _with_all(problem, at_the_end)


def _with_all(problem: Problem, at_the_end: ExitStack) -> Problem:
    target = target_of(problem.function)
    operands = keras_twin.as_the_layer_casts(target, problem.operands)
    found = _explore(problem.function, operands, at_the_end)
    if found.called.raised:
        # The check itself will say so.
        return problem
    seen, trainable = found.called.seen, found.called.trainable
    problem = replace(
        problem,
        operands=operands,
        takes_other_shapes=all_take_other_shapes(seen.kinds),
        repeats=all_repeat(seen.kinds),
        keeps_its_digits=all_keep_their_digits(seen.kinds),
        rounds_in=frozenset(() if is_low(operands) else seen.precisions & limits.BITS_OF.keys()),
        ops=seen.ops,
        some_outputs=_selects(problem.function),
        remark=REPARAMETERISED if problem.cdf is None and draws(seen.kinds) else "",
    )
    wanted = problem.wanted.names or problem.wanted.variables
    if not (seen.resources or found.around.objects or wanted):
        problem = replace(problem, recorded=found.called.tape)
        if is_low(operands):
            # (In another precision other numbers are drawn.)
            direct = not draws(seen.kinds)
            return replace(problem, function=Promotable(problem.function, operands, direct=direct))
        return problem
    variables = captured_operands(problem, seen, trainable, found.around)
    lifted = WithReads(problem.function, len(operands), _held_by(variables))
    kept = _Kept(lifted, found.state)
    hint = disconnection_hint(problem, seen, trainable)
    problem = replace(problem, operands=(*operands, *variables), hint=hint)
    twin = keras_twin.in_double(problem.function, kept, operands, variables)
    if twin is not None:
        wide = [replace(o, value=widen(o.value)) for o in operands]
        state = _explore(twin.function, wide, at_the_end).state
        twins = [v.captured.double for v in twin.variables if v.captured is not None]
        double = _Kept(WithReads(twin.function, len(operands), twins), state)
        whole = (*operands, *twin.variables)
        function = InEither(kept, double, whole)
        return replace(problem, function=function, operands=whole, rounds_in=frozenset())
    return _with_promotion(problem, kept, variables, casts=keras_twin.casts(target))


def _with_promotion(
    problem: Problem, kept: Function, variables: Sequence[Operand], *, casts: bool
) -> Problem:
    """The problem of a function that is no Keras object that can be made again.

    Args:
        problem: whose operands are all known.
        kept: its function, leaving no traces.
        variables: those of the operands that it captures.
        casts: whether it is a layer that would round what it is given.
    """
    if is_low(variables):
        # What it reads has no other precision: it is promoted, or not to be had in float64.
        problem = replace(problem, rounds_in=frozenset())
        twin = either_promoted(kept, problem.operands)
        if twin is not None:
            function = InEither(kept, twin.function, twin.operands)
            return replace(problem, function=function, operands=twin.operands)
    elif is_low(problem.operands):
        return replace(problem, function=Promotable(kept, problem.operands, direct=not casts))
    return replace(problem, function=InEither(kept, None, problem.operands) if casts else kept)


def _held_by(variables: Sequence[Operand]) -> list[Any]:
    return [v.captured.own for v in variables if v.captured is not None]


def _selects(function: Function) -> bool:
    return isinstance(function, Callee) and function.select is not everything


def in_its_own_precision(problem: Problem, why_not_double: str) -> Problem | None:
    """The problem without its own double precision; None where it has nothing less.

    There are functions, and layers in float64, that go forward in double precision but not back.
    Perhaps a promoted graph does. Without it
    `test_a_gradient_that_is_not_to_be_had_in_double_precision` fails.
    """
    values = [operand.value for operand in problem.operands]
    if all(widen(value).dtype == value.dtype for value in values):
        return None
    function, operands = problem.function, problem.operands
    if isinstance(function, InEither) and function.is_promoted:
        return replace(problem, function=InEither(function, None, operands, why_not_double))
    promotable = Promotable(function, operands, why_not_double, direct=False)
    return replace(problem, function=promotable)


def without_promotion(problem: Problem) -> Problem:
    """The problem in double precision only if no graph had to be promoted for that.

    Without it `test_forward_mode_is_not_that_of_a_promoted_graph` fails.
    """
    if not isinstance(problem.function, InEither):
        return problem
    return replace(problem, function=problem.function.without_promotion())


def target_of(function: Function) -> Any:
    """What the user brought."""
    return function.target if isinstance(function, Callee) else function


@dataclass(frozen=True, slots=True, eq=False)
class Exploration:
    """What was found."""

    called: _Watched
    around: Reachable
    state: KeptState


def _explore(function: Function, operands: Sequence[Operand], at_the_end: ExitStack) -> Exploration:
    """Call the function once, and see to it that everything is put back."""
    target = target_of(function)
    around = reachable(target)
    state = KeptState(around.objects)
    # (Whatever a gradient function does to them is put back at the end.)
    state.add(known_resources(around.variables.values()))
    at_the_end.callback(state.put_back)
    called = _watched_call(function, operands)
    state.add(called.seen.resources.values())
    if called.seen.creates_variables and not called.raised:
        # What is built by its first call has its variables from the second on.
        unbuilt = KeptState(())
        unbuilt.forget_since(state)
        around = reachable(target)
        state.attend(around.objects)
        state.put_back()
        called = _watched_call(function, operands)
        state.add(called.seen.resources.values())
        if called.seen.creates_variables:
            # It makes one in every call: nothing was built.
            state.forget_since(unbuilt)
    state.put_back()
    return Exploration(called, around, state)


@dataclass(frozen=True, slots=True, eq=False)
class _Watched:
    """One call."""

    seen: Recording
    trainable: list[Any]
    """The variables that a tape watches by itself."""
    tape: Tape
    """It has recorded the call, unless that raised."""
    raised: bool


def _watched_call(function: Function, operands: Sequence[Operand]) -> _Watched:
    import tensorflow as tf

    inputs = [operand.hold(operand.value) for operand in operands]
    given = {id(each.handle) for each in inputs if isinstance(each, tf.Variable)}
    tape, raised = Tape(function, operands), False
    trainable: list[Any] = []
    with recording() as seen:
        try:
            trainable = tape.record_all(inputs)
        except Exception:
            raised = True
    for handle in given:
        seen.resources.pop(handle, None)
    trainable = [v for v in trainable if id(v.handle) in seen.resources]
    return _Watched(seen, trainable, tape, raised)


class _Kept:
    """A function of the inputs and the variables it captures that leaves no traces."""

    def __init__(self, function: Function, state: KeptState) -> None:
        self._function, self._state = function, state

    def __call__(self, *arguments: Any) -> Any:
        try:
            return self._function(*arguments)
        finally:
            self._state.after_call()
