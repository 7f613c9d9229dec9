"""Every verdict that a check in this process can end with, and what is said then."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import gradcheck
from gradcheck.checker.api import describe
from gradcheck.checker.check import check_problem
from gradcheck.checker.subject.operand import Operand
from gradcheck.checker.subject.problem import Problem
from gradcheck.checker.subject.tape import Backward, Tape
from gradcheck.model import CheckKind, Mode, Verdict
from tests.checker.planted import planted, swallowed, with_gradient
from tests.checker.verdicts import draw, verdict

X = np.array([1.0, 2.0, 3.0])


def test_pass(tf: Any) -> None:
    result = gradcheck.check(tf.square, X, upstream="ones")
    (comparison,) = result.comparisons
    assert result.verdict is Verdict.PASS
    assert comparison.failing == 0
    assert comparison.judged == 3
    assert comparison.error_bar is not None
    assert comparison.error_bar < 1e-11
    assert comparison.max_abs_error is not None
    assert comparison.max_abs_error <= 2 * comparison.error_bar
    assert comparison.analytic is not None
    assert comparison.analytic.tolist() == [2, 4, 6]
    assert comparison.diagnosis is None


def test_mismatch(tf: Any) -> None:
    wrong = planted(tf.square, lambda gs: [gs[0] * np.array([1.0, 1.5, 1.0])])
    result = gradcheck.check(wrong, X, upstream="ones")
    (comparison,) = result.comparisons
    assert result.verdict is Verdict.MISMATCH
    assert comparison.failing == 1
    worst = comparison.worst[0]
    assert worst.index == (1,)
    assert worst.value == 2
    assert worst.analytic == 6
    assert worst.numeric == pytest.approx(4)
    assert worst.error == pytest.approx(2)
    assert comparison.max_abs_error == pytest.approx(2)
    assert comparison.max_rel_error == pytest.approx(1 / 3)


def test_disconnected_though_the_output_moves(tf: Any) -> None:
    result = gradcheck.check(lambda x: tf.stop_gradient(x) ** 2, X, upstream="ones")
    assert result.verdict is Verdict.DISCONNECTED
    note = result.comparisons[0].note
    assert "does move" in note
    assert "[2] is 6 ±" in note
    assert "a gradient is missing" in note


@pytest.mark.parametrize("kind", ["unused", "captured"])
def test_disconnected_as_it_should_be(tf: Any, kind: str) -> None:
    outside = tf.constant(X) ** 2
    functions = {"unused": lambda _x: 2 * outside, "captured": lambda _x: outside}
    result = gradcheck.check(functions[kind], X)
    assert result.verdict is Verdict.DISCONNECTED
    note = result.comparisons[0].note
    assert "the tape and the numeric derivative agree" in note
    assert "captured as a constant" in note


def test_disconnected_for_one_input_alone() -> None:
    result = gradcheck.check(lambda used, _unused: used * 2, X, X)
    assert [str(c.verdict) for c in result.comparisons] == ["pass", "disconnected"]
    assert result.verdict is Verdict.DISCONNECTED


def test_nonfinite(tf: Any) -> None:
    wrong = planted(tf.square, lambda gs: [gs[0] * np.array([1.0, np.nan, 1.0])])
    result = gradcheck.check(wrong, X)
    assert result.verdict is Verdict.NONFINITE
    assert result.comparisons[0].worst_index == (1,)
    assert np.isnan(result.comparisons[0].worst[0].analytic)
    assert np.isfinite(result.comparisons[0].worst[0].numeric)


def test_infinity_is_not_nan(tf: Any) -> None:
    wrong = planted(tf.square, lambda gs: [gs[0] + np.array([0.0, np.inf, 0.0])])
    result = gradcheck.check(wrong, X)
    assert result.verdict is Verdict.NONFINITE
    assert np.isinf(result.comparisons[0].worst[0].analytic)


def test_kink(tf: Any) -> None:
    result = gradcheck.check(tf.abs, np.array([0.0, 1.0]), upstream="ones")
    assert result.verdict is Verdict.KINK
    worst = result.comparisons[0].worst[0]
    assert worst.index == (0,)
    assert (worst.left, worst.right) == pytest.approx((-1, 1))


def test_inconclusive_for_want_of_digits(tf: Any) -> None:
    result = gradcheck.check(swallowed(tf.sin, 1e16), X)
    assert result.verdict is Verdict.INCONCLUSIVE
    assert "hides 3 of 3" in result.comparisons[0].note


def test_inconclusive_for_want_of_a_value() -> None:
    result = gradcheck.check(lambda x: x * np.nan, X)
    assert result.verdict is Verdict.INCONCLUSIVE
    assert "every output of the function is NaN" in result.message


def test_inconclusive_for_chance(tf: Any) -> None:
    result = gradcheck.check(lambda x: x * tf.random.normal([3], dtype=tf.float64), X)
    assert result.verdict is Verdict.INCONCLUSIVE
    assert "not deterministic" in result.message
    assert "seed" in result.message


class TestErrors:
    def test_the_function_raises(self) -> None:
        def function(x: Any) -> Any:
            raise ValueError("first line\nsecond line")

        result = gradcheck.check(function, X)
        assert result.verdict is Verdict.ERROR
        where = r"\(test_check\.py:\d+, in function\)"
        assert re.fullmatch(f"the function raised ValueError: first line {where}", result.message)

    def test_tensorflow_raises(self, tf: Any) -> None:
        result = gradcheck.check(lambda x: tf.reshape(x, [7]), X)
        assert result.verdict is Verdict.ERROR
        assert "the function raised InvalidArgumentError: Input to reshape" in result.message
        assert "{{" not in result.message
        assert "[Op:" not in result.message

    @pytest.mark.parametrize("mode", ["eager", "graph"])
    def test_the_gradient_raises(self, mode: str) -> None:
        def gradient(*_: Any) -> Any:
            raise RuntimeError("no way back")

        result = gradcheck.check(with_gradient(lambda x: 2 * x, gradient), X, mode=mode)
        assert result.verdict is Verdict.ERROR
        assert "the forward pass is fine, but its gradient raised" in result.message
        assert "RuntimeError: no way back (test_check.py:" in result.message

    def test_a_traced_function_that_fails_when_it_runs_is_not_called_fine(self, tf: Any) -> None:
        def function(x: Any) -> Any:
            with tf.control_dependencies([tf.debugging.assert_greater(x, 1e6)]):
                return 2 * x

        result = gradcheck.check(function, X, mode="graph")
        assert result.verdict is Verdict.ERROR
        assert "the forward pass is fine" not in result.message

    @pytest.mark.parametrize("mode", ["eager", "graph"])
    def test_no_gradient_is_registered(self, tf: Any, mode: str) -> None:
        result = gradcheck.check(lambda x: tf.unique(x)[0], X, mode=mode)
        assert result.verdict is Verdict.ERROR
        assert result.message.startswith("Unique has no gradient in TensorFlow. ")
        assert 'tf.RegisterGradient("Unique")' in result.message

    @pytest.mark.parametrize("kind", ["none", "integers", "text"])
    def test_no_floating_point_output(self, tf: Any, kind: str) -> None:
        functions = {
            "none": lambda _x: None,
            "integers": lambda x: tf.cast(x, tf.int32),
            "text": lambda _x: "text",
        }
        result = gradcheck.check(functions[kind], X)
        assert result.verdict is Verdict.ERROR
        assert result.message == "the function returns no floating-point or complex tensor"

    def test_no_kernel_for_the_precision(self, tf: Any) -> None:
        result = gradcheck.check(tf.linalg.det, np.eye(2, dtype=np.float16))
        assert result.verdict is Verdict.ERROR
        assert "runs in float64, but not in float16" in result.message

    def test_numbers_that_a_graph_in_low_precision_has_not(self, tf: Any) -> None:
        x = np.array([0.5, 0.7], np.float32)
        result = gradcheck.check(lambda x: tf.sin(x) if x[0] > 0 else x, x, mode="graph")
        assert result.verdict is Verdict.ERROR
        assert "but not in float32 in graph" in result.message
        assert "it cannot be traced" in result.message

    def test_a_gradient_of_another_dtype(self, tf: Any) -> None:
        wrong = with_gradient(lambda x: 2 * x, lambda g, _x: tf.cast(2 * g, tf.float32))
        result = gradcheck.check(wrong, X)
        assert result.verdict in (Verdict.MISMATCH, Verdict.ERROR)
        assert "float32" in describe(result)

    def test_a_fault_of_ours_is_said_to_be_one(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def broken(*_: Any) -> Any:
            raise IndexError("our own")

        monkeypatch.setattr("gradcheck.checker.check.judge_gradients", broken)
        result = gradcheck.check(lambda x: 2 * x, X)
        assert result.verdict is Verdict.ERROR
        told = "the check itself failed, please report this: IndexError: our own (gradcheck/"
        assert result.message.startswith(told)
        assert re.search(r"checker/\w+\.py:\d+, in \w+\)$", result.message), result.message


def test_the_verdict_is_the_gravest_of_the_inputs(tf: Any) -> None:
    def function(a: Any, b: Any, c: Any) -> Any:
        return planted(lambda a, b: a * b, lambda gs: [-gs[0], gs[1]])(a, b) + 0 * c

    result = gradcheck.check(function, X, X, X)
    assert [str(c.verdict) for c in result.comparisons] == ["mismatch", "pass", "pass"]
    assert result.verdict is Verdict.MISMATCH


def test_what_was_found_beside_an_error_is_kept(tf: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> Any:
        raise IndexError("our own")

    monkeypatch.setattr("gradcheck.checker.check.check_forward", broken)
    problem = Problem(
        function=tf.sin,
        operands=(Operand("x", X),),
        checks=(CheckKind.REVERSE, CheckKind.FORWARD, CheckKind.SECOND),
    )
    result = check_problem(problem, "name")
    assert result.id == "name"
    assert result.verdict is Verdict.ERROR
    assert [c.check for c in result.comparisons] == [CheckKind.REVERSE, CheckKind.SECOND]
    assert result.message.startswith("the check itself failed, please report this: IndexError")


def test_results_repeat(tf: Any) -> None:
    first, again = (gradcheck.check(tf.tanh, X, seed=5) for _ in range(2))
    for a, b in zip(first.comparisons, again.comparisons, strict=True):
        np.testing.assert_array_equal(np.asarray(a.numeric), np.asarray(b.numeric))
        np.testing.assert_array_equal(np.asarray(a.bound), np.asarray(b.bound))


@pytest.mark.parametrize("mode", [Mode.EAGER, Mode.GRAPH])
def test_whoever_takes_gradients_in_another_way_is_asked(tf: Any, mode: Mode) -> None:
    def doubled(*given: Any) -> Any:
        tape = Tape(*given)

        def differentiate(values: Any, upstream: Any) -> Backward:
            passed = tape(values, upstream)
            return Backward(
                passed.outputs, [None if g is None else 2 * g for g in passed.gradients]
            )

        return differentiate

    problem = Problem(tf.sin, (Operand("x", X),), mode=mode, tape=doubled)
    assert check_problem(problem, "name").verdict is Verdict.MISMATCH


class TestBugsOfTensorFlow:
    """Gradients that are wrong as they come; when one is mended, its test says so."""

    def test_cumprod_at_zero(self, tf: Any) -> None:
        result = gradcheck.check(tf.math.cumprod, np.array([1.0, 0.0, 2.0, 3.0]))
        assert result.verdict == "mismatch"
        assert result.comparisons[0].worst_index == (1,)

    def test_the_norm_of_zero(self, tf: Any) -> None:
        assert verdict(tf.norm, np.zeros(3)) == "nonfinite"

    def test_where_and_division(self, tf: Any) -> None:
        def function(x: Any) -> Any:
            return tf.where(x == 0, tf.ones_like(x), tf.sin(x) / x)

        assert verdict(function, np.array([0.0, 1.0])) == "nonfinite"

    def test_no_gradient_registered(self, tf: Any) -> None:
        result = gradcheck.check(lambda x: tf.unique(x)[0], draw(4))
        assert result.verdict == "error"
        assert result.message.startswith("Unique has no gradient in TensorFlow")
