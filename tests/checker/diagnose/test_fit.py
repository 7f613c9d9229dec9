"""When a suspect explains a gradient, and when the right derivative does as well."""

from __future__ import annotations

import numpy as np
import pytest

import gradcheck
from tests.checker.planted import cause, first, planted, subject


class TestDiagnosis:
    @pytest.mark.parametrize("name", ["tanh", "broadcast add"])
    def test_a_small_error_is_not_taken_for_something_grand(self, name: str) -> None:
        # What the mistakes above would give is here what is right.
        which = subject(name)
        change = first(lambda g: g + 1e-7 * np.arange(1.0, 1 + np.size(g)).reshape(g.shape) ** 2)
        result = gradcheck.check(planted(which.function, change), *which.inputs, upstream="ones")
        assert result.verdict == "mismatch"
        assert cause(result) is None
