"""Functions that are themselves flatter in low precision, and their gradients with them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.checker.planted import planted
from tests.checker.verdicts import verdict


class TestLowPrecisionFarOut:
    @pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
    @pytest.mark.parametrize("x", [[-8.0], [8.5, 9.0], [5.0, 6, 7, 8, 1], [-30.0]])
    def test_where_tanh_is_one(self, tf: Any, x: list[float], dtype: str) -> None:
        for seed in range(3):
            at = tf.cast(np.array(x) * (1 + 0.001 * seed), dtype)
            assert verdict(tf.tanh, at, seed=seed) == "pass"

    def test_lost_arithmetic_there_is_found_all_the_same(self, tf: Any) -> None:
        def lose(gradients: list[Any]) -> list[Any]:
            (g,) = gradients
            return [g * 1.5 if g.dtype == tf.float32 else g]

        x = np.array([6.0, 6.5, 7.0], np.float32)
        assert verdict(tf.tanh, x) == "pass"
        assert verdict(planted(tf.tanh, lose), x) == "mismatch"

    def test_a_scalar(self, tf: Any) -> None:
        def lose(gradients: list[Any]) -> list[Any]:
            (g,) = gradients
            return [g * 1.5 if g.dtype == tf.float32 else g]

        assert verdict(planted(tf.tanh, lose), np.float32(0.7)) == "mismatch"
        assert verdict(tf.tanh, np.float32(-8.0)) == "pass"

    def test_elements_that_the_function_excuses_are_no_common_factor(self, tf: Any) -> None:
        x = np.array([[-95.5, 159.4, 146.8], [179.1, -249.2, -49.9]], np.float16)
        assert verdict(lambda x: tf.math.l2_normalize(x, 0), x) == "pass"

    def test_the_others_still_show_one(self, tf: Any) -> None:
        def lose(gradients: list[Any]) -> list[Any]:
            (g,) = gradients
            return [g * 1.001 if g.dtype == tf.float32 else g]

        x = np.array([8.5, -9.0, 0.5, 1.0, 1.5, 2.0, 0.3], np.float32)
        assert verdict(tf.tanh, x) == "pass"
        assert verdict(planted(tf.tanh, lose), x) == "mismatch"


@pytest.mark.parametrize("x", [7.95, 8.0, 8.1])
def test_close_to_where_tanh_is_one(tf: Any, x: float) -> None:
    """From 7.9 on it is one in float32: points that reach far lie on both sides of that."""
    near = np.array([x, x + 0.001], np.float32)
    assert [verdict(tf.tanh, near, seed=seed) for seed in range(3)] == ["pass"] * 3
