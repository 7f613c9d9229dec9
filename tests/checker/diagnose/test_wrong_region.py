"""Gradients that are right but in some region."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradcheck
from tests.checker.diagnose.mistakes import Mistake, draw, must_be_named
from tests.checker.planted import at, cause, first, planted, run, subject, with_gradient


def keep_inside(gradient: Any, axes: tuple[int, ...]) -> Any:
    mask = np.ones(gradient.shape)
    for axis in axes:
        ends = np.moveaxis(mask, axis, 0)
        ends[0], ends[-1] = 0, 0
    return gradient * mask


MISTAKES = (
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
        "one element",
        lambda tf: planted(tf.tanh, lambda g: [g[0] * np.array([1, 1, 1.1])]),
        (draw(3),), 0, "element", ("only the element [2]", "the others agree to"),
    ),
)  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES, ids=str)
def test_it_is_named(tf: Any, mistake: Mistake) -> None:
    must_be_named(tf, mistake)


class TestDiagnosis:
    def test_one_element(self) -> None:
        result = run(subject("tanh"), first(lambda g: at(g, (1, 2), 1.5)), "float64")
        assert cause(result) == "element"
        assert result.diagnosis is not None
        assert "[1, 2]" in result.diagnosis.text

    def test_a_border(self) -> None:
        def change(g: Any) -> Any:
            mask = np.zeros(g.shape)
            mask[:, 1:-1, 1:-1] = 1
            return g * mask

        result = run(subject("conv2d"), first(change), "float64")
        assert result.verdict == "mismatch"

    def test_masked(self) -> None:
        mask = np.random.default_rng(0).random((3, 4)) < 0.7
        result = run(subject("tanh"), first(lambda g: g * mask.astype(float)), "float64")
        assert cause(result) == "masked"


class TestSpecialPoints:
    def test_a_repeated_index(self) -> None:
        import tensorflow as tf

        indices = tf.constant([0, 1, 1])
        function = with_gradient(
            lambda x: tf.gather(x, indices),
            lambda g, x: tf.tensor_scatter_nd_update(tf.zeros_like(x), indices[:, None], g),
        )
        result = gradcheck.check(function, np.array([1.0, 2.0, 3.0]))
        assert cause(result) == "element"
        assert result.comparisons[0].worst_index == (1,)
        assert gradcheck.check(lambda x: tf.gather(x, indices), np.ones(3)).verdict == "pass"

    def test_a_condition_is_not_taken_for_the_indices_at_which_it_holds(self) -> None:
        import tensorflow as tf

        # In this order, what is negative comes first.
        function = with_gradient(tf.nn.leaky_relu, lambda g, x: tf.where(x < 0, 0.1 * g, g))
        result = gradcheck.check(function, np.linspace(-2.1, 2.5, 6))
        assert cause(result) == "condition"

    def test_nor_indices_for_a_condition(self) -> None:
        import tensorflow as tf

        function = planted(tf.tanh, first(lambda g: g * np.array([0.5, 0.5, 1, 1, 1, 1])))
        result = gradcheck.check(function, np.array([-2.0, -1.0, 1.0, 2.0, 3.0, 4.0]))
        assert cause(result) == "slice"
