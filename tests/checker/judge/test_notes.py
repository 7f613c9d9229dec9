"""What is said besides the numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradcheck
from gradcheck.checker.judge.notes import joined
from tests.checker.planted import first, planted, with_gradient


class TestSpecialPoints:
    def test_nan_where_a_finite_derivative_exists(self) -> None:
        import tensorflow as tf

        def unsafe(x: Any) -> Any:
            return tf.where(x == 0, tf.ones_like(x), tf.sin(x) / x)

        result = gradcheck.check(unsafe, np.array([-1.0, 0.0, 2.0]))
        assert result.verdict == "nonfinite"
        assert result.comparisons[0].worst_index == (1,)
        note = "1 NaN, where the function is finite (the output at [1] is 1)"
        assert result.comparisons[0].note == note

    def test_infinity_is_told_from_nan(self) -> None:
        import tensorflow as tf

        def gradient(g: Any, x: Any) -> Any:
            bad = tf.where(x > 2, tf.constant(np.nan, x.dtype), tf.constant(np.inf, x.dtype))
            return tf.where(x > 0, bad, g * tf.cos(x))

        function = with_gradient(lambda x: tf.reduce_sum(tf.sin(x)), gradient)
        result = gradcheck.check(function, np.array([-1.0, 1.0, 2.0, 3.0]))
        assert result.verdict == "nonfinite"
        assert result.comparisons[0].failing == 3
        note = result.comparisons[0].note
        assert note.startswith("1 NaN and 2 infinite; the function is finite (the output is 1.")

    @pytest.mark.parametrize(
        ("value", "verdict", "words"),
        [
            (1.0, "mismatch", ""),
            (np.nan, "nonfinite", "4 NaN, of a function whose output is empty"),
        ],
    )
    def test_an_empty_output_has_no_gradient(self, value: float, verdict: str, words: str) -> None:
        function = planted(lambda x: x[:0], first(lambda g: g + value))
        result = gradcheck.check(function, np.ones(4))
        assert result.verdict == verdict
        assert result.comparisons[0].note == words


class TestTiesAndKinks:
    @pytest.mark.parametrize("name", ["floor", "ceil", "round"])
    def test_a_jump_without_a_gradient(self, tf: Any, name: str) -> None:
        at = 2.5 if name == "round" else 2.0
        result = gradcheck.check(getattr(tf.math, name), np.array([at, 0.7]))
        assert result.verdict in ("kink", "disconnected")
        assert "a gradient is missing" not in result.comparisons[0].note


def test_notes_that_say_nothing_are_left_out() -> None:
    assert joined("", "one", "", "two") == "one; two"
    assert joined("", "") == ""


def test_a_function_that_raises_beside_the_point(tf: Any) -> None:
    def at_home(x: Any) -> Any:
        tf.debugging.assert_equal(tf.reduce_sum(x), tf.constant(3.0, x.dtype), "away from home")
        return x * x

    (comparison,) = gradcheck.check(at_home, np.array([1.0, 2.0])).comparisons
    assert comparison.verdict == "inconclusive"
    assert "the function raises beside this point" in comparison.note
    assert "away from home" in comparison.note
    assert "rounding" not in comparison.note
