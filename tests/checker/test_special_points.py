"""Gradients that are wrong at one special point, each beside a right one that looks like it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradcheck
from gradcheck.checker.api import describe
from tests.checker.planted import planted, with_gradient

if TYPE_CHECKING:
    from gradcheck.model import Array

Make = Callable[[Any], Callable[..., Any]]
"""From TensorFlow to a function."""


def draw(*shape: int) -> Array:
    return np.random.default_rng([7, *shape]).standard_normal(shape)


@dataclass(frozen=True)
class Special:
    """Two gradients that differ at one point: the wrong one and the right one."""

    name: str
    wrong: Make
    right: Make
    inputs: tuple[Array, ...]
    special: tuple[tuple[int, ...], ...]
    """Where the first input's gradient is wrong, and nowhere else."""
    verdict: str = "pass"
    """Of the right one."""

    def __str__(self) -> str:
        return self.name


def choice(take_first: Any, take_second: Any) -> Callable[..., Any]:
    """The gradient of an elementwise choice between two inputs."""

    def gradient(u: Any, a: Any, b: Any) -> Any:
        import tensorflow as tf

        return u * tf.cast(take_first(a, b), u.dtype), u * tf.cast(take_second(a, b), u.dtype)

    return gradient


def distance(tf: Any, at_zero: float) -> Callable[..., Any]:
    """The distance of two points, its gradient at equal ones a direction of this length."""

    def gradient(u: Any, a: Any, b: Any) -> Any:
        length = tf.norm(a - b)
        safe = tf.where(length > 0, length, tf.ones_like(length))
        away = tf.where(length > 0, (a - b) / safe, tf.fill(a.shape, tf.cast(at_zero, a.dtype)))
        return u * away, -u * away

    return with_gradient(lambda a, b: tf.norm(a - b), gradient)


def at_zero(tf: Any, forward: Any, slope: Any, value: float) -> Callable[..., Any]:
    """A function with this slope, and another value of it at 0."""
    return with_gradient(
        forward,
        lambda u, x: u * tf.where(x == 0, tf.cast(value, x.dtype), slope(tf.where(x == 0, 1.0, x))),
    )


def guarded(tf: Any, x: Any) -> Any:
    """(eˣ - 1)/x, and 1 at 0."""
    safe = tf.where(x == 0, tf.ones_like(x), x)
    return tf.where(x == 0, tf.ones_like(x), tf.math.expm1(safe) / safe)


def guarded_slope(tf: Any, x: Any) -> Any:
    return (x * tf.exp(x) - tf.math.expm1(x)) / x**2


def overwritten(tf: Any, shape: tuple[int, ...], indices: list[int], g: Any) -> Any:
    """What remains where each index is written, rather than added to."""
    places = tf.constant(indices)[:, tf.newaxis]
    return tf.tensor_scatter_nd_update(tf.zeros(shape, g.dtype), places, g)


def added(tf: Any, shape: tuple[int, ...], indices: list[int], g: Any) -> Any:
    return tf.scatter_nd(tf.constant(indices)[:, tf.newaxis], g, shape)


def only_the_last(indices: list[int]) -> Array:
    """1 at the last place of each index, 0 where the index comes again."""
    return np.array([float(i not in indices[k + 1 :]) for k, i in enumerate(indices)])


REPEATED = [0, 2, 3, 2]
BAG, FLAT = [[0, 2], [2, 3]], [0, 2, 2, 3]
SEGMENTS = [0, 0, 1, 3]
TIED = (np.array([1.0, 2.0, 3.0]), np.array([1.0, 3.0, 2.0]))

