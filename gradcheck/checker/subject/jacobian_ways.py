"""The ways in which TensorFlow makes a whole Jacobian, each as arrays.

Row by row, with an upstream that is one for one output and zero for the others, is the way that all
others are measured by: it takes nothing but `tape.gradient`, which the other checks look at.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from enum import StrEnum
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.checker.budget import current
from gradcheck.checker.subject.as_graph import as_graph
from gradcheck.checker.subject.left_by_calls import as_left, noted
from gradcheck.checker.subject.refusals import must_be_compiled, must_have_gradients
from gradcheck.checker.subject.tape import Backward, GradientRaised, Tape
from gradcheck.checker.subject.tensors import FunctionRaised, call, explain_exception, to_numpy
from gradcheck.model import Mode

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from gradcheck.checker.subject.operand import Operand
    from gradcheck.checker.subject.tensors import Function
    from gradcheck.model import Array

Blocks = list[list["Array | None"]]
"""By output and by differentiated operand: the derivatives, axes of the output first; or None."""

Pair = tuple[int, int]
"""The number of an output, and of a differentiated operand."""


class Way(StrEnum):
    """How a Jacobian is made; the text is what reports call it."""

    ROWS = "tape.gradient row by row"
    VECTORISED = "tape.jacobian vectorised (experimental_use_pfor=True)"
    LOOPED = "tape.jacobian not vectorised (experimental_use_pfor=False)"
    BATCH_VECTORISED = "tape.batch_jacobian vectorised (experimental_use_pfor=True)"
    BATCH_LOOPED = "tape.batch_jacobian not vectorised (experimental_use_pfor=False)"

    @property
    def is_vectorised(self) -> bool:
        """Whether ops are converted to run on all rows at once."""
        return self in (Way.VECTORISED, Way.BATCH_VECTORISED)

    @property
    def is_batch(self) -> bool:
        """Whether it is for maps of the leading axis alone."""
        return self in (Way.BATCH_VECTORISED, Way.BATCH_LOOPED)


class CannotVectoriseError(Exception):
    """TensorFlow says that it has no way to run an op on all rows at once."""


@dataclass(frozen=True, eq=False)
class Made:
    """A Jacobian, and the outputs that it belongs to."""

    outputs: list[Array]
    blocks: Blocks


class JacobianMaker:
    """Makes Jacobians of a function in one way; traced once where it is traced."""

    def __init__(
        self,
        function: Function,
        operands: Sequence[Operand],
        mode: Mode,
        way: Way,
        pairs: Collection[Pair] = (),
    ) -> None:
        """Nothing runs yet.

        Args:
            function: of which.
            operands: its own.
            mode: eagerly, or inside of a graph.
            way: how.
            pairs: of a way for maps of the leading axis: those that it is for.
        """
        self._function, self._operands, self._mode, self._way = function, operands, mode, way
        self._pairs = frozenset(pairs)
        # (It knows which variables hold the values; and in a graph it takes the rows.)
        self._tape = Tape(function, operands, mode)
        self._traced: Any = None
        self._made: tuple[Sequence[Array], Made] | None = None

    def __call__(self, values: Sequence[Array]) -> Made:
        """The Jacobian at these values.

        Raises GradientRaised, FunctionRaised or CannotVectoriseError.
        """
        known = self._made
        if known is not None and all(map(_same, known[0], values)):
            return known[1]
        current().must_be_left()
        by_rows = self._way is Way.ROWS and self._mode is not Mode.EAGER
        made = self._row_by_row(values) if by_rows else self._in_one(values)
        self._made = values, made
        return made

    def _row_by_row(self, values: Sequence[Array]) -> Made:
        """A pass for each output; the graph is traced once."""
        import tensorflow as tf

        self._tape.hold(values)
        arguments = self._tape.arguments([tf.constant(value) for value in values])
        outputs = [to_numpy(output) for output in call(self._function, arguments)]
        blocks: Blocks = []
        for number, output in enumerate(outputs):
            upstream = [np.zeros(each.shape, each.dtype) for each in outputs]
            rows = []
            for place in range(output.size):
                upstream[number].flat[place] = 1
                rows.append(self._tape(values, [each.copy() for each in upstream]).gradients)
                upstream[number].flat[place] = 0
            blocks.append(_assembled(rows, output.shape))
        return Made(outputs, blocks)

    def _in_one(self, values: Sequence[Array]) -> Made:
        import tensorflow as tf

        self._tape.hold(values)
        held = self._tape.variables or [None] * len(values)
        constants = [
            tf.constant(value) if variable is None else tf.zeros([])
            for value, variable in zip(values, held, strict=True)
        ]
        run: Any = self._both
        if self._mode is not Mode.EAGER:
            if self._traced is None:
                self._traced = as_graph(self._both, self._mode)
            run = self._traced
        try:
            outputs, blocks = run(constants)
        except FunctionRaised as error:
            must_have_gradients(error)
            # (It was called at this point before, and went well.)
            raise GradientRaised(f"{self._way}: {error}") from error
        except Exception as error:
            must_be_compiled(error, self._mode)
            must_have_gradients(error)
            told = explain_exception(error)
            # (Of more axes than a kernel takes it says so when it gets there.)
            lacks = "vectoriz" in str(error) or told.startswith("UnimplementedError")
            if self._way.is_vectorised and lacks:
                raise CannotVectoriseError(told) from error
            raise GradientRaised(f"{self._way}: {explain_exception(error)}") from error
        held_outputs = [to_numpy(output) for output in outputs]
        sources = [v for v, o in zip(values, self._operands, strict=True) if o.differentiate]
        return Made(
            held_outputs,
            [
                [self._whole((k, n), block, y, sources[n]) for n, block in enumerate(row)]
                for k, (y, row) in enumerate(zip(held_outputs, blocks, strict=True))
            ],
        )

    def _whole(self, pair: Pair, block: Any, output: Array, source: Array) -> Array | None:
        """What TensorFlow made of an output and an operand, as a whole block."""
        if block is None:
            return None
        made = to_numpy(block)
        spread = self._way.is_batch and pair in self._pairs
        # (What has another shape is told of as it is.)
        spread = spread and made.shape == (*output.shape, *source.shape[1:])
        return _spread(made, output, source) if spread else made

    def _both(self, constants: list[Any]) -> tuple[list[Any], list[list[Any]]]:
        """Outputs and blocks as tensors."""
        import tensorflow as tf

        arguments = self._tape.arguments(constants)
        sources = [a for a, o in zip(arguments, self._operands, strict=True) if o.differentiate]
        with tf.GradientTape(persistent=True, watch_accessed_variables=False) as tape:
            tape.watch(sources)
            with noted() as left:
                outputs = call(self._function, arguments)
        going_back = getattr(self._function, "going_back", None)
        with nullcontext() if going_back is None else going_back(arguments), as_left(left):
            return outputs, [self._of(tape, k, y, sources) for k, y in enumerate(outputs)]

    def _of(self, tape: Any, number: int, output: Any, sources: list[Any]) -> list[Any]:
        """The blocks of one output."""
        if self._way is Way.ROWS:
            return _rows(tape, output, sources)
        if not self._way.is_batch:
            vectorised = self._way.is_vectorised
            found = tape.jacobian(output, sources, experimental_use_pfor=vectorised)
            return [_dense(block) for block in found]
        blocks = []
        for position, source in enumerate(sources):
            if (number, position) in self._pairs:
                vectorised = self._way.is_vectorised
                made = tape.batch_jacobian(output, source, experimental_use_pfor=vectorised)
                blocks.append(made)
            else:
                made = tape.jacobian(output, source, experimental_use_pfor=False)
                blocks.append(_dense(made))
        return blocks


class Weighed:
    """The gradients that a Jacobian makes of an upstream: what a tape is taken for in a check."""

    def __init__(self, maker: Callable[[Sequence[Array]], Made]) -> None:
        """Nothing runs yet."""
        self._maker = maker

    def __call__(self, values: Sequence[Array], upstream: Sequence[Array]) -> Backward:
        """Outputs, and a gradient or None for each operand that is differentiated."""
        made = self._maker(values)
        gradients: list[Array | None] = []
        for column in zip(*made.blocks, strict=True):
            parts = [
                np.tensordot(np.real(ct).astype(np.float64), _wide(block), axes=ct.ndim)
                for ct, block in zip(upstream, column, strict=True)
                if block is not None
            ]
            dtype = next((block.dtype for block in column if block is not None), None)
            # (In the precision of the Jacobian: what weighing it loses is not its fault.)
            gradients.append(np.asarray(sum(parts)).astype(dtype) if parts else None)
        return Backward(made.outputs, gradients)


def _wide(block: Array) -> Array:
    return block.astype(np.complex128 if np.iscomplexobj(block) else np.float64)


def _same(one: Array, other: Array) -> bool:
    return one.dtype == other.dtype and np.array_equal(one, other)


def _assembled(rows: list[list[Array | None]], shape: tuple[int, ...]) -> list[Array | None]:
    """The gradients of each output element, as a block for each operand."""
    blocks: list[Array | None] = []
    for column in zip(*rows, strict=True):
        given = [each for each in column if each is not None]
        if not given:
            blocks.append(None)
            continue
        # (Where only some elements of an output have a gradient, that of the others is zero.)
        full = [np.zeros_like(given[0]) if each is None else each for each in column]
        blocks.append(np.stack(full).reshape((*shape, *given[0].shape)))
    return blocks


def _rows(tape: Any, output: Any, sources: list[Any]) -> list[Any]:
    """Row by row, eagerly."""
    shape = tuple(output.shape)
    rows: list[list[Array | None]] = []
    for place in range(prod(shape)):
        one = np.zeros(shape, output.dtype.as_numpy_dtype)
        one.flat[place] = 1
        found = tape.gradient(output, sources, output_gradients=one)
        rows.append([None if g is None else to_numpy(g) for g in found])
    return _assembled(rows, shape)


def _dense(block: Any) -> Any:
    import tensorflow as tf

    return block if block is None else tf.convert_to_tensor(block)


def _spread(made: Array, output: Array, source: Array) -> Array:
    """What a batch Jacobian has, on the diagonal of a whole one.

    In numpy, for TensorFlow's kernels take nine axes at most:
    else `test_a_batch_of_many_axes` fails.
    """
    whole = np.zeros((*output.shape, *source.shape), made.dtype)
    # (A view, in which the axes of both batches stand first.)
    paired = np.moveaxis(whole, output.ndim, 1)
    for place in range(source.shape[0]):
        paired[place, place] = made[place]
    return whole
