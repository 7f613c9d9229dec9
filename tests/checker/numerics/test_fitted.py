"""When what a fit leaves counts as rounding."""

from __future__ import annotations

import numpy as np

from gradcheck.checker.numerics.choose_coordinates import choose
from gradcheck.checker.numerics.fitted import Fitted, Rough
from gradcheck.checker.numerics.vectors import Layout
from tests.checker.numerics.smooth import Input


def told(share: list[float], scatter: list[float]) -> Fitted:
    fitted = Fitted.unknown(len(share), 1)
    fitted.estimate.error[:] = 1.0
    fitted.share[:], fitted.scatter[:] = share, scatter
    return fitted


def test_what_scatters_by_as_much_as_it_moves_is_no_rounding() -> None:
    assert not told([0.5, 0.3], [1.0, 1.0]).rounds.any()


def test_unless_it_rounds_so_along_others() -> None:
    assert told([1e-3, 0.3, 0.3], [1.0, 1.5, 30.0]).rounds.tolist() == [True, True, False]


def test_what_double_precision_rounds_off_is_none() -> None:
    assert not told([1e-13, 1e-12], [1.0, 1.0]).rounds.any()


def test_nothing_is_known_at_first() -> None:
    assert not Fitted.unknown(2, 1).known.any()


def test_a_function_that_refuses_huge_moves_may_depend_on_everything() -> None:
    def refuses(points: np.ndarray) -> np.ndarray:
        raise ValueError

    x = np.ones(2)
    space = choose([Input()], Layout.of([x]), x, 0, None).space
    rough = Rough(refuses, x, x, x, space)
    assert rough.dependents(np.arange(2)).all()
