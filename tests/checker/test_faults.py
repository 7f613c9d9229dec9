"""Faults planted in correct gradients: each is caught, and named where it has a name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradcheck
from gradcheck import Result, Verdict
from tests.checker.planted import Subject, planted, subject, subjects, with_gradient

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradcheck.model import Array

SUBJECTS = [
    "tanh", "multiply", "broadcast add", "matmul", "softmax", "reduce_mean", "logsumexp",
    "conv2d", "gather", "einsum", "solve", "layer norm",
]  # fmt: skip
COMPLEX = [
    "tanh", "multiply", "broadcast add", "matmul", "reduce_mean", "gather", "einsum", "solve",
]  # fmt: skip
HEAVY = ["conv2d", "einsum", "layer norm"]
"""Functions of many elements: their diagnosis takes longest, and one precision shows it."""
DTYPES = ["float64", "float32", "complex128"]
EVERY = [
    (name, dtype)
    for name in SUBJECTS
    for dtype in DTYPES
    if "complex" not in dtype or name in COMPLEX
]

LIGHT = [(name, dtype) for name, dtype in EVERY if dtype == "float64" or name not in HEAVY]


def cause(result: Result) -> str | None:
    """The diagnosis of a mismatch."""
    assert result.verdict == "mismatch", gradcheck.checker.api.describe(result)
    return result.diagnosis.cause if result.diagnosis else None


def first(change: Callable[[Any], Any]) -> Callable[[list[Any]], list[Any]]:
    """Change the first input's gradient alone."""
    return lambda gradients: [change(gradients[0]), *gradients[1:]]


def at(gradient: Any, index: tuple[int, ...], factor: float) -> Any:
    """One element multiplied."""
    import tensorflow as tf

    factors = np.ones(gradient.shape)
    factors[index] = factor
    return gradient * tf.cast(tf.constant(factors), gradient.dtype)


def run(which: Subject, change: Callable[[list[Any]], list[Any]], dtype: str) -> Result:
    return gradcheck.check(planted(which.function, change), *which.cast(dtype))


def test_the_lists_above_are_complete() -> None:
    assert [s.name for s in subjects()] == SUBJECTS
    assert [s.name for s in subjects() if s.takes_complex] == COMPLEX


