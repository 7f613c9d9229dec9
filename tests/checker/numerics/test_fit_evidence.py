"""Functions that round some of what they are given, while the rest is float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradcheck.checker.numerics.estimate import Estimate
from gradcheck.checker.numerics.fit_evidence import contested, spacing_of
from tests.checker.planted import planted
from tests.checker.verdicts import draw, verdict

FACTORS = {"float32": 1.0001, "float16": 1.03125, "bfloat16": 1.25}
"""Faults of 1e-4 or 64 roundings, whichever is more."""


def _rounded(tf: Any, tensor: Any, dtype: str) -> Any:
    return tf.cast(tf.cast(tensor, dtype), tensor.dtype)


@pytest.mark.parametrize("dtype", FACTORS)
class TestSomeIsRounded:
    def test_one_input_is_rounded(self, tf: Any, dtype: str) -> None:
        def function(x: Any, k: Any) -> Any:
            return x @ _rounded(tf, k, dtype)

        for seed in range(3):
            rng = np.random.default_rng(seed)
            x, k = rng.standard_normal((3, 4)), rng.standard_normal((4, 2))
            assert verdict(function, x, k, seed=seed) == "pass"
            wrong = planted(function, lambda gs: [gs[0], FACTORS[dtype] * gs[1]])
            assert verdict(wrong, x, k, seed=seed) == "mismatch"

    def test_part_of_an_input_is_rounded(self, tf: Any, dtype: str) -> None:
        def function(x: Any) -> Any:
            return tf.sin(x[:3]) * _rounded(tf, x[3:], dtype)

        wrong = planted(function, lambda gs: [FACTORS[dtype] * gs[0]])
        for seed in range(3):
            x = np.random.default_rng(seed).standard_normal(6)
            assert verdict(function, x, seed=seed) == "pass"
            assert verdict(wrong, x, seed=seed) == "mismatch"

    def test_a_result_on_the_way_is_rounded(self, tf: Any, dtype: str) -> None:
        def function(x: Any, k: Any) -> Any:
            return tf.tanh(_rounded(tf, x @ k, dtype))

        wrong = planted(function, lambda gs: [g * FACTORS[dtype] for g in gs])
        x, k = draw(3, 4), draw(4, 2)
        assert verdict(function, x, k) == "pass"
        assert verdict(wrong, x, k) == "mismatch"

    def test_a_gradient_that_the_rounding_loses(self, tf: Any, dtype: str) -> None:
        def function(x: Any, k: Any) -> Any:
            return x @ _rounded(tf, k, dtype)

        none = planted(function, lambda gs: [gs[0], 0 * gs[1]])
        assert verdict(none, draw(3, 4), draw(4, 2)) != "pass"


def test_what_one_sequence_settled_is_not_contested() -> None:
    estimate = Estimate.unknown(3)
    estimate.value[:], estimate.error[:] = 1.0, 1e-9
    estimate.finest[:], estimate.coarsest[:] = [1.0, 0.1, 0.1], 1.0
    claimed = np.array([2.0, 2.0, 1.0])
    assert contested(estimate, claimed).tolist() == [1]
    assert contested(estimate, claimed, rounds=True).tolist() == [0, 1]


@pytest.mark.parametrize("bits", [8, 11, 24])
def test_the_spacing_of_a_precision(bits: int) -> None:
    spacing = 2.0 ** (1 - bits)
    assert spacing_of(spacing * np.array([0.9, 1.1, 1.0, 40.0, np.nan])) == spacing
