"""Variables that are read as tensors: with many values at once."""

from __future__ import annotations

from typing import Any

import numpy as np

import gradcheck
from gradcheck.checker.subject.substituted import WithReads, reads_as

RNG = np.random.default_rng(0)


def test_who_reads_gets_the_tensor(tf: Any) -> None:
    w = tf.Variable([1.0, 2.0])
    with reads_as({id(w.handle): tf.constant([[3.0, 4.0], [5.0, 6.0]])}):
        read = tf.constant(1.0) * w
        added = tf.add_n([tf.convert_to_tensor(w), tf.convert_to_tensor(w)])
    np.testing.assert_array_equal(read, [[3.0, 4.0], [5.0, 6.0]])
    np.testing.assert_array_equal(added, [[6.0, 8.0], [10.0, 12.0]])
    np.testing.assert_array_equal(w * 1.0, [1.0, 2.0])


def test_a_variable_that_is_given_as_one_is_read(tf: Any) -> None:
    w = tf.Variable(2.0)
    function = WithReads(lambda x: x * w, 1, [w])
    assert function(tf.constant(3.0), w) == 6.0
    assert function(tf.constant(3.0), tf.constant(5.0)) == 15.0


def test_variables_have_many_values_at_once(tf: Any) -> None:
    calls, w = 0, tf.Variable(RNG.standard_normal((3, 4)))

    def product(x: Any) -> Any:
        nonlocal calls
        calls += 1
        return tf.tanh(tf.matmul(x, w))

    assert gradcheck.check(product, RNG.standard_normal((2, 3))).verdict == "pass"
    assert calls < 10


def test_and_a_wrong_gradient_of_one_is_found(tf: Any) -> None:
    w = tf.Variable(RNG.standard_normal(3))

    @tf.custom_gradient  # type: ignore[untyped-decorator]  # no types in TensorFlow
    def scaled(x: Any) -> Any:
        def grad(upstream: Any, variables: Any = None) -> Any:
            return upstream * w, [upstream * x * (1 + 1e-7) for _ in variables]

        return x * w, grad

    result = gradcheck.check(scaled, RNG.standard_normal(3))
    assert [c.verdict for c in result.comparisons] == ["pass", "mismatch"]
