"""Gradients of the other side, beside a switch that is but some last digits away."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.checker.planted import with_gradient
from tests.checker.verdicts import verdict

GAPS = [1e-3, 1e-6, 1e-9, 1e-12, 4e-15]
"""Relative to where the switch is."""


def _cases(tf: Any) -> dict[str, tuple[Any, Any, Any, float]]:
    """By name: the function, its slopes below and above a switch, and where that is."""

    return {
        "exp of relu": (
            lambda x: tf.exp(tf.nn.relu(x - 1.0)),
            lambda x: 0 * x,
            lambda x: tf.exp(x - 1.0),
            1.0,
        ),
        "clip, squared": (
            lambda x: tf.clip_by_value(x, tf.cast(0, x.dtype), tf.cast(1, x.dtype)) ** 2,
            lambda x: 2 * x,
            lambda x: 0 * x,
            1.0,
        ),
        "leaky, far off": (
            lambda x: tf.maximum(x - 100.5, 0.2 * (x - 100.5)),
            lambda x: 0 * x + 0.2,
            lambda x: 0 * x + 1,
            100.5,
        ),
        "where": (
            lambda x: tf.where(x < 3.0, x * x, 9.0 + 2.0 * (x - 3.0)),
            lambda x: 2 * x,
            lambda x: 0 * x + 2,
            3.0,
        ),
    }


NAMES = ["exp of relu", "clip, squared", "leaky, far off", "where"]


@pytest.mark.parametrize("gap", GAPS)
@pytest.mark.parametrize("name", NAMES)
def test_beside_a_switch(tf: Any, name: str, gap: float) -> None:
    function, below, above, place = _cases(tf)[name]
    for at, other in ((place * (1 - gap), above), (place * (1 + gap), below)):
        wrong = with_gradient(function, lambda u, x, other=other: u * other(x))
        assert verdict(function, np.array([at, 0.25 * at])) == "pass"
        assert verdict(wrong, np.array([at])) == "mismatch"


@pytest.mark.parametrize("name", NAMES)
def test_at_the_switch_either_side_will_do(tf: Any, name: str) -> None:
    function, below, above, place = _cases(tf)[name]
    for slope in (below, above):
        right = with_gradient(function, lambda u, x, slope=slope: u * slope(x))
        assert verdict(right, np.array([place])) == "kink"
