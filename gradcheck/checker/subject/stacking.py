"""Many points in one call, along a leading axis that most TensorFlow functions take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcheck.checker.subject.operand import Operand
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
