"""Arithmetic that rounds differently each time, to see what rounding does on the way to a gradient.

A gradient may be 1 − 2x·y, where the product is one but for its last digits: what it loses does not
show when its inputs change a little, since one is one for all of them. It shows when the results on
the way are changed. This is Monte Carlo arithmetic (Parker 1997): the function and its gradient are
traced, and in the graph every result of an operation that rounds is followed by a random change of
up to a unit in its last place.

Operations that only move or choose numbers stay exact, so that comparisons between them hold. One
that is not listed here is taken for exact: it is no excuse for a gradient.

Without it `test_one_less_a_product_that_is_one` and
`test_a_gradient_that_cancels_in_low_precision_alone` fail.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.checker import limits, tolerances
from gradcheck.checker.numerics.rng import generator
from gradcheck.checker.numerics.vectors import epsilon_of, largest, to_double
from gradcheck.checker.subject.carry.carried_op import NO_BATCH, inputs_of
from gradcheck.checker.subject.private_names import called_back
from gradcheck.checker.subject.rounding_ops import (
    FACTORS,
    LESS_ONE,
    OF_ONE,
    ROUNDING,
    SPECTRA,
    SUMS,
)
from gradcheck.checker.subject.tensors import is_floating

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from gradcheck.checker.subject.substituted import Run
    from gradcheck.model import Array

_draw: ContextVar[int | None] = ContextVar("draw", default=None)


@contextmanager
def rounding_anew(draw: int | None) -> Iterator[None]:
    """Within this, tapes take gradients in nudged arithmetic; each draw is another rounding."""
    token = _draw.set(draw)
    try:
        yield
    finally:
        _draw.reset(token)


def current_draw() -> int | None:
    """Which draw the arithmetic is to be nudged by; None where it is to be left as it is."""
    return _draw.get()


@contextmanager
def recorded_graph() -> Iterator[list[tuple[str, Any]]]:
    """Within this, what rounds in the graph that is being traced is listed, with its kind.

    But for casts, which there are in one precision and not in another.
    """
    results: list[tuple[str, Any]] = []

    def record(kind: str, _inputs: Any, outputs: Any) -> Any:
        if kind in ROUNDING:
            results.extend((kind, tensor) for tensor in outputs)
        return outputs

    with watched_graph(record):
        yield results


@contextmanager
def watched_graph(change: Callable[[str, Any, Any], Any]) -> Iterator[None]:
    """Within this, `change` is given every operation of the graph that is being traced.

    Raises Absent where TensorFlow does not tell of them.

    Args:
        change: the kind, the inputs and the outputs of an operation to what takes the place of
            its outputs.
    """
    import tensorflow as tf

    this = tf.compat.v1.get_default_graph()

    def callback(
        kind: str,
        inputs: Any,
        _attributes: Any,
        outputs: Any,
        op_name: str | None = None,
        graph: Any = None,
    ) -> Any:
        del op_name
        return change(kind, inputs, outputs) if graph is this else outputs

    with called_back(callback):
        yield


class Nudges:
    """What becomes of the results of ops that are run at many points at once: each is nudged."""

    def __init__(self, seed: int, *, inside: bool = False) -> None:
        """The same seed gives the same nudges.

        Args:
            seed: of the nudges.
            inside: ops that add up many numbers round what they add, and not what is left of it.
        """
        self._rng = generator(seed, 0x6E7564)
        self._inside = inside
        self.count = 0
        """Of the results that were nudged."""

    def __call__(self, kind: str, inputs: Any, output: Any, batch: Any, run: Run) -> Any:
        """The batch of an output, nudged; `batch` is NO_BATCH where the output has none yet."""
        import tensorflow as tf

        if not _rounds(kind, inputs):
            return batch
        alone = output.numpy()
        if batch is NO_BATCH:
            rows = np.repeat(alone[np.newaxis], 1 + limits.ROUNDING_DRAWS, axis=0)
        else:
            rows = _as_alone(batch.numpy(), alone)
        exact = alone == np.rint(alone) if batch is NO_BATCH and alone.dtype.kind in "fV" else False
        if np.all(exact):
            # Places that are worked out of shapes are whole numbers, and just these: a little less
            # would be another place. Without it `test_places_are_not_nudged` fails.
            return batch
        return tf.constant(self._rows(kind, inputs, rows, run, exact))

    def of_one(self, kind: str, inputs: Any, output: Any, run: Run, *, changed: bool) -> Any:
        """One output, nudged, or for comparison replaced by itself."""
        import tensorflow as tf

        if not _rounds(kind, inputs):
            return output
        alone = output.numpy()
        if changed:
            return tf.constant(self._rows(kind, inputs, np.stack([alone, alone]), run)[1])
        self.count += 1
        return tf.constant(alone)

    def _rows(
        self, kind: str, inputs: Any, rows: Array, run: Run, exact: Array | bool = False
    ) -> Array:
        """What an op that rounds gives at many points, nudged; the first of them stays."""
        self.count += 1
        nudged = self._nudged(rows, whole=kind in FACTORS and rows.ndim > 2)
        rows = nudged if exact is False else np.where(exact, rows, nudged)
        if self._inside and rows.dtype.kind in "fc":
            rows = self._off_by(rows, epsilon_of(rows.dtype) * _added_up(kind, inputs, run))
        return rows

    def _off_by(self, rows: Array, most: Array) -> Array:
        """Rows, each number changed at random by up to so much; the first of them stays."""
        if not most.any():
            return rows
        drawn = self._rng.uniform(-1.0, 1.0, rows.shape)
        if rows.dtype.kind == "c":
            drawn = drawn + 1j * self._rng.uniform(-1.0, 1.0, rows.shape)
        drawn[0] = 0.0
        return np.asarray(rows + drawn * most).astype(rows.dtype)

    def _nudged(self, rows: Array, *, whole: bool) -> Array:
        """Rows, each number changed at random by up to a unit in its last place.

        Args:
            rows: the first of them stays, for whoever compares it.
            whole: change each number by so much of the largest of its matrix; zeros stay.
        """
        if rows.dtype.kind == "c":
            real, imaginary = (self._nudged(part, whole=whole) for part in (rows.real, rows.imag))
            return np.asarray(real + 1j * imaginary).astype(rows.dtype)
        if not is_floating(rows.dtype):
            return rows
        size = epsilon_of(rows.dtype)
        drawn = self._rng.uniform(-size, size, rows.shape)
        drawn[0] = 0.0
        wide = rows.astype(np.float64)
        if whole:
            top = np.abs(wide).max(axis=(-2, -1), keepdims=True)
            return np.where(wide == 0, 0.0, wide + drawn * top).astype(rows.dtype)
        # (A factor keeps zeros, signs and infinities.)
        nudged = wide * (1 + drawn)
        if rows.dtype == np.float16:
            # Numbers without all their digits begin at 6e-5, where squares soon are.
            nudged += np.sign(wide) * drawn * 2.0**-14
        return nudged.astype(rows.dtype)


def _added_up(kind: str, inputs: Sequence[Any], run: Run) -> Array:
    """By output of an op: the size of the numbers that it adds up inside; zero if it adds none.

    Without it `test_what_is_added_to_what_is_huge` fails.
    """
    if kind in OF_ONE:
        return np.ones(())
    if kind in LESS_ONE:
        return np.asarray(to_double(inputs[0].numpy()) < 0, np.float64)
    if kind not in SUMS and kind not in SPECTRA:
        return np.zeros(())
    count = inputs_of(kind)
    returned = run(*map(_sizes, inputs[:count]), *inputs[count:])
    size = np.abs(to_double((returned[0] if isinstance(returned, list) else returned).numpy()))
    if kind in SPECTRA:
        size = size.max(axis=tuple(range(-SPECTRA[kind], 0)), initial=0.0, keepdims=True)
    return np.where(np.isfinite(size), size, 0.0)


def _sizes(given: Any) -> Any:
    """What an op is given, with every number by its size; places and counts as they are."""
    import tensorflow as tf

    if isinstance(given, list | tuple):
        return [_sizes(each) for each in given]
    values = np.asarray(given)
    if not (is_floating(values.dtype) or values.dtype.kind == "c"):
        return given
    return tf.constant(np.abs(values).astype(values.dtype))


def _as_alone(rows: Array, alone: Array) -> Array:
    """The rows, the first of them as a call of its own gives it, where that is but rounding.

    A kernel may round many numbers otherwise than one. What is left of 1 − tanh(18) is two units in
    the last place, or none, and whoever compares the first row would take it for another function.

    Without it `test_what_is_one_but_for_its_last_digits` fails.
    """
    if not is_floating(alone.dtype) and alone.dtype.kind != "c":
        return rows
    most = tolerances.LARGEST_ULPS * epsilon_of(alone.dtype) * largest(to_double(alone))
    with np.errstate(all="ignore"):
        close = np.abs(to_double(rows[0]) - to_double(alone)) <= most
    rows = np.array(rows)
    rows[0] = np.where(close, alone, rows[0])
    return rows


def _rounds(kind: str, inputs: Any) -> bool:
    if kind == "Cast":
        return bool(inputs[0].dtype.is_floating or inputs[0].dtype.is_complex)
    return kind in ROUNDING
