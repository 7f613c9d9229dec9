"""What is seen of a call: its ops, the variables it reads, and what it is about to overwrite."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradcheck.checker.subject.recording import Recording, recording


def recorded(function: Any) -> Recording:
    with recording() as seen:
        function()
    return seen


def test_the_ops_that_run(tf: Any) -> None:
    seen = recorded(lambda: tf.tanh(tf.ones([2])) * 2.0)
    assert {"Tanh", "Mul"} <= seen.kinds
    assert not seen.resources


def test_what_runs_inside_a_traced_function(tf: Any) -> None:
    inner = tf.function(tf.tanh)
    outer = tf.function(lambda x: inner(x) + 1.0)
    x = tf.ones([2])
    outer(x)
    seen = recorded(lambda: outer(x))
    assert {"Tanh", "AddV2"} <= seen.kinds


def test_the_precisions_it_computes_in(tf: Any) -> None:
    def rounded(x: Any) -> Any:
        return tf.cast(tf.cast(x, tf.bfloat16), x.dtype)

    x, traced = tf.ones([2], tf.float64), tf.function(rounded)
    traced(x)
    for function in (rounded, traced):
        assert recorded(lambda f=function: f(x)).precisions == {"float64", "bfloat16"}
    assert recorded(lambda: tf.complex(x, x) * 2.0).precisions == {"float64"}


def test_a_variable_that_is_read(tf: Any) -> None:
    variable = tf.Variable([1.0, 2.0])
    for read in (lambda: variable * 2.0, lambda: tf.gather(variable, [0]), variable.read_value):
        (found,) = recorded(read).resources.values()
        assert found.handle is variable.handle
        assert found.read_first
        assert not found.written
        np.testing.assert_array_equal(found.before.numpy(), [1.0, 2.0])


def test_what_is_overwritten_is_read_before(tf: Any) -> None:
    variable = tf.Variable([1.0, 2.0])
    (found,) = recorded(lambda: variable.assign([5.0, 5.0])).resources.values()
    assert found.written
    assert not found.read_first
    np.testing.assert_array_equal(found.before.numpy(), [1.0, 2.0])
    variable.assign([1.0, 2.0])
    (found,) = recorded(lambda: variable.assign_add([5.0, 5.0])).resources.values()
    assert found.written
    assert found.read_first
    np.testing.assert_array_equal(found.before.numpy(), [1.0, 2.0])


def test_also_in_a_traced_function(tf: Any) -> None:
    variable = tf.Variable([1.0, 2.0])
    traced = tf.function(lambda: variable.assign_add([5.0, 5.0]))
    traced()
    (found,) = recorded(traced).resources.values()
    assert found.written
    np.testing.assert_array_equal(found.before.numpy(), [6.0, 7.0])


def test_a_generator_advances(tf: Any) -> None:
    generator = tf.random.Generator.from_seed(1)
    (found,) = recorded(lambda: generator.normal([2])).resources.values()
    assert found.written


def test_a_variable_that_is_made(tf: Any) -> None:
    assert recorded(lambda: tf.Variable(1.0)).creates_variables
    assert not recorded(lambda: tf.square(1.0)).creates_variables


def test_nothing_is_left_behind(tf: Any) -> None:
    from tensorflow.python import pywrap_tfe

    before = pywrap_tfe.TFE_Py_FastPathExecute, pywrap_tfe.TFE_Py_Execute
    with pytest.raises(tf.errors.InvalidArgumentError):
        recorded(lambda: tf.matmul(tf.ones([2, 3]), tf.ones([2, 3])))
    assert (pywrap_tfe.TFE_Py_FastPathExecute, pywrap_tfe.TFE_Py_Execute) == before
