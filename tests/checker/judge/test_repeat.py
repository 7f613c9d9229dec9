"""Functions and gradients that are others each time."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

import gradcheck
from gradcheck.checker import costs
from gradcheck.checker.api import describe
from gradcheck.checker.judge.repeat import must_repeat
from gradcheck.checker.reference.point import evaluate_at
from gradcheck.checker.subject.operand import Operand
from gradcheck.checker.subject.problem import Problem
from gradcheck.checker.subject.tape import Tape
from tests.checker.planted import with_gradient
from tests.checker.verdicts import draw, verdict


class TestRandomness:
    def test_stateless_is_deterministic(self, tf: Any) -> None:
        def function(x: Any) -> Any:
            return x * tf.random.stateless_normal([4], [1, 2], dtype=tf.float64)

        assert verdict(function, draw(4)) == "pass"

    @pytest.mark.parametrize("size", [1, 4])
    def test_dropout_is_not(self, tf: Any, size: int) -> None:
        for _ in range(5):
            result = gradcheck.check(lambda x: tf.nn.dropout(x, 0.5), 1 + draw(size) ** 2)
            assert result.verdict == "inconclusive", describe(result)
            assert "not deterministic" in result.message

    def test_noise_is_not(self, tf: Any) -> None:
        result = gradcheck.check(lambda x: x + tf.random.normal([4], dtype=tf.float64), draw(4))
        assert "not deterministic" in result.message

    def test_a_gradient_that_is_not(self, tf: Any) -> None:
        wrong = with_gradient(
            lambda x: 2 * x, lambda g, _x: 2 * g + tf.random.normal([4], dtype=tf.float64)
        )
        result = gradcheck.check(wrong, draw(4))
        assert result.verdict in ("inconclusive", "mismatch")

    def test_a_gradient_that_is_not_is_named(self, tf: Any) -> None:
        wrong = with_gradient(
            lambda x: 2 * x, lambda g, _x: 2 * g + tf.random.normal([4], dtype=tf.float64)
        )
        result = gradcheck.check(wrong, draw(4))
        assert "deterministic" in describe(result)


@pytest.mark.parametrize(
    ("is_of_a_library", "ops", "passes"),
    [(True, costs.OPS_OF_A_DEAR_PASS, 1), (True, 2, 2), (False, costs.OPS_OF_A_DEAR_PASS, 2)],
)
def test_dear_passes_of_a_library_are_few(
    tf: Any, is_of_a_library: bool, ops: int, passes: int
) -> None:
    operands, taken = (Operand("x", draw(3)),), list[Any]()
    problem = Problem(tf.sin, operands, repeats=True, is_of_a_library=is_of_a_library, ops=ops)
    point, tape = evaluate_at(problem), Tape(tf.sin, operands)

    def counted(values: Any, upstream: Any) -> Any:
        taken.append(values)
        return tape(values, upstream)

    passed = tape(point.values, point.upstream)
    evidence: Any = SimpleNamespace(point=point, tape=counted, passed=passed)
    must_repeat(evidence)
    assert len(taken) == passes
