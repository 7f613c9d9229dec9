"""What is added to something huge leaves nothing of itself: a bar knows what was added."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradcheck
from gradcheck.checker.api import describe
from tests.checker.planted import planted
from tests.checker.verdicts import verdict

if TYPE_CHECKING:
    from gradcheck.model import Array

SUMS: dict[str, tuple[Any, tuple[int, ...]]] = {
    "sobel_edges": (lambda tf: tf.image.sobel_edges, (1, 2, 2, 1)),
    "segment_sum": (lambda tf: lambda x: tf.math.segment_sum(x, [0, 0, 1, 1, 1]), (5,)),
    "unsorted_segment_sum": (
        lambda tf: lambda x: tf.math.unsorted_segment_sum(x, [0, 1, 0, 1, 0], 2),
        (5,),
    ),
    "a sum along an axis": (lambda tf: lambda x: tf.reduce_sum(x, axis=0), (3, 2)),
    "add_n": (lambda tf: lambda x: tf.add_n(tf.unstack(x)), (4,)),
    "a product of matrices": (
        lambda tf: lambda x: x @ tf.constant([[1.0], [1.0], [2.0], [1.0]], x.dtype),
        (2, 4),
    ),
    "a convolution": (
        lambda tf: lambda x: tf.nn.conv2d(x, np.ones((2, 2, 1, 1)), 1, "SAME"),
        (1, 3, 3, 1),
    ),
    "cumsum": (lambda tf: tf.cumsum, (5,)),
    "a spectrum": (lambda tf: tf.signal.rfft, (4,)),
    "row by row": (lambda tf: lambda x: tf.map_fn(tf.reduce_sum, x), (2, 3)),
}


def points(shape: tuple[int, ...], big: float) -> list[Array]:
    """Ones, one of them huge; and numbers of many sizes of which two that are huge cancel."""
    rng, found = np.random.default_rng(0), []
    for place in range(4):
        ones, mixed = np.ones(shape), 10.0 ** rng.integers(-5, 5, shape)
        ones.flat[place] = mixed.flat[place] = big
        mixed.flat[-1] = -big
        found += [ones, mixed]
    return found


def bars_have_the_truth(function: Any, at: Array) -> None:
    """The function is linear, and its gradient the derivative: whoever says else has a bar."""
    result = gradcheck.check(function, at)
    assert result.verdict in ("pass", "inconclusive"), describe(result)
    (own,) = result.comparisons
    assert own.analytic is not None
    assert own.numeric is not None
    assert own.bound is not None
    off = np.abs(own.analytic - own.numeric)
    assert (off <= 2 * own.bound + 1e-12 * np.abs(own.analytic).max()).all(), describe(result)


@pytest.mark.parametrize("big", [1e17, 1e100])
@pytest.mark.parametrize("name", SUMS)
def test_what_is_added_to_what_is_huge(tf: Any, name: str, big: float) -> None:
    make, shape = SUMS[name]
    for at in points(shape, big):
        bars_have_the_truth(make(tf), at)


@pytest.mark.parametrize("name", ["sobel_edges", "segment_sum", "a sum along an axis", "add_n"])
def test_what_is_added_to_what_is_huge_in_forward_mode(tf: Any, name: str) -> None:
    make, shape = SUMS[name]
    for at in points(shape, 1e17):
        assert verdict(make(tf), at, checks="forward") in ("pass", "inconclusive")


@pytest.mark.parametrize("big", [1e17, 1e100])
def test_what_is_added_where_values_are_looked_at(tf: Any, big: float) -> None:
    def edges(x: Any) -> Any:
        return tf.image.sobel_edges(x) if float(x[0, 0, 0, 0]) != 0.1 else x

    for at in points((1, 2, 2, 1), big):
        if at.flat[0] > 0:
            bars_have_the_truth(edges, at)


def test_a_gradient_that_looks_at_values_stands_still(tf: Any) -> None:
    told = gradcheck.check(
        lambda a: tf.linspace(a, a * 2, 4), np.array([0.3, 0.8]), checks="second"
    )
    assert told.verdict == "pass", describe(told)


def test_a_jump_is_no_rounding(tf: Any) -> None:
    def clipped(x: Any) -> Any:
        return tf.clip_by_value(x, -0.5, 1.0)

    told = gradcheck.check(clipped, np.array([2.0, 1.0, 0.3]), checks="second")
    assert told.verdict == "kink", describe(told)


def test_what_is_added_where_nobody_sees_it(tf: Any) -> None:
    @tf.custom_gradient  # type: ignore[untyped-decorator]
    def total(x: Any) -> tuple[Any, Any]:
        y = tf.numpy_function(lambda a: np.array([a[:2].sum(), a[2:].sum()]), [x], x.dtype)
        return tf.ensure_shape(y, [2]), lambda g: tf.repeat(g, [2, 3])

    for at in points((5,), 1e17):
        bars_have_the_truth(total, at)


@pytest.mark.parametrize("name", SUMS)
def test_a_wrong_gradient_beside_what_is_huge(tf: Any, name: str) -> None:
    make, shape = SUMS[name]
    at = np.ones(shape)
    at.flat[0] = 1e17
    own = np.zeros(shape)
    own.flat[0] = 1e-3  # at the huge one, which shows

    wrong = planted(make(tf), lambda gs: [gs[0] + own])
    assert verdict(wrong, at) == "mismatch"


def test_what_is_huge_hides_nothing_of_another_sum(tf: Any) -> None:
    at = np.array([[1.0, 1e17, 2.0], [0.3, 0.7, -0.2]])
    wrong = planted(lambda x: tf.reduce_sum(x, axis=1), lambda gs: [gs[0] * [[1], [1 + 1e-6]]])
    assert verdict(wrong, at) == "mismatch"
    stands_still = planted(lambda x: tf.reduce_sum(x, axis=1), lambda gs: [gs[0] * [[1], [0]]])
    assert verdict(stands_still, at) == "mismatch"
