"""Graphs of low precision, brought back in float64."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradcheck.checker.subject.promote_import import Twins, imported, traced


def test_variables_have_twins_and_integers_stay(tf: Any) -> None:
    low, whole = tf.Variable([1.0, 2.0]), tf.Variable([1, 2])
    wide = tf.Variable([1.0, 2.0], dtype=tf.float64)
    twins = Twins()
    twin = twins.of_variable(low)
    assert twin.dtype == tf.float64
    assert twins.of_variable(low) is twin
    assert twins.of(whole.handle) is whole.handle
    assert twins.of_variable(wide) is wide


def test_a_variable_is_read_and_written_in_float64(tf: Any) -> None:
    total = tf.Variable(1.0)

    def add(x: Any, upstream: Any) -> list[Any]:
        total.assign_add(x)
        return [total * 0.1, upstream * 0.1]

    spec, twins = tf.TensorSpec([], tf.float32), Twins()
    forward, back = imported(traced(add, [spec, spec]), twins, 1)
    given = tf.constant(1e-12, tf.float64)
    assert forward(given)[0].numpy() == (1 + 1e-12) * 0.1
    assert twins.of_variable(total).numpy() == 1 + 1e-12
    assert back(given, tf.constant(3.0, tf.float64))[0].numpy() == 3.0 * 0.1
    assert total.numpy() == 1.0


def test_what_waits_for_an_input_waits_no_more(tf: Any) -> None:
    def sine(x: Any, upstream: Any) -> list[Any]:
        with tf.control_dependencies([upstream]):
            return [tf.sin(x), tf.cos(x) * upstream]

    spec = tf.TensorSpec([], tf.float32)
    forward, back = imported(traced(sine, [spec, spec]), Twins(), 1)
    one = tf.constant(1.0, tf.float64)
    np.testing.assert_allclose(forward(one)[0], np.sin(1.0), rtol=1e-15)
    np.testing.assert_allclose(back(one, one)[0], np.cos(1.0), rtol=1e-15)
