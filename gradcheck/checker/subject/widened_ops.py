"""Ops that compute in double precision wherever one of their inputs has it.

A function that cannot be called in float64 mostly fails at one op, which is given float64 beside a
float32 constant, or after a cast of the function's own. Within `double_wins` such a constant is
widened, and a cast of float64 to less is none: what comes of the function's inputs has all its
digits to the end, on the way back as well.
"""

from __future__ import annotations

import sys
import threading
from contextlib import contextmanager, nullcontext
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.checker.numerics.vectors import epsilon_of
from gradcheck.checker.subject.op_inputs import ATTRIBUTES
from gradcheck.checker.subject.private_names import Absent, Private, private, replaced
from gradcheck.checker.subject.promote_graph import rounding_of
from gradcheck.checker.subject.substituted import Run, executed, place_of
from gradcheck.checker.subject.tensors import widen, wider

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from contextlib import AbstractContextManager


class Seen:
    """What was widened."""

    def __init__(self) -> None:
        """Nothing yet."""
        self.lowest: np.dtype[Any] | None = None
        """The lowest precision that gave way."""
        self.rounding = 0.0
        """The unit in the last place to which tensors that were widened had been rounded."""

    def note(self, dtype: Any) -> None:
        """This one gave way."""
        own = np.dtype(dtype.as_numpy_dtype)
        if self.lowest is None or epsilon_of(own) > epsilon_of(self.lowest):
            self.lowest = own

    def note_tensor(self, tensor: Any) -> None:
        """So did the dtype of this tensor."""
        self.note(tensor.dtype)
        if not self.rounding and hasattr(tensor, "numpy"):
            self.rounding = rounding_of(tensor.numpy())


@contextmanager
def double_wins(seen: Seen | None = None, draws_in: np.dtype[Any] | None = None) -> Iterator[None]:
    """Within this, ops that are given float64 compute in it.

    Without it `test_float32_beside_float64_gives_way` fails.

    Args:
        seen: is told what gives way.
        draws_in: the precision in which random numbers are drawn: in another one they are others.
    """

    def execute(kind: str, inputs: Sequence[Any], run: Run) -> Any:
        if kind == "Cast":
            return run(*_cast(inputs, seen))
        if draws_in is not None and "Random" in kind:
            return _drawn(inputs, run, draws_in)
        if _mixes(inputs):
            inputs = [_widened(each, seen) for each in inputs]
        return run(*inputs)

    with executed(execute), _created(seen), _unworded():
        yield


def _unworded() -> AbstractContextManager[None]:
    """Within this, no variable is written out for the message of a conversion that is only tried.

    TensorFlow tries every one to the dtype of what it stands beside first, and to put the numbers
    of a large one into words takes longer than the op. Without it
    `test_no_variable_is_put_into_words` fails.
    """
    try:
        worded = private(Private.TEXT)
    except Absent:
        return nullcontext()

    def text(tensor: Any, is_repr: bool = False) -> Any:
        # (Behind the two functions that lead here stands whoever asks.)
        asks = sys._getframe(3).f_code.co_name
        return "…" if asks == "_dense_var_to_tensor" else worded(tensor, is_repr)

    return replaced(Private.TEXT, text)


def _drawn(inputs: Sequence[Any], run: Run, draws_in: np.dtype[Any]) -> Any:
    """Random numbers as the function draws them in its own precision, widened."""
    import tensorflow as tf

    place, to = place_of("dtype", inputs), list(inputs)
    if place is None or tf.as_dtype(inputs[place]) != tf.float64:
        return run(*inputs)
    to[place] = tf.as_dtype(draws_in).as_datatype_enum
    return tf.cast(run(*to), tf.float64)


def _cast(inputs: Sequence[Any], seen: Seen | None) -> Sequence[Any]:
    """A cast of double precision goes nowhere."""
    import tensorflow as tf

    given, to, place = inputs[0], list(inputs), place_of("DstT", inputs)
    if place is None or not isinstance(given, tf.Tensor) or given.dtype not in _wide():
        return inputs
    target = tf.as_dtype(inputs[place])
    if target not in wider():
        return inputs
    if seen is not None:
        seen.note(target)
    to[place] = wider()[target].as_datatype_enum
    return to


def _mixes(given: Iterable[Any]) -> bool:
    """Whether there is double precision among tensors, and less."""
    found = {each.dtype for each in _tensors(given)}
    if len(found) < 2:
        return False
    return not (_wide().isdisjoint(found) or wider().keys().isdisjoint(found))


def _tensors(given: Iterable[Any]) -> list[Any]:
    """The tensors among what an op is given, those in lists too."""
    import tensorflow as tf

    found: list[Any] = []
    for each in given:
        if type(each) in ATTRIBUTES:
            continue
        if isinstance(each, tf.Tensor):
            found.append(each)
        elif isinstance(each, list | tuple):
            found += _tensors(each)
    return found


def _widened(given: Any, seen: Seen | None) -> Any:
    import tensorflow as tf

    if isinstance(given, list | tuple):
        return [_widened(each, seen) for each in given]
    if not isinstance(given, tf.Tensor) or given.dtype not in wider():
        return given
    if seen is not None:
        seen.note_tensor(given)
    if hasattr(given, "numpy"):
        return tf.constant(widen(given.numpy()))
    return tf.cast(given, wider()[given.dtype])


@contextmanager
def _created(seen: Seen | None) -> Iterator[None]:
    """The same for ops that are added to a graph."""
    import tensorflow as tf

    try:
        helper, own = private(Private.CREATE_OP), threading.get_ident()
    except Absent:  # a graph is as it is
        yield
        return

    def create(kind: str, name: Any = None, **given: Any) -> Any:
        if threading.get_ident() != own:
            return helper(kind, name, **given)
        if kind == "Cast" and given["x"].dtype in _wide():
            given["DstT"] = wider().get(tf.as_dtype(given["DstT"]), given["DstT"])
        elif kind != "Cast" and _mixes(given.values()):
            given = {key: _widened(each, seen) for key, each in given.items()}
        return helper(kind, name, **given)

    with replaced(Private.CREATE_OP, create):
        yield


@cache
def _wide() -> frozenset[Any]:
    return frozenset(wider().values())
