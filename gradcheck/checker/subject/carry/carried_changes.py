"""Changes from the point that are carried along, beside the values that they lead to.

Of a sum with a term of 1e18 nothing is left of what a term of 1 does, if its values are subtracted
from each other. But the change of a sum is the sum of the changes, which are small and have all
their digits. So ops that are linear are given changes, products the change of a factor at a time,
and functions of a number or two have formulas for theirs (`change_rules.py`). What else is done
number by number is subtracted, as everything is elsewhere, and kernels that add up inside what
nobody sees are refused. Beside each change goes what it may be off.

Without it `test_what_a_huge_element_hides` fails.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.checker.subject.carry.cargo import Cargo
from gradcheck.checker.subject.carry.carried_op import NO_BATCH, reshaped
from gradcheck.checker.subject.carry.change_rules import (
    BILINEAR,
    FORMULAS,
    LINEAR,
    NEGATIVE,
    PAIR_FORMULAS,
    Change,
    half_a_square,
    last_digits,
)
from gradcheck.checker.subject.known_kernels import ELEMENT_BY_ELEMENT, all_are_exact

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcheck.checker.subject.carry.carried_op import Op
    from gradcheck.model import Array

_SINGLY = frozenset(ELEMENT_BY_ELEMENT.split())
_CHOOSING = frozenset({"Select", "SelectV2"})


class Changes(Cargo):
    """The changes at many points of whatever depends on them, by the tensor at the point."""

    def __init__(self, rows: int) -> None:
        """Nothing changes yet; `rows` points are carried."""
        super().__init__(rows)
        self._changes: dict[int, tuple[Any, Change]] = {}

    def move(self, tensor: Any, batch: Any) -> None:
        """At the points, this tensor has these values: what they differ by is known to the end."""
        import tensorflow as tf

        super().move(tensor, batch)
        by = batch - tensor
        self._note(tensor, Change(by, tf.zeros_like(by)))

    def change_of(self, output: Any) -> tuple[Array, Array]:
        """How a tensor changes at the points, and what that may be off."""
        change = self._known_change(output, self.of(output))
        if change is None:
            nothing = np.zeros((self.rows, *output.shape))
            return nothing, nothing
        return change.by.numpy(), change.noise.numpy()

    def _note(self, tensor: Any, change: Change) -> None:
        # (The tensor is kept: nothing else is to have its identity.)
        self._changes[id(tensor)] = tensor, change

    def _carried(self, op: Op) -> Sequence[Any]:
        told = super()._carried(op)
        if any(output.dtype.is_complex for output in op.outputs):
            self.refuse("a complex number")
        if op.kind in _CHOOSING and _is_same(op):
            op = replace(op, batches=[None, *op.batches[1:]])
        given = [self._known_change(*pair) for pair in zip(op.inputs, op.batches, strict=False)]
        for output, change in zip(op.outputs, self._changed(op, given, told), strict=True):
            if change is not None:
                self._note(output, change)
        return told

    def _known_change(self, own: Any, batch: Any) -> Any:
        """The change of what an op is given, in a list for a list; None where there is none."""
        known = self._changes.get(id(own))
        if known is not None:
            return known[1]
        if batch is None:
            return None
        if isinstance(own, list | tuple):
            return [self._known_change(*pair) for pair in zip(own, batch, strict=True)]
        if not own.dtype.is_floating:
            return None
        return Change(batch - own, last_digits(batch, own))

    def _changed(self, op: Op, given: list[Any], told: Sequence[Any]) -> Sequence[Change | None]:
        """The changes of an op's outputs."""
        if not any(output.dtype.is_floating for output in op.outputs):
            return [None] * len(op.outputs)
        places = LINEAR.get(op.kind)
        if places is not None and _moves_alone(op, places):
            return self._linear(op, given, places)
        if op.kind in BILINEAR:
            return [self._bilinear(op, given)]
        if op.kind in FORMULAS or op.kind in PAIR_FORMULAS:
            return [_by_formula(op, given, told[0])]
        if op.kind == "L2Loss":
            return [half_a_square(op, given[0])]
        if op.kind not in _SINGLY and not all_are_exact({op.kind}):
            self.refuse(f"what {op.kind} rounds off inside")
        return self._subtracted(op, given, told)

    def _again(self, op: Op, batches: Sequence[Any], inputs: Sequence[Any] = ()) -> Sequence[Any]:
        """What the op gives where its inputs have these values."""
        inputs = [*inputs, *op.inputs[len(inputs) :]]
        return super()._carried(replace(op, batches=list(batches), inputs=inputs))

    def _linear(self, op: Op, given: list[Any], places: Sequence[int]) -> list[Change | None]:
        """What the op gives for the changes, and for what they may be off."""

        def applied(part: str) -> Sequence[Any]:
            batches: list[Any] = [None] * op.count
            for place in places:
                batches[place] = _part(op, op.inputs[place], given[place], part)
                if part == "noise" and NEGATIVE.get(op.kind) == place:
                    batches[place] = -batches[place]
            return self._again(op, batches)

        pairs = zip(applied("by"), applied("noise"), strict=True)
        return [None if by is NO_BATCH else Change(by, noise) for by, noise in pairs]

    def _bilinear(self, op: Op, given: list[Any]) -> Change:
        """One factor changes while the other is as it was, and then that one."""
        import tensorflow as tf

        one, other = given[:2]
        inputs, values = op.inputs[:2], op.batches[:2]
        sizes = [tf.abs(each) for each in inputs]
        by = noise = None
        if one is not None:
            (by,) = self._again(op, [one.by, None])
            (noise,) = self._again(op, [one.noise + last_digits(one.by), None], sizes)
        if other is not None:
            beside = None if values[0] is None else tf.abs(values[0])
            (more,) = self._again(op, [values[0], other.by])
            loose = other.noise + last_digits(other.by)
            (off,) = self._again(op, [beside, loose], sizes)
            by, noise = (more, off) if by is None else (by + more, noise + off)
        return Change(by, noise)

    def _subtracted(self, op: Op, given: list[Any], told: Sequence[Any]) -> list[Change | None]:
        """The values, subtracted, and how they differ for what the op is given and may be off."""
        import tensorflow as tf

        loose = [
            None if batch is None else _beside(own, batch, change)
            for own, batch, change in zip(op.inputs, op.batches, given, strict=False)
        ]
        shifted = self._again(op, loose)
        changes: list[Change | None] = []
        for output, batch, other in zip(op.outputs, told, shifted, strict=True):
            if batch is NO_BATCH or not output.dtype.is_floating:
                changes.append(None)
                continue
            noise = tf.abs(other - batch)
            if not all_are_exact({op.kind}):
                noise += _rounded_off(op, given, batch, output)
            changes.append(Change(batch - output, noise))
        return changes


