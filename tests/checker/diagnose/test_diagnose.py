"""Each mistake that people make, planted in several functions: the report names it."""

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
    from gradcheck.model import Array, Diagnosis

Make = Callable[[Any], Callable[..., Any]]
"""From TensorFlow to a function with a wrong gradient."""


def draw(*shape: int) -> Array:
    return np.random.default_rng([len(shape), *shape]).standard_normal(shape)


def complex_(*shape: int) -> Array:
    return np.asarray(draw(*shape) + 1j * draw(*shape)[::-1])


@dataclass(frozen=True)
class Mistake:
    name: str
    make: Make
    inputs: tuple[Array, ...]
    where: int
    """The position of the input whose gradient is wrong."""
    cause: str
    words: tuple[str, ...]

    def __str__(self) -> str:
        return self.name


def keep_inside(gradient: Any, axes: tuple[int, ...]) -> Any:
    mask = np.ones(gradient.shape)
    for axis in axes:
        ends = np.moveaxis(mask, axis, 0)
        ends[0], ends[-1] = 0, 0
    return gradient * mask


MISTAKES = (
    Mistake(
        "sign of the second input",
        lambda tf: planted(tf.multiply, lambda g: [g[0], -g[1]]),
        (draw(3, 4), draw(3, 4)), 1, "sign", ("wrong sign", "agrees"),
    ),
    Mistake(
        "a factor among three inputs",
        lambda tf: planted(
            lambda a, b, c: a * b + tf.sin(c), lambda g: [g[0], g[1] * 2.5, g[2]]
        ),
        (draw(2, 3), draw(2, 3), draw(3)), 1, "factor", ("2.5 times too large", "agrees"),
    ),
    Mistake(
        "a factor in rank three",
        lambda tf: planted(tf.tanh, lambda g: [g[0] / 3]),
        (draw(2, 2, 2),), 0, "factor", ("3 times too small",),
    ),
    Mistake(
        "a transposed matrix",
        lambda tf: planted(tf.linalg.matmul, lambda g: [tf.transpose(g[0]), g[1]]),
        (draw(3, 3), draw(3, 2)), 0, "transposed", ("is transposed",),
    ),
    Mistake(
        "transposed matrices",
        lambda tf: planted(
            tf.linalg.matmul, lambda g: [g[0], tf.linalg.matrix_transpose(g[1])]
        ),
        (draw(2, 4, 3), draw(2, 3, 3)), 1, "transposed", ("is transposed",),
    ),
    Mistake(
        "permuted axes",
        lambda tf: planted(tf.sin, lambda g: [tf.transpose(g[0], [1, 2, 0])]),
        (draw(3, 3, 3),), 0, "permuted", ("wrong order: tf.transpose(…, [2, 0, 1])",),
    ),
    Mistake(
        "upstream ignored",
        lambda tf: with_gradient(tf.tanh, lambda _u, x: 1 - tf.tanh(x) ** 2),
        (draw(3, 4),), 0, "upstream", ("ignores the upstream", "fits to"),
    ),
    Mistake(
        "upstream ignored for one of two",
        lambda tf: with_gradient(
            tf.linalg.matmul,
            lambda u, a, b: (
                tf.matmul(tf.ones_like(u), b, transpose_b=True),
                tf.matmul(a, u, transpose_a=True),
            ),
        ),
        (draw(3, 4), draw(4, 2)), 0, "upstream", ("ignores the upstream",),
    ),
    Mistake(
        "broadcast axis averaged",
        lambda tf: with_gradient(tf.add, lambda u, _a, _b: (u, tf.reduce_mean(u, 0))),
        (draw(5, 3), draw(3)), 1, "factor", ("5 times too small", "averaged where it should be"),
    ),
    Mistake(
        "broadcast axis not summed",
        lambda tf: with_gradient(tf.multiply, lambda u, a, b: (u * b, (u * a)[0])),
        (draw(5, 3), draw(3)), 1, "upstream", ("first slice along axis 0", "to be summed"),
    ),
    Mistake(
        "swapped inputs",
        lambda tf: planted(lambda a, b: tf.sin(a) * b, lambda g: [g[1], g[0]]),
        (draw(4), draw(4) + 3), 1, "swapped", ("that of input0", "swapped"),
    ),
    Mistake(
        "a conjugate of the factor",
        lambda tf: with_gradient(tf.multiply, lambda u, a, b: (u * b, u * tf.math.conj(a))),
        (complex_(3), complex_(3) + 1), 0, "conjugate", ("lacks a conjugate", "fits to"),
    ),
    Mistake(
        "a conjugate in a product of matrices",
        lambda tf: with_gradient(
            tf.linalg.matmul,
            lambda u, a, b: (
                tf.matmul(u, b, adjoint_b=True),
                tf.matmul(a, u, transpose_a=True),
            ),
        ),
        (complex_(2, 3), complex_(3, 2)), 1, "conjugate", ("lacks a conjugate",),
    ),
    Mistake(
        "a conjugate of everything",
        lambda tf: planted(tf.exp, lambda g: [tf.math.conj(g[0])]),
        (complex_(2, 2),), 0, "conjugate", ("lacks a conjugate",),
    ),
    Mistake(
        "the factor x",
        lambda _tf: with_gradient(lambda x: x**3, lambda u, x: 3 * x * u),
        (draw(3, 4),), 0, "chain", ("lacks the factor x ", "agrees"),
    ),
    Mistake(
        "the factor 1/x",
        lambda tf: with_gradient(tf.math.log, lambda u, _x: u),
        (np.abs(draw(6)) + 0.5,), 0, "chain", ("has the factor x too much",),
    ),
    Mistake(
        "the factor 1-f",
        lambda tf: with_gradient(tf.sigmoid, lambda u, x: u * tf.sigmoid(x)),
        (draw(2, 3),), 0, "chain", ("lacks the factor 1−f(x)",),
    ),
    Mistake(
        "the factor f",
        lambda tf: with_gradient(tf.sigmoid, lambda u, x: u * (1 - tf.sigmoid(x))),
        (draw(2, 3),), 0, "chain", ("lacks the factor f(x)",),
    ),
    Mistake(
        "the other input as a factor",
        lambda tf: with_gradient(tf.multiply, lambda u, a, _b: (u, u * a)),
        (draw(3, 4), draw(3, 4) + 3), 0, "chain", ("lacks the factor input1",),
    ),
    Mistake(
        "a slice",
        lambda tf: planted(tf.tanh, lambda g: [g[0] * np.array([1, 1, 0.5])]),
        (draw(4, 3),), 0, "slice", ("index 2 of axis 1", "the others agree to"),
    ),
    Mistake(
        "two slices",
        lambda tf: planted(tf.tanh, lambda g: [g[0] * np.array([1, 1, 0.5, 0.5, 1])]),
        (draw(4, 5),), 0, "slice", ("at indices 2 and 3 of axis 1", "the others agree to"),
    ),
    Mistake(
        "both ends of an axis",
        lambda tf: planted(tf.tanh, lambda g: [keep_inside(g[0], (0,))]),
        (draw(5, 3),), 0, "border", ("border, along axis 0",),
    ),
    Mistake(
        "a straight-through estimator",
        lambda tf: with_gradient(tf.floor, lambda u, _x: u),
        (draw(2, 3),), 0, "constant", ("does not move", "straight-through"),
    ),
    Mistake(
        "the border of a matrix",
        lambda tf: planted(tf.tanh, lambda g: [keep_inside(g[0], (0, 1))]),
        (draw(6, 6),), 0, "border", ("border, along axes 0 and 1 (it is zero there)",),
    ),
    Mistake(
        "the border of images",
        lambda tf: planted(
            lambda x, w: tf.nn.conv2d(x, w, 1, "SAME"), lambda g: [keep_inside(g[0], (1, 2)), g[1]]
        ),
        (draw(1, 5, 5, 2), draw(3, 3, 2, 1)), 0, "border", ("border, along axes 1 and 2",),
    ),
    Mistake(
        "a masked region",
        lambda tf: planted(tf.tanh, lambda g: [g[0] * (draw(4, 5) > -0.5)]),
        (draw(4, 5)[::-1],), 0, "masked", ("are zero and should not be",),
    ),
    Mistake(
        "negative inputs",
        lambda tf: with_gradient(
            tf.tanh, lambda u, x: u * (1 - tf.tanh(x) ** 2) * tf.where(x < 0, 0.5 * u / u, u / u)
        ),
        (draw(4, 5),), 0, "condition", ("except where input0 < 0",),
    ),
    Mistake(
        "shifted around",
        lambda tf: planted(tf.cumsum, lambda g: [tf.roll(g[0], 1, 0)]),
        (draw(6),), 0, "shifted", ("shifted by one along axis 0",),
    ),
    Mistake(
        "shifted out",
        lambda tf: planted(
            tf.tanh, lambda g: [tf.concat([g[0][:, 1:], tf.zeros([2, 1], g[0].dtype)], 1)]
        ),
        (draw(2, 5),), 0, "shifted", ("shifted by one along axis 1",),
    ),
    Mistake(
        "one element",
        lambda tf: planted(tf.tanh, lambda g: [g[0] * np.array([1, 1, 1.1])]),
        (draw(3),), 0, "element", ("only the element [2]", "the others agree to"),
    ),
)  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES, ids=str)
def test_it_is_named(tf: Any, mistake: Mistake) -> None:
    result = gradcheck.check(mistake.make(tf), *mistake.inputs)
    diagnosis = result.comparisons[mistake.where].diagnosis
    assert diagnosis is not None, describe(result)
    assert (diagnosis.cause, result.verdict) == (mistake.cause, "mismatch"), diagnosis.text
    for words in mistake.words:
        assert words in diagnosis.text
    assert diagnosis.text in describe(result)


