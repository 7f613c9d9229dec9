"""Changes from the point that are carried along, beside the values that they lead to.

Of a sum with a term of 1e18 nothing is left of what a term of 1 does, if its values are subtracted
from each other. But the change of a sum is the sum of the changes, which are small and have all
their digits. So ops that are linear are given changes, products the change of a factor at a time,
and functions of a number or two have formulas for theirs (`change_rules.py`). What else is done
number by number is subtracted, as everything is elsewhere, and kernels that add up inside what
nobody sees are refused. Beside each change goes what it may be off; that hangs, where values are
factors, on what these have lost themselves, as 1 − tanh(15)² has most of its digits.

Without it `test_what_a_huge_element_hides` fails.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.checker.subject.carry.cargo import Cargo
from gradcheck.checker.subject.carry.carried_op import NO_BATCH
from gradcheck.checker.subject.carry.change_parts import (
    aligned,
    beside,
    in_turn,
    is_same,
    loose,
    moves_alone,
    part_of,
    rounded_off,
    to_both_sides,
)
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
        self._lost: dict[int, tuple[Any, Any]] = {}
        """By the identity of a tensor: what its value at the point may be off by rounding."""

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
        if op.kind in _CHOOSING and is_same(op):
            op = replace(op, batches=[None, *op.batches[1:]])
        given = [self._known_change(*pair) for pair in zip(op.inputs, op.batches, strict=False)]
        for output, change in zip(op.outputs, self._changed(op, given, told), strict=True):
            if change is not None:
                self._note(output, change)
        for output, off in zip(op.outputs, self._losses(op), strict=True):
            if off is not None:
                self._lost[id(output)] = output, off
        return told

    def _losses(self, op: Op) -> list[Any]:
        """What the outputs at the point may be off: what the inputs are, and what is rounded here.

        Without it `test_what_values_have_lost_themselves` fails.
        """
        import tensorflow as tf

        exact, shifted = all_are_exact({op.kind}), [None] * len(op.outputs)
        off = [self._off(own) for own in op.inputs[: op.count]]
        if any(each is not None for each in off):
            pairs = zip(op.inputs, off, strict=False)
            batches = [None if each is None else to_both_sides(own, each) for own, each in pairs]
            shifted = list(super()._carried(replace(op, rows=2, batches=batches)))
        losses: list[Any] = []
        for output, others in zip(op.outputs, shifted, strict=True):
            if not output.dtype.is_floating or others is NO_BATCH:
                losses.append(None)
                continue
            lost = tf.zeros_like(output) if exact else last_digits(output)
            more = 0 if others is None else tf.reduce_max(tf.abs(others - output), 0)
            losses.append(lost + more)
        return losses

    def _off(self, own: Any) -> Any:
        """What an input at the point may be off; None if it is not known to be."""
        if isinstance(own, list | tuple):
            found = [self._off(each) for each in own]
            return found if any(each is not None for each in found) else None
        known = self._lost.get(id(own))
        return None if known is None else known[1]

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
        if places is not None and moves_alone(op, places):
            return self._linear(op, given, places)
        if op.kind in BILINEAR:
            return [self._bilinear(op, given)]
        if op.kind in FORMULAS or op.kind in PAIR_FORMULAS:
            return [_by_formula(op, given, told[0], [self._off(own) for own in op.inputs[:2]])]
        if op.kind == "L2Loss":
            return [half_a_square(op, given[0], self._off(op.inputs[0]))]
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
                batches[place] = part_of(op, op.inputs[place], given[place], part)
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
        # (What is given as a number, beside tensors, has their dtype.)
        sizes = [tf.abs(tf.convert_to_tensor(each, op.outputs[0].dtype)) for each in inputs]
        # (What a factor may be off counts in what it makes of the other's change.)
        off = [self._off(each) for each in inputs]
        by = noise = None
        if one is not None:
            (by,) = self._again(op, [one.by, None])
            (noise,) = self._again(op, [one.noise + last_digits(one.by), None], sizes)
            if off[1] is not None:
                noise += self._again(op, [tf.abs(one.by), None], [sizes[0], off[1]])[0]
        if other is not None:
            size = None if values[0] is None else tf.abs(values[0])
            (more,) = self._again(op, [values[0], other.by])
            (rest,) = self._again(op, [size, other.noise + last_digits(other.by)], sizes)
            if off[0] is not None:
                rest += self._again(op, [None, tf.abs(other.by)], [off[0], sizes[1]])[0]
            by, noise = (more, rest) if by is None else (by + more, noise + rest)
        return Change(by, noise)

    def _subtracted(self, op: Op, given: list[Any], told: Sequence[Any]) -> list[Change | None]:
        """The values, subtracted, and how they differ for what the op is given and may be off."""
        import tensorflow as tf

        shifts = [
            None if batch is None else beside(own, batch, change)
            for own, batch, change in zip(op.inputs, op.batches, given, strict=False)
        ]
        shifted = self._again(op, shifts)
        changes: list[Change | None] = []
        for output, batch, other in zip(op.outputs, told, shifted, strict=True):
            if batch is NO_BATCH or not output.dtype.is_floating:
                changes.append(None)
                continue
            noise = tf.abs(other - batch)
            if not all_are_exact({op.kind}):
                noise += rounded_off(op, given, batch, output) + self._bends(op, output, batch)
            changes.append(Change(batch - output, noise))
        return changes

    def _bends(self, op: Op, output: Any, batch: Any) -> Any:
        """How a change differs at a point where the inputs are what they have lost away."""
        import tensorflow as tf

        off = [self._off(own) for own in op.inputs[: op.count]]
        if all(each is None for each in off):
            return 0.0
        here, there = [], []
        for own, values, each in zip(op.inputs, op.batches, off, strict=False):
            shift = 0.0 if each is None else in_turn(each)
            moved = each is not None
            here.append(tf.broadcast_to(own + shift, [op.rows, *own.shape]) if moved else None)
            there.append(None if values is None else values + shift)
        (before,), (after,) = self._again(op, here), self._again(op, there)
        return tf.abs((after - before) - (batch - output))


def _by_formula(op: Op, given: list[Any], told: Any, lost: list[Any]) -> Change:
    """The change by its formula, and how that differs for what it is given and may be off."""
    import tensorflow as tf

    pair = op.kind in PAIR_FORMULAS
    formula: Any = PAIR_FORMULAS[op.kind] if pair else FORMULAS[op.kind]
    triples, shifts = [], []
    for place in range(1 + pair):
        own, batch, change = op.inputs[place], op.batches[place], given[place]
        own = tf.convert_to_tensor(own, op.outputs[0].dtype)
        off = 0.0 if lost[place] is None else in_turn(lost[place])
        if change is None:
            triples.append((own, tf.zeros_like(own), own))
            shifts.append((place, (own + off, tf.zeros_like(own), own + off)))
            continue
        d, y, noise = (aligned(op, each) for each in (change.by, batch, change.noise))
        triples.append((own, d, y))
        shifts.append((place, (own, d + in_turn(noise), y + in_turn(loose(own, y, d, noise)))))
        shifts.append((place, (own + off, d, y + off)))

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
        tf.where(known, noise, rounded_off(op, given, told, op.outputs[0])),
    )
