"""Passes forward and back at many points, carried along with one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradcheck
from gradcheck.checker.subject.carry.cargo import CannotCarry
from gradcheck.checker.subject.operand import Operand
from gradcheck.checker.subject.tape import Tape
from tests.checker.verdicts import verdict

if TYPE_CHECKING:
    from gradcheck.model import Array

RNG = np.random.default_rng(0)


def test_gradients_of_many_points_are_those_of_each(tf: Any) -> None:
    def function(a: Any, b: Any) -> Any:
        return tf.reduce_sum(tf.sort(tf.tanh(a @ b), 0)[1:] ** 2, 1)

    a, b = RNG.standard_normal((2, 3)), RNG.standard_normal((3, 4))
    operands = [Operand("a", a), Operand("b", b)]
    points = [[a, b], [2 * a, b - 1], [a + 1, -b]]
    upstream = [RNG.standard_normal(1)]
    shared = Tape(function, operands).at_all(points, upstream)
    for point, passed in zip(points, shared, strict=True):
        alone = Tape(function, operands)(point, upstream)
        np.testing.assert_allclose(passed.outputs[0], alone.outputs[0], rtol=1e-12)
        for ours, theirs in zip(passed.gradients, alone.gradients, strict=True):
            np.testing.assert_allclose(np.asarray(ours), np.asarray(theirs), rtol=1e-12)


def test_a_gradient_that_looks_at_values_gets_passes_of_its_own(tf: Any) -> None:
    @tf.custom_gradient  # type: ignore[untyped-decorator]  # no types in TensorFlow
    def function(x: Any) -> Any:
        return x * x, lambda upstream: upstream * 2 * float(x[0]) * tf.ones_like(x)

    x = RNG.standard_normal(1)
    with pytest.raises(CannotCarry):
        Tape(function, [Operand("x", x)]).at_all([[x], [x + 1]], [np.ones(1)])


def test_a_variable_that_is_given(tf: Any) -> None:
    x = RNG.standard_normal(2)
    tape = Tape(lambda v: tf.square(v) * v.value(), [Operand("x", x, variable=True)])
    found = tape.at_all([[x], [x + 1]], [np.ones(2)])
    gradients = [np.asarray(each.gradients[0]) for each in found]
    assert np.allclose(gradients, [3 * x**2, 3 * (x + 1) ** 2])


def test_neighbours_share_a_pass(tf: Any) -> None:
    backward = 0

    @tf.custom_gradient  # type: ignore[untyped-decorator]  # no types in TensorFlow
    def square(x: Any) -> Any:
        def grad(upstream: Any) -> Any:
            nonlocal backward
            backward += 1
            # (What cancels is not as good as it can be.)
            return ((2 * x + 1e3) - 1e3) * upstream

        return x * x, grad

    assert verdict(square, RNG.standard_normal(5).astype(np.float32)) == "pass"
    assert 2 < backward <= 4


def test_a_gradient_that_takes_no_batch_gets_passes_of_its_own(tf: Any) -> None:
    """Forward it takes many points; back it adds up over all there is."""

    def of(factor: float) -> Any:
        @tf.custom_gradient  # type: ignore[untyped-decorator]  # no types in TensorFlow
        def scaled(x: Any, scale: Any) -> Any:
            def grad(upstream: Any) -> Any:
                off = tf.cast(factor if x.dtype == tf.float32 else 1.0, x.dtype)
                return upstream * scale, off * tf.reshape(
                    tf.reduce_sum(upstream * x), tf.shape(scale)
                )

            return x * scale, grad

        return scaled

    x: Array = RNG.standard_normal(6).astype(np.float32)
    scale = np.array([1.5], np.float32)
    assert verdict(of(1.0), x, scale) == "pass"
    result = gradcheck.check(of(1.01), x, scale)
    assert [c.verdict for c in result.comparisons] == ["pass", "mismatch"]
