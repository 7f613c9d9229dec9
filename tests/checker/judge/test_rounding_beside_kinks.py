"""Kinks at which one side cancels: its quotients over short steps agree, and are all off alike."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.checker.planted import with_gradient
from tests.checker.verdicts import verdict

SCALE, ALPHA = 1.0507009873554805, 1.6732632423543772


def _cases(tf: Any) -> dict[str, tuple[Any, float, float]]:
    """By name: a function with a kink at zero, and its slopes on the left and on the right."""
    return {
        "selu": (tf.nn.selu, SCALE * ALPHA, SCALE),
        "exp on the left": (lambda x: tf.where(x > 0, 0.5 * x, tf.exp(x) - 1), 1.0, 0.5),
        "exp on the right": (lambda x: tf.where(x > 0, tf.exp(x) - 1, 0.4 * x), 0.4, 1.0),
        "sizes": (lambda x: tf.abs(tf.exp(x) - 1), -1.0, 1.0),
        "relu": (lambda x: tf.nn.relu(tf.math.log(1 + x)), 0.0, 1.0),
        "max": (lambda x: tf.maximum(tf.cos(x), 1 - x), -1.0, 0.0),
        "far off": (lambda x: tf.where(x >= 0, 3 * x, (x + 1e3) - 1e3), 1.0, 3.0),
        "sine": (lambda x: tf.where(x >= 0, tf.sin(1 + x) - np.sin(1.0), 2 * x), 2.0, np.cos(1.0)),
    }


NAMES = ["selu", "exp on the left", "exp on the right", "sizes", "relu", "max", "far off", "sine"]


def _at_zero(tf: Any, function: Any, slope: float) -> Any:
    return with_gradient(function, lambda u, x: u * tf.where(x == 0, slope + 0 * x, 0 * x))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", NAMES)
def test_either_side_and_between_is_right(tf: Any, name: str, seed: int) -> None:
    function, left, right = _cases(tf)[name]
    for slope in (left, right, 0.3 * left + 0.7 * right):
        assert verdict(_at_zero(tf, function, slope), np.zeros(1), seed=seed) == "kink"


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", NAMES)
def test_beyond_them_is_wrong(tf: Any, name: str, seed: int) -> None:
    function, left, right = _cases(tf)[name]
    gap = 1e-4 * (right - left)
    for slope in (left - gap, right + gap):
        assert verdict(_at_zero(tf, function, slope), np.zeros(1), seed=seed) == "mismatch"
