"""One call of a function, watched: what it runs, reads and changes, and the tape of it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from gradcheck.checker.subject.callee import Callee
from gradcheck.checker.subject.kept_state import KeptState
from gradcheck.checker.subject.left_by_calls import Left
from gradcheck.checker.subject.reachable import Reachable, reachable
from gradcheck.checker.subject.recording import Recording, known_resources, recording
from gradcheck.checker.subject.tape import Tape
from gradcheck.model.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import ExitStack

    from gradcheck.checker.subject.operand import Operand
    from gradcheck.checker.subject.tensors import Function
    from gradcheck.model import Array


@frozen(slots=True)
class Exploration:
    """What was found."""

    called: Watched
    around: Reachable
    state: KeptState
    changes_attributes: bool = False
    """Whether the call left anything but variables changed."""

    @property
    def is_stateful(self) -> bool:
        """Whether there is anything that calls could change."""
        return bool(self.called.seen.resources or self.around.objects or self.around.variables)


def explore(
    function: Function,
    operands: Sequence[Operand],
    at_the_end: ExitStack,
    around: Reachable | None = None,
) -> Exploration:
    """Call the function once, and see to it that everything is put back.

    Args:
        function: what is called.
        operands: its own.
        at_the_end: where to put things back.
        around: what it can reach, where that is known; nothing where calls change no more than
            variables that they are seen to touch.
    """
    target = target_of(function)
    around = reachable(target) if around is None else around
    state = KeptState(around.objects)
    # (Whatever a gradient function does to them is put back at the end.)
    state.add(known_resources(around.variables.values()))
    at_the_end.callback(state.put_back)
    look = partial(_look_at, function, operands, state)
    called = look(around)
    if called.seen.creates_variables and not called.raised:
        # What is built by its first call has its variables from the second on.
        unbuilt = state.copy()
        around = reachable(target)
        state.attend(around.objects)
        called = _looked_at_again(look, around, state, unbuilt)
    found = Exploration(called, around, state)
    if found.is_stateful:
        # (Those that it read may have been moved by the time that its record goes back.)
        changes = state.changes(touched=called.seen.resources)
        called.tape.note(Left(state, changes))
        found = replace(found, changes_attributes=bool(changes.attributes or changes.contents))
    state.put_back()
    return found


def _looked_at_again(
    look: Callable[[Reachable], Watched], around: Reachable, state: KeptState, unbuilt: KeptState
) -> Watched:
    """The call of what was built.

    Args:
        look: calls it.
        around: what it can reach by now.
        state: of which that is noted.
        unbuilt: as it was before.
    """
    state.put_back()
    called = look(around)
    if called.seen.creates_variables:
        # It makes one in every call: nothing was built.
        state.forget_since(unbuilt)
        return called
    built = state.copy()
    if called.raised or not state.take_for_uncalled(unbuilt):
        return called
    state.put_back()
    called = look(around)
    if called.raised or called.seen.creates_variables:
        # By what it counts it knows that it is built.
        state.forget_since(built)
        state.put_back()
        called = look(around)
    return called


def _look_at(
    function: Function, operands: Sequence[Operand], state: KeptState, around: Reachable
) -> Watched:
    """One call, of which the state learns."""
    called = _watched_call(function, operands)
    if called.seen.is_blind:
        _look_around(called, target_of(function), around)
    state.add(called.seen.resources.values())
    return called


def _look_around(called: Watched, target: Any, before: Reachable) -> None:
    """What a call may have done that nobody saw: any variable may have been read and written."""
    seen, now = called.seen, reachable(target)
    for resource in known_resources([*called.trainable, *now.variables.values()]):
        resource.read_first = resource.written = True
        seen.resources.setdefault(id(resource.handle), resource)
    seen.creates_variables = now.variables.keys() != before.variables.keys()


@frozen(slots=True)
class Watched:
    """One call."""

    seen: Recording
    trainable: list[Any]
    """The variables that a tape watches by itself."""
    tape: Tape
    """It has recorded the call, unless that raised."""
    raised: bool

    @property
    def outputs(self) -> list[Array]:
        """What it gave."""
        return [] if self.tape.recorded is None else [o.numpy() for o in self.tape.recorded[1]]

    def lifted(
        self, function: Function, operands: Sequence[Operand], variables: Sequence[Any]
    ) -> Tape | None:
        """The record, as that of a function that takes the variables it read; None if it is none.

        Args:
            function: the same, of the inputs and these variables.
            operands: all of them.
            variables: by captured operand.
        """
        watched = {id(v.handle) for v in self.trainable}
        if any(id(v.handle) not in watched for v in variables):
            return None
        return self.tape.lifted(function, operands, variables)


def _watched_call(function: Function, operands: Sequence[Operand]) -> Watched:
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
    if tape.recorded is not None:
        seen.must_reach(*tape.recorded)
    for handle in given:
        seen.resources.pop(handle, None)
    if not seen.is_blind:
        trainable = [v for v in trainable if id(v.handle) in seen.resources]
    return Watched(seen, trainable, tape, raised)


def target_of(function: Function) -> Any:
    """What the user brought."""
    return function.target if isinstance(function, Callee) else function
