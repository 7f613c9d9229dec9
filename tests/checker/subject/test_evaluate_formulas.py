"""What a spec claims and what an op declares, evaluated beside the tape."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradcheck.model import Verdict
from tests.checker.cases import run, values


class TestVerdicts:
    def test_mismatch_of_a_claim(self) -> None:
        result = run("op", "square", values("x", [1.0, 2.0]), gradient={"x": "3 * G * x"})
        assert result.verdict is Verdict.MISMATCH
        assert "the claimed gradient differs from the tape" in result.comparisons[0].note
        assert "the numeric derivative agrees with the tape" in result.comparisons[0].note

    def test_a_claim_of_another_shape(self) -> None:
        result = run("expr", "s * t", values("s", 2.0), values("t", [1.0, 2.0]),
                     gradient={"s": np.array([1.0, 2.0])})  # fmt: skip
        assert result.verdict is Verdict.MISMATCH
        assert "the claimed gradient has shape [2], but s has shape []" in (
            result.comparisons[0].note
        )

    @pytest.mark.parametrize("claim", ["2 * G * x", np.array([2.0, 4.0])])
    def test_a_claim_that_is_right(self, claim: Any) -> None:
        result = run("op", "square", values("x", [1.0, 2.0]), gradient={"x": claim},
                     upstream="ones")  # fmt: skip
        assert result.verdict is Verdict.PASS

    def test_a_claim_that_cannot_be_evaluated(self) -> None:
        result = run("op", "square", values("x", [1.0, 2.0]), gradient={"x": "G @ G[0]"})
        assert result.verdict is Verdict.ERROR
        assert result.comparisons[0].verdict is Verdict.ERROR
        assert "cannot be evaluated" in result.comparisons[0].note

    def test_a_claim_decides_where_the_numeric_derivative_cannot(self) -> None:
        text = "tf.linalg.det(tf.reshape(tf.sin(x) + 1e16, [1, 1]))"
        assert run("expr", text, values("x", [0.5])).verdict is Verdict.INCONCLUSIVE
        claimed = run("expr", text, values("x", [0.5]), gradient={"x": "G * cos(x)"})
        assert claimed.verdict is Verdict.PASS
        refused = run("expr", text, values("x", [0.5]), gradient={"x": "G * sin(x)"})
        assert refused.verdict is Verdict.MISMATCH