class TestOnEveryFunction:
    @pytest.mark.parametrize(("name", "dtype"), EVERY)
    def test_the_right_gradient_passes(self, name: str, dtype: str) -> None:
        result = run(subject(name), lambda gradients: gradients, dtype)
        assert result.verdict == "pass", gradcheck.checker.api.describe(result)

    @pytest.mark.parametrize(("name", "dtype"), EVERY)
    def test_all_of_it_too_large_by_a_hundred_millionth(self, name: str, dtype: str) -> None:
        result = run(subject(name), first(lambda g: g * (1 + 1e-8)), dtype)
        # In float32 the factor is one: what is left is a formula that is wrong in float64.
        assert result.verdict == "mismatch"

    @pytest.mark.parametrize(("name", "dtype"), EVERY)
    def test_its_largest_element_too_large_by_a_hundred_millionth(
        self, name: str, dtype: str
    ) -> None:
        which = subject(name)
        right = gradcheck.check(which.function, *which.cast(dtype)).comparisons[0]
        assert right.numeric is not None
        index = np.unravel_index(np.argmax(np.abs(right.numeric)), right.shape)
        place = tuple(int(i) for i in index)
        result = run(which, first(lambda g: at(g, place, 1 + 1e-8)), dtype)
        assert result.verdict == "mismatch"
        assert result.comparisons[0].worst_index == place
        if "complex" not in dtype:
            assert result.comparisons[0].failing == 1

    @pytest.mark.parametrize(("name", "dtype"), LIGHT)
    def test_wrong_sign(self, name: str, dtype: str) -> None:
        assert cause(run(subject(name), first(lambda g: -g), dtype)) == "sign"

    @pytest.mark.parametrize(("name", "dtype"), LIGHT)
    def test_zero(self, name: str, dtype: str) -> None:
        assert cause(run(subject(name), first(lambda g: 0 * g), dtype)) == "zero"

    @pytest.mark.parametrize("name", SUBJECTS)
    def test_nan_at_one_element(self, name: str) -> None:
        result = run(subject(name), first(lambda g: at(g, (0,) * g.ndim, np.nan)), "float64")
        assert result.verdict == "nonfinite"
        assert result.comparisons[0].worst_index == (0,) * len(result.comparisons[0].shape)
        assert result.comparisons[0].failing == 1

    @pytest.mark.parametrize("name", SUBJECTS)
    def test_infinity_at_one_element(self, name: str) -> None:
        def change(g: Any) -> Any:
            import tensorflow as tf

            infinite = tf.constant(np.inf, g.dtype)
            return tf.where(at(tf.ones_like(g), (0,) * g.ndim, 0.0) == 0, infinite, g)

        result = run(subject(name), first(change), "float64")
        assert result.verdict == "nonfinite"

    @pytest.mark.parametrize("name", SUBJECTS)
    def test_none(self, name: str) -> None:
        import tensorflow as tf

        which = subject(name)

        def function(x: Any, *others: Any) -> Any:
            return which.function(tf.stop_gradient(x), *others)

        result = gradcheck.check(function, *which.inputs)
        assert result.verdict == "disconnected"
        assert [c.verdict for c in result.comparisons] == [
            Verdict.DISCONNECTED,
            *[Verdict.PASS] * (len(which.inputs) - 1),
        ]
        assert "does move" in result.comparisons[0].note

    @pytest.mark.parametrize("dtype", DTYPES)
    @pytest.mark.parametrize("name", ["tanh", "multiply", "gather"])
    def test_a_zero_in_a_slice(self, name: str, dtype: str) -> None:
        def change(g: Any) -> Any:
            mask = np.ones(g.shape)
            mask[2] = 0
            return g * mask.astype(g.dtype.as_numpy_dtype)

        result = run(subject(name), first(change), dtype)
        assert cause(result) == "slice"
        assert result.diagnosis is not None
        assert "index 2 of axis 0 (it is zero there)" in result.diagnosis.text

    @pytest.mark.parametrize("dtype", DTYPES)
    @pytest.mark.parametrize("name", ["tanh", "multiply", "gather", "matmul"])
    def test_shifted_by_one(self, name: str, dtype: str) -> None:
        import tensorflow as tf

        result = run(subject(name), first(lambda g: tf.roll(g, 1, axis=0)), dtype)
        assert cause(result) == "shifted"


