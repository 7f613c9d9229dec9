"""What a function brings along, and the precisions in which it can be had."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradcheck
from gradcheck.checker.subject.explore import explored
from gradcheck.checker.subject.operand import Operand
from gradcheck.checker.subject.problem import Problem
from tests.checker.planted import planted

X = np.random.default_rng(0).standard_normal((1, 3, 3, 1))


@pytest.mark.parametrize("kind", ["function", "layer"])
def test_a_gradient_that_is_not_to_be_had_in_double_precision(tf: Any, kind: str) -> None:
    import keras

    function = {
        "function": lambda images: tf.image.resize(images, [2, 4], method="lanczos3"),
        "layer": keras.layers.UpSampling2D(interpolation="lanczos3"),
    }[kind]
    result = gradcheck.check(function, X.astype(np.float32))
    assert result.verdict == "pass", result.message
    assert "no double precision" in result.comparisons[0].note
    assert "ScaleAndTranslateGrad" in result.comparisons[0].note


def test_one_that_is_not_to_be_had_at_all(tf: Any) -> None:
    def counted(weights: Any) -> Any:
        return tf.math.bincount(tf.constant([0, 1, 1]), weights=weights)

    for dtype in (np.float32, np.float64):
        result = gradcheck.check(counted, np.array([1, 2, 3], dtype))
        assert result.verdict == "error"
        assert "DenseBincount has no gradient" in result.message


def test_a_wrong_gradient_without_double_precision(tf: Any) -> None:
    @tf.custom_gradient  # type: ignore[untyped-decorator]  # no types in TF
    def wrong(images: Any) -> Any:
        resized, back = tf.raw_ops.ScaleAndTranslate, tf.raw_ops.ScaleAndTranslateGrad
        rest = {"scale": tf.ones(2), "translation": tf.zeros(2)}
        outputs = resized(images=images, size=[3, 3], **rest)
        return outputs, lambda g: 1.5 * back(grads=g, original_image=images, **rest)

    result = gradcheck.check(wrong, X.astype(np.float32))
    assert result.verdict == "mismatch", result.message


def test_the_precisions_that_a_function_of_doubles_computes_in(tf: Any) -> None:
    def rounded(x: Any) -> Any:
        return tf.sin(tf.cast(tf.cast(x, tf.float16), x.dtype))

    for dtype, found in ((np.float64, {"float16"}), (np.float32, set())):
        operand = Operand("x", np.ones(2, dtype))
        with explored(Problem(rounded, (operand,))) as problem:
            assert problem.rounds_in == found
    with explored(Problem(tf.sin, (Operand("x", np.ones(2)),))) as problem:
        assert not problem.rounds_in


def test_what_runs_many_ops_is_traced(tf: Any) -> None:
    calls = 0

    def waves(x: Any, count: int) -> Any:
        nonlocal calls
        calls += 1
        for _ in range(count):
            x = tf.sin(x)
        # (It looks at the value: points cannot share a call that is not traced.)
        tf.debugging.assert_greater(x, tf.constant(0.0, tf.float64))
        return tf.reshape(x, (30,))

    x = np.linspace(0.5, 1.5, 30)
    assert gradcheck.check(lambda x: waves(x, 60), x).verdict == "pass"
    by_graph, calls = calls, 0
    assert gradcheck.check(lambda x: waves(x, 1), x).verdict == "pass"
    assert by_graph < 20 < calls


class Looped:
    """A loop of TensorFlow's, and how often it was called."""

    def __init__(self, tf: Any) -> None:
        self.tf = tf
        self.calls = 0

    def __call__(self, x: Any) -> Any:
        tf = self.tf
        self.calls += 1
        tf.debugging.assert_greater(x, tf.constant(0.0, tf.float64))
        shrunk = tf.while_loop(lambda i, _: i < 200, lambda i, y: (i + 1, tf.sin(y)), (0, x))[1]
        return tf.reshape(shrunk, (3,))


def test_a_loop_is_traced_early(tf: Any) -> None:
    looped, calls = Looped(tf), 0

    def unrolled(x: Any) -> Any:
        nonlocal calls
        calls += 1
        tf.debugging.assert_greater(x, tf.constant(0.0, tf.float64))
        for _ in range(600):
            x = tf.sin(x)
        return tf.reshape(x, (3,))

    x = np.linspace(0.5, 1.5, 3)
    assert gradcheck.check(looped, x).verdict == "pass"
    assert gradcheck.check(unrolled, x).verdict == "pass"
    assert looped.calls < 8 < calls


