"""Simple faults at awkward points: where numbers are equal, whole, symmetric, zero or alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradcheck
from tests.checker.planted import cause, first, planted, with_gradient

if TYPE_CHECKING:
    from collections.abc import Callable

POINTS = {
    "symmetric about zero": np.linspace(-2, 2, 5),
    "ones": np.ones(3),
    "whole": np.array([1.0, 2.0, 3.0, 4.0]),
    "one": np.array([0.7]),
    "a scalar": np.array(0.7),
    "a symmetric matrix": np.array([[1.0, 2.0, 0.5], [2.0, -1.0, 3.0], [0.5, 3.0, 1.0]]),
}

FAULTS: dict[str, tuple[Callable[[Any, Any], Any], str, str]] = {
    "sign": (lambda _tf, g: -g, "sign", "has the wrong sign"),
    "factor": (lambda _tf, g: 3 * g, "factor", "3 times too large (but for that"),
    "offset": (lambda _tf, g: g + 0.25, "offset", "too large by 0.25"),
    "zero": (lambda tf, g: tf.zeros_like(g), "zero", "is zero throughout"),
}


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_at_an_awkward_point(tf: Any, point: str, fault: str) -> None:
    change, wanted, words = FAULTS[fault]
    result = gradcheck.check(planted(tf.tanh, first(lambda g: change(tf, g))), POINTS[point])
    assert cause(result) == wanted, result.diagnosis
    assert result.diagnosis is not None
    assert words in result.diagnosis.text


@pytest.mark.parametrize("point", POINTS)
def test_a_chain_factor_at_an_awkward_point(tf: Any, point: str) -> None:
    function = with_gradient(tf.sigmoid, lambda u, x: u * tf.sigmoid(x))
    result = gradcheck.check(function, POINTS[point])
    assert cause(result) == "chain"
    assert result.diagnosis is not None
    assert "lacks the factor 1 − f(input0)" in result.diagnosis.text


@pytest.mark.parametrize("point", POINTS)
def test_a_factor_too_many_at_an_awkward_point(tf: Any, point: str) -> None:
    function = with_gradient(tf.tanh, lambda u, x: u * x * (1 - tf.tanh(x) ** 2))
    result = gradcheck.check(function, POINTS[point] + (point == "ones"))
    assert cause(result) == "chain"
    assert result.diagnosis is not None
    assert "has the factor input0 too much" in result.diagnosis.text


@pytest.mark.parametrize("point", POINTS)
def test_an_ignored_upstream_at_an_awkward_point(tf: Any, point: str) -> None:
    function = with_gradient(tf.tanh, lambda _u, x: 1 - tf.tanh(x) ** 2)
    assert cause(gradcheck.check(function, POINTS[point])) == "upstream"


@pytest.mark.parametrize("kind", ["transposed", "reversed", "shifted"])
def test_other_places_at_a_symmetric_matrix(tf: Any, kind: str) -> None:
    change = {
        "transposed": tf.transpose,
        "reversed": lambda g: tf.reverse(g, [1]),
        "shifted": lambda g: tf.roll(g, 1, 0),
    }[kind]
    x = POINTS["a symmetric matrix"]
    assert cause(gradcheck.check(planted(tf.tanh, first(change)), x)) == kind


def test_inputs_have_their_names(tf: Any) -> None:
    wrong = with_gradient(lambda a, b: a / b, lambda u, a, b: (u / b, -u * a / b))

    def divide(alpha: Any, beta: Any) -> Any:
        return wrong(alpha, beta)

    diagnosis = gradcheck.check(divide, np.ones(3), np.array([1.0, 2.0, 3.0])).diagnosis
    assert tf is not None
    assert diagnosis is not None
    assert "the gradient of beta has the factor beta too much" in diagnosis.text
