"""Kinks that are near the point and not at it: the function is smooth there, and judged so."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.checker.planted import planted
from tests.checker.verdicts import verdict

GAPS = [1e-7, 1e-6, 1e-5, 1e-3]


def _functions(tf: Any) -> dict[str, Any]:
    return {
        "reduce_max": tf.reduce_max,
        "top_k": lambda x: tf.math.top_k(x, 2).values,
        "minimum": lambda x: tf.minimum(x, tf.roll(x, 1, 0)),
        "abs": lambda x: tf.abs(x[0] - x[1]),
        "relu": lambda x: tf.nn.relu(x[1] - x[0]),
    }


@pytest.mark.parametrize("gap", GAPS)
@pytest.mark.parametrize("name", ["reduce_max", "top_k", "minimum", "abs", "relu"])
def test_beside_a_tie(tf: Any, name: str, gap: float) -> None:
    function = _functions(tf)[name]
    half = planted(function, lambda gs: [0.5 * gs[0]])
    for at in (np.array([1, 1 + gap, 0.5]), np.array([0.7 - gap, 0.7 + gap, 0.3])):
        assert verdict(function, at) == "pass"
        assert verdict(half, at) == "mismatch"


@pytest.mark.parametrize("gap", [3e-7, 1e-4])
def test_below_what_is_cut_off(tf: Any, gap: float) -> None:
    def cut(x: Any) -> Any:
        return tf.nn.relu(x - 1.0)

    at = np.array([0.5, 1 - gap, 0.4])
    assert verdict(cut, at) == "pass"
    assert verdict(planted(cut, lambda gs: [gs[0] + 0.5]), at) == "mismatch"
