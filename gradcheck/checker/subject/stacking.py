"""Many points in one call, along a leading axis that most TensorFlow functions take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.checker.subject.tape import Backward, Tape

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcheck.checker.subject.operand import Operand
    from gradcheck.checker.subject.tensors import Function
    from gradcheck.model import Array, Shape


@dataclass(frozen=True, slots=True)
class Stacking:
    """How the operands get their leading axis."""

    pad_to: int | None
    """Insert axes of size one so that all have this rank behind the leading one, as broadcasting
    aligns shapes at their ends."""
    stack_all: bool = False
    """Give the operands that are not moved a leading axis too."""

    def arguments(
        self, operands: Sequence[Operand], fixed: Sequence[Any], values: Sequence[Array | None]
    ) -> list[Any]:
        """One argument for each operand.

        Args:
            operands: all of them.
            fixed: the arguments of those that have the same value at every point.
            values: of the others, with a leading axis of points.
        """
        arguments = list(fixed)
        rows = next(len(value) for value in values if value is not None)
        for i, (operand, value) in enumerate(zip(operands, values, strict=True)):
            if value is not None:
                arguments[i] = operand.give(self._aligned(value, value.shape[1:]))
            elif self.stack_all:
                repeated = np.stack([np.asarray(fixed[i])] * rows)
                arguments[i] = operand.give(self._aligned(repeated, repeated.shape[1:]))
        return arguments

    def _aligned(self, array: Array, shape: Shape) -> Array:
        if self.pad_to is None or len(shape) >= self.pad_to:
            return array
        return array.reshape(len(array), *(1,) * (self.pad_to - len(shape)), *shape)


def gradients_at(
    function: Function,
    operands: Sequence[Operand],
    stacking: Stacking,
    points: Sequence[Sequence[Array]],
    upstream: Sequence[Array],
) -> list[Backward]:
    """A pass forward and one back for all of these points together.

    The way back of a function may not keep the points apart, even if the way forth does: whoever
    uses these has to compare one with a pass of its own. Without it
    `test_neighbours_share_a_pass` fails.

    Args:
        function: takes its points as the stacking says.
        operands: of the function.
        stacking: how.
        points: the values of all the operands at each.
        upstream: the same at each.
    """
    rows = len(points)
    values = [
        np.stack([point[i] for point in points]) if operand.differentiate else None
        for i, operand in enumerate(operands)
    ]
    fixed = [operand.hold(point) for operand, point in zip(operands, points[0], strict=True)]
    tape = Tape(function, operands)
    outputs = tape.record(stacking.arguments(operands, fixed, values))
    if [tuple(o.shape) for o in outputs] != [(rows, *ct.shape) for ct in upstream]:
        raise ValueError("the outputs do not have the leading axis")
    passed = tape.back([np.stack([ct] * rows) for ct in upstream])
    moved = [value for value in values if value is not None]
    gradients = [
        None if gradient is None else gradient.reshape(value.shape)
        for gradient, value in zip(passed.gradients, moved, strict=True)
    ]
    return [
        Backward(
            [output[row] for output in passed.outputs],
            [None if gradient is None else gradient[row] for gradient in gradients],
        )
        for row in range(rows)
    ]