class TestPrecision:
    """What is wrong in the arithmetic of one precision alone."""

    @pytest.mark.parametrize(("dtype", "error"), [("float32", 1e-5), ("bfloat16", 1e-2)])
    @pytest.mark.parametrize("name", ["tanh", "multiply", "softmax", "reduce_mean", "gather"])
    def test_an_error_of_low_precision_only(self, name: str, dtype: str, error: float) -> None:
        import tensorflow as tf

        which = subject(name)
        low = tf.as_dtype(dtype)

        def change(g: Any) -> Any:
            if g.dtype != low:
                return g
            return tf.cast(tf.cast(g, tf.float64) * (1 + 20 * error), low)

        inputs = [x.astype(low.as_numpy_dtype) for x in which.inputs]
        result = gradcheck.check(planted(which.function, first(change)), *inputs)
        assert result.verdict == "mismatch"
        assert "the formula is right in float64" in result.comparisons[0].note
        right = gradcheck.check(which.function, *inputs)
        assert right.verdict == "pass", gradcheck.checker.api.describe(right)

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

    @pytest.mark.parametrize("name", ["tanh", "multiply", "matmul", "einsum", "solve"])
    def test_conjugate_missing(self, name: str) -> None:
        import tensorflow as tf

        result = run(subject(name), first(tf.math.conj), "complex128")
        assert cause(result) == "conjugate"

    def test_conjugate_missing_in_a_product(self) -> None:
        a, b = subject("multiply").cast("complex128")
        function = with_gradient(lambda a, b: a * b, lambda g, a, b: (g * b, g * a))
        result = gradcheck.check(function, a, b)
        assert result.verdict == "mismatch"

    @pytest.mark.parametrize(
        ("forward", "gradient", "factor"),
        [
            ("square", lambda g, _x: 2 * g, "x"),
            ("square", lambda g, _x: g, "2x"),
            ("exp", lambda g, _x: g, "f(x)"),
            ("sin", lambda g, _x: g, "cos x"),
            ("sigmoid", lambda g, _x: g, "f(x)·(1−f(x))"),
            ("tanh", lambda g, _x: g, "1−f(x)²"),
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
        assert f"lacks the factor {factor}" in result.diagnosis.text or (
            factor == "f(x)" and "lacks the factor eˣ" in result.diagnosis.text
        )

    def test_a_factor_of_another_input_is_missing(self) -> None:
        a, b = subject("multiply").inputs
        function = with_gradient(lambda a, b: a * b, lambda g, a, _b: (g, g * a))
        assert gradcheck.check(function, a, b).verdict == "mismatch"

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

    @pytest.mark.parametrize("name", ["tanh", "matmul", "softmax"])
    def test_a_constant_offset(self, name: str) -> None:
        result = run(subject(name), first(lambda g: g - 0.25), "float64")
        assert cause(result) == "offset"
        assert result.diagnosis is not None
        assert "too small by 0.25" in result.diagnosis.text

    def test_as_if_elements_did_not_interfere(self) -> None:
        import tensorflow as tf

        def gradient(g: Any, x: Any) -> Any:
            y = tf.nn.softmax(x)
            return g * y * (1 - y)

        function = with_gradient(tf.nn.softmax, gradient)
        result = gradcheck.check(function, np.random.default_rng(0).standard_normal((2, 5)))
        assert cause(result) == "diagonal"

    def test_the_jacobian_without_its_transpose(self) -> None:
        import tensorflow as tf

        matrix = np.random.default_rng(0).standard_normal((4, 4))
        function = with_gradient(
            lambda x: tf.linalg.matvec(matrix, tf.sin(x)),
            lambda g, x: tf.linalg.matvec(matrix, tf.cos(x) * g),
        )
        assert cause(gradcheck.check(function, np.full(4, 0.3))) == "jacobian"

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

    def test_summed_over_the_wrong_axis(self) -> None:
        import tensorflow as tf

        function = with_gradient(
            lambda x, b: x * b, lambda g, x, b: (g * b, tf.reduce_sum(g * x, axis=1))
        )
        x, b = np.random.default_rng(0).standard_normal((4, 4)), np.arange(1.0, 5.0)
        result = gradcheck.check(function, x, b)
        assert cause(result) == "axis"
        assert result.diagnosis is not None
        assert "summed over axis 1" in result.diagnosis.text

    def test_what_is_zero_but_for_rounding_has_no_factor(self) -> None:
        which = subject("softmax")
        function = planted(which.function, first(lambda g: g + 1e-3))
        result = gradcheck.check(function, *which.inputs, upstream="ones")
        assert cause(result) == "constant"

    @pytest.mark.parametrize("name", ["tanh", "broadcast add"])
    def test_a_small_error_is_not_taken_for_something_grand(self, name: str) -> None:
        # What the mistakes above would give is here what is right.
        which = subject(name)
        change = first(lambda g: g + 1e-7 * np.arange(1.0, 1 + np.size(g)).reshape(g.shape) ** 2)
        result = gradcheck.check(planted(which.function, change), *which.inputs, upstream="ones")
        assert result.verdict == "mismatch"
        assert cause(result) is None

    def test_nothing_is_said_where_nothing_fits(self) -> None:
        noise = np.random.default_rng(0).standard_normal((3, 4))
        result = run(subject("tanh"), first(lambda g: g + noise), "float64")
        assert cause(result) is None


class TestSpecialPoints:
    def test_a_finite_wrong_value_at_one_point(self) -> None:
        import tensorflow as tf

        def sinc(x: Any) -> Any:
            safe = tf.where(x == 0, 1.0, x)
            return tf.where(x == 0, tf.ones_like(x), tf.sin(safe) / safe)

        x = np.array([-1.0, 0.0, 2.0])
        assert gradcheck.check(sinc, x).verdict == "pass"
        right: Array = np.array([0.0, 1.0, 0.0])
        result = gradcheck.check(planted(sinc, first(lambda g: g + right)), x)
        assert cause(result) == "element"
        assert result.comparisons[0].worst_index == (1,)

    def test_nan_where_a_finite_derivative_exists(self) -> None:
        import tensorflow as tf

        def unsafe(x: Any) -> Any:
            return tf.where(x == 0, tf.ones_like(x), tf.sin(x) / x)

        result = gradcheck.check(unsafe, np.array([-1.0, 0.0, 2.0]))
        assert result.verdict == "nonfinite"
        assert result.comparisons[0].worst_index == (1,)
        note = "1 NaN, where the function is finite (the output at [1] is 1)"
        assert result.comparisons[0].note == note

    def test_infinity_is_told_from_nan(self) -> None:
        import tensorflow as tf

        def gradient(g: Any, x: Any) -> Any:
            bad = tf.where(x > 2, tf.constant(np.nan, x.dtype), tf.constant(np.inf, x.dtype))
            return tf.where(x > 0, bad, g * tf.cos(x))

        function = with_gradient(lambda x: tf.reduce_sum(tf.sin(x)), gradient)
        result = gradcheck.check(function, np.array([-1.0, 1.0, 2.0, 3.0]))
        assert result.verdict == "nonfinite"
        assert result.comparisons[0].failing == 3
        note = result.comparisons[0].note
        assert note.startswith("1 NaN and 2 infinite; the function is finite (the output is 1.")

    @pytest.mark.parametrize(
        ("value", "verdict", "words"),
        [
            (1.0, "mismatch", ""),
            (np.nan, "nonfinite", "4 NaN, of a function whose output is empty"),
        ],
    )
    def test_an_empty_output_has_no_gradient(self, value: float, verdict: str, words: str) -> None:
        function = planted(lambda x: x[:0], first(lambda g: g + value))
        result = gradcheck.check(function, np.ones(4))
        assert result.verdict == verdict
        assert result.comparisons[0].note == words

    def test_a_function_that_is_not_finite_is_no_fault_of_the_gradient(self) -> None:
        import tensorflow as tf

        result = gradcheck.check(tf.math.log, np.array([1.2, -1.0, 0.0]))
        assert result.verdict == "inconclusive"
        assert "the output at [1] is nan), which hides 2 of 3" in result.comparisons[0].note

    def test_equal_inputs(self) -> None:
        import tensorflow as tf

        # The distance of a point from itself: a kink, and TensorFlow says NaN.
        result = gradcheck.check(lambda a, b: tf.norm(a - b), np.ones(3), np.ones(3))
        assert result.verdict == "nonfinite"

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

    @pytest.mark.parametrize("shape", [(4, 3), (12,), (3, 1), ()])
    def test_another_shape(self, shape: tuple[int, ...]) -> None:
        import tensorflow as tf

        function = with_gradient(lambda x: 2 * x, lambda _g, _x: tf.ones(shape, tf.float64))
        result = gradcheck.check(function, np.ones((3, 4)))
        assert result.verdict == "mismatch"
        assert "shape" in result.comparisons[0].note
        assert "[3, 4]" in result.comparisons[0].note
