"""A function and its gradients that are never computed twice at the same point."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import limits
from gradcheck.checker.subject.monte_carlo import current_draw
from gradcheck.checker.subject.row_function import OneByOne

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcheck.checker.subject.problem import Differentiate, Problem
    from gradcheck.checker.subject.row_function import RowFunction
    from gradcheck.checker.subject.stacking import Stacking
    from gradcheck.checker.subject.tape import Backward
    from gradcheck.model import Array, Mode


class RememberingEvaluator:
    """A function on rows that remembers the outputs of every point, while there is room."""

    def __init__(self, evaluate: RowFunction) -> None:
        """Nothing is remembered yet.

        Args:
            evaluate: the function, of which a check has seen that it repeats itself.
        """
        self._evaluate = evaluate
        self._known: dict[bytes, Array] = {}

    @property
    def is_batched(self) -> bool:
        """Whether many points share a call."""
        return self._evaluate.is_batched

    @property
    def is_traced(self) -> bool:
        """Whether points go through a loop in a graph."""
        return self._evaluate.is_traced

    @property
    def stacking(self) -> Stacking | None:
        """How operands get a leading axis of points; None where the function takes none."""
        return self._evaluate.stacking

    @property
    def raised(self) -> str:
        """What the function raised last beside the point, if it did."""
        return self._evaluate.raised

    def together(self, points: Array) -> Array:
        """Rows of outputs for rows of points; raises OneByOne where each point needs a call."""
        if not self.is_batched:
            raise OneByOne
        return self(points)

    def probe(self) -> None:
        """Find out, once, whether many points can share a call."""
        self._evaluate.probe()

    def expect(self, points: int) -> None:
        """So many points will be asked for."""
        self._evaluate.expect(points)

    def vouches(self) -> bool:
        """Whether points that share a call get what single calls give."""
        return self._evaluate.vouches()

    def must_repeat(self, calls: int) -> None:
        """What is remembered is the same each time."""

    def __call__(self, points: Array) -> Array:
        """Rows of outputs for rows of points."""
        keys = [row.tobytes() for row in points]
        rows = {key: i for i, key in enumerate(keys) if key not in self._known}
        fresh: dict[bytes, Array] = {}
        if rows:
            outputs = self._evaluate(points[list(rows.values())])
            fresh = dict(zip(rows, outputs, strict=True))
            per_row = points.shape[1] + outputs.shape[1]
            if per_row * (len(self._known) + len(fresh)) <= limits.REMEMBERED_NUMBERS:
                self._known.update(fresh)
        if len(fresh) == len(keys):
            return outputs
        return np.array([fresh[k] if k in fresh else self._known[k] for k in keys])


class RememberingTape:
    """The tape of one function, in every mode, that remembers every pass."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._tapes: dict[tuple[object, ...], Differentiate] = {}
        """By mode and dtypes: a variable that is captured has one."""
        self._known: dict[tuple[object, ...], Backward] = {}

    def __call__(self, values: Sequence[Array], upstream: Sequence[Array], mode: Mode) -> Backward:
        """One pass forward and one back, in this mode."""
        key = (
            mode,
            current_draw(),
            *((array.dtype, array.tobytes()) for array in (*values, *upstream)),
        )
        if key not in self._known:
            kind = (mode, *(value.dtype for value in values))
            if kind not in self._tapes:
                problem = self._problem
                self._tapes[kind] = problem.tape(problem.function, problem.operands, mode)
            self._known[key] = self._tapes[kind](values, upstream)
        return self._known[key]
