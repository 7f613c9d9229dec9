"""What a function computes on its way, with its formula."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradcheck.checker.subject.operand import Operand
from gradcheck.checker.subject.watch_ops import in_brackets, results_on_the_way

X = np.array([0.5, -1.5])


def formulas(function: Any, *names: str) -> list[str]:
    operands = [Operand(name, X) for name in names]
    return list(results_on_the_way(function, operands, [X] * len(names)))


def test_results_have_the_formulas_that_they_are(tf: Any) -> None:
    found = formulas(lambda x, y: tf.tanh(2 * x + y) * tf.abs(y), "x", "y")
    assert found == ["(2·x) + y", "tanh((2·x) + y)", "|y|"]
    values = results_on_the_way(tf.sigmoid, [Operand("x", X)], [X])
    np.testing.assert_allclose(values["σ(x)"], 1 / (1 + np.exp(-X)))


def test_inside_of_what_is_traced_and_of_custom_gradients(tf: Any) -> None:
    @tf.custom_gradient  # type: ignore[untyped-decorator]  # no types in TF
    def custom(x: Any) -> Any:
        return tf.exp(x), lambda upstream: upstream

    assert formulas(tf.function(lambda x: tf.cos(custom(x))), "x") == ["exp(x)", "cos(exp(x))"]
    assert not tf.config.functions_run_eagerly()


def test_what_has_no_name_has_no_formula(tf: Any) -> None:
    weights = tf.constant([1.0, 2.0], tf.float64)
    assert formulas(lambda x: tf.tanh(x * weights), "x") == []


@pytest.mark.parametrize(
    ("formula", "factor"),
    [("x", "x"), ("σ(x + y)", "σ(x + y)"), ("1 − x", "(1 − x)"), ("−x", "(−x)")],
)
def test_brackets(formula: str, factor: str) -> None:
    assert in_brackets(formula) == factor
