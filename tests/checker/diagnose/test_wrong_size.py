"""Factors that are sizes, and factors that happen to be as large as one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradcheck
from tests.checker.planted import planted, with_gradient


def told(function: Any, *inputs: Any) -> str:
    result = gradcheck.check(function, *inputs)
    assert result.diagnosis is not None
    assert result.diagnosis.cause == "factor"
    return result.diagnosis.text


@pytest.mark.parametrize("x", [np.array([0.3, 0.8, -1.1]), np.ones(3), np.ones((3, 3)) / 2])
def test_a_factor_that_is_no_size(tf: Any, x: Any) -> None:
    text = told(planted(tf.tanh, lambda g: [3 * g[0]]), x)
    assert "3 times too large (but for that" in text


def test_of_a_function_of_one_shape_only_the_factor_is_told(tf: Any) -> None:
    offset = tf.constant([1.0, 2.0, 3.0], tf.float64)
    text = told(planted(lambda x: x * offset, lambda g: [g[0] / 3]), np.ones(3))
    assert "3 times too small (but for that" in text


def test_an_average_over_a_batch_that_is_as_long_as_another_axis(tf: Any) -> None:
    function = with_gradient(tf.add, lambda u, _x, _b: (u, tf.reduce_mean(u, 0)))
    text = told(function, np.ones((3, 3)), np.ones(3))
    assert "that is the length of axis 0 of input0" in text
    assert "averaged where it should be summed" in text


def test_the_number_of_elements(tf: Any) -> None:
    function = with_gradient(tf.reduce_mean, lambda u, x: u * tf.ones_like(x) / tf.cast(1, x.dtype))
    text = told(function, np.arange(12.0).reshape(3, 4))
    assert "12 times too large: that is the number of elements of the input" in text
    assert "summed where it should be averaged" in text
