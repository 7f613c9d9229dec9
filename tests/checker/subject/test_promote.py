"""Functions that take low precision alone: their graphs, promoted to float64."""

from __future__ import annotations

from itertools import chain, cycle
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradcheck
from gradcheck.checker.api import describe
from gradcheck.checker.subject.operand import Operand
from gradcheck.checker.subject.promote import promoted
from tests.checker.test_api import verdicts

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradcheck.model import Result

RNG = np.random.default_rng(0)
X = RNG.uniform(0.5, 1.5, size=3).astype(np.float32)
W = RNG.uniform(0.5, 1.5, size=3).astype(np.float32)
MATRIX = RNG.standard_normal((3, 4)).astype(np.float32)


def in_float64(result: Result) -> None:
    """All of it passed, and was judged on a float64 reference."""
    assert set(verdicts(result).values()) == {"pass"}, describe(result)
    for comparison in result.comparisons:
        assert "of float64" in comparison.note, comparison
        assert comparison.error_bar is not None
        assert comparison.error_bar < 1e-8


def low_alone(tf: Any) -> dict[str, Callable[..., Any]]:
    """Functions that cannot be called in float64, by name."""
    w = tf.constant(W)

    def loop(x: Any) -> Any:
        return tf.while_loop(lambda i, _: i < 3, lambda i, a: (i + 1, a * tf.sin(a) * w), (0, x))[1]

    def asserts(x: Any) -> Any:
        tf.debugging.assert_type(x, tf.float32)
        return tf.exp(x)

    @tf.function  # type: ignore[untyped-decorator]
    def with_autograph(x: Any) -> Any:
        total = x
        for _ in tf.range(3):
            total = total * w if tf.reduce_sum(total) > 0 else total - 0.3
        return total

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])  # type: ignore[untyped-decorator]
    def with_signature(x: Any) -> Any:
        return tf.tanh(x)

    @tf.function(jit_compile=True)  # type: ignore[untyped-decorator]
    def compiled(x: Any) -> Any:
        return tf.sin(x) * w

    def ctc(x: Any) -> Any:
        logits = tf.reshape(tf.concat([x * w, x, x, x], 0), [4, 1, 3])
        return tf.nn.ctc_loss([[1, 2]], logits, [2], [4], blank_index=0)

    return {
        "a captured tensor": lambda x: x * w,
        "a captured array": lambda x: x * W,
        "a dtype that is asserted": asserts,
        "a loop": loop,
        "a branch": lambda x: tf.cond(x[0] > 0, lambda: x * w, lambda: tf.exp(x)),
        "a scan": lambda x: tf.scan(lambda a, b: a * b + w[0], x),
        "a map": lambda x: tf.map_fn(lambda a: a * a * w[0], x),
        "a gather, whose gradient is slices": lambda x: tf.gather(x * w, [0, 0, 1]),
        "functions in functions": lambda x: compiled(with_signature(x)),
        "autograph": with_autograph,
        "an input signature": with_signature,
        "ctc_loss": ctc,
        "stateless dropout": lambda x: tf.nn.experimental.stateless_dropout(x * w, 0.5, [1, 2]),
        "linear algebra": lambda x: tf.linalg.solve(tf.linalg.diag(x * w) + 1.0, w[:, None]),
    }


@pytest.mark.parametrize(
    "name",
    [
        "a captured tensor",
        "a captured array",
        "a dtype that is asserted",
        "a loop",
        "a branch",
        "a scan",
        "a map",
        "a gather, whose gradient is slices",
        "functions in functions",
        "autograph",
        "an input signature",
        "ctc_loss",
        "stateless dropout",
        "linear algebra",
    ],
)
def test_a_function_of_float32_alone_is_judged_in_float64(tf: Any, name: str) -> None:
    in_float64(gradcheck.check(low_alone(tf)[name], X))


def test_and_one_of_variables(tf: Any) -> None:
    v = tf.Variable(W, name="v")
    result = gradcheck.check(lambda x: tf.sin(x) * v, X)
    in_float64(result)
    assert list(verdicts(result)) == ["x", "v"]
    np.testing.assert_array_equal(v.numpy(), W)


