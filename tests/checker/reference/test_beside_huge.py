"""Elements whose derivatives drown beside those of huge ones: they are judged all the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradcheck
from gradcheck.checker.api import describe
from tests.checker.planted import with_gradient

POINT = [1.0, 2.5, -0.7, 0.4, 3.0]

FUNCTIONS: dict[str, Any] = {
    "a sum of squares": lambda tf, x: tf.reduce_sum(x**2),
    "half of one": lambda tf, x: tf.nn.l2_loss(x),
    "an error": lambda tf, x: tf.reduce_mean(tf.math.squared_difference(x, 1.5)),
    "a norm": lambda tf, x: tf.norm(x),
    "a length beside one": lambda tf, x: tf.sqrt(1 + tf.reduce_sum(x * x)),
    "running sums": lambda tf, x: tf.cumsum(x * x),
    "cubes": lambda tf, x: tf.reduce_sum(x**3),
    "what is cut off": lambda tf, x: tf.reduce_sum(tf.maximum(x, -0.3) ** 2 + tf.nn.relu(x)),
    "a loop": lambda tf, x: tf.foldl(lambda a, b: a + b * b, x),
    "numbers as factors": lambda tf, x: tf.reduce_sum(3.0 * x * x - 0.5 * x / 7.0),
    "softplus": lambda tf, x: tf.reduce_sum(tf.nn.softplus(x) * x),
    "matrices": lambda tf, x: tf.linalg.trace(tf.matmul(x[:, None], x[None, :])),
    "logarithms": lambda tf, x: tf.math.log(tf.reduce_sum(tf.exp(tf.minimum(x, 9.0)) + x * x)),
}


def scaled(tf: Any, function: Any, factor: float, element: int) -> Any:
    """The function, of which an element of the gradient is so many times what it should be."""
    factors = np.ones(6)
    factors[element] = factor
    wrong = with_gradient(tf.identity, lambda g, _: g * factors)
    return lambda x: function(tf, wrong(x))


@pytest.mark.parametrize("size", [1e9, 1e12])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_a_huge_element_hides(tf: Any, name: str, size: float) -> None:
    function, x = FUNCTIONS[name], np.array([*POINT, size])
    right = gradcheck.check(lambda x: function(tf, x), x)
    assert right.verdict == "pass", describe(right)
    for factor in (-1.0, 0.0, 1.3):
        for element in (0, 3):
            result = gradcheck.check(scaled(tf, function, factor, element), x)
            assert result.verdict == "mismatch", describe(result)


def test_variables_too(tf: Any) -> None:
    weights = tf.Variable([1.0, 2.0, 1e10], dtype=tf.float64)

    def function(x: Any, sign: float = 1.0) -> Any:
        own = with_gradient(tf.identity, lambda g, _: g * np.array([sign, 1, 1]))
        return tf.reduce_sum((own(weights) * x) ** 2)

    x = np.array([0.3, -0.2, 1.0])
    assert gradcheck.check(function, x).verdict == "pass"
    wrong = gradcheck.check(lambda x: function(x, -1.0), x)
    assert wrong.verdict == "mismatch", describe(wrong)


def test_a_kernel_that_nobody_looks_into(tf: Any) -> None:
    """What is not carried stays as it was: right gradients are not blamed."""

    def function(x: Any) -> Any:
        return tf.linalg.logdet(tf.linalg.diag(x * x))

    assert gradcheck.check(function, np.array([*POINT, 1e9])).verdict == "pass"


def test_quotients_that_lost_more_than_they_knew(tf: Any) -> None:
    """Where a sum of powers is huge, its root stands still: that is no derivative of zero."""
    x = np.array([4.15e-4, 0.3, 8e7])

    def function(x: Any, factor: float = 1.0) -> Any:
        wrong = with_gradient(tf.identity, lambda g, _: g * np.array([factor, 1.0, 1.0]))
        return tf.reduce_sum(tf.abs(wrong(x)) ** 1.5, keepdims=True) ** (1 / 1.5)

    right = gradcheck.check(function, x)
    assert right.verdict == "pass", describe(right)
    for factor in (-1.0, 0.0, 1.01):
        result = gradcheck.check(lambda x, factor=factor: function(x, factor), x)
        assert result.verdict == "mismatch", describe(result)


def test_a_cusp_beside_a_tiny_element(tf: Any) -> None:
    x = np.array([-1.1e-11, 0.3, 8e11])

    def function(x: Any, factor: float = 1.0) -> Any:
        wrong = with_gradient(tf.identity, lambda g, _: g * np.array([factor, 1.0, 1.0]))
        return tf.reduce_sum(tf.abs(wrong(x)) ** 0.7)

    right = gradcheck.check(function, x)
    assert right.verdict == "pass", describe(right)
    for factor in (-1.0, 3.0):
        result = gradcheck.check(lambda x, factor=factor: function(x, factor), x)
        assert result.verdict == "mismatch", describe(result)


@pytest.mark.parametrize("size", [1.0, 1e9])
def test_what_numpy_does_unseen(tf: Any, size: float) -> None:
    """What no op does is not carried: nothing is believed that holds it fixed."""

    def function(x: Any) -> Any:
        return tf.reduce_sum(x**2) + tf.reduce_sum(
            x[:2] * tf.compat.v1.py_func(np.sin, [x], x.dtype)[:2]
        )

    (told,) = gradcheck.check(function, np.array([1.0, 2.5, size])).comparisons
    assert told.bound is not None
    if size > 1:
        assert told.bound[0] > 1.0, "nothing is known of what drowns"
    else:
        assert told.verdict == "mismatch"
