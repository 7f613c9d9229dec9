"""Other shapes than the user's only for kernels that check them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradcheck
from gradcheck.checker.subject.known_kernels import (
    all_may_stack,
    all_take_other_shapes,
    counts_from_the_front,
)
from tests.checker.planted import planted
from tests.checker.verdicts import verdict


def shapes_given(function: Any, x: Any) -> set[tuple[int, ...]]:
    """The shapes with which a function is called when it is checked; it has to pass."""
    shapes = set()

    def noted(x: Any) -> Any:
        shapes.add(tuple(x.shape))
        return function(x)

    assert verdict(noted, x) == "pass"
    return shapes


def pool_gradient(tf: Any) -> Any:
    return lambda x: tf.raw_ops.AvgPoolGrad(
        orig_input_shape=[1, 4, 4, 1],
        grad=x,
        ksize=[1, 2, 2, 1],
        strides=[1, 2, 2, 1],
        padding="VALID",
    )


def scattered(tf: Any) -> Any:
    def function(x: Any) -> Any:
        empty = tf.raw_ops.TensorListReserve(
            element_shape=tf.constant([], tf.int32), num_elements=4, element_dtype=tf.float64
        )
        filled = tf.raw_ops.TensorListScatterIntoExistingList(
            input_handle=empty, tensor=x, indices=[0, 2, 1]
        )
        return tf.raw_ops.TensorListGather(
            input_handle=filled,
            indices=[0, 1, 2],
            element_shape=tf.constant([], tf.int32),
            element_dtype=tf.float64,
        )

    return function


def test_no_other_shapes_for_a_kernel_that_does_not_check_them(tf: Any) -> None:
    x = np.random.default_rng(0).standard_normal((1, 2, 2, 1))
    assert shapes_given(pool_gradient(tf), x) == {(1, 2, 2, 1)}
    assert shapes_given(scattered(tf), np.array([1.0, 2.0, 3.0])) == {(3,)}


def test_nor_to_explain_a_factor(tf: Any) -> None:
    wrong = planted(pool_gradient(tf), lambda gs: [2.0 * gs[0]])
    shapes = set()

    def noted(x: Any) -> Any:
        shapes.add(tuple(x.shape))
        return wrong(x)

    x = np.random.default_rng(0).standard_normal((1, 2, 2, 1))
    result = gradcheck.check(noted, x)
    assert result.verdict == "mismatch"
    assert shapes == {(1, 2, 2, 1)}


def test_others_are_batched(tf: Any) -> None:
    assert len(shapes_given(lambda x: tf.tanh(x) * 2.0, np.ones((3, 2)))) > 1


@pytest.mark.parametrize("kind", ["AssignVariableOp", "StatelessRandomUniformV2", "EagerPyFunc"])
def test_what_keeps_or_draws_is_not(kind: str) -> None:
    assert not all_take_other_shapes({"Mul", kind})


def test_a_function_that_takes_no_other_shapes_is_traced(tf: Any) -> None:
    weight = tf.Variable(np.linspace(-1, 1, 64).reshape(8, 8), name="weight")
    calls = []

    def function(x: Any) -> Any:
        calls.append(1)
        for _ in range(20):
            x = tf.tanh(x @ weight)
        return x

    result = gradcheck.check(function, np.ones((2, 8)))
    assert [str(c.verdict) for c in result.comparisons] == ["pass", "pass"]
    assert len(calls) < 30


@pytest.mark.parametrize(
    ("axes", "front"),
    [([0], True), ([-1], False), ([-1, -2], False), ([-1, 1], True), ([np.array([-2])], False)],
)
def test_axes_are_counted_from_either_end(axes: list[Any], front: bool) -> None:
    given = [np.zeros((2, 3)), *axes, "keep_dims", True]
    assert counts_from_the_front(given) is front


def test_what_may_stack() -> None:
    assert all_may_stack({"Sin", "Mul", "Sum", "MatMul"})
    assert not all_may_stack({"Sin", "Conv2D"})
