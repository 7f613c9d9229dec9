"""The inputs of a case, given or drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradcheck.model import Sample, Verdict
from tests.checker.cases import run, shape, values


class TestInputs:
    def test_the_seed_decides_the_values(self) -> None:
        def element(seed: int) -> Any:
            (comparison,) = run("op", "square", shape("x", 3), seed=seed).comparisons
            return comparison.worst[0].value

        assert element(1) == element(1)
        assert element(1) != element(2)

    def test_another_input_does_not_change_this_one(self) -> None:
        # With the sum of squares the gradient tells the values.
        alone = run("expr", "tf.reduce_sum(a * a)", shape("a", 3), upstream="ones")
        text = "tf.reduce_sum(a * a) + tf.reduce_sum(b)"
        both = run("expr", text, shape("b", 3), shape("a", 3), upstream="ones")
        assert both.comparisons[1].name == "a"
        np.testing.assert_array_equal(
            np.asarray(alone.comparisons[0].analytic), np.asarray(both.comparisons[1].analytic)
        )

    def test_constants_are_not_differentiated(self) -> None:
        result = run("op", "matmul", shape("a", 2, 3), shape("b", 3, 4, grad=False))
        assert [c.name for c in result.comparisons] == ["a"]

    def test_variables(self) -> None:
        result = run(
            "op", "gather", shape("params", 4, variable=True), values("indices", [0, 2, 2])
        )
        assert result.verdict is Verdict.PASS

    @pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16", "complex64"])
    def test_dtypes(self, dtype: str) -> None:
        result = run("op", "square", shape("x", 3), dtype=dtype)
        assert result.verdict is Verdict.PASS
        assert result.comparisons[0].dtype == dtype

    def test_samples(self) -> None:
        result = run("op", "log", shape("x", 3, sample=Sample("uniform", (2.0, 3.0))))
        assert result.verdict is Verdict.PASS
        assert 2 <= float(np.real(result.comparisons[0].worst[0].value)) <= 3

    @pytest.mark.parametrize(
        ("sample", "text"),
        [("spd", "tf.linalg.cholesky(a)"), ("symmetric", "tf.linalg.eigvalsh(a)")],
    )
    def test_symmetric_samples_are_moved_as_such(self, sample: str, text: str) -> None:
        result = run("expr", text, shape("a", 3, 3, sample=Sample(sample)))
        assert result.verdict is Verdict.PASS