def only(function: Any, *inputs: Array, seed: int = 0) -> Diagnosis | None:
    result = gradcheck.check(function, *inputs, seed=seed)
    assert result.verdict == "mismatch"
    return result.diagnosis


@pytest.mark.parametrize("shape", [(5,), (3, 4), (2, 3, 3)])
def test_garbage_is_not_explained(tf: Any, shape: tuple[int, ...]) -> None:
    for seed in range(8):
        rng = np.random.default_rng(seed)
        garbage, x = rng.standard_normal(shape), rng.standard_normal(shape)
        assert only(planted(tf.tanh, lambda _g, g=garbage: [g]), x, seed=seed) is None  # type: ignore[misc]


def test_a_factor_of_nearly_one_does_not_explain_a_small_element_that_is_wrong(tf: Any) -> None:
    x = np.array([1.0, 2.0, 3.0, 4.0])
    size = np.array([1.0, 1e-9, 1.0, 1e-9])
    wrong = planted(lambda x: tf.sin(x) * size, lambda g: [g[0] * np.array([1, 3.0, 1, -2.0])])
    assert only(wrong, x) is None


@pytest.mark.parametrize(
    ("shape", "words"),
    [
        ((3,), "Spread it over the axes that the function reduces"),
        ((12,), "lacks a tf.reshape"),
        ((3, 4), "perhaps it is transposed"),
    ],
)
def test_a_gradient_of_another_shape(tf: Any, shape: tuple[int, ...], words: str) -> None:
    wrong = with_gradient(lambda x: tf.reduce_sum(x, 0), lambda _u, _x: tf.ones(shape, tf.float64))
    assert words in describe(gradcheck.check(wrong, draw(4, 3)))


def test_a_gradient_of_the_output_s_shape_is_to_be_summed(tf: Any) -> None:
    result = gradcheck.check(with_gradient(tf.add, lambda u, _a, _b: (u, u)), draw(5, 3), draw(3))
    assert result.verdict == "mismatch"
    assert "Sum it over the axes that the input was broadcast along" in describe(result)
