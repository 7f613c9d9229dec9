"""Eager calls in which variables have other values, and low precision gives way to double.

A variable has one value at a time, and one dtype. For the time of one call whoever reads it can be
given a tensor in its place: with a leading axis of points, or in float64. And where an op is given
float64 beside float32, a constant that the function captured say, that is made float64 as well.
None of this is trusted: what comes of it is compared with calls as the user makes them.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from gradcheck.checker.subject.recording import one_at_a_time

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from gradcheck.checker.subject.tensors import Function


@contextmanager
def reads_as(values: Mapping[int, Any]) -> Iterator[None]:
    """Within this, whoever reads one of these variables gets a tensor instead.

    Without it `test_variables_have_many_values_at_once` fails.

    Args:
        values: by the identity of the variable's handle.
    """

    def substituted(kind: str, inputs: tuple[Any, ...]) -> tuple[Any, ...] | Any:
        if kind == "ReadVariableOp" and id(inputs[0]) in values:
            return _Result(values[id(inputs[0])])
        return tuple(_read(each, values) for each in inputs)

    with _executed(substituted):
        yield


def _read(given: Any, values: Mapping[int, Any]) -> Any:
    import tensorflow as tf

    if isinstance(given, list | tuple):
        return [_read(each, values) for each in given]
    # (Read by what runs the op, without another op.)
    if isinstance(given, tf.Variable):
        return values.get(id(given.handle), given)
    return given


class _Result:
    """What an op gives that does not run."""

    def __init__(self, tensor: Any) -> None:
        self.tensor = tensor


@contextmanager
def _executed(change: Callable[[str, tuple[Any, ...]], Any]) -> Iterator[None]:
    """Within this, every eager op is given what this makes of its inputs and attributes."""
    from tensorflow.python import pywrap_tfe

    with one_at_a_time:
        fast = pywrap_tfe.TFE_Py_FastPathExecute

        def execute(context: Any, kind: str, name: Any, *inputs: Any) -> Any:
            changed = change(kind, inputs)
            if isinstance(changed, _Result):
                return changed.tensor
            return fast(context, kind, name, *changed)

        pywrap_tfe.TFE_Py_FastPathExecute = execute
        try:
            yield
        finally:
            pywrap_tfe.TFE_Py_FastPathExecute = fast


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
