"""Forward mode: the accumulator against the numeric derivative."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradcheck
from gradcheck.checker.api import describe
from gradcheck.checker.subject.accumulator import forward
from gradcheck.model import Verdict

X = np.array([1.0, 2.0, 3.0])


class TestForwardMode:
    def test_right(self, tf: Any) -> None:
        result = gradcheck.check(tf.tanh, X, checks=["forward"])
        assert result.verdict is Verdict.PASS
        assert result.comparisons[0].judged == 3

    @pytest.mark.parametrize("size", [3, 100])
    def test_wrong(self, tf: Any, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
        def wrong(*given: Any) -> list[Any]:
            return [move * (1 + 1e-6) for move in forward(*given)]

        monkeypatch.setattr("gradcheck.checker.forward.forward", wrong)
        result = gradcheck.check(tf.sin, np.linspace(0.5, 1, size), checks=["forward"])
        assert result.verdict is Verdict.MISMATCH, describe(result)

    def test_complex(self, tf: Any) -> None:
        assert gradcheck.check(tf.exp, X + 1j, checks=["forward"]).verdict is Verdict.PASS

    def test_two_inputs(self, tf: Any) -> None:
        result = gradcheck.check(tf.multiply, X, X, checks=["forward"])
        assert [c.name for c in result.comparisons] == ["x", "y"]
        assert result.verdict is Verdict.PASS
