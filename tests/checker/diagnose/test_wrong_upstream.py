"""Gradients that would be right for another upstream, or of another input."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradcheck
from tests.checker.diagnose.mistakes import Mistake, complex_, draw, must_be_named
from tests.checker.planted import DTYPES, cause, planted, run, subject, with_gradient

MISTAKES = (
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
)  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES, ids=str)
def test_it_is_named(tf: Any, mistake: Mistake) -> None:
    must_be_named(tf, mistake)


class TestDiagnosis:
    @pytest.mark.parametrize("name", ["tanh", "matmul", "multiply", "reduce_mean"])
    def test_upstream_ignored(self, name: str) -> None:
        import tensorflow as tf

        which = subject(name)

        def forward_gradient(g: Any, *inputs: Any) -> Any:
            with tf.GradientTape() as tape:
                tape.watch(inputs)
                output = which.function(*inputs)
            return tape.gradient(output, inputs)

        result = gradcheck.check(with_gradient(which.function, forward_gradient), *which.inputs)
        assert cause(result) == "upstream"

    @pytest.mark.parametrize("dtype", DTYPES)
    def test_swapped(self, dtype: str) -> None:
        result = run(subject("multiply"), lambda gradients: gradients[::-1], dtype)
        assert cause(result) == "swapped"
        assert [c.diagnosis.cause for c in result.comparisons if c.diagnosis] == ["swapped"] * 2

    @pytest.mark.parametrize(("change", "word"), [("square", "twice"), ("abs", "sign")])
    def test_another_upstream(self, change: str, word: str) -> None:
        import tensorflow as tf

        function = with_gradient(
            tf.tanh, lambda g, x: getattr(tf, change)(g) * (1 - tf.tanh(x) ** 2)
        )
        result = gradcheck.check(function, np.random.default_rng(0).standard_normal(6))
        assert cause(result) == "upstream"
        assert result.diagnosis is not None
        assert word in result.diagnosis.text

    def test_conjugate_missing_in_a_product(self) -> None:
        a, b = subject("multiply").cast("complex128")
        function = with_gradient(lambda a, b: a * b, lambda g, a, b: (g * b, g * a))
        result = gradcheck.check(function, a, b)
        assert result.verdict == "mismatch"
