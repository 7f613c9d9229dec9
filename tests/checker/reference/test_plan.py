"""All the elements of a large input where few colours do, a sample where they do not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradcheck
from gradcheck.model import Verdict
from tests.checker.planted import planted
from tests.checker.reference.large import SIZE, entangled


class TestBeyondTheBudget:
    X = np.linspace(-3, 3, SIZE)

    def test_elements_that_do_not_interfere_are_all_judged(self, tf: Any) -> None:
        result = gradcheck.check(tf.sin, self.X)
        (comparison,) = result.comparisons
        assert result.verdict is Verdict.PASS
        assert (comparison.judged, comparison.directions) == (SIZE, 0)

    def test_a_sample_and_directions_stand_for_the_others(self, tf: Any) -> None:
        result = gradcheck.check(entangled(tf), self.X)
        (comparison,) = result.comparisons
        assert result.verdict is Verdict.PASS
        assert (comparison.judged, comparison.directions) == (256, 8)

    def test_beside_a_small_input(self, tf: Any) -> None:
        result = gradcheck.check(lambda x, b: tf.sin(x) + b, self.X.reshape(-1, 5), np.ones(5))
        assert result.verdict is Verdict.PASS
        assert [c.judged for c in result.comparisons] == [SIZE, 5]

    def test_a_function_that_rounds_inside_is_sampled(self, tf: Any) -> None:
        def rounds(x: Any) -> Any:
            low = tf.cast(x, tf.float32)
            # (Each output rounds as all the elements tell it: a kernel alone may do so, or not, by
            # the processor's instructions.)
            beside = tf.reduce_sum(low)
            return tf.cast((tf.sin(low) + beside) - beside, tf.float64)

        result = gradcheck.check(rounds, self.X)
        assert result.verdict is Verdict.PASS
        assert result.comparisons[0].judged == 256


class TestLayersOfThousandsOfWeights:
    """Elements that all interfere, more than a check should move."""

    X = np.random.default_rng(0).standard_normal((2, 60))
    W = np.random.default_rng(1).standard_normal((60, 60)) / 8

    def test_a_layer_of_thousands_of_weights_is_sampled(self, tf: Any) -> None:
        first, second = tf.Variable(self.W), tf.Variable(self.W[:, ::-1])
        result = gradcheck.check(lambda x: tf.tanh(tf.tanh(x @ first) @ second), self.X)
        assert result.verdict is Verdict.PASS
        assert [c.directions for c in result.comparisons] == [0, 8, 8]
        assert [c.judged for c in result.comparisons] == [120, 256, 256]

    @pytest.mark.parametrize(("element", "factor"), [((7, 9), 1.1), ((), 1 + 1e-6)])
    def test_and_faults_are_found(self, tf: Any, element: Any, factor: float) -> None:
        factors = np.ones((60, 60))
        factors[element] = factor

        def loss(x: Any, w: Any) -> Any:
            return tf.reduce_sum(tf.tanh(x @ w) ** 2)

        wrong = planted(loss, lambda gs: [gs[0], gs[1] * factors])
        found = gradcheck.check(wrong, self.X, self.W)
        assert [str(c.verdict) for c in found.comparisons] == ["pass", "mismatch"]
        if element:
            assert found.comparisons[1].worst_index == element
