"""An op that is run at many points, and the rules that say how.

A rule is given an op as it was run at one point, and for some of its inputs a batch: their values
at many points, along a leading axis. It gives the batches of the outputs, or raises NoRule; then,
and where there is no rule, the op is run for each point. No shape reaches a kernel by a rule that
is not like those at the point with an axis more, or with more entries along one that nothing mixes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import numpy as np

from gradcheck.checker.subject.private_names import definition_of_op
from gradcheck.checker.subject.substituted import Run, place_of


class NoRule(Exception):  # noqa: N818  (an answer, not an error)
    """This op has to be run for each point."""


NO_BATCH: Final = object()
"""In place of a batch: the output is the same at all points, as a shape is."""


@dataclass(slots=True)
class Op:
    """An op at one point, and what it is given at many."""

    kind: str
    inputs: Sequence[Any]
    """Tensors, and then attributes with their names."""
    count: int
    """How many are tensors, or lists of them."""
    batches: list[Any]
    """By input: its values at the points; None if it is the same at all."""
    outputs: list[Any]
    """At the one point."""
    rows: int
    run: Run

    def again(self, *tensors: Any, **attributes: Any) -> list[Any]:
        """What the op gives for other tensors, and for other attributes."""
        rest = list(self.inputs[self.count :])
        for name, value in attributes.items():
            rest[_place(name, rest)] = value
        given = [*tensors, *self.inputs[len(tensors) : self.count]]
        returned = self.run(*given, *rest)
        return returned if isinstance(returned, list) else [returned]

    def attribute(self, name: str) -> Any:
        """The value of an attribute; text, too, as text."""
        value = self.inputs[_place(name, self.inputs)]
        return value.decode() if isinstance(value, bytes) else value

    def only(self, *places: int) -> None:
        """Raise NoRule unless no other inputs have batches than these."""
        if any(b is not None for i, b in enumerate(self.batches) if i not in places):
            raise NoRule

    def numbers(self, place: int) -> Any:
        """An input that is the same at all points, as an array."""
        return np.asarray(self.inputs[place])

    def rank(self, place: int) -> int:
        """Of an input at one point."""
        return np.ndim(self.inputs[place])

    def full(self, place: int) -> Any:
        """The batch of an input, also where it is the same at all points."""
        batch = self.batches[place]
        return self._repeated(self.inputs[place]) if batch is None else batch

    def all_of(self, place: int) -> list[Any]:
        """The batches of a list of inputs."""
        pairs = zip(self.inputs[place], self.batches[place], strict=True)
        return [self._repeated(own) if batch is None else batch for own, batch in pairs]

    def _repeated(self, given: Any) -> Any:
        import tensorflow as tf

        # (By numpy, which takes a tenth of the time. What is given as a number, beside tensors, has
        # their dtype.)
        dtype = given.dtype if isinstance(given, tf.Tensor) else self.outputs[0].dtype
        one = np.asarray(given, dtype.as_numpy_dtype)
        return tf.constant(np.repeat(one[np.newaxis], self.rows, axis=0))


def _place(name: str, given: Sequence[Any]) -> int:
    place = place_of(name, given)
    if place is None:
        raise NoRule
    return place


Rule = Callable[[Op], Sequence[Any]]
RULES: dict[str, Rule] = {}
"""By kind of op."""


def rule(kinds: str) -> Callable[[Rule], Rule]:
    """Register what follows for these kinds of ops."""

    def register(own: Rule) -> Rule:
        RULES.update(dict.fromkeys(kinds.split(), own))
        return own

    return register


def reshaped(batch: Any, rows: int, shape: Sequence[int]) -> Any:
    """A batch of so many points, each of which has this shape."""
    import tensorflow as tf

    return tf.raw_ops.Reshape(tensor=batch, shape=[rows, *shape])


def later(axes: Any, rank: int) -> Any:
    """Axes of something of this rank, behind the one of points."""
    axes = np.asarray(axes)
    behind = np.where(axes < 0, axes + rank, axes) + 1
    # (An array without axes is not what an op is given for a number.)
    return behind.astype(axes.dtype) if behind.ndim else int(behind)


def moved_behind(batch: Any, place: int) -> Any:
    """A batch whose axis of points stands behind so many others."""
    import tensorflow as tf

    rank = len(batch.shape)
    order = [*range(1, place + 1), 0, *range(place + 1, rank)]
    return tf.raw_ops.Transpose(x=batch, perm=order)


def moved_ahead(batch: Any, place: int) -> Any:
    """The opposite."""
    import tensorflow as tf

    rank = len(batch.shape)
    order = [place, *range(place), *range(place + 1, rank)]
    return tf.raw_ops.Transpose(x=batch, perm=order)


@cache
def inputs_of(kind: str) -> int:
    """How many tensors, or lists of them, an op of this kind is given."""
    found = definition_of_op(kind)
    return 0 if found is None else len(found.input_arg)


def lengths_of(kind: str, attributes: Sequence[Any] | None) -> list[int | None] | None:
    """By input of an op: how many tensors its list has, None if it is none; None for no op."""
    found, given = definition_of_op(kind), list(attributes or ())
    if found is None or any(each.type_list_attr for each in found.input_arg):
        return None
    numbers = [each.number_attr for each in found.input_arg]
    return [given[given.index(name) + 1] if name else None for name in numbers]
