"""Variables that a function reads are checked like inputs, under their own names."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradcheck
from gradcheck import UsageError
from tests.checker.test_api import verdicts

X = np.array([[1.0, -2.0], [0.5, 3.0], [2.0, 1.5]])


def scaled(tf: Any, weight: Any, *, factor: float) -> Any:
    """x·w, with the gradient of w so many times too large."""

    @tf.custom_gradient  # type: ignore[untyped-decorator]  # no types in TF
    def function(x: Any) -> Any:
        def gradient(upstream: Any, variables: Any = None) -> Any:
            del variables
            return upstream * weight, [factor * tf.reduce_sum(upstream * x, 0)]

        return x * weight, gradient

    return function


def test_a_wrong_gradient_of_a_variable(tf: Any) -> None:
    weight = tf.Variable([2.0, 3.0], dtype=tf.float64, name="weight")
    right = gradcheck.check(scaled(tf, weight, factor=1.0), X)
    assert verdicts(right) == {"x": "pass", "weight": "pass"}
    wrong = gradcheck.check(scaled(tf, weight, factor=2.0), X)
    assert verdicts(wrong) == {"x": "pass", "weight": "mismatch"}
    slightly = gradcheck.check(scaled(tf, weight, factor=1 + 1e-9), X)
    assert verdicts(slightly) == {"x": "pass", "weight": "mismatch"}


def test_they_can_be_left_out(tf: Any) -> None:
    weight = tf.Variable([2.0, 3.0], dtype=tf.float64, name="weight")
    wrong = scaled(tf, weight, factor=2.0)
    assert verdicts(gradcheck.check(wrong, X, variables=False)) == {"x": "pass"}
    assert verdicts(gradcheck.check(wrong, X, wrt="x")) == {"x": "pass"}


def test_wrt_takes_names_and_variables(tf: Any) -> None:
    import keras

    dense = keras.layers.Dense(2, dtype="float64", name="d")
    dense(tf.constant(X))
    for wrt in (
        dense.kernel,
        [dense.kernel],
        "d/kernel",
        ["d/kernel"],
        dense.trainable_variables[:1],
    ):
        assert verdicts(gradcheck.check(dense, X, wrt=wrt)) == {"d/kernel": "pass"}
    both = gradcheck.check(dense, X, wrt=[0, dense.bias])
    assert verdicts(both) == {"inputs": "pass", "d/bias": "pass"}


def test_wrt_a_variable_that_is_not_read(tf: Any) -> None:
    other = tf.Variable([1.0, 2.0], name="other")
    with pytest.raises(UsageError, match="'other', which the function does not read"):
        gradcheck.check(lambda x: x * 2.0, X, wrt=other)
    weight = tf.Variable([2.0, 3.0], dtype=tf.float64, name="weight")
    with pytest.raises(UsageError, match="did you mean 'weight'"):
        gradcheck.check(lambda x: x * weight, X, wrt="wieght")


def test_wrt_one_that_cannot_be_trained(tf: Any) -> None:
    fixed = tf.Variable([2.0, 3.0], dtype=tf.float64, name="fixed", trainable=False)
    assert verdicts(gradcheck.check(lambda x: x * fixed, X)) == {"x": "pass"}
    assert verdicts(gradcheck.check(lambda x: x * fixed, X, wrt=fixed)) == {"fixed": "pass"}


def test_no_input_at_all(tf: Any) -> None:
    weight = tf.Variable([2.0, 3.0], dtype=tf.float64, name="weight")
    assert verdicts(gradcheck.check(lambda: weight * weight)) == {"weight": "pass"}


@pytest.mark.parametrize("kind", ["forward", "second"])
def test_other_derivatives(tf: Any, kind: str) -> None:
    weight = tf.Variable([2.0, 3.0], dtype=tf.float64, name="weight")
    result = gradcheck.check(lambda x: tf.sin(x * weight) * x, X, checks=kind)
    assert verdicts(result) == {"x": "pass", "weight": "pass"}


def test_equal_names(tf: Any) -> None:
    one, two = (tf.Variable([w, 1.0], dtype=tf.float64, name="w") for w in (2.0, 3.0))
    result = gradcheck.check(lambda w: w * one * two, X)
    assert list(verdicts(result)) == ["w", "one", "two"]
    pair = [tf.Variable([w, 1.0], dtype=tf.float64, name="w") for w in (2.0, 3.0)]
    result = gradcheck.check(lambda x: x * pair[0] * pair[1], X)
    assert list(verdicts(result)) == ["x", "pair[0]", "pair[1]"]


def test_integers_are_no_weights(tf: Any) -> None:
    places = tf.Variable([0, 1])
    assert verdicts(gradcheck.check(lambda x: tf.gather(x, places, axis=1), X)) == {"x": "pass"}


def test_slices_of_a_table(tf: Any) -> None:
    table = tf.Variable(X, name="table")
    result = gradcheck.check(lambda s: s * tf.nn.embedding_lookup(table, [0, 2, 2]), 3.0)
    assert verdicts(result) == {"s": "pass", "table": "pass"}


def test_a_weight_that_is_assigned(tf: Any) -> None:
    weight = tf.Variable([2.0, 3.0], dtype=tf.float64)

    def function(w: Any) -> Any:
        weight.assign(w)
        return tf.constant(X) * weight

    result = gradcheck.check(function, [1.0, 2.0])
    assert verdicts(result) == {"w": "disconnected"}
    assert "does not differentiate through assign" in result.comparisons[0].note
    np.testing.assert_array_equal(weight.numpy(), [2.0, 3.0])


def test_a_weight_that_is_passed_and_captured(tf: Any) -> None:
    weight = tf.Variable([2.0, 3.0], dtype=tf.float64, name="weight")
    result = gradcheck.check(lambda w: tf.constant(X) * weight, weight)  # noqa: ARG005
    assert verdicts(result) == {"w": "disconnected", "weight": "pass"}
    assert "it reads the variable itself" in result.comparisons[0].note


def test_float32_in_its_own_precision(tf: Any) -> None:
    weight = tf.Variable([2.0, 3.0], name="weight")
    result = gradcheck.check(lambda x: tf.sin(x * weight), X.astype(np.float32))
    assert verdicts(result) == {"x": "pass", "weight": "pass"}
    wrong = gradcheck.check(scaled(tf, weight, factor=1.1), X.astype(np.float32))
    assert verdicts(wrong) == {"x": "pass", "weight": "mismatch"}


def test_a_model_of_a_class(tf: Any) -> None:
    class Model(tf.Module):  # type: ignore[misc]  # no types in TF
        def __init__(self) -> None:
            super().__init__()
            self.weight: Any = None

        def __call__(self, x: Any) -> Any:
            if self.weight is None:
                self.weight = tf.Variable(X[:2], name="weight")
            return tf.tanh(x @ self.weight)

    result = gradcheck.check(Model(), X)
    assert verdicts(result) == {"x": "pass", "weight": "pass"}


def spoilt(tf: Any) -> Any:
    @tf.custom_gradient  # type: ignore[untyped-decorator]  # no types in TF
    def function(x: Any) -> Any:
        return tf.identity(x), lambda g: 1.01 * g

    return function


def test_in_a_branch_of_a_traced_function(tf: Any) -> None:
    weight, wrong = tf.Variable([2.0, 3.0], dtype=tf.float64, name="weight"), spoilt(tf)

    @tf.function  # type: ignore[untyped-decorator]  # no types in TF
    def branching(x: Any) -> Any:
        return tf.cond(x[0, 0] > -50.0, lambda: x * wrong(weight * 1.0), lambda: x)

    assert verdicts(gradcheck.check(branching, X)) == {"x": "pass", "weight": "mismatch"}

    @tf.function  # type: ignore[untyped-decorator]  # no types in TF
    def switching(x: Any) -> Any:
        which = tf.cast(x[0, 0] > -50.0, tf.int32)
        return tf.switch_case(which, [lambda: x, lambda: x * wrong(weight * 1.0)])

    assert verdicts(gradcheck.check(switching, X)) == {"x": "pass", "weight": "mismatch"}


def test_one_that_is_added_to_before_it_is_read(tf: Any) -> None:
    weight, wrong = tf.Variable([2.0, 3.0], dtype=tf.float64, name="weight"), spoilt(tf)

    def adding(x: Any) -> Any:
        weight.assign_add([1.0, 1.0])
        return x * wrong(weight.read_value())

    for function in (adding, tf.function(adding)):
        assert verdicts(gradcheck.check(function, X)) == {"x": "pass", "weight": "mismatch"}
    np.testing.assert_array_equal(weight.numpy(), [2.0, 3.0])


def test_one_that_is_overwritten_first_is_no_operand(tf: Any) -> None:
    weight = tf.Variable([2.0, 3.0], dtype=tf.float64, name="weight")

    def overwriting(x: Any) -> Any:
        weight.assign(2.0 * tf.ones([2], tf.float64))
        return x * weight.read_value()

    for function in (overwriting, tf.function(overwriting)):
        assert verdicts(gradcheck.check(function, X)) == {"x": "pass"}


def test_a_function_without_inputs_that_raises() -> None:
    result = gradcheck.check(lambda: 1 / 0)
    assert "ZeroDivisionError" in result.message
