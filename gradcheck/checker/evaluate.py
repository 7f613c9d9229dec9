"""A function under test as a map from rows of numbers to rows of numbers.

Numeric differentiation calls the function thousands of times at nearby points. Most TensorFlow
functions take a leading batch axis, so all the points can go through one call. Whether this one
does is not assumed: a probe on unrelated points compares the batched call with single ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.checker.layout import Layout
from gradcheck.checker.tensors import Function, call, differentiable_outputs, is_floating
from gradcheck.model import Array, Shape

if TYPE_CHECKING:
    from gradcheck.checker.problem import Operand

Batched = Callable[[list[Array]], Any]
"""Stacked values of the moved operands to whatever the function returns for them."""

PROBE_TOLERANCE = 1e-12
"""How far a batched call may be from single ones, relative to the largest output: summation in
another order is all that may differ."""

CHUNK = 2**22
"""How many numbers go through one call, inputs and outputs together."""

EQUAL_ROWS = 17
"""Rows of the probe, all but one of them the same."""

WORTH_PROBING = 4
"""Points from which on a call looks for a batched form."""

TRACING_PAYS = 2_000
"""Single calls from which on tracing a vectorised version is worth its cost. A number and not a
time: the two ways differ in the last digits, and a result must not depend on a clock."""


class ShapeChanges(Exception):  # noqa: N818  (it becomes a verdict)
    """The function's outputs have other shapes at other points."""