SPECIAL = (
    Special(
        "maximum, a tie as 0 and 0",
        lambda tf: with_gradient(tf.maximum, choice(lambda a, b: a > b, lambda a, b: b > a)),
        lambda tf: with_gradient(tf.maximum, choice(lambda a, b: a > b, lambda a, b: b >= a)),
        TIED, ((0,),), "kink",
    ),
    Special(
        "minimum, a tie as 1 and 1",
        lambda tf: with_gradient(tf.minimum, choice(lambda a, b: a <= b, lambda a, b: b <= a)),
        lambda tf: with_gradient(tf.minimum, choice(lambda a, b: a <= b, lambda a, b: b < a)),
        TIED, ((0,),), "kink",
    ),
    Special(
        "the largest, a tie counted twice",
        lambda tf: with_gradient(
            tf.reduce_max, lambda u, x: u * tf.cast(x == tf.reduce_max(x), x.dtype)
        ),
        lambda tf: tf.reduce_max,
        (np.array([1.0, 2.5, -1.0, 2.5]),), ((1,), (3,)), "kink",
    ),
    Special(
        "a distance of equal points, too long",
        lambda tf: distance(tf, 1.5), lambda tf: distance(tf, 0.0),
        (np.ones(3), np.ones(3)), ((0,), (1,), (2,)), "kink",
    ),
    Special(
        "a squared distance of equal points",
        lambda tf: with_gradient(
            tf.math.squared_difference,
            lambda u, a, b: (
                u * tf.where(a == b, tf.ones_like(a), 2 * (a - b)),
                u * tf.where(a == b, -tf.ones_like(a), 2 * (b - a)),
            ),
        ),
        lambda tf: with_gradient(
            tf.math.squared_difference, lambda u, a, b: (2 * u * (a - b), 2 * u * (b - a))
        ),
        (np.array([1.0, 2.0, -3.0]), np.array([1.5, 2.0, 3.0])), ((1,),),
    ),
    Special(
        "a product of equal inputs",
        lambda tf: with_gradient(
            tf.multiply,
            lambda u, a, b: (u * b * tf.where(a == b, tf.cast(2.0, a.dtype), 1.0), u * a),
        ),
        lambda tf: with_gradient(tf.multiply, lambda u, a, b: (u * b, u * a)),
        (np.array([1.0, 2.0, -3.0]), np.array([1.5, 2.0, 3.0])), ((1,),),
    ),
    Special(
        "x·|x| at 0",
        lambda tf: at_zero(tf, lambda x: x * tf.abs(x), lambda x: 2 * tf.abs(x), 1.0),
        lambda tf: at_zero(tf, lambda x: x * tf.abs(x), lambda x: 2 * tf.abs(x), 0.0),
        (np.array([-1.0, 0.0, 2.0]),), ((1,),),
    ),
    Special(
        "a guarded quotient at 0",
        lambda tf: at_zero(
            tf, lambda x: guarded(tf, x), lambda x: guarded_slope(tf, x), 0.0
        ),
        lambda tf: at_zero(
            tf, lambda x: guarded(tf, x), lambda x: guarded_slope(tf, x), 0.5
        ),
        (np.array([-1.0, 0.0, 2.0, 0.5]),), ((1,),),
    ),
    Special(
        "tanh at 0",
        lambda tf: at_zero(tf, tf.tanh, lambda x: 1 - tf.tanh(x) ** 2, 1 - 1e-6),
        lambda tf: at_zero(tf, tf.tanh, lambda x: 1 - tf.tanh(x) ** 2, 1.0),
        (np.array([-1.0, 2.0, 0.0]),), ((2,),),
    ),
    Special(
        "relu at 0, outside of its slopes",
        lambda tf: at_zero(tf, tf.nn.relu, lambda x: tf.where(x > 0, x / x, 0 * x), -0.1),
        lambda tf: at_zero(tf, tf.nn.relu, lambda x: tf.where(x > 0, x / x, 0 * x), 0.5),
        (np.array([-1.0, 2.0, 0.0]),), ((2,),), "kink",
    ),
    Special(
        "gather",
        lambda tf: with_gradient(
            lambda x: tf.gather(x, REPEATED), lambda u, _x: overwritten(tf, (5,), REPEATED, u)
        ),
        lambda tf: with_gradient(
            lambda x: tf.gather(x, REPEATED), lambda u, _x: added(tf, (5,), REPEATED, u)
        ),
        (draw(5),), ((2,),),
    ),
    Special(
        "gather, as slices",
        lambda tf: with_gradient(
            lambda x: tf.gather(x, REPEATED),
            lambda u, _x: tf.IndexedSlices(
                u * only_the_last(REPEATED), tf.constant(REPEATED), tf.constant([5])
            ),
        ),
        lambda tf: with_gradient(
            lambda x: tf.gather(x, REPEATED),
            lambda u, _x: tf.IndexedSlices(u, tf.constant(REPEATED), tf.constant([5])),
        ),
        (draw(5),), ((2,),),
    ),
    Special(
        "a bag of embeddings",
        lambda tf: with_gradient(
            lambda x: tf.reduce_sum(tf.nn.embedding_lookup(x, BAG), 1),
            lambda u, _x: overwritten(tf, (4, 2), FLAT, tf.repeat(u, 2, 0)),
        ),
        lambda tf: with_gradient(
            lambda x: tf.reduce_sum(tf.nn.embedding_lookup(x, BAG), 1),
            lambda u, _x: added(tf, (4, 2), FLAT, tf.repeat(u, 2, 0)),
        ),
        (draw(4, 2),), ((2, 0), (2, 1)),
    ),
    Special(
        "scatter_nd",
        lambda tf: with_gradient(
            lambda x: added(tf, (5,), REPEATED, x),
            lambda u, _x: tf.gather(u, REPEATED) * only_the_last(REPEATED),
        ),
        lambda tf: with_gradient(
            lambda x: added(tf, (5,), REPEATED, x), lambda u, _x: tf.gather(u, REPEATED)
        ),
        (draw(4),), ((1,),),
    ),
    Special(
        "segment_sum",
        lambda tf: with_gradient(
            lambda x: tf.math.segment_sum(x, tf.constant(SEGMENTS)),
            lambda u, _x: tf.gather(u, SEGMENTS) * only_the_last(SEGMENTS),
        ),
        lambda tf: with_gradient(
            lambda x: tf.math.segment_sum(x, tf.constant(SEGMENTS)),
            lambda u, _x: tf.gather(u, SEGMENTS),
        ),
        (draw(4),), ((0,),),
    ),
)  # fmt: skip


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("special", SPECIAL, ids=str)
class TestOnePoint:
    def test_the_wrong_one_is_a_mismatch_there(self, tf: Any, special: Special, dtype: str) -> None:
        inputs = [x.astype(dtype) for x in special.inputs]
        result = gradcheck.check(special.wrong(tf), *inputs)
        first = result.comparisons[0]
        assert result.verdict == first.verdict == "mismatch", describe(result)
        assert {element.index for element in first.worst} == set(special.special)
        assert first.failing == len(special.special)
        assert first.diagnosis is not None or len(special.special) == first.elements

    def test_the_right_one_is_not(self, tf: Any, special: Special, dtype: str) -> None:
        inputs = [x.astype(dtype) for x in special.inputs]
        result = gradcheck.check(special.right(tf), *inputs)
        assert result.verdict == special.verdict, describe(result)


