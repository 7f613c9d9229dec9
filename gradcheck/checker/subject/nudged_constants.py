"""A function whose constants differ in the last digit of the precision that they were rounded to.

Labels that are captured in float32 add up to one in float32, and to a little more or less in
float64. Whoever wants to know what hangs on that calls the function with constants that could as
well have been meant: each is one unit in its last place larger or smaller, or as it was.
"""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.checker import limits
from gradcheck.checker.numerics.vectors import epsilon_of
from gradcheck.checker.subject.as_python import as_python
from gradcheck.checker.subject.promote_graph import rounding_of
from gradcheck.checker.subject.substituted import Run, executed
from gradcheck.checker.subject.tensors import is_low_precision, widen
from gradcheck.model import Mode

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gradcheck.checker.subject.problem import Problem
    from gradcheck.checker.subject.tensors import Function
    from gradcheck.model import Array


class NudgedConstants:
    """Takes what the function takes; what it finds by itself is nudged, forward and back alike."""

    def __init__(
        self,
        function: Function,
        draw: int,
        precision: np.dtype[Any],
        upstream: Sequence[Array] = (),
        *,
        factors: bool = True,
    ) -> None:
        """Nothing is called yet.

        Args:
            function: in double precision, or in either.
            draw: of the nudges: a number is nudged the same wherever it is met.
            precision: what constants in double precision may have been rounded to before.
            upstream: of the gradient: it is given as well.
            factors: single numbers are nudged too.

        Without the upstream `test_a_formula_that_is_wrong_in_every_precision` fails.
        """
        self._function, self._draw, self._precision = function, draw, precision
        self._fewest = 1 if factors else 2
        self._made: dict[int, Any] = {}
        """The tensors that ops of the last call gave: these are no constants."""
        self._given: Array = np.zeros(0)
        """The numbers that it was given."""
        self._upstream = upstream

    def __call__(self, *arguments: Any) -> Any:
        """What the function returns."""
        self._made = {id(each): each for each in arguments}
        numbers = [np.asarray(each.numpy()) for each in arguments if hasattr(each, "numpy")]
        numbers += [np.asarray(each) for each in self._upstream]
        self._given = np.unique(np.concatenate([widen(n).ravel() for n in numbers]))
        with self._nudging(), as_python():
            return self._function(*arguments)

    @contextmanager
    def going_back(self, arguments: Sequence[Any]) -> Iterator[None]:
        """Within this, the gradient is taken of what the function was given."""
        own = getattr(self._function, "going_back", None)
        with nullcontext() if own is None else own(arguments), self._nudging():
            yield

    @contextmanager
    def _nudging(self) -> Iterator[None]:
        def execute(_kind: str, inputs: Sequence[Any], run: Run) -> Any:
            outputs = run(*self._all_nudged(inputs))
            for each in outputs if isinstance(outputs, list | tuple) else [outputs]:
                self._made[id(each)] = each
            return outputs

        with executed(execute):
            yield

    def _all_nudged(self, inputs: Sequence[Any]) -> list[Any]:
        """What an op is given, and its attributes after that: a name and a value each.

        TensorFlow makes a tensor of a number of numpy's by itself, and that never comes by here:
        without it `test_a_constant_of_float32_and_one_of_python` and `test_an_attribute_of_an_op`
        fail.
        """
        import tensorflow as tf

        dtype = next((each.dtype for each in inputs if isinstance(each, tf.Tensor)), None)
        nudged_, name = [], False
        for each in inputs:
            number = isinstance(each, float | np.floating)
            if number and name:
                # (A number that is an attribute has the digits of float32.)
                nudged_.append(float(self._beside(np.asarray(each, np.float32))))
            elif number and isinstance(each, np.floating) and dtype is not None:
                nudged_.append(self._nudged(tf.constant(each, dtype)))
            else:
                nudged_.append(self._nudged(each))
            name = isinstance(each, str)
        return nudged_

    def _nudged(self, given: Any) -> Any:
        import tensorflow as tf

        if isinstance(given, list | tuple):
            return [self._nudged(each) for each in given]
        if isinstance(given, np.ndarray):
            return self._beside(given) if given.dtype.kind == "f" else given
        if not isinstance(given, tf.Tensor) or id(given) in self._made:
            return given
        if not given.dtype.is_floating or not hasattr(given, "numpy"):
            return given
        value = np.asarray(given.numpy())
        beside = self._beside(value)
        return given if beside is value else tf.constant(beside)

    def _beside(self, value: Array) -> Array:
        """The constant with other last digits; itself where it has none to speak of."""
        unit = rounding_of(value) if is_low_precision(value.dtype) else self._unit_of(value)
        wide = widen(value)
        # (What it was given, or chose from that, is no constant. In few bits one or another number
        # is the same by chance.)
        if not unit or value.size < self._fewest or np.isin(wide[wide != 0], self._given).all():
            return value
        nudges = _nudges(wide, self._draw) + _common(self._draw, wide.shape)
        return np.asarray(wide * (1 + unit * nudges)).astype(value.dtype)

    def _unit_of(self, value: Array) -> float:
        """What numbers in double precision were rounded to, if they all were to something less."""
        rounded = value.astype(self._precision)
        if not (rounded.astype(np.float64) == value).all():
            return 0.0
        return rounding_of(rounded)