def _rounded_off(op: Op, given: list[Any], batch: Any, output: Any) -> Any:
    """What an op rounds off in its results at the point and at the others."""
    import tensorflow as tf

    off = last_digits(batch, output)
    # (Of the same numbers it makes the same.)
    sizes = [tf.abs(change.by) for change in given if change is not None]
    moves = sum((_aligned(op, tf.cast(size, off.dtype)) for size in sizes), tf.zeros_like(off))
    return tf.where(moves > 0, off, tf.zeros_like(off))


def _is_same(op: Op) -> bool:
    """Whether the first input is the same at all points."""
    return op.batches[0] is None or bool((op.batches[0].numpy() == op.inputs[0].numpy()).all())


def _moves_alone(op: Op, places: Sequence[int]) -> bool:
    """Whether only these inputs are others at the points."""
    return all(batch is None for i, batch in enumerate(op.batches) if i not in places)


def _part(op: Op, own: Any, change: Any, part: str) -> Any:
    """Of the change of an input what it is, or what it may be off; zero where there is none."""
    import tensorflow as tf

    if isinstance(own, list | tuple):
        changes = [None] * len(own) if change is None else change
        return [_part(op, *pair, part) for pair in zip(own, changes, strict=True)]
    if change is None:
        dtype = own.dtype if isinstance(own, tf.Tensor) else op.outputs[0].dtype
        return tf.zeros([op.rows, *np.shape(own)], dtype)
    return change.by if part == "by" else change.noise + last_digits(change.by)


def _beside(own: Any, batch: Any, change: Any) -> Any:
    """Values that are off by as much as they may be, to one side and to the other in turn."""
    if isinstance(own, list | tuple):
        pairs = zip(own, batch, change, strict=True)
        return [None if b is None else _beside(o, b, c) for o, b, c in pairs]
    if change is None:
        return batch
    return batch + _in_turn(_loose(own, batch, change.by, change.noise))


def _loose(own: Any, batch: Any, by: Any, noise: Any) -> Any:
    """What values may be off: where they do not show all of a change, their last digits at least.

    (What is less would be lost when it is added.) Without it
    `test_what_is_moved_and_does_not_show_it` fails.
    """
    import tensorflow as tf

    loose = noise + tf.abs((batch - own) - by)
    return tf.where(loose > 0, tf.maximum(loose, 2 * last_digits(batch)), tf.zeros_like(loose))


def _in_turn(sizes: Any) -> Any:
    """Of these sizes one goes up, the next one down: no function stands still for all of them."""
    signs = np.where(np.arange(sizes.shape.num_elements()) % 2, -1.0, 1.0)
    return sizes * signs.reshape(sizes.shape).astype(sizes.dtype.as_numpy_dtype)


def _by_formula(op: Op, given: list[Any], told: Any) -> Change:
    """The change by its formula, and how that differs for what it is given and may be off."""
    import tensorflow as tf

    pair = op.kind in PAIR_FORMULAS
    formula: Any = PAIR_FORMULAS[op.kind] if pair else FORMULAS[op.kind]
    triples, shifts = [], []
    for place in range(1 + pair):
        own, batch, change = op.inputs[place], op.batches[place], given[place]
        own = tf.convert_to_tensor(own, op.outputs[0].dtype)
        if change is None:
            triples.append((own, tf.zeros_like(own), own))
            continue
        d, y, noise = (_aligned(op, each) for each in (change.by, batch, change.noise))
        triples.append((own, d, y))
        beside = y + _in_turn(_loose(own, y, d, noise))
        shifts.append((place, (own, d + _in_turn(noise), beside)))

    def changed(given: Sequence[Any]) -> Any:
        return formula(*[each for triple in given for each in triple])

    by = changed(triples)
    noise = last_digits(by)
    for place, shifted in shifts:
        others = [shifted if i == place else triple for i, triple in enumerate(triples)]
        noise += tf.abs(changed(others) - by)
    # (Where a formula divides by zero, or leaves the range.)
    known, plain = tf.math.is_finite(by) & tf.math.is_finite(noise), told - op.outputs[0]
    return Change(
        tf.where(known, by, plain),
        tf.where(known, noise, _rounded_off(op, given, told, op.outputs[0])),
    )


def _aligned(op: Op, batch: Any) -> Any:
    """A batch with all the axes of the output."""
    missing = len(op.outputs[0].shape) + 1 - len(batch.shape)
    return reshaped(batch, op.rows, [*[1] * missing, *batch.shape[1:]]) if missing else batch
