"""A function in its own precision, and in double precision wherever that can be had."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradcheck
from gradcheck.checker.subject import in_either
from gradcheck.checker.subject.in_either import InEither, Promotable
from gradcheck.checker.subject.operand import Operand
from gradcheck.checker.subject.tensors import FunctionRaised
from tests.checker.test_api import verdicts

X = np.array([0.3, 0.7, 1.1], np.float32)


def test_a_function_that_takes_float64_is_not_traced(
    tf: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: Any) -> None:
        raise AssertionError("there is no need of it")

    monkeypatch.setattr(in_either, "promoted", never)
    assert verdicts(gradcheck.check(tf.sin, X)) == {"x": "pass"}


def test_what_raises_for_its_shape_is_not_promoted(tf: Any) -> None:
    w = tf.constant(X)
    function = Promotable(lambda x: x * w, [Operand("x", X)])
    with pytest.raises(tf.errors.InvalidArgumentError):
        function(tf.zeros([5, 2], tf.float64))
    promoted = [function.is_promoted]
    assert function(tf.constant(X, tf.float64)).dtype == tf.float64
    promoted.append(function.is_promoted)
    assert promoted == [False, True]
    assert function(tf.constant(X)).dtype == tf.float32
    assert function(tf.zeros([2, 3], tf.float64)).shape == [2, 3]


def test_a_graph_takes_no_other_shapes(tf: Any) -> None:
    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])  # type: ignore[untyped-decorator]
    def signed(x: Any) -> Any:
        tf.debugging.assert_type(x, tf.float32)
        return tf.tanh(x)

    function = Promotable(signed, [Operand("x", X)])
    assert function(tf.constant(X, tf.float64))[0].dtype == tf.float64
    assert function.is_a_graph
    with pytest.raises(FunctionRaised):
        function(tf.zeros([2, 3], tf.float64))


def test_without_promotion_there_is_no_double(tf: Any) -> None:
    w = tf.constant(X)
    function = Promotable(lambda x: x * w, [Operand("x", X)]).without_promotion()
    with pytest.raises(tf.errors.InvalidArgumentError):
        function(tf.constant(X, tf.float64))
    only = InEither(lambda x: x * w, None, [Operand("x", X)], "why not")
    with pytest.raises(FunctionRaised, match="why not"):
        only(tf.constant(X, tf.float64))
