"""Gradients made of the wrong parts of the Jacobian."""

from __future__ import annotations

from typing import Any

import numpy as np

import gradcheck
from tests.checker.planted import cause, with_gradient


class TestDiagnosis:
    def test_as_if_elements_did_not_interfere(self) -> None:
        import tensorflow as tf

        def gradient(g: Any, x: Any) -> Any:
            y = tf.nn.softmax(x)
            return g * y * (1 - y)

        function = with_gradient(tf.nn.softmax, gradient)
        result = gradcheck.check(function, np.random.default_rng(0).standard_normal((2, 5)))
        assert cause(result) == "diagonal"

    def test_the_jacobian_without_its_transpose(self) -> None:
        import tensorflow as tf

        matrix = np.random.default_rng(0).standard_normal((4, 4))
        function = with_gradient(
            lambda x: tf.linalg.matvec(matrix, tf.sin(x)),
            lambda g, x: tf.linalg.matvec(matrix, tf.cos(x) * g),
        )
        assert cause(gradcheck.check(function, np.full(4, 0.3))) == "jacobian"

    def test_summed_over_the_wrong_axis(self) -> None:
        import tensorflow as tf

        function = with_gradient(
            lambda x, b: x * b, lambda g, x, b: (g * b, tf.reduce_sum(g * x, axis=1))
        )
        x, b = np.random.default_rng(0).standard_normal((4, 4)), np.arange(1.0, 5.0)
        result = gradcheck.check(function, x, b)
        assert cause(result) == "axis"
        assert result.diagnosis is not None
        assert "summed over axis 1" in result.diagnosis.text
