"""Which coordinates are moved: structure, domains, budgets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from gradcheck.checker import limits
from gradcheck.checker.numerics.choose_coordinates import Coordinates, Sampling, choose
from gradcheck.checker.numerics.vectors import Layout
from gradcheck.checker.subject.operand import Operand
from tests.checker.planted import planted
from tests.checker.verdicts import draw, verdict

if TYPE_CHECKING:
    from gradcheck.checker.numerics.coordinates import Directions
    from gradcheck.model import Array


def chosen(*operands: Operand, seed: int = 0) -> Coordinates:
    layout = Layout.of([o.value for o in operands])
    point = layout.flatten([o.value for o in operands])
    sample = Sampling(limits.BUDGET, limits.SAMPLED)
    return choose(operands, layout, point, seed, None, sample=sample)


def directions_of(coordinates: Coordinates) -> Directions:
    assert coordinates.directions is not None
    return coordinates.directions


def moves(coordinates: Coordinates) -> Array:
    """The point after each coordinate moved by one, minus the point."""
    space = coordinates.space
    columns = np.arange(len(coordinates.element))
    return space.points(columns, np.ones(len(columns)))[0] - space.point


def test_every_element_by_itself() -> None:
    coordinates = chosen(Operand("a", np.ones((2, 2))), Operand("b", np.ones(3)))
    np.testing.assert_array_equal(moves(coordinates), np.eye(7))
    assert coordinates.parts[0].columns.tolist() == [0, 1, 2, 3]
    assert coordinates.parts[1].columns.tolist() == [4, 5, 6]
    assert coordinates.element.tolist() == [0, 1, 2, 3, 0, 1, 2]
    assert not any(len(part.directions) for part in coordinates.parts)


def test_real_and_imaginary_parts_by_themselves() -> None:
    coordinates = chosen(Operand("a", np.ones(2, np.complex128)))
    np.testing.assert_array_equal(moves(coordinates), np.eye(4))


@pytest.mark.parametrize("batch", [(), (2,)])
def test_symmetric_matrices_stay_symmetric(batch: tuple[int, ...]) -> None:
    value = np.ones((*batch, 3, 3))
    coordinates = chosen(Operand("a", value, structure="symmetric"))
    moved = moves(coordinates).reshape(-1, *value.shape)
    np.testing.assert_array_equal(moved, np.swapaxes(moved, -1, -2))
    assert len(moved) == 6 * value.size // 9
    assert np.linalg.matrix_rank(moved.reshape(len(moved), -1)) == len(moved)


def test_hermitian_matrices_stay_hermitian() -> None:
    value = np.eye(3, dtype=np.complex128)
    coordinates = chosen(Operand("a", value, structure="symmetric"))
    moved = np.ascontiguousarray(moves(coordinates)).view(np.complex128).reshape(-1, 3, 3)
    np.testing.assert_array_equal(moved, np.conj(np.swapaxes(moved, -1, -2)))
    assert len(moved) == 9


@pytest.mark.parametrize(("dtype", "count"), [(np.float64, 6), (np.complex128, 12)])
def test_triangles_stay_triangles(dtype: type, count: int) -> None:
    coordinates = chosen(Operand("a", np.eye(3, dtype=dtype), structure="lower"))
    moved = moves(coordinates)
    if dtype is np.complex128:
        moved = np.ascontiguousarray(moved).view(np.complex128)
    moved = moved.reshape(-1, 3, 3)
    np.testing.assert_array_equal(moved, np.tril(moved))
    assert len(moved) == count


def test_beyond_the_budget_a_sample_and_directions() -> None:
    value = np.random.default_rng(0).standard_normal(limits.BUDGET + 1)
    coordinates = chosen(Operand("a", value), Operand("b", np.ones(2)))
    assert len(coordinates.parts[0].columns) == limits.SAMPLED
    assert len(coordinates.parts[1].columns) == 2
    assert len(set(coordinates.element[coordinates.parts[0].columns])) == limits.SAMPLED
    vectors = directions_of(coordinates).vectors
    assert [len(part.directions) for part in coordinates.parts] == [limits.DIRECTIONS, 0]
    assert (vectors[:, :-2] != 0).all()
    assert (vectors[:, -2:] == 0).all()
    signs = np.sign(vectors[:, :-2])
    assert np.abs(signs.mean(axis=1)).max() < 0.1
    assert len({tuple(row) for row in signs[:, :64]}) == limits.DIRECTIONS


def test_the_budget_itself_is_moved_element_by_element() -> None:
    coordinates = chosen(Operand("a", np.ones(limits.BUDGET)))
    assert len(coordinates.element) == limits.BUDGET
    assert not any(len(part.directions) for part in coordinates.parts)


def test_the_seed_decides_the_sample() -> None:
    operand = Operand("a", np.ones(limits.BUDGET + 1))
    first, again, other = (chosen(operand, seed=seed) for seed in (0, 0, 1))
    assert first.element.tolist() == again.element.tolist()
    assert first.element.tolist() != other.element.tolist()


def test_each_element_has_a_unit_of_its_own_size() -> None:
    value = np.array([1e-12, -3.0, 1e12, 0.0])
    coordinates = chosen(Operand("a", value))
    unit = coordinates.space.unit
    assert (unit[:3] <= np.abs(value[:3])).all()
    assert (2 * unit[:3] > np.abs(value[:3])).all()
    # Zero has no size: it takes that of the others.
    assert unit[3] == 2.0


def test_infinite_elements_do_not_spoil_the_others() -> None:
    with np.errstate(invalid="ignore"):
        coordinates = chosen(Operand("a", np.array([np.inf, np.nan, 5.0])))
    assert coordinates.space.unit.tolist() == [4.0, 4.0, 4.0]


def test_room_is_what_is_left_of_the_domain() -> None:
    coordinates = chosen(Operand("a", np.array([0.0, 0.25, 1.0]), low=0.0, high=1.0))
    assert coordinates.space.room_down.tolist() == [0.0, 0.25, 1.0]
    assert coordinates.space.room_up.tolist() == [1.0, 0.75, 0.0]


def test_a_direction_ends_where_its_first_element_leaves() -> None:
    value = np.full(limits.BUDGET + 1, 0.5)
    value[7] = 0.125
    coordinates = chosen(Operand("a", value, low=0.0, high=1.0))
    directions = directions_of(coordinates)
    for room, sign in ((directions.room_up, 1.0), (directions.room_down, -1.0)):
        end = value + sign * room[:, np.newaxis] * directions.vectors
        assert end.min() >= -1e-15
        assert end.max() <= 1 + 1e-15
        assert ((np.abs(end) < 1e-12) | (np.abs(end - 1) < 1e-12)).any(axis=1).all()


class TestMagnitudes:
    DECADES = 10.0 ** np.arange(-10, 11)

    @pytest.mark.parametrize("name", ["square", "log", "sqrt", "reciprocal"])
    def test_twenty_decades_in_one_input(self, tf: Any, name: str) -> None:
        function = getattr(tf.math, name)
        assert verdict(function, self.DECADES) == "pass"
        for position in (0, 10, 20):
            factor = np.ones(21)
            factor[position] = 1 + 1e-8
            wrong = planted(function, lambda gs, f=factor: [gs[0] * f])  # type: ignore[misc]
            assert verdict(wrong, self.DECADES) == "mismatch"

    def test_a_product_of_twenty_decades(self, tf: Any) -> None:
        assert verdict(tf.reduce_prod, self.DECADES) == "pass"

    def test_a_sum_over_twenty_decades_hides_the_small_ones(self, tf: Any) -> None:
        found = verdict(lambda x: tf.reduce_sum(x * x), self.DECADES)
        assert found in ("pass", "inconclusive")

    @pytest.mark.parametrize("scale", [1e-200, 1e-100, 1e100, 1e300])
    def test_inputs_of_any_size(self, scale: float) -> None:
        assert verdict(lambda x: x * 2.0, draw(3) * scale) == "pass"

    def test_inputs_next_to_the_largest_number(self) -> None:
        assert verdict(lambda x: x / 2, np.array([1.7e308])) == "pass"

    def test_subnormal_inputs(self) -> None:
        assert verdict(lambda x: x * 2.0, np.array([1e-310])) in ("pass", "inconclusive")

    def test_zero_as_the_only_input(self, tf: Any) -> None:
        assert verdict(tf.square, 0.0) == "pass"
        assert verdict(tf.sin, np.zeros(3)) == "pass"
