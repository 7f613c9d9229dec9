"""Functions of few bits, which only a fit through many points can differentiate."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.checker.planted import planted
from tests.checker.verdicts import verdict


class TestPrecisionInside:
    @pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
    @pytest.mark.parametrize("name", ["tanh", "sin", "square", "sigmoid", "softmax", "softplus"])
    def test_few_bits(self, tf: Any, name: str, dtype: str) -> None:
        inner = getattr(tf.math, name, None) or getattr(tf.nn, name)

        def function(x: Any) -> Any:
            return tf.cast(inner(tf.cast(x, dtype)), tf.float64)

        half_more = planted(function, lambda gs: [1.5 * gs[0]])
        for seed in range(3):
            x = np.random.default_rng(seed).uniform(-2, 2, 10)
            assert verdict(function, x, seed=seed) == "pass"
            assert verdict(half_more, x, seed=seed) == "mismatch"

    @pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
    def test_few_bits_in_a_product(self, tf: Any, dtype: str) -> None:
        def function(a: Any, b: Any) -> Any:
            return tf.cast(tf.cast(a, dtype) @ tf.cast(b, dtype), tf.float64)

        half_less = planted(function, lambda gs: [gs[0], gs[1] / 2])
        for seed in range(3):
            rng = np.random.default_rng(seed)
            a, b = rng.standard_normal((3, 4)), rng.standard_normal((4, 2))
            assert verdict(function, a, b, seed=seed) == "pass"
            assert verdict(half_less, a, b, seed=seed) == "mismatch"
