"""Kinks at a point, and switches beside it, however near."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from gradcheck.checker.numerics.differentiator import differentiate
from gradcheck.checker.numerics.switches import beside_switches
from tests.checker.numerics.smooth import allowed, mover

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradcheck.checker.numerics.estimate import Estimate
    from gradcheck.model import Array

GAPS = [1e-3, 1e-5, 1e-7, 1e-9, 1e-11, 1e-13, 3e-15]


def found(function: Callable[[Array], Array], *point: float) -> Estimate:
    with np.errstate(all="ignore"):
        moves = mover(function, np.array(point))
        return beside_switches(moves, differentiate(moves))[0]


@pytest.mark.parametrize("gap", GAPS)
@pytest.mark.parametrize("outputs", ["each", "their sum"])
def test_beside_a_switch(gap: float, outputs: str) -> None:
    def function(points: Array) -> Array:
        each = np.exp(np.maximum(points - 1, 0.5 - 0.5 * points))
        return np.asarray(each if outputs == "each" else each.sum(axis=1, keepdims=True))

    told = found(function, 1 - gap, 1 + gap, 0.3)
    truth = np.array([-0.5 * np.exp(gap / 2), np.exp(gap), -0.5 * np.exp(0.35)])
    assert not told.kink.any()
    assert (np.abs(told.numeric - truth) <= allowed(told)).all()
    assert (told.bound < 1e-6).all()


@pytest.mark.parametrize("offset", [0.0, 0.3, 100.3, 12345.6])
def test_at_a_kink(offset: float) -> None:
    told = found(lambda p: np.tanh(np.abs(1.7 * p - 1.7 * offset)) + 0.3 * p, offset, offset + 1)
    assert told.kink.tolist() == [True, False]


@pytest.mark.parametrize("gap", [1e-4, 1e-8, 1e-10])
def test_between_two_switches(gap: float) -> None:
    # A slope of its own between two of others.
    told = found(lambda p: np.maximum(np.maximum(-p, 0.5 * (p + 2 * gap)), 3 * p), 0.1 * gap)
    assert np.abs(told.numeric[0] - 0.5) <= allowed(told)[0]
    assert told.bound[0] < 1e-3


def test_a_jump_beside_the_point() -> None:
    told = found(lambda p: np.where(p > 1, 5 + 3 * p, p), 1 - 1e-9)
    assert not told.kink[0] or not np.isfinite(told.bound[0])
    assert np.abs(told.numeric[0] - 1) <= allowed(told)[0]


def test_switches_are_looked_for_in_one_call() -> None:
    calls: list[int] = []

    def function(points: Array) -> Array:
        calls.append(len(points))
        return np.abs(points)

    with np.errstate(all="ignore"):
        moves = mover(function, np.array([0.0, 0.3]))
        estimate = differentiate(moves)
        calls.clear()
        beside_switches(moves, estimate)
    assert len(calls) == 1
