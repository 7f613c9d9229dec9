"""What looks wrong is looked at again with as few points as it takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from gradcheck.checker.numerics.choose_coordinates import choose
from gradcheck.checker.numerics.differentiator import differentiate
from gradcheck.checker.numerics.estimate import Noise
from gradcheck.checker.numerics.look_again import confirm
from gradcheck.checker.numerics.mover import Mover
from gradcheck.checker.numerics.vectors import Layout
from gradcheck.checker.subject.operand import Operand

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradcheck.model import Array

AT = np.array([0.3, 0.8, 1.7])


def looked_at(function: Callable[[Array], Array], claimed: Array) -> tuple[int, Array, Array]:
    """How many sequences of points it took; what is known then, and who is refuted."""
    asked: list[int] = []

    def counted(points: Array) -> Array:
        asked.append(len(points))
        return function(points)

    base = function(AT[np.newaxis])[0]
    space = choose([Operand("x", AT)], Layout.of([AT]), AT, 0, None).space
    mover = Mover(counted, base, np.ones(len(base)), Noise.ideal(base), space)
    best = differentiate(mover)
    asked.clear()
    found, refuted = confirm(mover, best, np.arange(len(AT)), claimed, rounds=True)
    # (The first one tells what depends on what.)
    return len(asked) - 1, found.numeric, refuted


@pytest.mark.parametrize("factor", [1.5, 1.0001, -1.0])
def test_what_is_plainly_wrong_takes_few_points(factor: float) -> None:
    sequences, numeric, refuted = looked_at(np.sin, factor * np.cos(AT))
    assert sequences == 2
    assert refuted.all()
    assert np.allclose(numeric, np.cos(AT), rtol=1e-10)


def test_what_short_steps_alone_show_is_looked_for() -> None:
    # A wave as short as this is nothing to steps that are longer, and all of the slope.
    def function(points: Array) -> Array:
        return np.asarray(np.sin(points) + 1e-7 * np.sin(1e7 * (points - AT)))

    claimed = np.cos(AT) + 1.0
    sequences, numeric, _ = looked_at(function, claimed)
    assert sequences > 2
    assert np.allclose(numeric, claimed, rtol=1e-4)
