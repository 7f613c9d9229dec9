"""Moving along coordinates, and projecting gradients onto them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradcheck.checker.numerics.coordinates import Directions, Elements, Partners, power_of_two


@given(st.floats(1e-300, 1e300))
def test_the_power_of_two_is_the_largest_not_above(value: float) -> None:
    power = float(power_of_two(np.array(value)))
    assert power <= value < 2 * power
    assert np.frexp(power)[0] == 0.5


def elements(precision: np.dtype[np.generic] | None = None) -> Elements:
    """Two elements by themselves, and one coordinate that moves both, to opposite sides."""
    point = np.array([1.0, 2.0])
    ones = np.ones(3)
    return Elements(
        point=point,
        position=np.array([0, 1, 0]),
        partners=Partners(np.array([0, 1, 1]), np.array([0.0, 0.0, -1.0])),
        unit=ones,
        reach=ones,
        room_down=ones,
        room_up=ones,
        precision=precision,
    )


def test_elements_move() -> None:
    points, moved = elements().points(np.array([0, 1, 2, 2]), np.array([0.5, -0.5, 0.25, -0.25]))
    assert points.tolist() == [[1.5, 2.0], [1.0, 1.5], [1.25, 1.75], [0.75, 2.25]]
    assert moved.tolist() == [0.5, -0.5, 0.25, -0.25]


def test_a_move_is_as_long_as_the_precision_makes_it() -> None:
    points, moved = elements(np.dtype(np.float16)).points(np.array([0]), np.array([0.3]))
    assert points[0, 0] == np.float64(np.float16(1.3))
    assert moved[0] == points[0, 0] - 1.0
    assert moved[0] != 0.3


def test_a_double_moves_by_what_it_can_represent() -> None:
    _, moved = elements().points(np.array([0]), np.array([2.0**-60]))
    assert moved[0] == 0.0


def test_a_gradient_along_coordinates() -> None:
    assert elements().project(np.array([3.0, 5.0])).tolist() == [3, 5, -2]
    assert elements().project_size(np.array([3.0, 5.0])).tolist() == [3, 5, 8]


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
def test_a_gradient_that_is_not_finite_stays_what_it_is(value: float) -> None:
    with np.errstate(all="ignore"):
        projected = elements().project(np.array([value, 5.0]))
    np.testing.assert_array_equal(projected[:2], [value, 5.0])


def test_directions_move_everything() -> None:
    ones = np.ones(1)
    space = Directions(
        point=np.array([1.0, 2.0]),
        vectors=np.array([[1.0, -2.0]]),
        unit=ones,
        reach=ones,
        room_down=ones,
        room_up=ones,
    )
    points, moved = space.points(np.array([0, 0]), np.array([0.5, -0.5]))
    assert points.tolist() == [[1.5, 1.0], [0.5, 3.0]]
    assert moved.tolist() == [0.5, -0.5]
    assert space.project(np.array([3.0, 5.0])).tolist() == [-7]
    assert space.project_size(np.array([3.0, 5.0])).tolist() == [13]