class Evaluator:
    """Evaluates a function at rows of points: batched where that is right, one by one elsewhere."""

    def __init__(
        self, function: Function, operands: Sequence[Operand], values: Sequence[Array]
    ) -> None:
        """Evaluate once at the point itself; raises whatever the function raises.

        Args:
            function: takes a tensor per operand.
            operands: all of them.
            values: their values, in the precision to evaluate in.
        """
        import tensorflow as tf

        self._function = function
        self._values = list(values)
        self._variables = {i for i, operand in enumerate(operands) if operand.variable}
        self._moved = [i for i, operand in enumerate(operands) if operand.differentiate]
        self._constants = [
            None if i in self._moved else tf.constant(value) for i, value in enumerate(self._values)
        ]
        self._dtypes = [self._values[i].dtype for i in self._moved]
        self.inputs = Layout.of([self._values[i] for i in self._moved])
        self.point = self.inputs.flatten([self._values[i] for i in self._moved])
        outputs = self._single([self._values[i] for i in self._moved])
        self.outputs = Layout.of(outputs)
        self.base = self.outputs.flatten(outputs)
        self._batched: Batched | None = None
        self._probed = False
        self._alone: dict[int, Batched] = {}
        """By position among the moved operands: a call with many values of this one alone."""

    @property
    def precision(self) -> np.dtype[Any] | None:
        """What the moved values are rounded to; None for double precision."""
        for dtype in self._dtypes:
            if is_floating(dtype) and dtype != np.float64:
                return dtype
            if dtype == np.complex64:
                return np.dtype(np.float32)
        return None

    def dtype(self, position: int) -> np.dtype[Any]:
        """What the moved operand at this position is evaluated in."""
        return self._dtypes[position]

    def again(self) -> Array:
        """The outputs at the point once more: a deterministic function repeats itself."""
        return self.outputs.flatten(self._single([self._values[i] for i in self._moved]))

    def __call__(self, points: Array) -> Array:
        """Rows of outputs for rows of points."""
        if len(points) >= WORTH_PROBING:
            self.probe()
        size = max(1, CHUNK // max(1, len(self.point) + len(self.base)))
        if len(points) <= size:
            return self._chunk(points)
        chunks = [self._chunk(points[i : i + size]) for i in range(0, len(points), size)]
        return np.concatenate(chunks)

    def _chunk(self, points: Array) -> Array:
        stacked = [
            array.astype(dtype, copy=False)
            for array, dtype in zip(self.inputs.unflatten_rows(points), self._dtypes, strict=True)
        ]
        if self._batched is not None:
            try:
                return self._rows(self._batched(stacked), len(points))
            except Exception:  # a batch of another size may not fit where the probe did
                self._batched = None
        return self._by_operand(points, stacked)

    def _by_operand(self, points: Array, stacked: list[Array]) -> Array:
        """Rows in which only one operand moves may share a call where others cannot."""
        offsets = self.inputs.offsets
        differs = np.stack(
            [
                (points[:, start:stop] != self.point[start:stop]).any(axis=1)
                for start, stop in pairwise(offsets)
            ],
            axis=1,
        )
        outputs = np.empty((len(points), len(self.base)))
        left = np.ones(len(points), dtype=bool)
        for i, batched in self._alone.items():
            rows = np.flatnonzero(differs[:, i] & (differs.sum(axis=1) == 1))
            if len(rows):
                outputs[rows] = self._rows(batched([array[rows] for array in stacked]), len(rows))
                left[rows] = False
        if left.any():
            outputs[left] = self._one_by_one([array[left] for array in stacked])
        return outputs

    def probe(self) -> None:
        """Find out, once, whether many points can share a call."""
        if not self._probed:
            self._probed = True
            self._batched = self._find_batched()
            if self._batched is None and len(self._moved) > 1:
                for i in range(len(self._moved)):
                    found = self._first_that_works([self._stacked(None, only=i)], only=i)
                    if found is not None:
                        self._alone[i] = found

    @property
    def is_batched(self) -> bool:
        """Whether many points share a call, as far as is known."""
        return self._batched is not None

    def expect(self, evaluations: int) -> None:
        """Say how many single calls are to come, so that tracing is weighed against them."""
        if self._probed and self._batched is None and evaluations > TRACING_PAYS:
            self._batched = self._first_that_works([self._vectorised()])

    def _single(self, moved: Sequence[Array]) -> list[Array]:
        arguments = list(self._constants)
        for position, value in zip(self._moved, moved, strict=True):
            arguments[position] = self._tensor(position, value)
        return [
            output.numpy() for output in differentiable_outputs(call(self._function, arguments))
        ]

    def _tensor(self, position: int, value: Array) -> Any:
        """A tensor, or the variable that the function may insist on."""
        import tensorflow as tf

        return tf.Variable(value) if position in self._variables else tf.constant(value)

    def _one_by_one(self, stacked: Sequence[Array]) -> Array:
        """A call per point; the conversions at both ends are done once for all of them."""
        import tensorflow as tf

        arguments: list[Any] = list(self._constants)
        for position in self._variables:
            arguments[position] = tf.Variable(self._values[position])
        columns = [tf.unstack(tf.constant(array)) for array in stacked]
        collected: list[list[Any]] = [[] for _ in self.outputs.shapes]
        for tensors in zip(*columns, strict=True):
            for position, tensor in zip(self._moved, tensors, strict=True):
                if position in self._variables:
                    arguments[position].assign(tensor)
                else:
                    arguments[position] = tensor
            outputs = differentiable_outputs(call(self._function, arguments))
            if [tuple(output.shape) for output in outputs] != list(self.outputs.shapes):
                raise ShapeChanges(
                    "the shapes of the outputs depend on the values of the inputs, and change "
                    "around this point: there is no derivative to compare with"
                )
            for kept, output in zip(collected, outputs, strict=True):
                kept.append(output)
        return self._rows([tf.stack(outputs) for outputs in collected], len(stacked[0]))

    def _rows(self, structure: Any, rows: int) -> Array:
        """Stacked outputs as rows; raises ValueError when the shapes are not those expected."""
        arrays = [output.numpy() for output in differentiable_outputs(structure)]
        expected = [(rows, *shape) for shape in self.outputs.shapes]
        if [array.shape for array in arrays] != expected:
            raise ValueError("the batched outputs have other shapes")
        return self.outputs.flatten_rows(arrays)

    def _find_batched(self) -> Batched | None:
        if not self.outputs.shapes:
            return None
        ranks = [len(shape) for shape in self.inputs.shapes]
        candidates = [self._stacked(pad_to=None)]
        if len(set(ranks)) > 1:
            candidates.insert(0, self._stacked(pad_to=max(ranks)))
        if len(self._moved) < len(self._values):
            candidates.append(self._stacked(pad_to=max(ranks), stack_all=True))
        return self._first_that_works(candidates)

    def _first_that_works(
        self, candidates: Sequence[Batched], *, only: int | None = None
    ) -> Batched | None:
        """The first candidate that equals single calls, at the point and at an unrelated one.

        Args:
            candidates: ways to call the function with many points.
            only: the one operand that is different there; None for all of them.
        """
        taken = {size for shape in (*self.inputs.shapes, *self.outputs.shapes) for size in shape}
        # So many equal rows also show a function that gives something else each time.
        count = next(size for size in range(EQUAL_ROWS, 64) if size not in taken)
        rng = np.random.default_rng(len(self.point))
        other = self.point * rng.uniform(0.75, 1.0, size=len(self.point))
        if only is not None:
            start, stop = self.inputs.offsets[only : only + 2]
            other[:start], other[stop:] = self.point[:start], self.point[stop:]
        points = np.stack([self.point] * (count - 1) + [other])
        stacked = [
            array.astype(dtype)
            for array, dtype in zip(self.inputs.unflatten_rows(points), self._dtypes, strict=True)
        ]
        try:
            alone = self._one_by_one([array[-1:] for array in stacked])
        except Exception:  # not defined there: nothing to compare with
            return None
        single = np.concatenate([np.stack([self.base] * (count - 1)), alone])
        finite = np.isfinite(single)
        allowed = PROBE_TOLERANCE * float(np.max(np.abs(single[finite]), initial=0.0))
        if self.precision is not None:
            allowed *= 2.0**29
        return next((c for c in candidates if self._equals(c, stacked, single, allowed)), None)

    def _equals(
        self, candidate: Batched, stacked: list[Array], single: Array, allowed: float
    ) -> bool:
        try:
            batched = self._rows(candidate(stacked), len(single))
        except Exception:  # this function does not take a batch in this way
            return False
        with np.errstate(invalid="ignore"):
            same = (batched == single) | (np.isnan(batched) & np.isnan(single))
            return bool((same | (np.abs(batched - single) <= allowed)).all())

    def _stacked(
        self, pad_to: int | None, *, stack_all: bool = False, only: int | None = None
    ) -> Batched:
        """A plain call with a leading axis on the moved operands.

        Args:
            pad_to: insert axes of size one so that all have this rank behind the leading one, as
                broadcasting aligns shapes at their ends.
            stack_all: give the operands that are not moved a leading axis too.
            only: give it to this moved operand alone; the others stay at the point.
        """

        def batched(stacked: list[Array]) -> Any:
            arguments: list[Any] = list(self._constants)
            if stack_all:
                rows = len(stacked[0])
                arguments = [_align(np.stack([v] * rows), v.shape, pad_to) for v in self._values]
            for i, (position, array) in enumerate(zip(self._moved, stacked, strict=True)):
                value = _align(array, self.inputs.shapes[i], pad_to)
                if only is not None and i != only:
                    value = self._values[position]
                arguments[position] = self._tensor(position, value)
            return call(self._function, arguments)

        return batched

    def _vectorised(self) -> Batched:
        """TensorFlow's own vectorisation of the function, traced once."""
        import tensorflow as tf

        def one(tensors: Sequence[Any]) -> list[Any]:
            arguments = list(self._constants)
            for position, tensor in zip(self._moved, tensors, strict=True):
                arguments[position] = tensor
            return differentiable_outputs(call(self._function, arguments))

        # What it says about ops that it cannot vectorise is no concern of the user's.
        tf.get_logger().setLevel("CRITICAL")

        @tf.function(reduce_retracing=True)  # type: ignore[untyped-decorator]  # no types in TF
        def many(stacked: list[Any]) -> Any:
            return tf.vectorized_map(one, stacked)

        return lambda stacked: many([tf.constant(array) for array in stacked])


def _align(array: Array, shape: Shape, rank: int | None) -> Array:
    if rank is None or len(shape) >= rank:
        return array
    return array.reshape(len(array), *(1,) * (rank - len(shape)), *shape)
