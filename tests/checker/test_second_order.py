"""The gradient of a gradient."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradcheck
from gradcheck.checker.api import describe
from gradcheck.model import Verdict

X = np.array([1.0, 2.0, 3.0])


class TestSecondDerivatives:
    @pytest.mark.parametrize("name", ["tanh", "exp", "square"])
    def test_right(self, tf: Any, name: str) -> None:
        result = gradcheck.check(getattr(tf.math, name), X, checks=["second"])
        assert result.verdict is Verdict.PASS, describe(result)

    def test_wrong(self, tf: Any) -> None:
        @tf.custom_gradient  # type: ignore[untyped-decorator]  # no types in TF
        def cube(x: Any) -> Any:
            # The gradient is right, but what it depends on is hidden from its own gradient.
            return x**3, lambda g: g * 3 * tf.stop_gradient(x) * x

        assert gradcheck.check(cube, X).verdict is Verdict.PASS
        assert gradcheck.check(cube, X, checks=["second"]).verdict is Verdict.MISMATCH

    def test_none(self) -> None:
        result = gradcheck.check(lambda x: 2 * x, X, checks=["second"])
        assert result.verdict in (Verdict.DISCONNECTED, Verdict.PASS), describe(result)
        assert "please report" not in result.message