def test_a_module(tf: Any) -> None:
    class Attention(tf.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.query, self.key, self.value = (
                tf.Variable(MATRIX.T @ MATRIX / 8) for _ in range(3)
            )
            self.bias = tf.Variable(MATRIX[0])

        def __call__(self, x: Any) -> Any:
            keys = x @ self.key + self.bias
            return tf.nn.softmax(x @ self.query @ tf.transpose(keys)) @ (x @ self.value)

    # (Its bias has no influence: that the gradient is zero but for rounding is seen as well.)
    result = gradcheck.check(Attention(), MATRIX)
    assert set(verdicts(result).values()) == {"pass"}, describe(result)


def test_a_layer_that_cannot_be_made_again(tf: Any) -> None:
    import keras

    class Scaled(keras.layers.Layer):  # type: ignore[misc]
        def __init__(self, something: object) -> None:
            super().__init__()
            self.something = something

        def build(self, _shape: Any) -> None:
            self.kernel = self.add_weight(shape=(4, 2), initializer="ones", name="kernel")

        def call(self, x: Any) -> Any:
            return tf.nn.softmax(x @ (self.kernel * tf.range(1.0, 3.0)))

    in_float64(gradcheck.check(Scaled(object()), MATRIX))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_precision(tf: Any, dtype: str) -> None:
    bias = tf.constant([1.0, 2.0], dtype)
    x = tf.constant(RNG.standard_normal((3, 2)), dtype)
    result = gradcheck.check(lambda x: tf.nn.bias_add(x, bias), x)
    in_float64(result)
    assert result.comparisons[0].dtype == dtype


def test_complex_numbers(tf: Any) -> None:
    w = tf.complex(tf.constant(W), tf.constant(X))
    in_float64(gradcheck.check(lambda x: tf.signal.fft(x) * w, (X + 1j * W).astype(np.complex64)))


def test_integers_beside_it(tf: Any) -> None:
    w = tf.constant(W)
    result = gradcheck.check(lambda x, i: tf.gather(x * w, i), X, np.array([0, 2, 2]))
    in_float64(result)
    table = tf.Variable(MATRIX, name="table")
    lookup = gradcheck.check(lambda i: tf.nn.embedding_lookup(table, i), np.array([0, 2, 2]))
    in_float64(lookup)


def test_a_variable_that_is_given(tf: Any) -> None:
    w = tf.constant(W)
    in_float64(gradcheck.check(lambda x: tf.sin(x) * w, tf.Variable(X)))


def test_no_gradient_is_still_none(tf: Any) -> None:
    w = tf.constant(W)
    result = gradcheck.check(lambda x, y: tf.stop_gradient(x) * w + y, X, W)
    assert verdicts(result) == {"x": "disconnected", "y": "pass"}


@pytest.mark.parametrize("fault", [1e-6, 1e-4, 1.0])
@pytest.mark.parametrize("captured", ["constant", "variable"])
@pytest.mark.parametrize("nested", ["plain", "in a tf.function"])
def test_a_wrong_gradient_function_is_found(
    tf: Any, fault: float, captured: str, nested: str
) -> None:
    w = tf.constant(W) if captured == "constant" else tf.Variable(W)

    @tf.custom_gradient  # type: ignore[untyped-decorator]
    def wrong(x: Any) -> Any:
        y = tf.exp(x)
        return y, lambda upstream: upstream * y * (1 + fault)

    function = tf.function(wrong) if nested == "in a tf.function" else wrong
    result = gradcheck.check(lambda x: function(x) * w, X)
    assert verdicts(result)["x"] == "mismatch"
    assert result.comparisons[0].max_rel_error == pytest.approx(fault / (1 + fault), rel=0.1)


def test_the_right_one_passes(tf: Any) -> None:
    w = tf.Variable(W)

    @tf.custom_gradient  # type: ignore[untyped-decorator]
    def right(x: Any) -> Any:
        y = tf.exp(x)
        return y, lambda upstream: upstream * y

    in_float64(gradcheck.check(lambda x: right(x) * w, X))
    in_float64(gradcheck.check(tf.function(lambda x: right(x) * w), X))


def test_a_registered_gradient_is_the_one_that_is_judged(tf: Any) -> None:
    w = tf.constant(W)

    @tf.RegisterGradient("gradcheck_test_wrong_sine")  # type: ignore[untyped-decorator]
    def wrong(op: Any, upstream: Any) -> Any:
        return upstream * tf.cos(op.inputs[0]) * (1 + 1e-5)

    @tf.function  # type: ignore[untyped-decorator]
    def sine(x: Any) -> Any:
        graph = tf.compat.v1.get_default_graph()
        with graph.gradient_override_map({"Sin": "gradcheck_test_wrong_sine"}):
            return tf.sin(x) * w

    result = gradcheck.check(sine, X)
    assert verdicts(result) == {"x": "mismatch"}


def test_a_fault_of_the_way_back_that_float64_does_not_take(tf: Any) -> None:
    scale = tf.constant(W)

    def function(fault: float) -> Any:
        @tf.custom_gradient  # type: ignore[untyped-decorator]
        def scaled(x: Any) -> Any:
            # (Forward goes in any precision, back in float32 alone.)
            return tf.sin(x), lambda u: u * tf.cos(x) * scale / scale * (1 + fault)

        return scaled

    in_float64(gradcheck.check(function(0.0), X))
    assert verdicts(gradcheck.check(function(1e-6), X)) == {"x": "mismatch"}


def test_the_gradient_of_the_gradient(tf: Any) -> None:
    w = tf.constant(W)

    def function(fault: float) -> Any:
        @tf.custom_gradient  # type: ignore[untyped-decorator]
        def sine(x: Any) -> Any:
            @tf.custom_gradient  # type: ignore[untyped-decorator]
            def slope(u: Any, x: Any) -> Any:
                return u * tf.cos(x), lambda t: (t * tf.cos(x), -t * u * tf.sin(x) * (1 + fault))

            return tf.sin(x), lambda u: slope(u, x)

        return lambda x: sine(x) * w

    in_float64(gradcheck.check(function(0.0), X, checks=["reverse", "second"]))
    result = gradcheck.check(function(1e-5), X, checks=["reverse", "second"])
    assert [str(c.verdict) for c in result.comparisons] == ["pass", "mismatch"]


def test_forward_mode_is_not_that_of_a_promoted_graph(tf: Any) -> None:
    v = tf.Variable(W)

    right = gradcheck.check(lambda x: tf.sin(x) * v, X, checks="forward")
    assert set(verdicts(right).values()) == {"pass"}


def test_constants_that_were_rounded_are_no_fault(tf: Any) -> None:
    root = tf.constant(2.0**0.5)

    def function(fault: float) -> Any:
        @tf.custom_gradient  # type: ignore[untyped-decorator]
        def twice(x: Any) -> Any:
            return tf.sin(x * root * root), lambda u: u * tf.cos(2.0 * x) * 2.0 * (1 + fault)

        return twice

    assert verdicts(gradcheck.check(function(0.0), X)) == {"x": "pass"}
    assert verdicts(gradcheck.check(function(2e-6), X)) == {"x": "mismatch"}


def refused(tf: Any, function: Callable[..., Any]) -> bool:
    return promoted(function, [Operand("x", X)]) is None


def test_a_kernel_that_means_something_else_in_float64_is_refused(tf: Any) -> None:
    # What is empty has the lowest number of its dtype.
    assert refused(tf, lambda x: tf.math.unsorted_segment_max(x, [0, 0, 2], 4))


def test_what_has_no_float64_is_refused(tf: Any) -> None:
    def bits(x: Any) -> Any:
        return x * tf.cast(tf.bitcast(x, tf.int32), tf.float32)

    def normalised(x: Any) -> Any:
        images = tf.reshape(x, [1, 1, 3, 1])
        return tf.compat.v1.nn.fused_batch_norm(images, tf.ones(1), tf.zeros(1))[0]

    assert refused(tf, bits)
    assert refused(tf, lambda x: tf.numpy_function(np.sin, [x], tf.float32))
    assert refused(tf, normalised)
    assert not refused(tf, tf.sin)


def test_what_draws_anew_is_refused(tf: Any) -> None:
    assert refused(tf, lambda x: x * tf.random.normal([3]))
    assert refused(tf, lambda x: x + tf.random.stateless_gamma([3], [1, 2], x))


def test_what_python_draws_is_not_frozen(tf: Any) -> None:
    rng = np.random.default_rng(1)
    w = tf.constant(W)
    # (A coin can fall the same way for a while: here at the point, in the graph and beside it.)
    coin = chain([1.0] * 3, cycle([2.0, 1.0]))
    assert refused(tf, lambda x: x * w * next(coin))
    result = gradcheck.check(lambda x: x * w * rng.uniform(1, 2), X)
    assert str(result.verdict) == "inconclusive"


def test_a_function_that_rounds_to_less_than_it_says_is_judged_in_that(tf: Any) -> None:
    v = tf.Variable(W)

    def function(x: Any) -> Any:
        return tf.cast(tf.cast(x, tf.float16) * tf.cast(v, tf.float16), tf.float32)

    result = gradcheck.check(function, X)
    assert set(verdicts(result).values()) == {"pass"}
    assert all("in float16" in comparison.note for comparison in result.comparisons)


def test_what_is_counted_is_put_back(tf: Any) -> None:
    calls, w = tf.Variable(0.0, trainable=False), tf.constant(W)

    def counted(x: Any) -> Any:
        calls.assign_add(1.0)
        return x * w * calls

    in_float64(gradcheck.check(counted, X))
    assert calls.numpy() == 0.0
