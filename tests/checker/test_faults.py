"""Faults planted in correct gradients: each is caught, and named where it has a name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradcheck
from gradcheck import Verdict
from tests.checker.planted import DTYPES, at, cause, first, run, subject, subjects

SUBJECTS = [
    "tanh", "multiply", "broadcast add", "matmul", "softmax", "reduce_mean", "logsumexp",
    "conv2d", "gather", "einsum", "solve", "layer norm",
]  # fmt: skip
COMPLEX = [
    "tanh", "multiply", "broadcast add", "matmul", "reduce_mean", "gather", "einsum", "solve",
]  # fmt: skip
HEAVY = ["conv2d", "einsum", "layer norm"]
"""Functions of many elements: their diagnosis takes longest, and one precision shows it."""
EVERY = [
    (name, dtype)
    for name in SUBJECTS
    for dtype in DTYPES
    if "complex" not in dtype or name in COMPLEX
]

LIGHT = [(name, dtype) for name, dtype in EVERY if dtype == "float64" or name not in HEAVY]


def test_the_lists_above_are_complete() -> None:
    assert [s.name for s in subjects()] == SUBJECTS
    assert [s.name for s in subjects() if s.takes_complex] == COMPLEX


class TestOnEveryFunction:
    @pytest.mark.parametrize(("name", "dtype"), EVERY)
    def test_the_right_gradient_passes(self, name: str, dtype: str) -> None:
        result = run(subject(name), lambda gradients: gradients, dtype)
        assert result.verdict == "pass", gradcheck.checker.api.describe(result)

    @pytest.mark.parametrize(("name", "dtype"), EVERY)
    def test_all_of_it_too_large_by_a_hundred_millionth(self, name: str, dtype: str) -> None:
        result = run(subject(name), first(lambda g: g * (1 + 1e-8)), dtype)
        # In float32 the factor is one: what is left is a formula that is wrong in float64.
        assert result.verdict == "mismatch"

    @pytest.mark.parametrize(("name", "dtype"), EVERY)
    def test_its_largest_element_too_large_by_a_hundred_millionth(
        self, name: str, dtype: str
    ) -> None:
        which = subject(name)
        right = gradcheck.check(which.function, *which.cast(dtype)).comparisons[0]
        assert right.numeric is not None
        index = np.unravel_index(np.argmax(np.abs(right.numeric)), right.shape)
        place = tuple(int(i) for i in index)
        result = run(which, first(lambda g: at(g, place, 1 + 1e-8)), dtype)
        assert result.verdict == "mismatch"
        assert result.comparisons[0].worst_index == place
        if "complex" not in dtype:
            assert result.comparisons[0].failing == 1

    @pytest.mark.parametrize(("name", "dtype"), LIGHT)
    def test_wrong_sign(self, name: str, dtype: str) -> None:
        assert cause(run(subject(name), first(lambda g: -g), dtype)) == "sign"

    @pytest.mark.parametrize(("name", "dtype"), LIGHT)
    def test_zero(self, name: str, dtype: str) -> None:
        assert cause(run(subject(name), first(lambda g: 0 * g), dtype)) == "zero"

    @pytest.mark.parametrize("name", SUBJECTS)
    def test_nan_at_one_element(self, name: str) -> None:
        result = run(subject(name), first(lambda g: at(g, (0,) * g.ndim, np.nan)), "float64")
        assert result.verdict == "nonfinite"
        assert result.comparisons[0].worst_index == (0,) * len(result.comparisons[0].shape)
        assert result.comparisons[0].failing == 1

    @pytest.mark.parametrize("name", SUBJECTS)
    def test_infinity_at_one_element(self, name: str) -> None:
        def change(g: Any) -> Any:
            import tensorflow as tf

            infinite = tf.constant(np.inf, g.dtype)
            return tf.where(at(tf.ones_like(g), (0,) * g.ndim, 0.0) == 0, infinite, g)

        result = run(subject(name), first(change), "float64")
        assert result.verdict == "nonfinite"

    @pytest.mark.parametrize("name", SUBJECTS)
    def test_none(self, name: str) -> None:
        import tensorflow as tf

        which = subject(name)

        def function(x: Any, *others: Any) -> Any:
            return which.function(tf.stop_gradient(x), *others)

        result = gradcheck.check(function, *which.inputs)
        assert result.verdict == "disconnected"
        assert [c.verdict for c in result.comparisons] == [
            Verdict.DISCONNECTED,
            *[Verdict.PASS] * (len(which.inputs) - 1),
        ]
        assert "does move" in result.comparisons[0].note

    @pytest.mark.parametrize("dtype", DTYPES)
    @pytest.mark.parametrize("name", ["tanh", "multiply", "gather"])
    def test_a_zero_in_a_slice(self, name: str, dtype: str) -> None:
        def change(g: Any) -> Any:
            mask = np.ones(g.shape)
            mask[2] = 0
            return g * mask.astype(g.dtype.as_numpy_dtype)

        result = run(subject(name), first(change), dtype)
        assert cause(result) == "slice"
        assert result.diagnosis is not None
        assert "index 2 of axis 0 (it is zero there)" in result.diagnosis.text

    @pytest.mark.parametrize("dtype", DTYPES)
    @pytest.mark.parametrize("name", ["tanh", "multiply", "gather", "matmul"])
    def test_shifted_by_one(self, name: str, dtype: str) -> None:
        import tensorflow as tf

        result = run(subject(name), first(lambda g: tf.roll(g, 1, axis=0)), dtype)
        assert cause(result) == "shifted"
