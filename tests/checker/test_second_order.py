"""The gradient of a gradient."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pytest

import gradcheck
from gradcheck.checker.api import describe
from gradcheck.model import Verdict

X = np.array([1.0, 2.0, 3.0])


class TestSecondDerivatives:
    @pytest.mark.parametrize("name", ["tanh", "exp", "square"])
    def test_right(self, tf: Any, name: str) -> None:
        result = gradcheck.check(getattr(tf.math, name), X, checks=["second"])
        assert result.verdict is Verdict.PASS, describe(result)

    def test_wrong(self, tf: Any) -> None:
        @tf.custom_gradient  # type: ignore[untyped-decorator]  # no types in TF
        def cube(x: Any) -> Any:
            # The gradient is right, but what it depends on is hidden from its own gradient.
            return x**3, lambda g: g * 3 * tf.stop_gradient(x) * x

        assert gradcheck.check(cube, X).verdict is Verdict.PASS
        assert gradcheck.check(cube, X, checks=["second"]).verdict is Verdict.MISMATCH

    def test_none(self) -> None:
        result = gradcheck.check(lambda x: 2 * x, X, checks=["second"])
        assert result.verdict in (Verdict.DISCONNECTED, Verdict.PASS), describe(result)
        assert "please report" not in result.message


class TestConstantGradients:
    """The gradient of a linear function is constant, and None from the tape is right for it."""

    LINEAR: ClassVar[dict[str, Any]] = {
        "times two": lambda _tf, x: 2 * x,
        "transposed": lambda tf, x: tf.transpose(x),
        "a sum": lambda tf, x: tf.reduce_sum(x, 0),
        "a product with a constant": lambda tf, x: tf.matmul(x, tf.ones([3, 2], x.dtype)),
        "a fast Fourier transform": lambda tf, x: tf.signal.rfft(x),
        "pooled": lambda tf, x: tf.nn.avg_pool1d(x[None], 2, 2, "VALID"),
        "piece by piece": lambda tf, x: tf.abs(x),
        "a part that matters": lambda tf, x: tf.maximum(x, 0),
        "a sign": lambda tf, x: tf.sign(x),
    }

    @pytest.mark.parametrize("mode", ["eager", "graph"])
    @pytest.mark.parametrize("dtype", ["float64", "float32"])
    @pytest.mark.parametrize("name", LINEAR)
    def test_none_is_right_for_a_constant_gradient(
        self, tf: Any, name: str, dtype: str, mode: str
    ) -> None:
        x = np.random.default_rng(5).uniform(0.3, 2.0, (2, 3)).astype(dtype)
        found = gradcheck.check(lambda x: self.LINEAR[name](tf, x), x, checks="second", mode=mode)
        assert found.verdict is Verdict.PASS, describe(found)
        assert found.comparisons[0].max_abs_error is not None

    @pytest.mark.parametrize("size", [1.0, 1e-6, 1e-9])
    @pytest.mark.parametrize("dtype", ["float64", "float32"])
    def test_none_is_wrong_where_the_gradient_moves(self, tf: Any, size: float, dtype: str) -> None:
        if dtype == "float32" and size < 1e-6:
            size = 1e-5

        @tf.custom_gradient  # type: ignore[untyped-decorator]  # no types in TF
        def cut(x: Any) -> Any:
            constant = tf.cast(size, x.dtype)
            there = tf.stop_gradient(x)
            return x + constant * x**2, lambda g: g * (1 + 2 * constant * there)

        x = np.array([0.7, 1.9, -1.1]).astype(dtype)
        assert gradcheck.check(cut, x).verdict is Verdict.PASS
        found = gradcheck.check(cut, x, checks="second")
        assert found.verdict in (Verdict.DISCONNECTED, Verdict.MISMATCH), describe(found)

    def test_of_a_large_input_no_direction_may_move_either(self, tf: Any) -> None:
        @tf.custom_gradient  # type: ignore[untyped-decorator]  # no types in TF
        def cut(x: Any) -> Any:
            total = tf.stop_gradient(tf.reduce_sum(x[7:9]))
            return tf.reduce_sum(x) + tf.reduce_sum(
                x
            ) * total, lambda g: g * (1 + total + tf.zeros_like(x))

        found = gradcheck.check(cut, np.random.default_rng(2).normal(size=6000), checks="second")
        assert found.verdict is Verdict.DISCONNECTED, describe(found)

    def test_a_function_without_a_gradient_has_none_twice(self, tf: Any) -> None:
        found = gradcheck.check(tf.stop_gradient, X, checks="second")
        assert found.verdict is Verdict.DISCONNECTED, describe(found)
        assert "no gradient" in found.message

    @pytest.mark.parametrize("size", [1.0, 1e-9])
    def test_nor_need_it_be_anything_but_zero(self, tf: Any, size: float) -> None:
        found = gradcheck.check(
            lambda x: size * x * tf.round(x), np.array([0.1, 0.3]), checks="second"
        )
        assert found.verdict is Verdict.PASS, describe(found)

    @pytest.mark.parametrize("size", [1.0, 1e-9])
    def test_one_that_is_zero_here_alone_is_missed(self, tf: Any, size: float) -> None:
        @tf.custom_gradient  # type: ignore[untyped-decorator]  # no types in TF
        def cut(x: Any) -> Any:
            there = tf.stop_gradient(x)
            return size * x**2, lambda g: g * 2 * size * there

        assert gradcheck.check(cut, X).verdict is Verdict.PASS
        found = gradcheck.check(cut, np.zeros(2), checks="second")
        assert not found.verdict.acceptable, describe(found)


class TestVariables:
    """What reads a variable is given other values of it, and so is its gradient."""

    @pytest.mark.parametrize("mode", ["eager", "graph"])
    def test_slices_of_a_variable(self, tf: Any, mode: str) -> None:
        w = tf.Variable(np.arange(12.0).reshape(4, 3))
        found = gradcheck.check(lambda: tf.gather(w, [3, 0, 3]), checks="second", mode=mode)
        assert found.verdict is Verdict.PASS, describe(found)

    def test_the_gradient_of_a_variable_is_carried(self, tf: Any) -> None:
        calls, w = 0, tf.Variable([0.3, 0.7, 1.1], dtype=tf.float64)

        def cubes() -> Any:
            nonlocal calls
            calls += 1
            return tf.reduce_sum(w) * w**3

        found = gradcheck.check(cubes, checks="second")
        assert found.verdict is Verdict.PASS, describe(found)
        assert calls < 20

    def test_and_a_wrong_one_is_found(self, tf: Any) -> None:
        w = tf.Variable([0.3, 0.7, 1.1], dtype=tf.float64)

        @tf.custom_gradient  # type: ignore[untyped-decorator]  # no types in TF
        def cube(x: Any) -> Any:
            return x**3, lambda g: g * 3 * tf.stop_gradient(x) * x

        found = gradcheck.check(lambda: cube(tf.convert_to_tensor(w)), checks="second")
        assert found.verdict is Verdict.MISMATCH, describe(found)
