"""Functions that take low precision alone, called so that float64 wins: nothing is traced."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import gradcheck
from gradcheck.checker.subject import in_either
from gradcheck.checker.subject.operand import Operand
from gradcheck.checker.subject.promote_eagerly import NoDouble, promoted_eagerly
from gradcheck.checker.subject.widened_ops import double_wins
from tests.checker.planted import planted
from tests.checker.subject.test_promote import W, X, in_float64
from tests.checker.test_api import verdicts


@pytest.fixture
def _never_traced(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: Any) -> Any:
        raise AssertionError("traced")

    monkeypatch.setattr(in_either, "promoted", never)


@pytest.mark.usefixtures("_never_traced")
class TestNothingIsTraced:
    def test_a_closure_over_float32_is_not_traced(self, tf: Any) -> None:
        w = tf.constant(W)
        in_float64(gradcheck.check(lambda x: tf.tanh(x * w), X))
        in_float64(gradcheck.check(lambda x: tf.nn.sigmoid_cross_entropy_with_logits(w, x), X))

    def test_nor_one_over_variables(self, tf: Any) -> None:
        w, table = tf.Variable(W), tf.Variable(np.outer(W, X))

        def function(x: Any) -> Any:
            return tf.sin(x * w) + tf.reduce_sum(tf.nn.embedding_lookup(table, [0, 2]), axis=1)[0]

        result = gradcheck.check(function, X)
        in_float64(result)
        assert len(result.comparisons) == 3

    def test_nor_one_that_casts_to_what_it_was_written_for(self, tf: Any) -> None:
        in_float64(gradcheck.check(lambda x: tf.exp(tf.cast(x, tf.float32)) * tf.constant(W), X))

    def test_nor_a_function_around_a_layer(self, tf: Any) -> None:
        layer = tf.keras.layers.Dense(2, activation="tanh")
        in_float64(gradcheck.check(lambda x: 2 * layer(x), np.outer(X, W)))

    def test_nor_what_has_no_kernel_in_float64(self, tf: Any) -> None:
        x = np.arange(16, dtype=np.float32).reshape(1, 2, 2, 2, 2)
        result = gradcheck.check(lambda x: tf.nn.max_pool3d(x, 2, 1, "VALID"), x)
        assert result.verdict == "pass"

    def test_nor_one_that_draws(self, tf: Any) -> None:
        def sample(x: Any) -> Any:
            return x * tf.random.stateless_normal([3], seed=[3, 4], dtype=x.dtype) + tf.constant(W)

        in_float64(gradcheck.check(sample, X))

    @pytest.mark.parametrize("size", [1.0, 1e-3, 1e-6])
    def test_a_wrong_gradient_is_found(self, tf: Any, size: float) -> None:
        w = tf.constant(W)
        spoilt = planted(lambda x: tf.tanh(x * w), lambda gs: [gs[0] * (1 + size)])
        assert verdicts(gradcheck.check(spoilt, X)) == {"input0": "mismatch"}

    def test_and_one_that_is_wrong_in_its_own_precision_alone(self, tf: Any) -> None:
        w = tf.constant(W)

        @tf.custom_gradient  # type: ignore[untyped-decorator]
        def function(x: Any) -> Any:
            factor = 1.01 if x.dtype == tf.float32 else 1.0
            return tf.tanh(x * w), lambda upstream: upstream * factor * w / tf.cosh(x * w) ** 2

        assert gradcheck.check(function, X).verdict == "mismatch"


def test_another_function_in_float64_is_no_twin(tf: Any) -> None:
    def function(x: Any) -> Any:
        return x * (1.0 if x.dtype == tf.float32 else 1.001)

    assert promoted_eagerly(function, [Operand("x", X)]) is None


def test_nor_is_one_with_another_gradient(tf: Any) -> None:
    @tf.custom_gradient  # type: ignore[untyped-decorator]
    def function(x: Any) -> Any:
        return tf.sin(x), lambda up: up * tf.cos(x) * (1.0 if x.dtype == tf.float32 else 1.1)

    assert promoted_eagerly(function, [Operand("x", X)]) is None


def test_what_rounding_leaves_is_no_zero(tf: Any) -> None:
    def rest(x: Any) -> Any:
        return x - tf.cast(tf.cast(x, tf.bfloat16), tf.float32)

    # At these points nothing is rounded: there it is zero in every precision.
    assert promoted_eagerly(rest, [Operand("x", np.array([0.5, -1.25], np.float32))]) is None


def test_a_kernel_that_gives_float32_alone_is_not_traced(tf: Any) -> None:
    images = Operand("x", np.ones((1, 2, 2, 1), np.float32))
    with pytest.raises(NoDouble):
        promoted_eagerly(lambda x: tf.image.resize(x, [3, 3]), [images])


@pytest.mark.parametrize("name", ["lrn", "max_pool3d", "fused_batch_norm"])
def test_nor_is_one_that_takes_float32_alone(tf: Any, name: str) -> None:
    functions = {
        "lrn": tf.nn.local_response_normalization,
        "max_pool3d": lambda x: tf.nn.max_pool3d(x[..., tf.newaxis], 1, 1, "VALID"),
        "fused_batch_norm": lambda x: tf.raw_ops.FusedBatchNormV3(
            x=x, scale=[1.0, 2.0], offset=[0.0, 1.0], mean=[], variance=[]
        )[0],
    }
    images = Operand("x", np.arange(1.0, 9.0, dtype=np.float32).reshape(1, 2, 2, 2))
    with pytest.raises(NoDouble):
        promoted_eagerly(functions[name], [images])


def test_a_tf_function_keeps_no_trace_of_it(tf: Any) -> None:
    w = tf.constant(W)

    @tf.function  # type: ignore[untyped-decorator]
    def function(x: Any) -> Any:
        return tf.tanh(x * w)

    function(tf.constant(X))
    in_float64(gradcheck.check(function, X))
    with pytest.raises((TypeError, ValueError, tf.errors.InvalidArgumentError)):
        function(tf.constant(X, tf.float64))


def test_what_is_recomputed_on_the_way_back(tf: Any) -> None:
    w = tf.Variable(np.outer(W, W))

    def function(x: Any) -> Any:
        return tf.recompute_grad(lambda q: tf.linalg.matvec(tf.cast(w, q.dtype), q))(x)

    for dtype in ("float32", "float64"):
        assert set(verdicts(gradcheck.check(function, X.astype(dtype))).values()) == {"pass"}


def test_other_threads_compute_as_they_did(tf: Any) -> None:
    x, seen = tf.constant([0.1], tf.float64), []
    with double_wins():
        thread = threading.Thread(target=lambda: seen.append(tf.cast(x, tf.float32).dtype))
        thread.start()
        thread.join()
    assert seen == [tf.float32]


def test_the_trial_has_gone_back_already(tf: Any) -> None:
    w, ways_back = tf.constant(W), []

    @tf.custom_gradient  # type: ignore[untyped-decorator]  # no types in TF
    def function(x: Any) -> Any:
        def gradient(upstream: Any) -> Any:
            ways_back.append(upstream.dtype.name)
            return upstream * w

        return x * w, gradient

    in_float64(gradcheck.check(function, X))
    assert ways_back == ["float32", "float64"]
    # ... and what it found there is judged as any other.
    off = planted(lambda x: tf.sin(x * w), lambda gradients: [(1 + 1e-5) * g for g in gradients])
    assert gradcheck.check(off, X).verdict == "mismatch"
