"""What a function brings along: the variables it reads, and what it keeps from call to call.

It is called once, watched. The variables become operands beside the inputs, and whatever calls
change is put back after each of them, and when the check is over.
"""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple

from gradcheck.checker import limits
from gradcheck.checker.subject import keras_twin
from gradcheck.checker.subject.alike import alike
from gradcheck.checker.subject.callee import Callee, by_position, everything
from gradcheck.checker.subject.captured import captured_operands, disconnection_hint
from gradcheck.checker.subject.in_either import InEither, Promotable, either_promoted, is_low
from gradcheck.checker.subject.keras_widened import declaring
from gradcheck.checker.subject.known_kernels import (
    all_are_exact,
    all_keep_their_digits,
    all_may_stack,
    all_repeat,
    all_take_other_shapes,
)
from gradcheck.checker.subject.left_by_calls import end_call
from gradcheck.checker.subject.phases import may_show_a_phase
from gradcheck.checker.subject.quantile import REPARAMETERISED, draws
from gradcheck.checker.subject.reachable import Reachable, is_of_a_library, names_nothing
from gradcheck.checker.subject.substituted import WithReads
from gradcheck.checker.subject.tensors import widen, wider
from gradcheck.checker.subject.watched_call import Exploration, explore, target_of
from gradcheck.model.frozen import altered

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gradcheck.checker.subject.kept_state import KeptState
    from gradcheck.checker.subject.operand import Operand
    from gradcheck.checker.subject.problem import Problem
    from gradcheck.checker.subject.tape import Tape
    from gradcheck.checker.subject.tensors import Function


@contextmanager
def explored(problem: Problem) -> Iterator[Problem]:
    """The problem with all that its function brings along; everything is put back at the end.

    Raises UsageError where the problem asks for a variable that the function does not read.
    """
    with ExitStack() as at_the_end:
        yield with_all(problem, at_the_end)


def with_all(problem: Problem, at_the_end: ExitStack) -> Problem:
    """The same, for one who has a place where to put things back."""
    target = target_of(problem.function)
    operands = keras_twin.as_the_layer_casts(target, problem.operands)
    found = explore(problem.function, operands, at_the_end)
    if found.called.raised:
        # The check itself will say so.
        return problem
    seen, trainable = found.called.seen, found.called.trainable
    low = is_low(operands)
    precisions = seen.precisions & limits.BITS_OF.keys()
    wanted = problem.wanted.names or problem.wanted.variables
    is_plain = not (found.is_stateful or wanted)
    kinds = frozenset(seen.kinds)
    told = _told_by(kinds)
    function, plain = problem.function, _takes_no_code(problem.function)
    if low and is_plain:
        # (In another precision other numbers are drawn.)
        direct, recorded = not told.draws, _at_upstream(problem, found.called.tape)
        function = Promotable(
            function, operands, direct=direct, recorded=recorded, seed=problem.seed
        )
    problem = altered(
        problem,
        function=function,
        recorded=found.called.tape if is_plain else None,
        operands=operands,
        takes_other_shapes=told.takes_other_shapes,
        may_stack=told.may_stack and not seen.counts_from_the_front,
        repeats=told.repeats,
        keeps_its_digits=all_keep_their_digits(kinds, casts=not (low or precisions)),
        is_exact=told.is_exact,
        rounds_in=frozenset(() if low else precisions),
        may_have_phases=told.may_have_phases,
        ops=seen.ops,
        kinds=kinds,
        some_outputs=_selects(problem.function),
        is_of_a_library=plain and is_of_a_library(target),
        names_nothing=plain and names_nothing(target),
        remark=REPARAMETERISED if problem.cdf is None and told.draws else "",
    )
    if is_plain:
        return problem
    variables = captured_operands(problem, seen, trainable, found.around)
    own = [v.captured.own for v in variables if v.captured is not None]
    lifted = WithReads(problem.function, len(operands), own)
    kept = _Kept(lifted, found.state)
    hint = disconnection_hint(problem, seen, trainable)
    problem = altered(problem, operands=(*operands, *variables), hint=hint)
    again = _in_double(problem, kept, found, at_the_end, variables)
    recorded = found.called.lifted(kept, problem.operands, own)
    problem = altered(problem, recorded=recorded)
    casts = keras_twin.casts(target)
    without = partial(_with_promotion, problem, kept, variables, casts=casts)
    return without() if again is None else altered(again, recorded=recorded, without_twin=without)


class _Told(NamedTuple):
    """What the kinds of a function's ops tell of it."""

    takes_other_shapes: bool
    may_stack: bool
    repeats: bool
    is_exact: bool
    may_have_phases: bool
    draws: bool


@lru_cache(maxsize=1024)
def _told_by(kinds: frozenset[str]) -> _Told:
    return _Told(
        takes_other_shapes=all_take_other_shapes(kinds),
        may_stack=all_may_stack(kinds),
        repeats=all_repeat(kinds),
        is_exact=all_are_exact(kinds),
        may_have_phases=may_show_a_phase(kinds),
        draws=draws(kinds),
    )


def _at_upstream(problem: Problem, recorded: Tape | None) -> Tape | None:
    """The record, for one who goes back for a random upstream; None where the check does not."""
    return recorded if isinstance(problem.upstream, str) and problem.upstream == "random" else None


