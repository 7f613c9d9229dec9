"""Functions that raise beside the point of the check."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradcheck
from gradcheck.checker.subject.raising_points import RaisingPoints
from gradcheck.checker.subject.row_function import OneByOne
from tests.checker.planted import planted

if TYPE_CHECKING:
    from gradcheck.model import Array


def checked_root(tf: Any) -> Any:
    """A function that refuses what is not in its domain, as those of libraries do."""

    def function(x: Any) -> Any:
        tf.debugging.assert_non_negative(x)
        return tf.reshape(x * tf.sqrt(x), (3,))

    return function


@pytest.mark.parametrize("x", [[0.5, 1.0, 1.5], [1e-3, 1.0, 2.0], [1e-9, 1.0, 1e9]])
def test_what_raises_beside_the_point_is_not_defined_there(tf: Any, x: list[float]) -> None:
    root = checked_root(tf)
    assert gradcheck.check(root, np.array(x)).verdict == "pass"
    wrong = planted(root, lambda gs: [1.001 * gs[0]])
    assert gradcheck.check(wrong, np.array(x)).verdict == "mismatch"


def test_at_the_edge_of_its_domain(tf: Any) -> None:
    result = gradcheck.check(checked_root(tf), np.array([0.0, 1.0, 2.0]))
    assert result.verdict in ("pass", "kink", "inconclusive"), result


def test_what_raises_from_some_call_on_is_an_error(tf: Any) -> None:
    calls = 0

    def breaks(x: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls > 3:
            raise OSError("the file is gone")
        return tf.reshape(tf.sin(x) * float(x[0]), (3,))

    result = gradcheck.check(breaks, np.array([0.5, 1.0, 1.5]))
    assert result.verdict == "error"
    assert "the file is gone" in result.message


def test_points_that_raise_are_found_by_halving() -> None:
    asked: list[int] = []
    single = 0

    def together(points: Array) -> Array:
        asked.append(len(points))
        if (points < 0).any():
            raise ValueError
        return np.asarray(points**2)

    def alone(points: Array) -> Array:
        nonlocal single
        single += len(points)
        return np.where(points < 0, np.nan, points**2)

    points = np.arange(64.0)[:, np.newaxis]
    points[[5, *range(40, 48)]] = -1.0
    found = RaisingPoints(np.ones(1), 1).outputs(points, together, alone)
    np.testing.assert_array_equal(found, alone(points))
    assert len(asked) < 40
    assert single == 64 + 4  # (those that were seen, and this test's own)


def test_a_batch_that_fits_nowhere() -> None:
    def together(points: Array) -> Array:
        raise ValueError(len(points))

    with pytest.raises(OneByOne):
        RaisingPoints(np.ones(1), 1).outputs(np.ones((4, 1)), together, together)
