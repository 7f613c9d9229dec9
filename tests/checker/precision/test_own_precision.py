"""A function in the precision of its inputs, beside itself in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradcheck
from gradcheck.checker.api import describe
from tests.checker.planted import first, planted, subject
from tests.checker.verdicts import verdict


class TestLowPrecisionFarOut:
    def test_a_function_that_is_infinite_in_low_precision_alone(self, tf: Any) -> None:
        result = gradcheck.check(
            lambda x: tf.sqrt(tf.reduce_sum(x * x)), np.array([500.0, 600.0], np.float16)
        )
        assert result.verdict == "inconclusive"
        assert "in float16 the function itself is not finite" in result.comparisons[0].note

    def test_one_that_is_another_in_low_precision_alone(self, tf: Any) -> None:
        # Below 2⁻¹² the exponential is rounded to one, and the gradient takes the other branch.
        result = gradcheck.check(tf.nn.selu, np.float16(-2.0754e-4))
        assert result.verdict == "inconclusive", describe(result)
        note = result.comparisons[0].note
        assert "in float16 the function itself is another one at this point" in note
        assert verdict(tf.nn.selu, np.float16(-0.2)) == "pass"

    def test_neighbours_stay_inside_the_domain(self, tf: Any) -> None:
        near = np.array([0.9929, 0.9918, 0.9961], np.float32)
        for seed in range(5):
            assert verdict(tf.asin, near, seed=seed) != "nonfinite"


class TestPrecision:
    """What is wrong in the arithmetic of one precision alone."""

    @pytest.mark.parametrize(("dtype", "error"), [("float32", 1e-5), ("bfloat16", 1e-2)])
    @pytest.mark.parametrize("name", ["tanh", "multiply", "softmax", "reduce_mean", "gather"])
    def test_an_error_of_low_precision_only(self, name: str, dtype: str, error: float) -> None:
        import tensorflow as tf

        which = subject(name)
        low = tf.as_dtype(dtype)

        def change(g: Any) -> Any:
            if g.dtype != low:
                return g
            return tf.cast(tf.cast(g, tf.float64) * (1 + 20 * error), low)

        inputs = [x.astype(low.as_numpy_dtype) for x in which.inputs]
        result = gradcheck.check(planted(which.function, first(change)), *inputs)
        assert result.verdict == "mismatch"
        assert "the formula is right in float64" in result.comparisons[0].note
        right = gradcheck.check(which.function, *inputs)
        assert right.verdict == "pass", gradcheck.checker.api.describe(right)


def test_what_is_added_lest_a_root_is_at_zero(tf: Any) -> None:
    """In float16 it is nothing: NaN is the gradient of no function that is finite."""

    def length(x: Any) -> Any:
        return tf.sqrt(tf.reduce_sum(x * x, -1) + 1e-12)

    at = np.zeros((2, 3), np.float16)
    (comparison,) = gradcheck.check(length, at).comparisons
    assert (comparison.verdict, comparison.failing) == ("nonfinite", 6)
    assert "in float16 the function itself is another one" in comparison.note
    for other in (at + np.float16(0.5), at.astype(np.float32)):
        assert gradcheck.check(length, other).verdict == "pass"
