"""What one sequence of steps tells, from moves made by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from gradcheck.checker.numerics.estimate import Moves
from gradcheck.checker.numerics.step_sequence import as_claimed, judge

if TYPE_CHECKING:
    from collections.abc import Callable


def moves(function: Callable[[float], float], x: float, steps: int) -> Moves:
    """One coordinate moved up and down by halving steps, with noise in the last digit."""
    ladder = 0.1 * 0.5 ** np.arange(steps)[np.newaxis]
    right = np.array([[function(x + h) - function(x) for h in ladder[0]]])
    left = np.array([[function(x - h) - function(x) for h in ladder[0]]])
    noise = np.full(ladder.shape, 1e-15)
    return Moves(ladder[:, 0], right, left, ladder, -ladder, np.abs(right), noise)


def test_one_step_settles_a_line_that_is_claimed() -> None:
    line = moves(lambda x: 3 * x, 0.5, 1)
    told, settled = as_claimed(line, np.array([3.0]))
    assert settled.all()
    assert told.numeric == pytest.approx(3.0)
    _, settled = as_claimed(line, np.array([3.0 + 1e-9]))
    assert not settled.any()


def test_one_step_settles_no_curve() -> None:
    _, settled = as_claimed(moves(lambda x: x**3, 0.5, 1), np.array([0.75]))
    assert not settled.any()


def test_four_steps_are_extrapolated() -> None:
    told = judge(moves(np.sin, 0.5, 4))
    assert not told.kink.any()
    assert np.abs(told.numeric - np.cos(0.5)) <= told.bound
    assert told.bound < 1e-10
