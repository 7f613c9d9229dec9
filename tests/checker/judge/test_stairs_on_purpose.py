"""Functions that quantise on purpose: between their steps the derivative is zero, and known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradcheck
from tests.checker.planted import with_gradient
from tests.checker.verdicts import draw, verdict

POINTS = [
    [-0.372217, -0.268655, -0.147446],
    [0.27392337, -0.46042657, -0.91805295],
    [0.02364325, 0.90092739, -0.71168077],
    [0.61000585, 0.61588158, 0.03065112],
]


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_straight_through_quantiser(tf: Any, point: list[float], dtype: str) -> None:
    def quantised(x: Any) -> Any:
        return x + tf.stop_gradient(tf.round(8 * x) / 8 - x)

    (comparison,) = gradcheck.check(quantised, np.array(point, dtype)).comparisons
    assert comparison.verdict == "mismatch"
    assert "rounds inside" not in comparison.note
    assert comparison.diagnosis is not None
    assert "straight-through" in comparison.diagnosis.text


@pytest.mark.parametrize("levels", [100.0, 2.0**7])
def test_fine_levels_are_levels_too(tf: Any, levels: float) -> None:
    stairs = with_gradient(lambda x: tf.round(x * levels) / levels, lambda g, _: g)
    assert verdict(stairs, draw(6)) == "mismatch"
    flat = with_gradient(lambda x: tf.round(x * levels) / levels, lambda g, _: 0 * g)
    assert verdict(flat, draw(6)) == "pass"


def test_through_whole_numbers(tf: Any) -> None:
    def quantised(x: Any) -> Any:
        whole = tf.cast(tf.cast(8 * x, tf.int32), x.dtype)
        return x + tf.stop_gradient(whole / 8 - x)

    assert verdict(quantised, np.array(POINTS[1])) == "mismatch"


def test_a_quantiser_of_float32_alone_is_told_what_to_say(tf: Any) -> None:
    def quantised(x: Any) -> Any:
        return tf.quantization.fake_quant_with_min_max_args(x, -6.0, 6.0)

    for x in ([0.3], [0.3, -1.2, 2.5]):
        (own,) = gradcheck.check(quantised, np.array(x, np.float32)).comparisons
        assert own.verdict == "inconclusive"
        assert "say `expect: inconclusive` and why" in own.note
