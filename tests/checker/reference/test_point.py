"""A function at its point, in the best precision it has."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradcheck.checker.reference.point import evaluate_at
from gradcheck.checker.subject.operand import Operand
from gradcheck.checker.subject.problem import Problem
from tests.checker.planted import planted
from tests.checker.verdicts import draw, verdict


class TestWithoutDoublePrecision:
    @pytest.mark.parametrize("name", ["batch norm", "local response", "resize", "bicubic"])
    def test_an_honest_bar(self, tf: Any, name: str) -> None:
        def batch_norm(x: Any) -> Any:
            one, none = tf.ones([2]), tf.constant([], tf.float32)
            return tf.raw_ops.FusedBatchNormV3(
                x=x, scale=one, offset=0 * one, mean=none, variance=none, is_training=True
            )[0]

        functions = {
            "batch norm": batch_norm,
            "local response": tf.nn.local_response_normalization,
            "resize": lambda x: tf.image.resize(x, [6, 6]),
            "bicubic": lambda x: tf.image.resize(x, [6, 6], method="bicubic"),
        }
        x = draw(1, 3, 3, 2).astype(np.float32)
        assert verdict(functions[name], x) == "pass"
        wrong = planted(functions[name], lambda gs: [gs[0] * 1.05])
        assert verdict(wrong, x) == "mismatch"


class TestComplex:
    def test_from_real_inputs(self, tf: Any) -> None:
        assert verdict(lambda x: tf.exp(tf.complex(0 * x, x)), draw(4)) == "pass"
        assert verdict(tf.signal.rfft, draw(6)) == "pass"

    @pytest.mark.parametrize("name", ["abs", "math.angle", "math.conj", "math.real", "signal.fft"])
    def test_inputs(self, tf: Any, name: str) -> None:
        function = tf
        for part in name.split("."):
            function = getattr(function, part)
        assert verdict(function, draw(4) + 1j * draw(5)[1:]) == "pass"


def test_low_precision_is_evaluated_in_double_and_asked_about_apart() -> None:
    x = np.array([1.0, 2.0], np.float32)
    point = evaluate_at(Problem(lambda x: 3 * x, (Operand("x", x),), upstream="ones"))
    assert point.two_questions
    assert point.precision is None
    assert not point.no_double
    assert point.base.tolist() == [3, 6]
    assert point.weights.tolist() == [1, 1]


def test_without_a_kernel_in_double_there_is_one_question(tf: Any) -> None:
    def single(x: Any) -> Any:
        return x + tf.ones(2, tf.float32)

    point = evaluate_at(Problem(single, (Operand("x", np.ones(2, np.float32)),)))
    assert not point.two_questions
    assert point.precision == np.float32
    assert "double" in point.no_double
