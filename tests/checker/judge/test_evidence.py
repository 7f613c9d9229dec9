"""Gradients of another shape than their input's, and what is likely to mend them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradcheck
from gradcheck.checker.api import describe
from tests.checker.planted import with_gradient
from tests.checker.verdicts import draw


@pytest.mark.parametrize(
    ("shape", "words"),
    [
        ((3,), "Spread it over the axes that the function reduces"),
        ((12,), "lacks a tf.reshape"),
        ((3, 4), "perhaps it is transposed"),
    ],
)
def test_a_gradient_of_another_shape(tf: Any, shape: tuple[int, ...], words: str) -> None:
    wrong = with_gradient(lambda x: tf.reduce_sum(x, 0), lambda _u, _x: tf.ones(shape, tf.float64))
    assert words in describe(gradcheck.check(wrong, draw(4, 3)))


def test_a_gradient_of_the_output_s_shape_is_to_be_summed(tf: Any) -> None:
    result = gradcheck.check(with_gradient(tf.add, lambda u, _a, _b: (u, u)), draw(5, 3), draw(3))
    assert result.verdict == "mismatch"
    assert "Sum it over the axes that the input was broadcast along" in describe(result)


class TestSpecialPoints:
    @pytest.mark.parametrize("shape", [(4, 3), (12,), (3, 1), ()])
    def test_another_shape(self, shape: tuple[int, ...]) -> None:
        import tensorflow as tf

        function = with_gradient(lambda x: 2 * x, lambda _g, _x: tf.ones(shape, tf.float64))
        result = gradcheck.check(function, np.ones((3, 4)))
        assert result.verdict == "mismatch"
        assert "shape" in result.comparisons[0].note
        assert "[3, 4]" in result.comparisons[0].note
