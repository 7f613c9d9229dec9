"""A function under test as a map from rows of numbers to rows of numbers.

Numeric differentiation calls the function thousands of times at nearby points. Whether many of them
can share a call is not assumed: the first rows of a batch are a probe, which must equal single
calls.
"""

from __future__ import annotations

from contextlib import suppress
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import limits, tolerances
from gradcheck.checker.numerics.coordinates import as_slice
from gradcheck.checker.numerics.vectors import Layout, epsilon_of, largest
from gradcheck.checker.subject.batching import Batched, Calls
from gradcheck.checker.subject.ended import Ended
from gradcheck.checker.subject.quantile import REPARAMETERISED
from gradcheck.checker.subject.row_function import OneByOne
from gradcheck.checker.subject.tensors import lowest_precision
from gradcheck.model import Stage, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from gradcheck.checker.subject.problem import Problem
    from gradcheck.checker.subject.tape import Tape
    from gradcheck.model import Array


class Evaluator:
    """Evaluates a function at rows of points: batched where that is right, one by one elsewhere."""

    def __init__(self, problem: Problem, values: Sequence[Array], tape: Tape | None = None) -> None:
        """Evaluate once at the point itself; raises whatever the function raises.

        Args:
            problem: the function and its operands.
            values: of the operands, in the precision to evaluate in.
            tape: records that first call.
        """
        self._calls = Calls(problem.function, problem.operands, values, tape)
        self._takes_other_shapes = problem.takes_other_shapes
        self._cost = problem.python_calls * limits.SECONDS_OF_A_CALL
        self.dtypes = [value.dtype for value in self._calls.at_point]
        """What each moved operand is evaluated in."""
        self.precision = lowest_precision(self.dtypes)
        """What the moved values are rounded to; None for double precision."""
        self.inputs, self.point = Layout.flat(self._calls.at_point)
        self.outputs, self.base = Layout.flat(self._calls.outputs)
        self._probed = False
        self._batched: Batched | None = None
        self._alone: dict[int, Batched] = {}
        """By position among the moved operands: a call with many values of this one alone."""

    def __call__(self, points: Array) -> Array:
        """Rows of outputs for rows of points."""
        if len(points) >= limits.PROBE_PAYS:
            self.probe()
        size = max(1, limits.NUMBERS_AT_ONCE // max(1, len(self.point) + len(self.base)))
        if len(points) <= size:
            return self._chunk(points)
        chunks = [self._chunk(points[i : i + size]) for i in range(0, len(points), size)]
        return np.concatenate(chunks)

    def together(self, points: Array) -> Array:
        """Rows of outputs for rows of points; raises OneByOne where each point needs a call."""
        if (
            not self._probed
            and len(points) * (len(self.point) + len(self.base)) <= limits.RIDES_IN_PROBE
        ):
            outputs = self._probe(points)
            if outputs is not None:
                return outputs
        else:
            self.probe()
        if not self.is_batched:
            raise OneByOne
        return self(points)

    def probe(self) -> None:
        """Find out, once, whether many points can share a call."""
        if not self._probed:
            self._probe(self.point[np.newaxis][:0])

    def _probe(self, points: Array) -> Array | None:
        """Look for a batched form; the outputs at these points if there is one, else None."""
        self._probed = True
        if not self.outputs.shapes:
            return None
        if self._is_large:
            self.must_repeat(limits.REPEATED_CALLS)
            return None
        outputs = None
        if self._takes_other_shapes:
            self._batched, outputs = self._first_that_works(self._calls.all_together(), points)
            if self._batched is None and len(self.dtypes) > 1:
                outputs = self._probe_each(points)
        if not self.is_batched:
            # The probe of a batched call has seen the function repeat itself; this one has not.
            self.must_repeat(
                limits.REPEATED_IF_FEW_OUTPUTS
                if self.base.size <= limits.FEW_OUTPUTS
                else limits.REPEATED_CALLS
            )
            outputs = self._trace(points)
        return outputs

    def _probe_each(self, points: Array) -> Array | None:
        """Look for a batched form of each moved operand alone, with the others at the point."""
        outputs, told = np.empty((len(points), len(self.base))), 0
        for i, rows in enumerate(self._moved_alone(points)):
            found, here = self._first_that_works(self._calls.one_operand(i), points[rows], only=i)
            if found is not None and here is not None:
                self._alone[i] = found
                outputs[rows] = here
                told += len(here)
        return outputs if told == len(points) else None

    @property
    def _is_large(self) -> bool:
        """Whether a call at one point is work enough."""
        return limits.PROBE_ROWS * (len(self.point) + len(self.base)) > limits.NUMBERS_AT_ONCE

    @property
    def is_batched(self) -> bool:
        """Whether many points share a call, or at least many that move the same operand."""
        return self._batched is not None or len(self._alone) == len(self.dtypes)

    def must_repeat(self, calls: int) -> None:
        """End the check unless the function gives the same at the point each time.

        Without it `test_dropout_is_not` fails.
        """
        again = self(np.repeat(self.point[np.newaxis], calls, axis=0))
        # A batched call may round differently from a single one, but its rows are alike.
        first = again[0] if self._batched is not None else self.base
        with np.errstate(all="ignore"):
            same = (again == first) | (np.isnan(again) & np.isnan(first))
            apart = float(np.max(np.abs(np.where(same, 0.0, again - first)), initial=0.0))
        # (Sums may be taken in another order from call to call: that is rounding.)
        digits = tolerances.LAST_DIGIT if self.precision is None else epsilon_of(self.precision)
        share = tolerances.SAME_AGAIN * digits / tolerances.LAST_DIGIT
        if apart <= share * largest(first):
            return
        if apart > 0 and (again == again[0]).all():
            raise Ended(
                Verdict.INCONCLUSIVE,
                "where its gradient is wanted, the function gives another result than else: they "
                f"differ by {apart:.3g}. Samplers do that: {REPARAMETERISED}",
                Stage.REPEATABILITY,
            )
        if apart > 0:
            raise Ended(
                Verdict.INCONCLUSIVE,
                "the function is not deterministic: calls with the same inputs differ by "
                f"{apart:.3g}. Fix its seed (tf.random.stateless_…), or switch the randomness off "
                "for the check. If nothing in it is random, an op leaves its result undefined, as "
                "tf.linalg.cholesky does of a matrix that is not positive definite: give the "
                "input a sample it can take (`sample: spd`)",
                Stage.REPEATABILITY,
            )

    def _trace(self, points: Array) -> Array | None:
        """Look for a traced form, if it pays; the outputs at these points if there is one."""
        evaluations = 2 * limits.STEPS * len(self.point)
        tracing = limits.SECONDS_OF_A_TRACE + limits.CALLS_OF_A_TRACE * self._cost
        if evaluations * self._cost <= tracing:
            return None
        ways = [self._calls.looped]
        may_vectorise = self._takes_other_shapes and not self._calls.moves_a_variable
        if may_vectorise and evaluations > limits.VECTORISING_PAYS:
            ways.insert(0, self._calls.vectorised)
        for way in ways:
            with suppress(Exception):  # what runs eagerly need not run in a graph
                self._batched, outputs = self._first_that_works([way()], points)
                if self._batched is not None:
                    return outputs
        return None

    def _first_that_works(
        self, candidates: Iterable[Batched], points: Array, *, only: int | None = None
    ) -> tuple[Batched | None, Array | None]:
        """The first candidate that equals single calls, at the point and at an unrelated one.

        Args:
            candidates: ways to call the function with many points.
            points: where its outputs are wanted at the same time, for the second result.
            only: the one operand that is different at the unrelated point; None for all of them.
        """
        other = self._unrelated()
        if only is not None:
            start, stop = self.inputs.offsets[only : only + 2]
            other[:start], other[stop:] = self.point[:start], self.point[stop:]
        # A number of rows that is no size of an axis: a batch must not pass for one.
        taken = {size for shape in (*self.inputs.shapes, *self.outputs.shapes) for size in shape}
        count = limits.PROBE_ROWS
        while count + len(points) in taken:
            count += 1
        rows = np.empty((count + len(points), len(self.point)))
        rows[:count], rows[count:] = self.point, points
        rows[limits.PROBE_OTHERS, :] = other
        stacked, alone = self._stacked(rows), None
        for candidate in candidates:
            try:
                outputs = self._rows(candidate(stacked))
            except Exception:  # noqa: S112  (this function may not take a batch in this way)
                continue
            if alone is None:
                try:
                    alone = self.outputs.flatten(self._calls.once(self._values(other)))
                except Exception:  # not defined there: nothing to compare with
                    break
            if self._is_probe(outputs[:count], alone):
                return candidate, outputs[count:]
        return None, None

    def _unrelated(self) -> Array:
        """Another point nearby at which no number is what it is at the point, if that can be.

        Zeros move too, inside of their domain: without that
        `test_at_zero_no_batch_is_taken_for_one` fails.
        """
        shares, _ = np.modf(limits.GOLDEN_RATIO * np.arange(1, len(self.point) + 1))
        away = limits.PROBE_FROM_ZERO * shares * (largest(self.point) or 1.0)
        lows, highs = self._calls.domain
        away = np.where(away <= highs, away, np.where(-away >= lows, -away, 0.0))
        return np.where(self.point == 0, away, self.point * (1 - 0.25 * shares))

    def _is_probe(self, outputs: Array, alone: Array) -> bool:
        """Whether these are the rows of the probe: what single calls give at its two points."""
        expected = np.empty(outputs.shape)
        expected[:] = self.base
        expected[limits.PROBE_OTHERS, :] = alone
        allowed = tolerances.BATCHED * largest(np.concatenate([self.base, alone]))
        if self.precision is not None:
            allowed *= tolerances.BATCHED_IN_LOW_PRECISION
        return _equal(outputs, expected, allowed)

    def _chunk(self, points: Array) -> Array:
        stacked = self._stacked(points)
        if self._batched is not None:
            try:
                return self._rows(self._batched(stacked))
            except Exception:  # a batch of another size may not fit where the probe did
                self._batched = None
        return self._by_operand(points, stacked)

    def _by_operand(self, points: Array, stacked: list[Array]) -> Array:
        """Rows in which only one operand moves may share a call where others cannot."""
        outputs = np.empty((len(points), len(self.base)))
        left = np.ones(len(points), dtype=bool)
        if self._alone:
            for i, rows in enumerate(self._moved_alone(points)):
                if i in self._alone and len(left[rows]):
                    batched = self._alone[i]
                    outputs[rows] = self._rows(batched([array[rows] for array in stacked]))
                    left[rows] = False
        if left.any():
            outputs[left] = self._rows(self._calls.one_by_one([array[left] for array in stacked]))
        return outputs

    def _moved_alone(self, points: Array) -> list[Array | slice]:
        """By moved operand: the rows in which it, and no other, is not at the point."""
        moves = points != self.point
        differs = np.stack(
            [moves[:, start:stop].any(axis=1) for start, stop in pairwise(self.inputs.offsets)]
        )
        single = differs.sum(axis=0) == 1
        return [as_slice(np.flatnonzero(mine & single)) for mine in differs]

    def _values(self, point: Array) -> list[Array]:
        """One point as values of the moved operands."""
        return [array[0] for array in self._stacked(point[np.newaxis])]

    def _stacked(self, points: Array) -> list[Array]:
        """Rows as values of the moved operands, in the precision of each."""
        return [
            array.astype(dtype, copy=False)
            for array, dtype in zip(self.inputs.unflatten_rows(points), self.dtypes, strict=True)
        ]

    def _rows(self, stacked: list[Array]) -> Array:
        return self.outputs.flatten_rows(stacked)


def _equal(found: Array, expected: Array, allowed: float) -> bool:
    with np.errstate(invalid="ignore"):
        same = np.abs(found - expected) <= allowed
        if same.all():
            return True
        same |= (found == expected) | (np.isnan(found) & np.isnan(expected))
    return bool(same.all())
