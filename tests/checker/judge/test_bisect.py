"""One wrong element among thousands is found and named."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradcheck
from tests.checker.planted import planted

if TYPE_CHECKING:
    from gradcheck.model import Result

SIZE = 6000


def entangled(tf: Any) -> Any:
    """A function whose elements interfere, so that only a sample of them is moved."""
    return lambda x: tf.tanh(x) * tf.reduce_sum(x)


@cache
def wrong_at(where: int) -> Result:
    """What is found where one element is wrong by a hundredth, for all tests here."""
    import tensorflow as tf

    factor = np.ones(SIZE)
    factor[where] = 1.01
    wrong = planted(entangled(tf), lambda gs: [gs[0] * factor])
    return gradcheck.check(wrong, np.random.default_rng(0).uniform(0.1, 1.0, SIZE))


@pytest.mark.parametrize("where", [77, SIZE - 1])
def test_the_wrong_element_is_named(where: int) -> None:
    result = wrong_at(where)
    assert result.verdict == "mismatch"
    (comparison,) = result.comparisons
    assert comparison.worst_index == (where,)
    assert comparison.judged + comparison.directions < SIZE / 10
    worst = comparison.worst[0]
    assert worst.analytic == pytest.approx(1.01 * worst.numeric, rel=1e-9)


def test_the_figures_are_those_of_what_is_wrong() -> None:
    (one,) = wrong_at(SIZE - 1).comparisons
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