def test_gradients_of_a_loop_are_drawn_in_a_graph(tf: Any) -> None:
    looped = Looped(tf)
    # (So little that it might be rounding: all of that is looked at.)
    wrong = planted(looped, lambda gs: [(1 + 3e-8) * gs[0]])
    assert gradcheck.check(wrong, np.linspace(0.5, 1.5, 3)).verdict == "mismatch"
    assert looped.calls < 60


def test_a_loop_is_not_asked_for_rounding_that_could_not_explain_it(tf: Any) -> None:
    passes = 0

    def gradient(gs: Any) -> Any:
        nonlocal passes
        passes += 1
        return [1.001 * gs[0]]

    wrong = planted(Looped(tf), gradient)
    assert gradcheck.check(wrong, np.linspace(0.5, 1.5, 3)).verdict == "mismatch"
    assert passes < 16


def test_nor_is_a_function_of_many_ops(tf: Any) -> None:
    passes = 0

    def waves(x: Any) -> Any:
        for _ in range(60):
            x = x + 0.01 * tf.sin(x)
        return x

    def gradient(gs: Any) -> Any:
        nonlocal passes
        passes += 1
        return [1.001 * gs[0]]

    result = gradcheck.check(planted(waves, gradient), np.linspace(0.5, 1.5, 3))
    assert (result.verdict, result.comparisons[0].failing) == ("mismatch", 3)
    assert passes < 16


class TestInItsOwnPrecision:
    """What raises in float64 is checked in float32 alone, whichever way it raises there."""

    @pytest.mark.parametrize("mode", ["eager", "graph"])
    @pytest.mark.parametrize("wrapped", [False, True])
    def test_in_every_mode(self, tf: Any, mode: str, wrapped: bool) -> None:
        def resized(images: Any) -> Any:
            return tf.image.resize(images, [2, 2], antialias=True)

        function = tf.function(resized) if wrapped else resized
        result = gradcheck.check(function, X.astype(np.float32), mode=mode)
        assert result.verdict == "pass", result.message
        assert "no double precision" in result.comparisons[0].note

    @pytest.mark.parametrize("mode", ["eager", "graph", "xla"])
    def test_a_kernel_that_is_missing(self, tf: Any, mode: str) -> None:
        x = np.random.default_rng(1).standard_normal((1, 2, 2, 2, 1)).astype(np.float32)
        for pooled in (tf.nn.avg_pool3d, tf.nn.max_pool3d):
            for function in (pooled, tf.function(pooled)):
                result = gradcheck.check(
                    lambda x, function=function: function(x, 2, 2, "VALID"), x, mode=mode
                )
                assert result.verdict == "pass", result.message

    @pytest.mark.parametrize("factor", [1.0, 1.01])
    @pytest.mark.parametrize("kind", ["reverse", "forward", "second"])
    @pytest.mark.parametrize("raises", ["forward", "back", "both"])
    def test_every_check(self, tf: Any, raises: str, kind: str, factor: float) -> None:
        # (The derivative of tanh by hand, which refuses float64.)
        def refuse(x: Any, here: bool) -> None:
            if here and x.dtype == tf.float64:
                raise TypeError("no float64 here")

        @tf.custom_gradient  # type: ignore[untyped-decorator]  # no types in TF
        def slope(x: Any) -> Any:
            y = tf.tanh(x)
            return 1 - y * y, lambda g: -2 * g * y * (1 - y * y) * (factor if second else 1.0)

        @tf.custom_gradient  # type: ignore[untyped-decorator]  # no types in TF
        def function(x: Any) -> Any:
            refuse(x, raises != "back")

            def back(g: Any) -> Any:
                refuse(g, raises != "forward")
                return g * slope(x) * (1.0 if second else factor)

            return tf.tanh(x), back

        second = kind == "second"
        x = np.array([0.3, -0.9, 1.4], np.float32)
        result = gradcheck.check(function, x, checks=kind)
        # (The forward accumulator goes by what is inside, and not by the gradient function; but
        # forward and reverse mode have to agree.)
        assert result.verdict == ("pass" if factor == 1.0 else "mismatch"), result.message
