"""Low precision: right formulas pass whatever they must lose, lost arithmetic is found."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradcheck
from gradcheck.checker.api import describe
from tests.checker.planted import first, planted, subject, with_gradient
from tests.checker.verdicts import verdict

X = np.random.default_rng(6).standard_normal((4, 5))
LOW = ["float32", "float16", "bfloat16"]


def cast(tf: Any, value: Any, dtype: str) -> Any:
    return np.asarray(value).astype(tf.as_dtype(dtype).as_numpy_dtype)


@pytest.mark.parametrize("dtype", LOW)
@pytest.mark.parametrize("name", ["tanh", "exp", "sigmoid", "nn.softmax", "nn.gelu", "reduce_mean"])
def test_right_gradients_pass(tf: Any, name: str, dtype: str) -> None:
    function = tf
    for part in name.split("."):
        function = getattr(function, part)
    for seed in range(5):
        x = cast(tf, np.random.default_rng(seed).standard_normal((3, 4)), dtype)
        result = gradcheck.check(function, x, seed=seed)
        assert result.verdict == "pass", describe(result)
        assert f"in {dtype} within" in result.comparisons[0].note


def test_sums_that_cancel_pass(tf: Any) -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        a, b = (rng.standard_normal(s).astype(np.float32) for s in ((2, 3), (3, 2)))
        result = gradcheck.check(tf.linalg.matmul, a, b, seed=seed)
        assert result.verdict == "pass", describe(result)


@pytest.mark.parametrize(("dtype", "error"), [("float32", 1e-5), ("bfloat16", 0.2)])
def test_lost_arithmetic_is_found(tf: Any, dtype: str, error: float) -> None:
    low = tf.as_dtype(dtype)

    def lose(gradients: list[Any]) -> list[Any]:
        (g,) = gradients
        return [tf.cast(tf.cast(g, tf.float64) * (1 + error), low) if g.dtype == low else g]

    result = gradcheck.check(planted(tf.tanh, lose), cast(tf, X, dtype))
    assert result.verdict == "mismatch"
    assert "the formula is right in float64, but " in result.comparisons[0].note


@pytest.mark.parametrize("name", ["tanh", "acosh", "layers", "cell"])
def test_rounding_in_between_is_no_fault(tf: Any, name: str) -> None:
    functions: dict[str, tuple[Any, list[tuple[float, tuple[int, ...]]]]] = {
        "tanh": (tf.tanh, [(10.0, (3, 4))]),
        "acosh": (lambda x: tf.acosh(tf.abs(x) + 1), [(1e-3, (5,))]),
        "layers": (
            lambda x, w, v: tf.tanh(x @ w) @ v,
            [(10.0, (3, 4)), (1.0, (4, 5)), (1.0, (5, 1))],
        ),
        "cell": (lambda c, x: tf.sigmoid(x) * c + tf.tanh(x), [(10.0, (4,)), (10.0, (4,))]),
    }
    function, inputs = functions[name]
    for seed in range(6):
        rng = np.random.default_rng(seed)
        values = [(size * rng.standard_normal(shape)).astype(np.float32) for size, shape in inputs]
        result = gradcheck.check(function, *values, seed=seed)
        assert result.verdict == "pass", describe(result)


def test_the_value_of_the_input_is_shown(tf: Any) -> None:
    def lose(gradients: list[Any]) -> list[Any]:
        (g,) = gradients
        return [g * 1.001 if g.dtype == tf.float32 else g]

    result = gradcheck.check(planted(tf.tanh, lose), X.astype(np.float32))
    assert result.comparisons[0].worst[0].value in X.astype(np.float32)


def test_one_percent_in_bfloat16_is_found_in_the_formula(tf: Any) -> None:
    wrong = planted(tf.tanh, lambda gs: [gs[0] * 1.01])
    assert gradcheck.check(wrong, cast(tf, X, "bfloat16")).verdict == "mismatch"


def test_cancelling_in_the_gradient_function_is_found(tf: Any) -> None:
    @tf.custom_gradient  # type: ignore[untyped-decorator]  # no types in TF
    def careless(x: Any) -> Any:
        big = tf.cast(2.0**20, x.dtype)
        return 2 * x, lambda g: (2 * g + big) - big

    result = gradcheck.check(careless, X.astype(np.float32))
    assert result.verdict == "mismatch"
    assert "ulp" in result.comparisons[0].note
    assert gradcheck.check(careless, X).verdict in ("pass", "mismatch")


def test_overflow_in_low_precision_alone(tf: Any) -> None:
    @tf.custom_gradient  # type: ignore[untyped-decorator]  # no types in TF
    def overflows(x: Any) -> Any:
        return 2 * x, lambda g: tf.square(g * 2.0**10) / (g * 2.0**19)

    result = gradcheck.check(overflows, X.astype(np.float16))
    assert result.verdict == "nonfinite"


def test_no_kernel(tf: Any) -> None:
    result = gradcheck.check(tf.linalg.det, np.eye(2, dtype=np.float16))
    assert result.verdict == "error"
    assert "runs in float64, but not in float16" in result.message


def test_complex64(tf: Any) -> None:
    z = (X + 1j * X[::-1]).astype(np.complex64)
    assert gradcheck.check(tf.exp, z).verdict == "pass"
    wrong = planted(tf.exp, lambda gs: [tf.math.conj(gs[0])])
    assert gradcheck.check(wrong, z).verdict == "mismatch"


@pytest.mark.parametrize(
    ("dtype", "share"), [("bfloat16", 0.01), ("float16", 0.002), ("float32", 1e-6)]
)
def test_a_small_factor_in_low_precision_alone_shows_in_all_elements_together(
    tf: Any, dtype: str, share: float
) -> None:
    def a_little_more(gradients: list[Any]) -> list[Any]:
        (g,) = gradients
        return [g * tf.cast(1 + share, g.dtype) if g.dtype.name == dtype else g]

    for seed in range(5):
        x = tf.cast(np.random.default_rng(seed).standard_normal(40), dtype)
        assert gradcheck.check(planted(tf.tanh, a_little_more), x, seed=seed).verdict == "mismatch"
        assert gradcheck.check(tf.tanh, x, seed=seed).verdict == "pass"


class TestLowPrecisionFarOut:
    def test_what_is_not_to_be_represented(self, tf: Any) -> None:
        assert verdict(tf.math.expm1, np.array([348.0, 1.0], np.float32)) == "pass"
        assert verdict(tf.math.erfc, np.array([-15.2, 0.5], np.float32)) == "pass"


class TestPrecision:
    """What is wrong in the arithmetic of one precision alone."""

    @pytest.mark.parametrize(("dtype", "error"), [("float32", 1e-5), ("bfloat16", 1e-2)])
    @pytest.mark.parametrize("name", ["tanh", "softmax", "gather"])
    def test_a_formula_that_is_wrong_in_every_precision(
        self, name: str, dtype: str, error: float
    ) -> None:
        import tensorflow as tf

        which = subject(name)
        inputs = [x.astype(tf.as_dtype(dtype).as_numpy_dtype) for x in which.inputs]
        function = planted(which.function, first(lambda g: g * (1 + error)))
        assert gradcheck.check(function, *inputs).verdict == "mismatch"

    def test_a_gradient_of_another_dtype_in_low_precision(self) -> None:
        import tensorflow as tf

        @tf.custom_gradient  # type: ignore[untyped-decorator]  # no types in TF
        def double(x: Any) -> Any:
            return 2 * x, lambda g: tf.cast(2 * g, tf.float64)

        result = gradcheck.check(double, np.ones(3, np.float32))
        assert result.verdict == "mismatch"
        assert "the gradient is float64, its input float32" in result.comparisons[0].note


class TestFigures:
    @pytest.mark.parametrize("dtype", LOW)
    def test_a_row_has_the_figures_of_one_precision(self, tf: Any, dtype: str) -> None:
        def low_alone(g: Any, x: Any) -> Any:
            return g * tf.cos(x) * (1.0 if x.dtype == tf.float64 else 1.25)

        found = gradcheck.check(with_gradient(tf.sin, low_alone), cast(tf, X, dtype))
        (told,) = found.comparisons
        assert (told.verdict, told.decided_by) == ("mismatch", "low precision"), describe(found)
        assert told.max_rel_error == pytest.approx(0.2, rel=0.1)
        worst = told.worst[0]
        assert told.max_abs_error == pytest.approx(worst.error)
        assert told.error_bar is not None
        assert told.bound is not None
        assert worst.bound <= told.error_bar == np.max(told.bound)
        assert told.analytic is not None
        assert told.analytic[worst.index] == worst.analytic

    def test_nor_are_they_mixed_where_the_function_is_another_one(self, tf: Any) -> None:
        (told,) = gradcheck.check(tf.nn.selu, np.float16(-2.0754e-4)).comparisons
        assert told.verdict == "inconclusive"
        assert told.max_abs_error == pytest.approx(told.worst[0].error)
        assert told.max_rel_error is not None
        assert told.max_rel_error > 0.01

    @pytest.mark.parametrize(
        ("factor", "cause", "told"),
        [
            (1.5, "factor", "is 1.5 times too large"),
            (-1.0, "sign", "has the wrong sign"),
        ],
    )
    def test_what_is_wrong_in_one_precision_alone_has_its_cause(
        self, tf: Any, factor: float, cause: str, told: str
    ) -> None:
        def low_alone(g: Any, x: Any) -> Any:
            return 2 * g * (1.0 if x.dtype == tf.float64 else factor)

        found = gradcheck.check(with_gradient(lambda x: 2 * x, low_alone), cast(tf, X, "float32"))
        (seen,) = found.comparisons
        assert (seen.verdict, seen.decided_by) == ("mismatch", "low precision"), describe(found)
        assert seen.diagnosis is not None
        assert seen.diagnosis.cause == cause
        assert told in seen.diagnosis.text
        assert seen.diagnosis.text.endswith(", in float32 alone")
        assert "arithmetic" not in seen.note

    def test_an_overflow_is_infinitely_wrong(self, tf: Any) -> None:
        def overflows(g: Any, x: Any) -> Any:
            large = tf.cast(6e4, x.dtype)
            return g * large * large / large / large

        found = gradcheck.check(with_gradient(tf.identity, overflows), cast(tf, X, "float16"))
        (told,) = found.comparisons
        assert told.verdict == "nonfinite"
        assert told.max_abs_error == np.inf
        assert told.max_rel_error == np.inf
        assert told.error_bar == told.worst[0].bound
        assert "e+308" not in repr(found)

    def test_what_is_not_finite_is_infinitely_wrong(self, tf: Any) -> None:
        def low_alone(g: Any, x: Any) -> Any:
            lost = tf.cast(float("nan"), x.dtype)
            return tf.where(x > 1, g if x.dtype == tf.float64 else lost, g)

        function = with_gradient(lambda x: x + 0.0, low_alone)
        (told,) = gradcheck.check(function, X.astype(np.float32)).comparisons
        assert told.verdict == "nonfinite"
        assert told.max_abs_error == told.max_rel_error == np.inf


class TestZeroInDouble:
    @pytest.mark.parametrize("seed", range(6))
    @pytest.mark.parametrize("dtype", LOW)
    def test_zero_but_for_rounding_passes(self, tf: Any, dtype: str, seed: int) -> None:
        rng = np.random.default_rng(seed)
        x, c = (cast(tf, rng.standard_normal(shape), dtype) for shape in ((3, 5), (3, 1)))
        found = gradcheck.check(lambda x, c: tf.nn.softmax(x + c), x, c, seed=seed)
        assert found.verdict == "pass", describe(found)
        assert "zero but for rounding" in found.comparisons[1].note

    @pytest.mark.parametrize("size", [0.01, 0.1])
    def test_what_is_more_than_rounding_does_not(self, tf: Any, size: float) -> None:
        def low_alone(gs: Any) -> Any:
            x, c = gs
            return [x, c + tf.cast(0 if c.dtype == tf.float64 else size, c.dtype)]

        wrong = planted(lambda x, c: tf.nn.softmax(x + c), low_alone)
        rng = np.random.default_rng(4)
        x, c = (rng.standard_normal(shape).astype(np.float32) for shape in ((3, 5), (3, 1)))
        found = gradcheck.check(wrong, x, c)
        assert found.verdict == "mismatch", describe(found)


def test_a_few_ulp_need_no_neighbours(tf: Any) -> None:
    backward = 0

    @tf.custom_gradient  # type: ignore[untyped-decorator]  # no types in TensorFlow
    def square(x: Any) -> Any:
        def grad(upstream: Any) -> Any:
            nonlocal backward
            backward += 1
            return 2 * x * upstream

        return x * x, grad

    x = np.random.default_rng(3).standard_normal(5).astype(np.float32)
    assert verdict(square, x) == "pass"
    assert backward == 2  # (in float64, and in float32)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_no_gradient_in_its_own_precision(tf: Any, dtype: str) -> None:
    def resized(x: Any) -> Any:
        return tf.image.resize(x, (3, 6), method="bicubic")

    images = tf.cast(tf.reshape(tf.range(1, 9), (1, 2, 4, 1)), dtype)
    result = gradcheck.check(resized, images)
    assert result.verdict == "disconnected"
    assert f"in {dtype} the tape returned None" in result.comparisons[0].note


class TestLostElements:
    AT = np.array([1e3, 1e-3], np.float32)

    @pytest.mark.parametrize("at", [AT, AT[::-1].copy(), AT[1:]])
    def test_an_element_that_is_lost_beside_a_large_one(self, tf: Any, at: Any) -> None:
        def loses(u: Any, x: Any) -> Any:
            return u * 2 * ((x + 1e6) - 1e6)

        found = verdict(with_gradient(tf.square, loses), at)
        assert found in ("inconclusive", "mismatch")
        assert verdict(tf.square, at) == "pass"

    @pytest.mark.parametrize("size", [6, 12, 15, 20, 40, 90])
    @pytest.mark.parametrize("name", ["softmax", "sigmoid", "tanh", "log_softmax"])
    def test_what_the_outputs_round_off_is_not_lost(self, tf: Any, name: str, size: int) -> None:
        function = getattr(tf.nn, name)
        for seed in range(3):
            at = np.random.default_rng(seed).uniform(-1, 1, (2, 4)) * size
            assert verdict(function, at.astype(np.float32)) == "pass"

    def test_what_cancels_among_large_parts(self, tf: Any) -> None:
        rng = np.random.default_rng(3)
        a = rng.standard_normal((4, 9)).astype(np.float32)
        b = (rng.standard_normal((9, 4)) * 10.0 ** rng.uniform(-6, 6, (9, 1))).astype(np.float32)
        assert verdict(tf.linalg.matmul, a, b) == "pass"
        assert verdict(tf.nn.log_softmax, np.array([[0.1, 15.0, -12.0, 3.0]], np.float32)) == "pass"
