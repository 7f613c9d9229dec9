"""Gradients that are wrong at one special point, each beside a right one that looks like it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.checker.planted import with_gradient

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
)  # fmt: skip  # fmt: skip
