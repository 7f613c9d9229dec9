from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import gradcheck
from gradcheck.checker.second_ways import _judged
from gradcheck.checker.subject import second_order_ways
from gradcheck.checker.subject.as_graph import as_graph
from gradcheck.checker.subject.second_order_ways import SecondWay
from gradcheck.model import Comparison, Mode, Verdict

X = np.array([0.7, 0.9, -1.2])


@pytest.mark.parametrize("mode", ["eager", "graph", "xla"])
def test_all_ways_agree(tf: Any, mode: str) -> None:
    def function(x: Any, y: Any) -> Any:
        inner = tf.sin(x)
        return inner * tf.exp(inner) * y

    result = gradcheck.check(function, X, X + 2.0, checks="second", mode=mode)
    assert result.verdict is Verdict.PASS
    left_out = "forward over forward was left out" in result.comparisons[0].note
    assert left_out == (mode == "eager")


@pytest.mark.parametrize("mode", ["graph", "xla"])
def test_a_gradient_is_compiled_once(tf: Any, mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """For what is judged, and for what the other ways are compared with."""
    traced: list[object] = []

    def counted(function: Any, mode: Mode) -> Any:
        traced.append(function)
        return as_graph(function, mode)

    monkeypatch.setattr("gradcheck.checker.subject.tape.as_graph", counted)
    assert gradcheck.check(tf.sin, X, checks="second", mode=mode).verdict is Verdict.PASS
    assert len(traced) == 1


@pytest.mark.parametrize("at", [[[0.0, 100.0, 3.0], [500.0, 0.0, 1.0]], [[0.0, 60.0, 3.0]]])
def test_what_one_way_loses(tf: Any, at: list[list[float]]) -> None:
    """Of a softmax that is sure one less one is nothing by one way, a last digit by another."""
    result = gradcheck.check(tf.nn.softmax, np.array(at), checks="second")
    assert result.verdict in (Verdict.PASS, Verdict.INCONCLUSIVE), result
    assert "forward over reverse" not in result.comparisons[0].note


def test_a_way_that_is_wrong_is_named(tf: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    way = SecondWay.FORWARD_OVER_REVERSE
    right = second_order_ways._TAKEN[way]

    def wrong(*given: Any) -> list[Any]:
        return [1.001 * each for each in right(*given)]

    monkeypatch.setitem(second_order_ways._TAKEN, way, wrong)
    result = gradcheck.check(tf.sin, X, checks="second")
    assert result.verdict is Verdict.MISMATCH
    (told,) = result.comparisons
    assert "forward over reverse is wrong: x at [" in told.note
    assert "by reverse over reverse" in told.note


@pytest.mark.parametrize(
    ("verdict", "dtype", "told"),
    [
        (Verdict.PASS, "float64", "which is right"),
        (Verdict.PASS, "float16", "which ends as pass (within 1.9e+03 ulp)"),
        (Verdict.KINK, "float64", "which ends as kink (within 1.9e+03 ulp)"),
    ],
)
def test_what_is_said_of_the_other_way(verdict: Verdict, dtype: str, told: str) -> None:
    """In few bits a way may pass that is far off; beside a kink nothing was compared."""
    note = "within 1.9e+03 ulp"
    assert _judged(Comparison("x", verdict, (1,), dtype, note=note)) == told


def test_a_wrong_gradient_of_a_gradient(tf: Any) -> None:
    @tf.custom_gradient  # type: ignore[untyped-decorator]
    def cosine(x: Any) -> Any:
        return tf.cos(x), lambda upstream: -1.001 * upstream * tf.sin(x)

    @tf.custom_gradient  # type: ignore[untyped-decorator]
    def sine(x: Any) -> Any:
        return tf.sin(x), lambda upstream: upstream * cosine(x)

    assert gradcheck.check(sine, X).verdict is Verdict.PASS
    assert gradcheck.check(sine, X, checks="second").verdict is Verdict.MISMATCH


def test_moments_are_wrong_twice(tf: Any) -> None:
    """They stop the gradient of the mean inside of the variance."""

    def variance(x: Any) -> Any:
        return tf.nn.moments(x, [0])[1] ** 2

    assert gradcheck.check(variance, X).verdict is Verdict.PASS
    assert gradcheck.check(variance, X, checks="second").verdict is Verdict.MISMATCH


def test_the_gradient_of_a_linear_function_is_constant(tf: Any) -> None:
    for mode in ("eager", "graph", "xla"):
        result = gradcheck.check(lambda x: 3 * x, X, checks="second", mode=mode)
        assert result.verdict is Verdict.PASS


_NESTED = """
import tensorflow as tf
x, v, e = (tf.constant(c, tf.float64) for c in ([.7, .9, 1.2], [1., -.5, .3], [.2, .4, -1.]))

def nested(f):
    with tf.autodiff.ForwardAccumulator(x, e) as outer:
        with tf.autodiff.ForwardAccumulator(x, v) as inner:
            y = f(x)
        moves = inner.jvp(y)
    return tf.reduce_sum(outer.jvp(moves))

def squared(x):
    a = tf.sin(x)
    return a * a

def function(x):
    a = tf.sin(x)
    return a * tf.exp(a)

nested(squared)
print(float(nested(function)), float(tf.function(lambda: nested(function), autograph=False)()))
"""


def test_why_nested_forward_mode_is_left_out_eagerly() -> None:
    """What it gives depends on what ran before; in a graph it does not. Once it is mended, take it
    in: see `EAGERLY_NESTED`.
    """
    ran = subprocess.run(
        [sys.executable, "-c", _NESTED], capture_output=True, text=True, timeout=120, check=True
    )
    eager, graph = map(float, ran.stdout.split())
    x, v, e = np.array([0.7, 0.9, 1.2]), np.array([1.0, -0.5, 0.3]), np.array([0.2, 0.4, -1.0])
    a, slope = np.sin(x), np.cos(x)
    second = ((2 + a) * slope**2 - (1 + a) * a) * np.exp(a)
    assert graph == pytest.approx(float((second * v * e).sum()), rel=1e-12)
    assert abs(eager - graph) > 0.1
