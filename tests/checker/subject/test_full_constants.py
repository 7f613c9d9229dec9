"""Constants that know what they were before they were rounded."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradcheck
from gradcheck.checker.subject.full_constants import full_constants
from gradcheck.checker.subject.promote_graph import promoted_graph
from tests.checker.test_api import verdicts

W = np.array([0.3, 0.7, 1.1], np.float32)


def constants(tf: Any, function: Any) -> list[Any]:
    with full_constants():
        traced = tf.function(function).get_concrete_function(tf.TensorSpec([3], tf.float32))
    nodes = promoted_graph(traced.graph.as_graph_def()).node
    found = [tf.make_ndarray(n.attr["value"].tensor) for n in nodes if n.op == "Const"]
    return [value for value in found if value.dtype == np.float64]


@pytest.mark.parametrize("given", [0.1, [0.1, 0.2, 0.3], np.array([0.1, 0.2, 0.3]), 1e-30])
def test_constants_keep_the_digits_they_were_written_with(tf: Any, given: Any) -> None:
    (value,) = constants(tf, lambda x: x * tf.constant(given, tf.float32))
    np.testing.assert_array_equal(value, given)


def test_what_was_never_more_stays(tf: Any) -> None:
    (value,) = constants(tf, lambda x: x * W)
    np.testing.assert_array_equal(value, W.astype(np.float64))


def test_constants_that_round_apart_are_no_fault(tf: Any) -> None:
    w = tf.constant(W)

    @tf.custom_gradient  # type: ignore[untyped-decorator]
    def scaled(x: Any) -> Any:
        return 0.1 * tf.sin(0.1 * x), lambda u: u * 0.01 * tf.cos(0.1 * x)

    result = gradcheck.check(lambda x: scaled(x) * w / w, W)
    assert verdicts(result) == {"x": "pass"}
    assert result.comparisons[0].max_rel_error is not None
    assert result.comparisons[0].max_rel_error < 1e-10
