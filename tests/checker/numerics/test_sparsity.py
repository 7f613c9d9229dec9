"""Which coordinates are moved together, on functions whose pattern is known."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradcheck.checker.numerics.coordinates import Elements
from gradcheck.checker.numerics.differentiator import differentiate
from gradcheck.checker.numerics.estimate import Noise
from gradcheck.checker.numerics.mover import Mover
from gradcheck.checker.numerics.sparsity import Colouring, find_colouring
from tests.checker.numerics.smooth import Counted

if TYPE_CHECKING:
    from gradcheck.model import Array, Shape

Map = Callable[["Array"], "Array"]


def space_of(point: Array) -> Elements:
    count = len(point)
    everywhere = np.full(count, np.inf)
    return Elements(
        point=point,
        position=np.arange(count),
        unit=np.full(count, 0.5),
        reach=np.full(count, 0.5),
        room_down=everywhere,
        room_up=everywhere,
    )


def colour(function: Map, shapes: list[Shape], *, batched: bool = False) -> Colouring | None:
    sizes = [int(np.prod(shape)) for shape in shapes]
    point = np.random.default_rng(0).uniform(0.5, 1.0, size=sum(sizes))
    starts = np.cumsum([0, *sizes])
    inputs = [(np.arange(starts[i], starts[i + 1]), shape) for i, shape in enumerate(shapes)]
    rows = lambda points: np.stack([function(p) for p in points])  # noqa: E731  (a one-off)
    return find_colouring(rows, function(point), space_of(point), inputs, seed=0, batched=batched)


def assert_valid(colouring: Colouring, depends: Array) -> None:
    """No output depends on two coordinates of one colour, and owners are who they say."""
    for number, owner in enumerate(colouring.owner):
        members = np.flatnonzero(colouring.colour == number)
        assert (depends[:, members].sum(axis=1) <= 1).all()
        for output, coordinate in enumerate(owner):
            if depends[output, members].any():
                assert coordinate in members
                assert depends[output, coordinate]


def test_what_stands_still_has_a_bar_too() -> None:
    """A tanh that is one to all its digits has a derivative, which nobody can see."""
    point = np.where(np.arange(50) == 7, 20.0, 0.5)
    space, base = space_of(point), np.tanh(point)
    colouring = colour(np.tanh, [(50,)])
    assert colouring is not None
    found = differentiate(Mover(np.tanh, base, np.ones(50), Noise.ideal(base), space, colouring))
    true = 1 / np.cosh(point) ** 2
    assert (np.abs(found.numeric - true) <= found.bound).all()


def test_an_elementwise_function_takes_one_colour() -> None:
    colouring = colour(np.tanh, [(5, 7)])
    assert colouring is not None
    assert len(colouring.owner) == 1
    assert_valid(colouring, np.eye(35, dtype=bool))


def test_a_function_of_rows_takes_a_colour_per_element_of_a_row() -> None:
    def softmax(x: Array) -> Array:
        e = np.exp(x.reshape(6, 4))
        return np.asarray((e / e.sum(axis=1, keepdims=True)).ravel())

    colouring = colour(softmax, [(6, 4)])
    assert colouring is not None
    assert len(colouring.owner) == 4
    assert_valid(colouring, np.kron(np.eye(6), np.ones((4, 4))).astype(bool))


def test_a_product_of_matrices_takes_the_inner_size_twice() -> None:
    def product(x: Array) -> Array:
        return np.asarray((x[:20].reshape(4, 5) @ x[20:].reshape(5, 6)).ravel())

    colouring = colour(product, [(4, 5), (5, 6)])
    assert colouring is not None
    assert len(colouring.owner) == 10


def test_overlapping_windows_are_coloured_one_by_one() -> None:
    def windows(x: Array) -> Array:
        return np.asarray(x[:-2] * x[1:-1] * x[2:])

    colouring = colour(windows, [(40,)])
    assert colouring is not None
    assert len(colouring.owner) == 3
    pattern = np.array([[o <= i <= o + 2 for i in range(40)] for o in range(38)])
    assert_valid(colouring, pattern)


@pytest.mark.parametrize("batched", [True, False])
def test_where_all_depends_on_all_there_is_nothing_to_gain(batched: bool) -> None:
    assert (
        colour(lambda x: np.outer(x, np.ones(200)).cumsum(axis=0)[-1], [(90,)], batched=batched)
        is None
    )


def test_a_few_coordinates_are_not_worth_it() -> None:
    assert colour(np.tanh, [(4,)]) is None
    assert colour(np.tanh, [(64,)], batched=True) is None


@given(st.integers(0, 2**32 - 1), st.floats(0.01, 0.3))
def test_any_pattern_is_respected(seed: int, density: float) -> None:
    rng = np.random.default_rng(seed)
    depends = rng.random((12, 40)) < density
    weights = np.where(depends, rng.uniform(0.5, 2.0, depends.shape), 0.0)

    def function(x: Array) -> Array:
        return np.asarray(np.sin(weights @ x))

    colouring = colour(function, [(40,)])
    if colouring is not None:
        assert_valid(colouring, depends)


def test_moving_together_gives_what_moving_alone_gives() -> None:
    rng = np.random.default_rng(3)
    depends = rng.random((30, 50)) < 0.05
    weights = np.where(depends, rng.uniform(0.5, 2.0, depends.shape), 0.0)
    point = np.random.default_rng(0).uniform(0.5, 1.0, size=50)

    def function(x: Array) -> Array:
        return np.asarray(np.sin(weights @ x))

    def rows(points: Array) -> Array:
        return np.stack([function(p) for p in points])

    base, cotangent = function(point), rng.choice([-1.0, 1.0], size=30)
    space, noise = space_of(point), Noise.ideal(function(point))
    colouring = colour(function, [(50,)])
    assert colouring is not None
    few, many = Counted(rows), Counted(rows)
    one = differentiate(Mover(few, base, cotangent, noise, space, colouring))
    other = differentiate(Mover(many, base, cotangent, noise, space))
    assert few.points < many.points / 3
    expected = (cotangent * np.cos(weights @ point)) @ weights
    assert (np.abs(one.numeric - expected) <= 2 * one.bound + 1e-15).all()
    assert (np.abs(other.numeric - expected) <= 2 * other.bound + 1e-15).all()