def problem_beside(
    problem: Problem,
    draw: int,
    precision: np.dtype[Any],
    upstream: Sequence[Array],
    *,
    factors: bool = True,
) -> Problem:
    """The problem where inputs and constants have other last digits, eagerly.

    Args:
        problem: in double precision, with operands of less.
        draw: of the nudges.
        precision: what constants in double precision may have been rounded to before.
        upstream: of its gradients, which stays as it is.
        factors: single numbers too, and not only those of which there are many.
    """
    operands = tuple(
        replace(operand, value=nudged(operand.value, draw))
        if is_low_precision(operand.value.dtype)
        else operand
        for operand in problem.operands
    )
    return replace(
        problem,
        function=NudgedConstants(problem.function, draw, precision, upstream, factors=factors),
        operands=operands,
        mode=Mode.EAGER,
        recorded=None,
        recorded_in_double=None,
    )


def nudged(value: Array, draw: int) -> Array:
    """Values of an input in its own precision that differ by up to a unit in the last place."""
    wide = widen(value)
    if np.iscomplexobj(wide):
        return np.asarray(nudged(wide.real, draw) + 1j * nudged(wide.imag, draw)).astype(
            value.dtype
        )
    nudges = _nudges(wide, draw) + _common(draw, wide.shape)
    return np.asarray(wide * (1 + epsilon_of(value.dtype) * nudges)).astype(value.dtype)


def _common(draw: int, shape: tuple[int, ...]) -> Array:
    """What all the numbers are larger or smaller by besides, in units in the last place.

    What was divided by its sum or its length has the rounding of that in common: in float32 up to
    1.3 units, of 10 to 1,000 numbers. Without it `test_many_labels` fails. Later draws give every
    row one of its own, or every column: where two of them are compared, they were divided apart.
    """
    if draw < limits.PERSISTENCE_DRAWS or not shape:
        return np.asarray(draw % 3 - 1)
    axis = -1 if draw % 2 else draw // 2 % len(shape)
    kept = np.sum(np.ones(shape), axis=axis, keepdims=True).shape
    which = np.arange(int(np.prod(kept))).reshape(kept)
    return _shuffled((which + 0.5) * (78.233 + draw))


def _nudges(values: Array, draw: int) -> Array:
    """One less, none or one more, by number: the same for the same numbers and the same draw."""
    mantissa, _ = np.frexp(values)
    return _shuffled((mantissa * 2.0**24 + 0.5) * (12.9898 + draw))


def _shuffled(numbers: Array) -> Array:
    shuffled = np.sin(numbers) * 43758.5453
    return np.asarray(np.floor(3 * (shuffled - np.floor(shuffled))) - 1)
