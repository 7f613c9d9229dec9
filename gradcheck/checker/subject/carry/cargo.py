"""Many points carried along with one call, op by op.

A function that takes no leading axis of points is called as the user calls it, at the point itself:
its Python sees tensors of the shapes and values that it was written for. Every op that is given
something which depends on a moved operand is run a second time beside that, on the values of all
the points at once, as the rules say (`RULES`), or once for each of them where it says nothing. A
function that looks at such a value, to branch by it or to leave TensorFlow with it, may do
something else at another point: it is not carried. What leaves unseen all the same shows in the
probe of `evaluator.py`, which compares with single calls.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack, contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from gradcheck.checker.budget import current
from gradcheck.checker.subject.as_python import as_python
from gradcheck.checker.subject.carry import index_rules, product_rules, shape_rules
from gradcheck.checker.subject.carry.carried_op import (
    NO_BATCH,
    RULES,
    Op,
    inputs_of,
    lengths_of,
)
from gradcheck.checker.subject.known_kernels import is_pure
from gradcheck.checker.subject.recording import one_at_a_time
from gradcheck.checker.subject.substituted import Run, executed, reads_as

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gradcheck.model import Array


RULES_OF: Final = (shape_rules, index_rules, product_rules)
"""Where the rules are; they are known by being imported."""


class CannotCarry(Exception):  # noqa: N818  (an answer, not an error)
    """What a function does with a value is not to be had at many points at once."""


Change = Callable[[str, Sequence[Any], Any, Any], Any]
"""The kind of an op, its inputs, one of its outputs and the batch of that, to another batch."""


class Cargo:
    """The values at many points of whatever depends on them, by the tensor at the point."""

    def __init__(self, rows: int, change: Change | None = None) -> None:
        """Nothing is carried yet.

        Args:
            rows: how many points there are.
            change: is asked what becomes of the result of every op.
        """
        self.rows, self._change = rows, change
        self.batched = self.looped = 0
        """How many ops were run on all the points at once, and once for each of them."""
        self._known: dict[int, tuple[Any, Any]] = {}
        # (The tensor is kept: nothing else is to have its identity.)
        self._written: set[int] = set()
        self._is_busy = False

    def put(self, tensor: Any, batch: Any) -> None:
        """At the points, this tensor has these values, along a leading axis."""
        self._known[id(tensor)] = tensor, batch

    def of(self, given: Any) -> Any:
        """The values at the points of what an op is given; None if it is the same at all."""
        if isinstance(given, list | tuple):
            found = [self.of(each) for each in given]
            return found if any(each is not None for each in found) else None
        known = None if self._is_busy else self._known.get(id(given))
        return None if known is None else known[1]

    def rows_of(self, output: Any) -> Array:
        """The values of a tensor at the points, also if it is the same at all."""
        batch = self.of(output)
        if batch is not None:
            return np.asarray(batch.numpy())
        return np.repeat(output.numpy()[np.newaxis], self.rows, axis=0)

    def execute(self, kind: str, inputs: Sequence[Any], run: Run) -> Any:
        """What an op gives at the point; what it gives at the others is remembered."""
        if self._is_busy:
            return run(*inputs)
        count = inputs_of(kind)
        batches = [self.of(each) for each in inputs[:count]]
        depends = any(batch is not None for batch in batches)
        self._watch_variables(kind, inputs, depends=depends)
        if kind.startswith("Assign") or not (depends or self._change):
            return run(*inputs)
        if depends and kind not in RULES and not is_pure(kind):
            raise CannotCarry(kind)
        returned = run(*inputs)
        outputs = returned if isinstance(returned, list) else [returned]
        told: Sequence[Any] = [NO_BATCH] * len(outputs)
        self._is_busy = True
        try:
            if depends:
                told = self._carried(Op(kind, inputs, count, batches, outputs, self.rows, run))
            if self._change is not None:
                pairs = zip(outputs, told, strict=True)
                told = [self._change(kind, inputs, output, batch) for output, batch in pairs]
        finally:
            self._is_busy = False
        for output, batch in zip(outputs, told, strict=True):
            if batch is not NO_BATCH:
                self.put(output, batch)
        return returned

    def _watch_variables(self, kind: str, inputs: Sequence[Any], *, depends: bool) -> None:
        """What is written at other points is gone: until it is put back nobody may read it."""
        if kind.startswith("Assign") and depends:
            self._written.add(id(inputs[0]))
        elif kind == "AssignVariableOp":
            self._written.discard(id(inputs[0]))
        elif self._written and not self._written.isdisjoint(map(_handle, inputs)):
            raise CannotCarry("a variable that was written to")

    def _carried(self, op: Op) -> Sequence[Any]:
        rule = RULES.get(op.kind)
        if rule is not None:
            try:
                told = rule(op)
            except Exception:  # noqa: S110  (this kernel, or these arguments: one by one)
                pass
            else:
                self.batched += 1
                return told
        self.looped += 1
        return _one_by_one(op)


def _handle(given: Any) -> int:
    """The identity of a variable, whether it is given itself or by its handle."""
    return id(getattr(given, "handle", given))


def _one_by_one(op: Op) -> list[Any]:
    """What an op gives at each point, by a call for each."""
    import tensorflow as tf

    columns = [
        [None if b is None else tf.unstack(b) for b in batch]
        if isinstance(batch, list)
        else batch
        if batch is None
        else tf.unstack(batch)
        for batch in op.batches
    ]
    collected: list[list[Any]] = [[] for _ in op.outputs]
    budget = current()
    for row in range(op.rows):
        budget.must_be_left()
        given = [_at(column, row, own) for column, own in zip(columns, op.inputs, strict=False)]
        returned = op.run(*given, *op.inputs[op.count :])
        outputs = returned if isinstance(returned, list) else [returned]
        for kept, output in zip(collected, outputs, strict=True):
            kept.append(output)
    return [tf.stack(each) for each in collected]


def _at(column: Any, row: int, own: Any) -> Any:
    if column is None:
        return own
    if isinstance(own, list | tuple):
        return [_at(each, row, given) for each, given in zip(column, own, strict=True)]
    return column[row]


@contextmanager
def carrying(cargo: Cargo) -> Iterator[None]:
    """Within this, ops of this thread carry the cargo."""
    with ExitStack() as stack:
        stack.enter_context(one_at_a_time)
        stack.enter_context(executed(cargo.execute))
        stack.enter_context(_calls_watched(cargo))
        stack.enter_context(_values_watched(cargo))
        stack.enter_context(as_python())
        yield


@contextmanager
def _calls_watched(cargo: Cargo) -> Iterator[None]:
    """Within this, ops that go the long way carry the cargo too; traced functions have none."""
    from tensorflow.python import pywrap_tfe

    slow, own = pywrap_tfe.TFE_Py_Execute, threading.get_ident()

    def execute(
        context: Any, device: Any, kind: Any, inputs: Any, attributes: Any, count: Any
    ) -> Any:
        if threading.get_ident() != own or cargo.of(list(inputs)) is None:
            return slow(context, device, kind, inputs, attributes, count)
        name = kind.decode() if isinstance(kind, bytes) else kind
        lengths = lengths_of(name, attributes)
        if lengths is None:
            raise CannotCarry(name)
        grouped = _grouped(inputs, lengths)

        def run(*given: Any) -> Any:
            tensors, rest = given[: len(lengths)], given[len(lengths) :]
            flat = _flat_like(inputs, tensors)
            return slow(context, device, kind, flat, tuple(rest), count)

        return cargo.execute(name, [*grouped, *(attributes or ())], run)

    pywrap_tfe.TFE_Py_Execute = execute
    try:
        yield
    finally:
        pywrap_tfe.TFE_Py_Execute = slow


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
    import tensorflow as tf

    eager: Any = next(each for each in type(tf.constant(0)).__mro__ if "_numpy" in vars(each))
    look = eager._numpy

    def looked_at(tensor: Any) -> Any:
        if cargo.of(tensor) is not None:
            raise CannotCarry("a value that is looked at")
        return look(tensor)

    eager._numpy = looked_at
    try:
        yield
    finally:
        eager._numpy = look


def carried(
    call: Callable[[], list[Any]], moved: Sequence[tuple[Any, Array]], rows: int
) -> tuple[list[Array], Cargo]:
    """The outputs of a call at many points, each with a leading axis of them.

    Raises CannotCarry, or whatever the call raises.

    Args:
        call: gives the outputs at the point; the function's arguments are in it.
        moved: arguments that have other values at the points, tensors or variables, and those.
        rows: how many points there are.
    """
    import tensorflow as tf

    cargo, read = Cargo(rows), {}
    for argument, values in moved:
        tensor = argument
        if isinstance(argument, tf.Variable):
            tensor = read[id(argument.handle)] = tf.identity(argument)
        cargo.put(tensor, tf.constant(values))
    with carrying(cargo), reads_as(read):
        outputs = call()
    return [cargo.rows_of(output) for output in outputs], cargo
