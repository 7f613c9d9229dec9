"""Each mistake that people make, planted in several functions: the report names it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradcheck
from tests.checker.diagnose.mistakes import Mistake, complex_, draw, must_be_named
from tests.checker.planted import cause, first, planted, run, subject, with_gradient

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradcheck.model import Array, Diagnosis


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
        "broadcast axis averaged",
        lambda tf: with_gradient(tf.add, lambda u, _a, _b: (u, tf.reduce_mean(u, 0))),
        (draw(5, 3), draw(3)), 1, "factor", ("5 times too small", "averaged where it should be"),
    ),
    Mistake(
        "a conjugate of everything",
        lambda tf: planted(tf.exp, lambda g: [tf.math.conj(g[0])]),
        (complex_(2, 2),), 0, "conjugate", ("lacks a conjugate",),
    ),
    Mistake(
        "the factor x",
        lambda _tf: with_gradient(lambda x: x**3, lambda u, x: 3 * x * u),
        (draw(3, 4),), 0, "chain", ("lacks the factor input0 ", "agrees"),
    ),
    Mistake(
        "the factor 1/x",
        lambda tf: with_gradient(tf.math.log, lambda u, _x: u),
        (np.abs(draw(6)) + 0.5,), 0, "chain", ("has the factor input0 too much",),
    ),
    Mistake(
        "the factor 1-f",
        lambda tf: with_gradient(tf.sigmoid, lambda u, x: u * tf.sigmoid(x)),
        (draw(2, 3),), 0, "chain", ("lacks the factor 1 − f(input0)",),
    ),
    Mistake(
        "the factor f",
        lambda tf: with_gradient(tf.sigmoid, lambda u, x: u * (1 - tf.sigmoid(x))),
        (draw(2, 3),), 0, "chain", ("lacks the factor f(input0)",),
    ),
    Mistake(
        "the other input as a factor",
        lambda tf: with_gradient(tf.multiply, lambda u, a, _b: (u, u * a)),
        (draw(3, 4), draw(3, 4) + 3), 0, "chain", ("lacks the factor input1",),
    ),
    Mistake(
        "a straight-through estimator",
        lambda tf: with_gradient(tf.floor, lambda u, _x: u),
        (draw(2, 3),), 0, "constant", ("does not move", "straight-through"),
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
)  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES, ids=str)
def test_it_is_named(tf: Any, mistake: Mistake) -> None:
    must_be_named(tf, mistake)


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


class TestDiagnosis:
    @pytest.mark.parametrize(
        ("factor", "text"),
        [
            (2.0, "2 times too large"),
            (0.5, "2 times too small"),
            (1.01, "1.01 times too large"),
            (-3.0, "3 times too large and has the wrong sign"),
        ],
    )
    @pytest.mark.parametrize("name", ["tanh", "matmul", "softmax", "solve"])
    def test_a_constant_factor(self, name: str, factor: float, text: str) -> None:
        result = run(subject(name), first(lambda g: factor * g), "float64")
        assert cause(result) == "factor"
        assert result.diagnosis is not None
        assert text in result.diagnosis.text

    def test_averaged_where_it_should_be_summed(self) -> None:
        import tensorflow as tf

        function = with_gradient(
            lambda x, b: x + b, lambda g, _x, _b: (g, tf.reduce_mean(g, axis=0))
        )
        x, b = np.random.default_rng(0).standard_normal((7, 3)), np.ones(3)
        result = gradcheck.check(function, x, b)
        assert cause(result) == "factor"
        assert result.diagnosis is not None
        assert "averaged where it should be summed" in result.diagnosis.text
        assert "7" in result.diagnosis.text

    def test_summed_where_it_should_be_averaged(self) -> None:
        import tensorflow as tf

        function = with_gradient(
            lambda x: tf.reduce_mean(x, axis=0), lambda g, x: tf.broadcast_to(g, x.shape)
        )
        result = gradcheck.check(function, np.random.default_rng(0).standard_normal((7, 3)))
        assert cause(result) == "factor"
        assert result.diagnosis is not None
        assert "summed where it should be averaged" in result.diagnosis.text

    def test_transposed(self) -> None:
        import tensorflow as tf

        a, b = np.random.default_rng(1).standard_normal((2, 4, 4))
        result = gradcheck.check(planted(tf.linalg.matmul, first(tf.transpose)), a, b)
        assert cause(result) == "transposed"

    def test_axes_in_another_order(self) -> None:
        import tensorflow as tf

        x = np.random.default_rng(1).standard_normal((3, 3, 3))
        function = planted(tf.sin, first(lambda g: tf.transpose(g, [2, 0, 1])))
        assert cause(gradcheck.check(function, x)) == "permuted"

    def test_reversed(self) -> None:
        import tensorflow as tf

        x = np.random.default_rng(1).standard_normal(5)
        assert cause(gradcheck.check(planted(tf.sin, first(lambda g: g[::-1])), x)) == "reversed"

    @pytest.mark.parametrize("name", ["tanh", "multiply", "matmul", "einsum", "solve"])
    def test_conjugate_missing(self, name: str) -> None:
        import tensorflow as tf

        result = run(subject(name), first(tf.math.conj), "complex128")
        assert cause(result) == "conjugate"

    @pytest.mark.parametrize(
        ("forward", "gradient", "factor"),
        [
            ("square", lambda g, _x: 2 * g, "input0"),
            ("square", lambda g, _x: g, "2·input0"),
            ("exp", lambda g, _x: g, "exp(input0)"),
            ("sin", lambda g, _x: g, "cos(input0)"),
            ("sigmoid", lambda g, _x: g, "f(input0)·(1 − f(input0))"),
            ("tanh", lambda g, _x: g, "1 − f(input0)²"),
        ],
    )
    def test_a_chain_factor_is_missing(
        self, forward: str, gradient: Callable[..., Any], factor: str
    ) -> None:
        import tensorflow as tf

        x = np.random.default_rng(3).uniform(0.3, 1.4, (3, 4))
        function = with_gradient(getattr(tf.math, forward), gradient)
        result = gradcheck.check(function, x)
        assert cause(result) == "chain"
        assert result.diagnosis is not None
        assert f"lacks the factor {factor} (" in result.diagnosis.text

    def test_a_factor_of_another_input_is_missing(self) -> None:
        a, b = subject("multiply").inputs
        function = with_gradient(lambda a, b: a * b, lambda g, a, _b: (g, g * a))
        assert gradcheck.check(function, a, b).verdict == "mismatch"

    @pytest.mark.parametrize("name", ["tanh", "matmul", "softmax"])
    def test_a_constant_offset(self, name: str) -> None:
        result = run(subject(name), first(lambda g: g - 0.25), "float64")
        assert cause(result) == "offset"
        assert result.diagnosis is not None
        assert "too small by 0.25" in result.diagnosis.text

    def test_what_is_zero_but_for_rounding_has_no_factor(self) -> None:
        which = subject("softmax")
        function = planted(which.function, first(lambda g: g + 1e-3))
        result = gradcheck.check(function, *which.inputs, upstream="ones")
        assert cause(result) == "constant"

    def test_nothing_is_said_where_nothing_fits(self) -> None:
        noise = np.random.default_rng(0).standard_normal((3, 4))
        result = run(subject("tanh"), first(lambda g: g + noise), "float64")
        assert cause(result) is None
