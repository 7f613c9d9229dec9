"""Calls that carry a cargo: every way in which a function reaches an op, or a value, is watched."""

from __future__ import annotations

import threading
from contextlib import contextmanager, nullcontext
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any

from gradcheck.checker.subject.as_python import as_python
from gradcheck.checker.subject.carry.cargo import Cargo
from gradcheck.checker.subject.carry.carried_op import lengths_of
from gradcheck.checker.subject.private_names import Absent, Private, private, replaced
from gradcheck.checker.subject.recording import one_at_a_time
from gradcheck.checker.subject.substituted import executed, reads_as

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from gradcheck.model import Array


@contextmanager
def carrying(cargo: Cargo) -> Iterator[None]:
    """Within this, ops of this thread carry the cargo."""
    with (
        one_at_a_time,
        executed(cargo.execute),
        _calls_watched(cargo),
        _values_watched(cargo),
        as_python(),
    ):
        yield


@contextmanager
def _calls_watched(cargo: Cargo) -> Iterator[None]:
    """Within this, ops that go the long way carry the cargo too; traced functions have none."""
    slow, own = private(Private.SLOW), threading.get_ident()

    def execute(
        context: Any, device: Any, kind: Any, inputs: Any, attributes: Any, count: Any
    ) -> Any:
        if threading.get_ident() != own:
            return slow(context, device, kind, inputs, attributes, count)
        name = kind.decode() if isinstance(kind, bytes) else kind
        lengths = lengths_of(name, attributes)
        if lengths is None:
            # (What it reads inside is not seen.)
            if cargo.is_written or cargo.of(list(inputs)) is not None:
                cargo.refuse(name)
            return slow(context, device, kind, inputs, attributes, count)
        grouped = _grouped(inputs, lengths)

        def run(*given: Any) -> Any:
            tensors, rest = given[: len(lengths)], given[len(lengths) :]
            flat = _flat_like(inputs, tensors)
            return slow(context, device, kind, flat, tuple(rest), count)

        return cargo.execute(name, [*grouped, *(attributes or ())], run)

    with replaced(Private.SLOW, execute):
        yield


def _grouped(flat: Sequence[Any], lengths: Sequence[int | None]) -> list[Any]:
    """Tensors by input: one, or a list."""
    left = iter(flat)
    return [next(left) if length is None else list(islice(left, length)) for length in lengths]


def _flat_like(own: Sequence[Any], given: Sequence[Any]) -> list[Any]:
    """Inputs in a row, all as tensors of the dtypes that the op was given."""
    import tensorflow as tf

    flat = [each for one in given for each in (one if isinstance(one, list) else [one])]
    return [
        new if isinstance(new, tf.Tensor) else tf.constant(new, old.dtype)
        for new, old in zip(flat, own, strict=True)
    ]


@contextmanager
def _values_watched(cargo: Cargo) -> Iterator[None]:
    """Within this, nobody looks at the value of a tensor that has others at other points.

    Without it `test_a_branch_is_not_carried` fails.
    """
    eager = _eager()
    look, worded = eager._numpy, private(Private.TEXT)

    def looked_at(tensor: Any) -> Any:
        if cargo.of(tensor) is not None:
            cargo.refuse("a value that is looked at")
        return look(tensor)

    def text(tensor: Any, is_repr: bool = False) -> Any:
        # (What is only to be read, as in messages that TensorFlow makes up on its way.)
        return "…" if cargo.of(tensor) is not None else worded(tensor, is_repr)

    eager._numpy = looked_at
    try:
        with replaced(Private.TEXT, text):
            yield
    finally:
        eager._numpy = look


@cache
def _eager() -> Any:
    """The class of tensors that have values; raises Absent."""
    import tensorflow as tf

    kinds = [each for each in type(tf.constant(0)).__mro__ if "_numpy" in vars(each)]
    if not kinds:
        raise Absent("_numpy of a tensor")
    return kinds[0]


def load(
    cargo: Cargo, call: Callable[[], list[Any]], moved: Sequence[tuple[Any, Array]]
) -> list[Any]:
    """The outputs of a call at the point, of which the cargo then knows those at many points.

    Raises CannotCarry, or whatever the call raises.

    Args:
        cargo: an empty one.
        call: gives the outputs at the point; the function's arguments are in it.
        moved: arguments that have other values at the points, tensors or variables, and those.
    """
    import tensorflow as tf

    read = {}
    for argument, values in moved:
        tensor = argument
        if isinstance(argument, tf.Variable):
            tensor = read[id(argument.handle)] = tf.identity(argument)
        cargo.move(tensor, tf.constant(values))
    with carrying(cargo), reads_as(read) if read else nullcontext():
        outputs = call()
    cargo.must_not_be_refused()
    return outputs


def carried(
    call: Callable[[], list[Any]], moved: Sequence[tuple[Any, Array]], rows: int
) -> tuple[list[Array], Cargo]:
    """The outputs of a call at so many points, each with a leading axis of them; as `load`."""
    cargo = Cargo(rows)
    outputs = load(cargo, call, moved)
    return [cargo.rows_of(output) for output in outputs], cargo
