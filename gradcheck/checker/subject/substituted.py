"""Eager calls in which variables have other values.

A variable has one value at a time, and one dtype. For the time of one call whoever reads it can be
given a tensor in its place: with a leading axis of points, or in float64. This is not trusted: what
comes of it is compared with calls as the user makes them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from gradcheck.checker.subject.op_inputs import plain_inputs
from gradcheck.checker.subject.private_names import Private, private, replaced
from gradcheck.checker.subject.recording import one_at_a_time

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gradcheck.checker.subject.tensors import Function


@contextmanager
def reads_as(values: Mapping[int, Any]) -> Iterator[None]:
    """Within this, whoever reads one of these variables gets a tensor instead.

    Without it `test_variables_have_many_values_at_once` fails.

    Args:
        values: by the identity of the variable's handle.
    """

    def substituted(kind: str, inputs: Sequence[Any], run: Run) -> Any:
        if kind == "ReadVariableOp" and id(inputs[0]) in values:
            return values[id(inputs[0])]
        if kind == "ResourceGather" and id(inputs[0]) in values:
            return _gathered(values[id(inputs[0])], inputs)
        # (Mostly there are no variables. Whether something is one takes longer to ask of it than of
        # its class.)
        if never.issuperset(map(type, inputs)):
            return run(*inputs)
        return run(*(_read(each, values) for each in inputs))

    never = plain_inputs()
    before = getattr(_now, "values", {})
    _now.values = {**before, **values}
    try:
        with executed(substituted):
            yield
    finally:
        _now.values = before


_now = threading.local()
"""What this thread reads in place of variables."""


def read_as(given: Any) -> Any:
    """What is read in place of this where it is a variable: no tape sees the variable itself then.

    Without it `test_the_gradient_of_a_variable_is_carried` fails.
    """
    import tensorflow as tf

    if not isinstance(given, tf.Variable):
        return given
    return getattr(_now, "values", {}).get(id(given.handle), given)


def _gathered(value: Any, inputs: Sequence[Any]) -> Any:
    import tensorflow as tf

    place = place_of("batch_dims", inputs)
    batch = 0 if place is None else inputs[place]
    return tf.gather(value, inputs[1], axis=batch, batch_dims=batch)


def _read(given: Any, values: Mapping[int, Any]) -> Any:
    import tensorflow as tf

    if isinstance(given, list | tuple):
        return [_read(each, values) for each in given]
    # (Read by what runs the op, without another op.)
    return values.get(id(given.handle), given) if isinstance(given, tf.Variable) else given


def place_of(attribute: str, inputs: Sequence[Any]) -> int | None:
    """Where the value of an attribute stands among what an op is given; None if it is not there."""
    for place, given in enumerate(inputs):
        if isinstance(given, str) and given == attribute:
            return place + 1
    return None


Run = Callable[..., Any]
"""Runs an op with other inputs and attributes."""


class executed:  # noqa: N801  (used like a function; a generator would cost three times as much)
    """Within this, every eager op gives what this makes of its kind, its inputs and attributes.

    Raises Absent where ops do not go through a door that is known.
    """

    def __init__(self, execute: Callable[[str, Sequence[Any], Run], Any]) -> None:
        self._execute = execute

    def __enter__(self) -> None:
        one_at_a_time.acquire()
        try:
            fast, own, execute_ = private(Private.FAST), threading.get_ident(), self._execute

            def execute(context: Any, kind: str, name: Any, *inputs: Any) -> Any:
                if threading.get_ident() != own:
                    return fast(context, kind, name, *inputs)
                return execute_(kind, inputs, partial(fast, context, kind, name))

            self._door = replaced(Private.FAST, execute)
            self._door.__enter__()
        except BaseException:
            one_at_a_time.release()
            raise

    def __exit__(self, *_: object) -> None:
        self._door.__exit__()
        one_at_a_time.release()


class WithReads:
    """A function of inputs and of variables that it reads: of these it can be given tensors."""

    def __init__(self, function: Function, inputs: int, variables: Sequence[Any]) -> None:
        """Nothing is called yet.

        Args:
            function: takes the inputs alone.
            inputs: how many they are.
            variables: that it reads.
        """
        self._function, self._inputs = function, inputs
        self._handles = [id(variable.handle) for variable in variables]

    def __call__(self, *arguments: Any) -> Any:
        """What the function returns if its variables are these tensors, or have their values."""
        import tensorflow as tf

        inputs, rest = arguments[: self._inputs], arguments[self._inputs :]
        given = {
            handle: each
            for handle, each in zip(self._handles, rest, strict=False)
            if not isinstance(each, tf.Variable)
        }
        if not given:
            return self._function(*inputs)
        with reads_as(given):
            return self._function(*inputs)