def _in_double(
    problem: Problem,
    kept: Function,
    found: Exploration,
    at_the_end: ExitStack,
    variables: Sequence[Operand],
) -> Problem | None:
    """The problem of a Keras object that computes in double precision; None if it is none.

    Args:
        problem: whose operands are all known.
        kept: its function, leaving no traces.
        found: what the function did.
        at_the_end: where to put things back.
        variables: those of the operands that it captures.
    """
    inputs, seen = problem.operands[: len(problem.operands) - len(variables)], found.called.seen
    with_twin = partial(_with_twin, problem, kept, found, at_the_end)
    if not seen.is_blind:
        given = problem.function, inputs, variables, found.around.objects, seen.resources
        twin = keras_twin.in_place(*given)
        if twin is not None:
            at_the_end.enter_context(declaring())
            again = with_twin(twin, found.around, must_be_wide=True)
            if again is not None:
                return again
    twin = keras_twin.in_double(problem.function, inputs, variables)
    return None if twin is None else with_twin(twin)


def _with_twin(
    problem: Problem,
    kept: Function,
    found: Exploration,
    at_the_end: ExitStack,
    twin: keras_twin.Twin,
    around: Reachable | None = None,
    *,
    must_be_wide: bool = False,
) -> Problem | None:
    """The problem of a Keras object with its twin; None where that gives something else.

    Args:
        problem: whose operands are all known.
        kept: its function, leaving no traces.
        found: what the function did.
        at_the_end: where to put things back.
        twin: what stands for it in double precision.
        around: what that can reach, where it is known.
        must_be_wide: it must not run an op in less, either.
    """
    inputs = problem.operands[: len(problem.operands) - len(twin.variables)]
    wide = [replace(o, value=widen(o.value)) for o in inputs]
    # (It is made of the same code: what calls of the one leave alone, calls of the other do. Else
    # `test_what_the_calls_of_a_twin_count_is_put_back` fails.)
    if not (found.changes_attributes or found.called.seen.is_blind):
        around = Reachable()
    there = explore(twin.function, wide, at_the_end, around)
    if there.called.raised or not alike(found.called.outputs, there.called.outputs, twin.lower):
        return None
    if must_be_wide and there.called.seen.made_in & wider().keys():
        return None
    twins = [v.captured.double for v in twin.variables if v.captured is not None]
    double = _Kept(WithReads(twin.function, len(inputs), twins), there.state)
    whole = (*inputs, *twin.variables)
    function = InEither(kept, double, whole, within=twin.within)
    recorded = there.called.lifted(function, whole, twins)
    return altered(
        problem,
        function=function,
        operands=whole,
        rounds_in=frozenset(),
        recorded_in_double=recorded,
    )


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
        problem = altered(problem, rounds_in=frozenset())
        recorded = _at_upstream(problem, problem.recorded)
        twin = either_promoted(kept, problem.operands, recorded, problem.seed)
        if twin is not None:
            return altered(
                problem,
                function=InEither(kept, twin.function, twin.operands),
                operands=twin.operands,
                recorded_in_double=_at_upstream(problem, twin.recorded),
            )
    elif is_low(problem.operands):
        recorded = _at_upstream(problem, problem.recorded)
        function = Promotable(
            kept, problem.operands, direct=not casts, recorded=recorded, seed=problem.seed
        )
        return altered(problem, function=function)
    return altered(problem, function=InEither(kept, None, problem.operands) if casts else kept)


def _takes_no_code(function: Function) -> bool:
    return isinstance(function, Callee) and function.arrange is by_position


def _selects(function: Function) -> bool:
    return isinstance(function, Callee) and function.select is not everything


def in_its_own_precision(problem: Problem, why_not_double: str) -> Problem | None:
    """The problem without its own double precision; None where it has nothing less.

    There are functions, and layers in float64, that go forward in double precision but not back.
    Perhaps a promoted graph does. Without it
    `test_a_gradient_that_is_not_to_be_had_in_double_precision` fails.
    """
    if not is_low(problem.operands):
        return None
    problem = altered(problem, recorded_in_double=None, without_twin=None)
    function, operands = problem.function, problem.operands
    if isinstance(function, InEither) and (function.is_promoted or function.cannot_be_promoted):
        return altered(problem, function=InEither(function, None, operands, why_not_double))
    promotable = Promotable(function, operands, why_not_double, direct=False)
    return altered(problem, function=promotable)


def without_promotion(problem: Problem) -> Problem:
    """The problem in double precision only if no graph had to be promoted for that.

    Without it `test_forward_mode_is_not_that_of_a_promoted_graph` fails.
    """
    if not isinstance(problem.function, InEither):
        return problem
    return altered(problem, function=problem.function.without_promotion())


class _Kept:
    """A function of the inputs and the variables it captures that leaves no traces."""

    def __init__(self, function: Function, state: KeptState) -> None:
        self._function, self._state = function, state

    def __call__(self, *arguments: Any) -> Any:
        try:
            returned = self._function(*arguments)
        except BaseException:
            self._state.after_call()
            raise
        end_call(self._state)
        return returned
