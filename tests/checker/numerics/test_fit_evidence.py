"""Functions that round some of what they are given, while the rest is float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradcheck.checker.numerics.estimate import Estimate
from gradcheck.checker.numerics.fit_evidence import contested, is_of_floats, spacing_of
from gradcheck.checker.numerics.fitted import Fitted
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

    def test_what_is_rounded_meets_what_is_not(self, tf: Any, dtype: str) -> None:
        """Along the same element the function has a slope, and stairs under it."""

        def function(x: Any, w: Any) -> Any:
            total = tf.reduce_sum(x * w, axis=-1, keepdims=True)
            return tf.sigmoid(_rounded(tf, total, dtype)) * x

        wrong = planted(function, lambda gs: [g * FACTORS[dtype] for g in gs])
        for seed in range(3):
            rng = np.random.default_rng([seed, 7])
            x, w = rng.standard_normal((3, 4)), rng.standard_normal(4)
            assert verdict(function, x, w, seed=seed) == "pass"
            assert verdict(wrong, x, w, seed=seed) == "mismatch"

    def test_what_is_rounded_moves_by_less_than_the_input(self, tf: Any, dtype: str) -> None:
        def function(logits: Any, target: Any) -> Any:
            logs = _rounded(tf, tf.nn.log_softmax(logits), dtype)
            return -tf.reduce_sum(tf.nn.softmax(target) * logs, axis=-1)

        wrong = planted(function, lambda gs: [g * FACTORS[dtype] for g in gs])
        for seed in range(3):
            rng = np.random.default_rng([seed, 8])
            logits, target = rng.standard_normal((2, 4)), rng.standard_normal((2, 4))
            assert verdict(function, logits, target, seed=seed) == "pass"
            assert verdict(wrong, logits, target, seed=seed) == "mismatch"

    def test_one_factor_is_small(self, tf: Any, dtype: str) -> None:
        """Along the weights that it meets few steps are climbed."""

        def function(x: Any, k: Any) -> Any:
            return tf.tanh(_rounded(tf, x @ k, dtype))

        wrong = planted(function, lambda gs: [g * FACTORS[dtype] for g in gs])
        for seed in range(3):
            rng = np.random.default_rng([seed, 9])
            x, k = rng.standard_normal((3, 4)), rng.standard_normal((4, 2))
            x[:, 0] *= 0.03
            assert verdict(function, x, k, seed=seed) == "pass"
            assert verdict(wrong, x, k, seed=seed) == "mismatch"

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


def test_the_spacing_is_that_of_a_precision_which_was_seen() -> None:
    quantum = np.array([2.0**-8, 2.0**-7])
    assert spacing_of(quantum) == 2.0**-7
    assert spacing_of(quantum, {"float16"}) == 2.0**-10
    assert spacing_of(quantum, {"float16", "bfloat16"}) == 2.0**-7


def test_stairs_are_coarser_than_the_precision_inside() -> None:
    told, all_ = Fitted.unknown(2, 1), np.ones(2, dtype=bool)
    told.quantum[:] = 0.04
    assert is_of_floats(told, all_, {"bfloat16"})
    assert not is_of_floats(told, all_, {"float32"})
    assert not is_of_floats(told, all_, frozenset())