ELSEWHERE = [s for s in SPECIAL if "at 0" in s.name or s.inputs[0] is TIED[0]]
"""Where it is a matter of values, and of some elements only."""


@pytest.mark.parametrize("special", ELSEWHERE, ids=str)
def test_elsewhere_the_wrong_one_is_right(tf: Any, special: Special) -> None:
    inputs = [x + 0.3 * (k + 1) for k, x in enumerate(special.inputs)]
    assert gradcheck.check(special.wrong(tf), *inputs).verdict == "pass"


class TestTies:
    """What elements that tie do together: TensorFlow's own choices add up, whatever they are."""

    TIES: dict[str, tuple[Make, tuple[Array, ...]]] = {  # noqa: RUF012
        "maximum": (lambda tf: tf.maximum, TIED),
        "minimum": (lambda tf: tf.minimum, TIED),
        "equal inputs": (lambda tf: tf.maximum, (np.ones(4), np.ones(4))),
        "broadcast": (lambda tf: tf.maximum, (np.array([[1.0, 2.0], [0.0, 1.0]]), np.ones(2))),
        "the distance": (lambda tf: lambda a, b: tf.abs(a - b), TIED),
        "reduce_max": (lambda tf: tf.reduce_max, (np.array([[1.0, 3.0], [3.0, 3.0]]),)),
        "reduce_min": (lambda tf: tf.reduce_min, (np.array([1.0, 1.0, 2.0]),)),
        "sort": (lambda tf: tf.sort, (np.array([2.0, 1.0, 2.0, 3.0, 1.0]),)),
        "top_k": (lambda tf: lambda x: tf.math.top_k(x, 2)[0], (np.array([1.0, 2.0, 2.0, 0.0]),)),
        "segment_max": (
            lambda tf: lambda x: tf.math.segment_max(x, [0, 0, 1, 1]),
            (np.array([1.0, 1.0, 2.0, 1.0]),),
        ),
        "max_pool": (
            lambda tf: lambda x: tf.nn.max_pool1d(x, 2, 1, "VALID"),
            (np.array([1.0, 1.0, 0.0, 0.0, 1.0]).reshape(1, 5, 1),),
        ),
        "clip at its limit": (
            lambda tf: tf.clip_by_value, (np.array([0.0, 1.0]), np.array(0.0), np.array(1.0))
        ),
        "many zeros": (lambda tf: tf.nn.relu, (np.zeros(6),)),
        "many zeros, summed": (lambda tf: lambda x: tf.reduce_sum(tf.abs(x)), (np.zeros(6),)),
        "leaky": (lambda tf: tf.nn.leaky_relu, (np.zeros(5),)),
        "two limits": (lambda tf: tf.nn.relu6, (np.array([0.0, 6.0, 0.0, 6.0]),)),
    }  # fmt: skip

    @pytest.mark.parametrize("seed", range(4))
    @pytest.mark.parametrize("name", TIES)
    def test_no_false_alarm(self, tf: Any, name: str, seed: int) -> None:
        make, inputs = self.TIES[name]
        result = gradcheck.check(make(tf), *inputs, seed=seed)
        assert result.verdict == "kink", describe(result)

    def test_the_report_says_what_does_not_add_up(self, tf: Any) -> None:
        zeros = with_gradient(tf.maximum, choice(lambda a, b: a > b, lambda a, b: b > a))
        result = gradcheck.check(zeros, *TIED, upstream="ones")
        causes = [c.diagnosis.cause for c in result.comparisons if c.diagnosis]
        assert causes == ["tie", "tie"]
        assert "2 tied elements" in describe(result)
        assert "the derivative is 1 ±" in describe(result)
        assert "theirs add up to 0" in describe(result)
        assert [c.max_abs_error for c in result.comparisons] == pytest.approx([1.0, 1.0])

    @pytest.mark.parametrize("error", [1e-8, 1e-3, 0.5])
    def test_a_share_too_small(self, tf: Any, error: float) -> None:
        wrong = planted(tf.reduce_max, lambda gs: [gs[0] * (1 - error)])
        # (All of it is wrong, but no element alone: half of the upstream lies between the sides.)
        result = gradcheck.check(wrong, np.array([2.0, 1.0, 2.0]))
        assert result.verdict == "mismatch"
        assert result.diagnosis is not None
        assert result.diagnosis.cause == "tie"

    def test_a_tie_of_three_is_never_a_mismatch(self, tf: Any) -> None:
        # The one in the middle has a gradient that is on neither side of any of them.
        seen = set()
        for seed in range(6):
            result = gradcheck.check(tf.sort, np.array([2.0, 2.0, 2.0]), seed=seed)
            seen.add(str(result.verdict))
            if result.verdict == "inconclusive":
                assert "more than two elements tie" in describe(result)
        assert seen == {"kink", "inconclusive"}


@pytest.mark.parametrize("wrong", [False, True])
@pytest.mark.parametrize("results", ["differ by nothing", "are rounded alike"])
def test_a_fault_where_two_results_are_equal(tf: Any, results: str, wrong: bool) -> None:
    def gradient(u: Any, a: Any, b: Any) -> Any:
        equal = a - b == 0 if results == "differ by nothing" else tf.exp(a) == tf.exp(b)
        factor = tf.where(equal, tf.cast(3.0 if wrong else 2.0, u.dtype), tf.cast(2.0, u.dtype))
        return u * factor * a, u * tf.ones_like(b)

    function = with_gradient(lambda a, b: a * a + b, gradient)
    result = gradcheck.check(function, np.array([1.5, 0.3]), np.array([1.5, 0.7]))
    first, second = result.comparisons
    assert second.verdict == "pass"
    if not wrong:
        assert first.verdict == "pass", describe(result)
        return
    # (Two exponentials that round differently are no longer equal, and the fault is gone with that.
    # But it is far larger than any rounding.)
    assert first.worst_index == (0,)
    assert first.verdict == "mismatch", describe(result)
