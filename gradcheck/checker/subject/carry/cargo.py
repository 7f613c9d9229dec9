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

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, NoReturn

import numpy as np

from gradcheck.checker.budget import current
from gradcheck.checker.subject.carry import index_rules, product_rules, shape_rules
from gradcheck.checker.subject.carry.carried_op import (
    NO_BATCH,
    RULES,
    NoRule,
    Op,
    inputs_of,
)
from gradcheck.checker.subject.known_kernels import is_pure
from gradcheck.checker.subject.private_names import shape_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gradcheck.checker.subject.substituted import Run
    from gradcheck.model import Array


RULES_OF: Final = (shape_rules, index_rules, product_rules)
"""Where the rules are. Nobody reads it: it stands to keep the imports, by which they are known."""


class CannotCarry(Exception):  # noqa: N818  (an answer, not an error)
    """What a function does with a value is not to be had at many points at once."""


Change = Callable[[str, Sequence[Any], Any, Any, "Run"], Any]
"""The kind of an op, its inputs, one of its outputs, the batch of that and what runs the op, to
another batch."""


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
        self._written: dict[int, Any] = {}
        """By the identity of a variable's handle: its values at the points; None if not known."""
        self._refused: CannotCarry | None = None
        self._is_busy = False

    def refuse(self, reason: str) -> NoReturn:
        """Give up; for good, even if the function catches what is raised."""
        self._refused = CannotCarry(reason)
        raise self._refused

    def must_not_be_refused(self) -> None:
        """Raise CannotCarry if it was given up on the way."""
        if self._refused is not None:
            raise self._refused

    @property
    def is_written(self) -> bool:
        """Whether a variable has, at other points, other values than it says."""
        return bool(self._written)

    def put(self, tensor: Any, batch: Any) -> None:
        """At the points, this tensor has these values, along a leading axis."""
        self._known[id(tensor)] = tensor, batch

    def move(self, tensor: Any, batch: Any) -> None:
        """The same of what the function is given."""
        self.put(tensor, batch)

    def of(self, given: Any) -> Any:
        """The values at the points of what an op is given; None if it is the same at all."""
        known = self._known.get(id(given))
        if known is not None:
            return None if self._is_busy else known[1]
        if not isinstance(given, list | tuple):
            return None
        found = [self.of(each) for each in given]
        return found if any(each is not None for each in found) else None

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
        if kind.startswith("Assign"):
            self._write(kind, inputs, batches)
            return run(*inputs)
        if self._written and not self._written.keys().isdisjoint(_handles(inputs)):
            return self._read(kind, inputs, run)
        if not (depends or self._change):
            return run(*inputs)
        if depends and kind not in RULES and not is_pure(kind):
            self.refuse(kind)
        returned = run(*inputs)
        outputs = returned if isinstance(returned, list) else [returned]
        told: Sequence[Any] = [NO_BATCH] * len(outputs)
        self._is_busy = True
        try:
            if depends:
                told = self._carried(Op(kind, inputs, count, batches, outputs, self.rows, run))
            if self._change is not None:
                pairs = zip(outputs, told, strict=True)
                told = [self._change(kind, inputs, output, batch, run) for output, batch in pairs]
        finally:
            self._is_busy = False
        for output, batch in zip(outputs, told, strict=True):
            if batch is not NO_BATCH:
                self.put(output, batch)
        return returned

    def _write(self, kind: str, inputs: Sequence[Any], batches: Sequence[Any]) -> None:
        """A variable has other values at other points, until it is given one for all of them."""
        handle, batch = id(inputs[0]), batches[1]
        is_plain = kind == "AssignVariableOp"
        if batch is None and (is_plain or handle not in self._written):
            self._written.pop(handle, None)
        else:
            self._written[handle] = batch if is_plain else self._added(kind, inputs, batch)

    def _added(self, kind: str, inputs: Sequence[Any], batch: Any) -> Any:
        """What a variable is at the points after something is added to it; None if not known."""
        import tensorflow as tf

        sign = {"AssignAddVariableOp": 1, "AssignSubVariableOp": -1}.get(kind)
        before = self._written.get(id(inputs[0]), self)
        if sign is None or before is None:
            return None
        self._is_busy = True
        try:
            given = inputs[1] if batch is None else batch
            if before is self:
                before = tf.raw_ops.ReadVariableOp(resource=inputs[0], dtype=given.dtype)
            return before + given if sign > 0 else before - given
        finally:
            self._is_busy = False

    def _read(self, kind: str, inputs: Sequence[Any], run: Run) -> Any:
        """The value of a variable that has others at other points.

        Without it `test_a_variable_that_was_written_is_read` fails.
        """
        if kind in _OF_NO_VALUE:
            return run(*inputs)
        batch = self._written.get(id(inputs[0]))
        if kind != "ReadVariableOp" or batch is None:
            self.refuse("a variable that was written to")
        returned = run(*inputs)
        self.put(returned, batch)
        return returned

    def _carried(self, op: Op) -> Sequence[Any]:
        rule = RULES.get(op.kind)
        if rule is not None:
            try:
                told = _fitting(op, rule(op))
            except Exception:  # noqa: S110  (this kernel, or these arguments: one by one)
                pass
            else:
                self.batched += 1
                return told
        self.looped += 1
        return _one_by_one(op)


_OF_NO_VALUE = frozenset({"VarIsInitializedOp", "VariableShape"})
"""Ops on variables that are the same at all points."""


def _handles(inputs: Sequence[Any]) -> Iterator[int]:
    """The identities of variables, whether they are given themselves or by their handles."""
    for given in inputs:
        if isinstance(given, list | tuple):
            yield from _handles(given)
        else:
            yield id(getattr(given, "handle", given))


def _fitting(op: Op, told: Sequence[Any]) -> Sequence[Any]:
    """The batches; raises NoRule where one is not of the shape that its output has at the point."""
    for output, batch in zip(op.outputs, told, strict=True):
        if batch is NO_BATCH:
            continue
        if shape_of(batch) != (op.rows, *shape_of(output)):
            raise NoRule
    return told


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
