"""One wrong element among thousands is found and named."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradcheck
from tests.checker.planted import planted

SIZE = 6000


def entangled(tf: Any) -> Any:
    """A function whose elements interfere, so that only a sample of them is moved."""
    return lambda x: tf.tanh(x) * tf.reduce_sum(x)


@pytest.mark.parametrize("where", [0, 77, SIZE - 1])
def test_the_wrong_element_is_named(tf: Any, where: int) -> None:
    factor = np.ones(SIZE)
    factor[where] = 1.01
    wrong = planted(entangled(tf), lambda gs: [gs[0] * factor])
    result = gradcheck.check(wrong, np.random.default_rng(0).uniform(0.1, 1.0, SIZE))
    assert result.verdict == "mismatch"
    (comparison,) = result.comparisons
    assert comparison.worst_index == (where,)
    assert comparison.judged + comparison.directions < SIZE / 10
    worst = comparison.worst[0]
    assert worst.analytic == pytest.approx(1.01 * worst.numeric, rel=1e-9)


def test_the_figures_are_those_of_what_is_wrong(tf: Any) -> None:
    x = np.random.default_rng(0).uniform(0.1, 1.0, SIZE)
    factor = np.ones(SIZE)
    factor[SIZE - 1] = 1.01
    result = gradcheck.check(planted(entangled(tf), lambda gs: [gs[0] * factor]), x)
    (one,) = result.comparisons
    assert one.decided_by == "random directions"
    assert one.max_abs_error is not None
    assert one.max_rel_error == pytest.approx(0.01, rel=0.02)
    assert one.max_abs_error == pytest.approx(abs(one.worst[0].analytic - one.worst[0].numeric))
    assert one.error_bar is not None
    assert one.max_abs_error > 100 * one.error_bar


def test_a_right_one_passes(tf: Any) -> None:
    result = gradcheck.check(entangled(tf), np.random.default_rng(0).uniform(0.1, 1.0, SIZE))
    assert result.verdict == "pass"
    assert result.comparisons[0].directions > 0
