"""All the elements of a large input where few colours do, a sample where they do not."""

from __future__ import annotations

from typing import Any

import numpy as np

import gradcheck
from gradcheck.model import Verdict
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
            return tf.cast(tf.sin(tf.cast(x, tf.float32)), tf.float64)

        result = gradcheck.check(rounds, self.X)
        assert result.verdict is Verdict.PASS
        assert result.comparisons[0].judged == 256
