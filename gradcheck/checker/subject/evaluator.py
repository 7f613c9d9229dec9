"""A function under test as a map from rows of numbers to rows of numbers.

Numeric differentiation calls the function thousands of times at nearby points. Whether many of them
can share a call is not assumed: the first rows of a batch are a probe, which must equal single
calls.
"""

from __future__ import annotations

from contextlib import nullcontext, suppress
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import costs, limits, tolerances
from gradcheck.checker.budget import Budget, current
from gradcheck.checker.numerics.vectors import Layout, epsilon_of, everywhere_so, largest
from gradcheck.checker.subject.batching import Batched, Calls, Carried, Stacked
from gradcheck.checker.subject.graph_size import graph_of
from gradcheck.checker.subject.probe_points import just_beyond, probe_rows, rows_expected, unrelated
from gradcheck.checker.subject.raising_points import RaisingPoints
from gradcheck.checker.subject.repeated import are_equal, must_be_the_same
from gradcheck.checker.subject.row_function import OneByOne
from gradcheck.checker.subject.tensors import is_low_precision, lowest_precision

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from gradcheck.checker.subject.problem import Problem
    from gradcheck.checker.subject.stacking import Stacking
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
        self._calls = Calls(problem, values, tape)
        self._repeats, self._surely = problem.repeats, problem.surely_repeats
        is_a_graph = getattr(problem.function, "is_a_graph", False)
        ops = costs.OPS_OF_A_PROMOTED if is_a_graph else problem.ops
        self._ops, self._cost = ops, ops * costs.SECONDS_OF_AN_OP
        self.dtypes = [value.dtype for value in self._calls.at_point]
        """What each moved operand is evaluated in."""
        self.precision = lowest_precision(self.dtypes)
        """What the moved values are rounded to; None for double precision."""
        self.gives_less = any(is_low_precision(o.dtype) for o in self._calls.outputs)
        """Whether some of the outputs have less than double precision."""
        self.inputs, self.point = Layout.flat(self._calls.at_point)
        self.outputs, self.base = Layout.flat(self._calls.outputs)
        self._probed = self._tried = self._traced = self._looped = False
        self._raising = RaisingPoints(self.point, len(self.base))
        self._called = 0  # points that had a call of their own
        self._batched: Batched | None = None

    def __call__(self, points: Array) -> Array:
        """Rows of outputs for rows of points."""
        if len(points) >= limits.PROBE_PAYS:
            self.probe()
        size = max(1, limits.NUMBERS_AT_ONCE // max(1, len(self.point) + len(self.base)))
        budget = current()
        if not self.is_batched:
            self._called += len(points)
            if self._probed:
                self.expect(self._called)
        if self._one_by_one:
            # (How many points share a batch is not to depend on a clock.)
            size = min(size, budget.at_once() or size)
        if len(points) <= size:
            return self._paid(points, budget)
        chunks = [self._paid(points[i : i + size], budget) for i in range(0, len(points), size)]
        return np.concatenate(chunks)

    def _paid(self, points: Array, budget: Budget) -> Array:
        budget.must_be_left()
        if not self._one_by_one:
            return self._chunk(points)
        with budget.pays_for(len(points)):
            return self._chunk(points)

    @property
    def _one_by_one(self) -> bool:
        """Whether no point shares a call with another, but for a loop inside of it."""
        return self._looped or self._batched is None

    def together(self, points: Array) -> Array:
        """Rows of outputs for rows of points; raises OneByOne where each costs a call."""
        if (
            not self._probed
            and len(points) * (len(self.point) + len(self.base)) <= limits.RIDES_IN_PROBE
        ):
            outputs = self._probe(points)
            if outputs is not None:
                return outputs
        else:
            self.probe()
        # (Fewer of those that are carried would take less, though they share a call.)
        dear = len(points) * (len(self.point) + len(self.base)) > limits.RIDES_IN_PROBE
        if not self.is_batched or (dear and self._is_carried):
            raise OneByOne
        return self(points)

    @property
    def raised(self) -> str:
        """What the function raised last beside the point, if it did."""
        return self._calls.raised

    @property
    def _is_carried(self) -> bool:
        """Whether points share a call by being carried along."""
        return isinstance(self._batched, Carried)

    def probe(self) -> None:
        """Find out, once, whether many points can share a call."""
        if not self._probed:
            self._probe(self.point[np.newaxis][:0])

    def _probe(self, points: Array) -> Array | None:
        """Look for a batched form; the outputs at these points if there is one, else None."""
        self._probed = True
        if not self.outputs.shapes:
            return None
        if limits.PROBE_ROWS * (len(self.point) + len(self.base)) > limits.NUMBERS_AT_ONCE:
            # (A call at one point is work enough.)
            self.must_repeat(limits.REPEATED_CALLS)
            return None
        ways = self._calls.all_together(len(points))
        self._batched, outputs = self._first_that_works(ways, points)
        # (What is carried shares a call, and so what is drawn in it.)
        if not (self._surely or (self.is_batched and (self._repeats or not self._is_carried))):
            few = self.base.size <= limits.FEW_OUTPUTS
            calls = limits.REPEATED_IF_FEW_OUTPUTS if few else limits.REPEATED_CALLS
            self.must_repeat(limits.REPEATED_IF_KNOWN if self._repeats else calls)
        return outputs

    @property
    def is_batched(self) -> bool:
        """Whether many points share a call."""
        return self._batched is not None

    @property
    def stacking(self) -> Stacking | None:
        """How operands get a leading axis of points; None where the function takes none."""
        return self._batched.stacking if isinstance(self._batched, Stacked) else None

    @property
    def is_traced(self) -> bool:
        """Whether points go through a loop in a graph, for calls of the function are dear."""
        return self._looped and self.is_batched

    def must_repeat(self, calls: int) -> None:
        """End the check unless the function gives the same at the point each time.

        Without it `test_dropout_is_not` fails.
        """
        points = self.point[np.newaxis].repeat(calls, axis=0)
        again = self._alone(points) if self._is_carried else self(points)
        # A batched call may round differently from a single one, but its rows are alike.
        digits = tolerances.LAST_DIGIT if self.precision is None else epsilon_of(self.precision)
        stacked = self.is_batched and not self._is_carried
        must_be_the_same(again, again[0] if stacked else self.base, digits)

    def vouches(self) -> bool:
        """Whether points that move one operand alone get what single calls give; else none share.

        The probe moves all of them, and what runs apart by operand is not in it. This is asked
        before anything but `pass` is said. Without it `test_a_rule_that_is_wrong_is_found_out`
        fails.
        """
        if not self._is_carried or len(self.dtypes) == 1:
            return True
        points = np.repeat(self.point[np.newaxis], len(self.dtypes), axis=0)
        other = unrelated(self.point, self._calls.domain)
        for row, (start, stop) in zip(points, pairwise(self.inputs.offsets), strict=True):
            row[start:stop] = other[start:stop]
        alone = self._alone(points)
        if self._alike(self._chunk(points), alone, alone):
            return True
        self._batched = None
        return False

    def expect(self, points: int) -> None:
        """So many points will be asked for: trace the function, if it is worth that.

        A loop over the points inside of a graph costs less than calls of Python for each of them,
        and tracing costs as much as some of those. Which ways there are depends on counts alone.
        """
        self.probe()
        worth = points * self._cost - costs.SECONDS_OF_A_TRACE
        if not (self.is_batched or self._traced) and worth > costs.CALLS_OF_A_TRACE * self._cost:
            self._traced = True
            self._trace()
        elif not self.is_batched and not self._tried and worth > costs.CALLS_OF_A_LOOP * self._cost:
            # (Perhaps it is a loop, of which a graph is small.)
            self._tried = True
            self._trace(at_most=self._ops // costs.OPS_OF_A_LOOP)

    def _trace(self, at_most: int | None = None) -> None:
        """Trace a loop over the points, if that can be; in so many ops.

        Without the limit `test_a_loop_is_traced_early` fails.
        """
        with suppress(Exception):  # what runs eagerly need not run in a graph
            with nullcontext() if at_most is None else graph_of(at_most):
                looped = self._calls.looped()
            self._batched, _ = self._first_that_works([looped], self.point[np.newaxis][:0])
            self._looped = self._batched is not None

    def _first_that_works(
        self, candidates: Iterable[Batched], points: Array
    ) -> tuple[Batched | None, Array | None]:
        """The first candidate that equals single calls, at the point and at an unrelated one.

        Args:
            candidates: ways to call the function with many points.
            points: where its outputs are wanted at the same time, for the second result.
        """
        domain = self._calls.domain
        other, beyond = unrelated(self.point, domain), just_beyond(self.point, domain)
        taken = {size for shape in (*self.inputs.shapes, *self.outputs.shapes) for size in shape}
        rows = probe_rows(self.point, other, beyond, points, taken)
        count, stacked, alone = len(rows) - len(points), self._stacked(rows), None
        for candidate in candidates:
            try:
                outputs = self.outputs.flatten_rows(candidate(stacked))
            except Exception:  # noqa: S112  (this function may not take a batch in this way)
                continue
            apart = isinstance(candidate, Stacked) and self._calls.keeps_rows_apart
            alone = self._single(other) if alone is None and not apart else alone
            told = outputs[limits.PROBE_OTHERS[0]] if apart else alone
            if told is None:
                break
            if self._is_probe(outputs[:count], told) and self._is_near(candidate, outputs, beyond):
                return candidate, outputs[count:]
        return None, None

    def _is_near(self, candidate: Batched, outputs: Array, beyond: Array) -> bool:
        """Whether points that were carried beyond the point get what a single call gives there.

        What Python does by values that it looks at unseen, as numpy does, may be something else on
        either side of the point. Without it `test_a_switch_that_numpy_looks_at` fails.
        """
        if not isinstance(candidate, Carried):
            return True
        alone, found = self._single(beyond), outputs[limits.PROBE_NEAR]
        return alone is None or self._alike(found, alone, alone)

    def _single(self, point: Array) -> Array | None:
        """What a single call gives there; None where the function is not defined."""
        try:
            rows = self._stacked(point[np.newaxis])
            return self.outputs.flatten(self._calls.once([array[0] for array in rows]))
        except Exception:
            return None

    def _is_probe(self, outputs: Array, alone: Array) -> bool:
        """Whether these are the rows of the probe: what single calls give at its two points."""
        return self._alike(outputs, rows_expected(outputs, self.base, alone), alone)

    def _alike(self, found: Array, expected: Array, alone: Array) -> bool:
        """Whether outputs of many points are these, of single ones, but for rounding."""
        if everywhere_so(found == expected):
            return True
        allowed = tolerances.BATCHED * max(largest(self.base), largest(alone))
        less = 1.0 if self.precision is None else tolerances.BATCHED_IN_LOW_PRECISION
        return are_equal(found, expected, allowed * less)

    def _chunk(self, points: Array) -> Array:
        if self._batched is not None:
            try:
                return self._by_batch(points)
            except Exception:
                with suppress(OneByOne):
                    return self._raising.outputs(points, self._by_batch, self._alone)
                self._batched = None
        return self._alone(points)

    def _by_batch(self, points: Array) -> Array:
        if self._batched is None:
            raise OneByOne
        return self.outputs.flatten_rows(self._batched(self._stacked(points)))

    def _alone(self, points: Array) -> Array:
        return self.outputs.flatten_rows(self._calls.one_by_one(self._stacked(points)))

    def _stacked(self, points: Array) -> list[Array]:
        """Rows as values of the moved operands, in the precision of each."""
        return [
            array.astype(dtype, copy=False)
            for array, dtype in zip(self.inputs.unflatten_rows(points), self.dtypes, strict=True)
        ]
