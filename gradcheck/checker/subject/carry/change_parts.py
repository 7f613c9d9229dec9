"""What the rules for changes share: values that are off, and shapes that are aligned."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.checker.subject.carry.carried_op import reshaped
from gradcheck.checker.subject.carry.change_rules import last_digits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcheck.checker.subject.carry.carried_op import Op


def rounded_off(op: Op, given: list[Any], batch: Any, output: Any) -> Any:
    """What an op rounds off in its results at the point and at the others."""
    import tensorflow as tf

    off = last_digits(batch, output)
    # (Of the same numbers it makes the same.)
    sizes = [tf.abs(change.by) for change in given if change is not None]
    moves = sum((aligned(op, tf.cast(size, off.dtype)) for size in sizes), tf.zeros_like(off))
    return tf.where(moves > 0, off, tf.zeros_like(off))


def is_same(op: Op) -> bool:
    """Whether the first input is the same at all points."""
    return op.batches[0] is None or bool((op.batches[0].numpy() == op.inputs[0].numpy()).all())


def moves_alone(op: Op, places: Sequence[int]) -> bool:
    """Whether only these inputs are others at the points."""
    return all(batch is None for i, batch in enumerate(op.batches) if i not in places)


def part_of(op: Op, own: Any, change: Any, part: str) -> Any:
    """Of the change of an input what it is, or what it may be off; zero where there is none."""
    import tensorflow as tf

    if isinstance(own, list | tuple):
        changes = [None] * len(own) if change is None else change
        return [part_of(op, *pair, part) for pair in zip(own, changes, strict=True)]
    if change is None:
        dtype = own.dtype if isinstance(own, tf.Tensor) else op.outputs[0].dtype
        return tf.zeros([op.rows, *np.shape(own)], dtype)
    return change.by if part == "by" else change.noise + last_digits(change.by)


def beside(own: Any, batch: Any, change: Any) -> Any:
    """Values that are off by as much as they may be, to one side and to the other in turn."""
    if isinstance(own, list | tuple):
        pairs = zip(own, batch, change, strict=True)
        return [None if b is None else beside(o, b, c) for o, b, c in pairs]
    if change is None:
        return batch
    return batch + in_turn(loose(own, batch, change.by, change.noise))


def loose(own: Any, batch: Any, by: Any, noise: Any) -> Any:
    """What values may be off: where they do not show all of a change, their last digits at least.

    (What is less would be lost when it is added.) Without it
    `test_what_is_moved_and_does_not_show_it` fails.
    """
    import tensorflow as tf

    off = noise + tf.abs((batch - own) - by)
    return tf.where(off > 0, tf.maximum(off, 2 * last_digits(batch)), tf.zeros_like(off))


def in_turn(sizes: Any) -> Any:
    """Of these sizes one goes up, the next one down: no function stands still for all of them."""
    signs = np.where(np.arange(sizes.shape.num_elements()) % 2, -1.0, 1.0)
    return sizes * signs.reshape(sizes.shape).astype(sizes.dtype.as_numpy_dtype)


def to_both_sides(own: Any, off: Any) -> Any:
    """Two rows of values that are off by so much: all to one side, and in turn."""
    import tensorflow as tf

    if isinstance(own, list | tuple):
        pairs = zip(own, off, strict=True)
        return [None if each is None else to_both_sides(one, each) for one, each in pairs]
    return tf.stack([own + off, own + in_turn(off)])


def aligned(op: Op, batch: Any) -> Any:
    """A batch with all the axes of the output."""
    missing = len(op.outputs[0].shape) + 1 - len(batch.shape)
    return reshaped(batch, op.rows, [*[1] * missing, *batch.shape[1:]]) if missing else batch
