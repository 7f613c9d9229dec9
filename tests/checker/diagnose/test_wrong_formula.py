"""The error as a formula, for functions that work element by element."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

import gradcheck
from tests.checker.planted import planted, with_gradient

LINE = np.linspace(-2, 2, 5)
DRAWN = np.random.default_rng(0).standard_normal((3, 4))
POSITIVE = np.abs(DRAWN) + 0.3

WRONG: dict[str, tuple[Any, Any, str]] = {
    "swish": (
        lambda tf: lambda x: x * tf.sigmoid(x),
        lambda tf: lambda u, x: u * (tf.sigmoid(x) + x * tf.sigmoid(x)),
        "is off by G·x·σ(x)²; it should read G·(σ(x) + f(x)·(1 − σ(x)))",
    ),
    "swish, without the upstream in one term": (
        lambda tf: lambda x: x * tf.sigmoid(x),
        lambda tf: lambda u, x: u * tf.sigmoid(x) + x * tf.sigmoid(x) * (1 - tf.sigmoid(x)),
        "is off by (1 − G)·f(x)·(1 − σ(x)); it should read G·(σ(x) + f(x)·(1 − σ(x)))",
    ),
    "tanh": (
        lambda tf: tf.tanh,
        lambda tf: lambda u, x: u * (1 - tf.tanh(x)),
        "is off by −G·tanh(x)·(1 − tanh(x)); it should read G·(1 − tanh(x)²)",
    ),
    "gelu": (
        lambda tf: lambda x: 0.5 * x * (1 + tf.math.erf(x / np.sqrt(2.0))),
        lambda tf: lambda u, x: u * 0.5 * (1 + tf.math.erf(x / np.sqrt(2.0))),
        "is off by −G·x·exp(−x²/2)/√(2π); it should read "
        "G·((1 + erf(x/1.41421))/2 + x·exp(−x²/2)/√(2π))",
    ),
    "softplus": (
        lambda tf: tf.math.softplus,
        lambda tf: lambda u, x: u * tf.sigmoid(x) ** 2,
        "is off by −G·σ(x)·(1 − σ(x)); it should read G·σ(x)",
    ),
    "huber": (
        lambda tf: lambda x: _huber(tf, x),
        lambda _tf: lambda u, x: u * x,
        "is off by G·sign(x)·(|x| − min(|x|, 1)); it should read G·min(|x|, 1)·sign(x)",
    ),
    "square": (
        lambda tf: tf.square,
        lambda _tf: lambda u, x: u * (2 * x + 1),
        "is off by G; it should read 2·G·x",
    ),
    "exp": (
        lambda tf: tf.exp,
        lambda _tf: lambda u, x: u * (1 + x),
        "reads G·(1 + x); it should read G·exp(x)",
    ),
    "sin": (
        lambda tf: tf.sin,
        lambda tf: lambda u, x: u * tf.sin(x),
        "reads G·sin(x); it should read G·cos(x)",
    ),
    "cube": (
        lambda _tf: lambda x: x**3,
        lambda _tf: lambda u, x: u * (3 * x * x + x / 2),
        "is off by G·x/2; it should read 3·G·x²",
    ),
    "leaky": (
        lambda tf: lambda x: tf.maximum(x, 0.2 * x) * x,
        lambda tf: lambda u, x: u * (2 * tf.maximum(x, 0.2 * x) - 0.3 * x),
        "is off by −3·G·x/10; it should read 2·G·max(x, 0.2·x)",
    ),
}


def _huber(tf: Any, x: Any) -> Any:
    size = tf.abs(x)
    small = tf.minimum(size, 1.0)
    return 0.5 * small * small + (size - small)


def named(function: Any) -> Any:
    def of_x(x: Any) -> Any:
        return function(x)

    return of_x


@pytest.mark.parametrize(
    "point", [LINE, DRAWN, np.array([0.7, -1.4])], ids=["line", "drawn", "two"]
)
@pytest.mark.parametrize("name", WRONG)
def test_the_error_is_a_formula(tf: Any, name: str, point: Any) -> None:
    forward, gradient, words = WRONG[name]
    function = named(with_gradient(forward(tf), gradient(tf)))
    started = time.process_time()
    result = gradcheck.check(function, point)
    assert result.diagnosis is not None
    text = f"the gradient of x {words} (G is the upstream gradient)"
    assert (result.diagnosis.cause, result.diagnosis.text) == ("formula", text)
    assert time.process_time() - started < 5, "it is to take less than a second"


def test_a_formula_for_one_sign_is_none(tf: Any) -> None:
    # For positive numbers alone the error is G.
    wrong = with_gradient(lambda x: tf.sin(x) + tf.abs(x), lambda u, x: u * tf.cos(x))
    diagnosis = gradcheck.check(named(wrong), POSITIVE).diagnosis
    assert diagnosis is not None
    assert "is off by −G·sign(x); it should read G·(cos(x) + sign(x)) (" in diagnosis.text


@pytest.mark.parametrize("upstream", ["ones", "random"])
def test_any_upstream_will_do(tf: Any, upstream: str) -> None:
    function = named(with_gradient(tf.math.log, lambda u, x: u / (1 + x)))
    diagnosis = gradcheck.check(function, POSITIVE, upstream=upstream).diagnosis
    assert diagnosis is not None
    assert "is off by −G/(x·(1 + x)); it should read G/x (" in diagnosis.text


def test_other_inputs(tf: Any) -> None:
    wrong = with_gradient(tf.multiply, lambda u, a, b: (u * b + u * a, u * a))

    def multiply(a: Any, b: Any) -> Any:
        return wrong(a, b)

    diagnosis = gradcheck.check(multiply, DRAWN, POSITIVE).diagnosis
    assert diagnosis is not None
    assert "the gradient of a is off by G·a; it should read G·b (" in diagnosis.text


def test_an_input_that_was_broadcast(tf: Any) -> None:
    def gradient(u: Any, x: Any, b: Any) -> Any:
        return u * b * tf.cos(x), tf.reduce_sum(u * tf.cos(x), 0)

    wrong = with_gradient(lambda x, b: tf.sin(x) * b, gradient)

    def scaled(x: Any, b: Any) -> Any:
        return wrong(x, b)

    diagnosis = gradcheck.check(scaled, DRAWN, POSITIVE[0]).diagnosis
    assert diagnosis is not None
    assert (
        "the gradient of b reads G·cos(x), summed over axis 0; it should read G·sin(x), summed "
        "over axis 0 (" in diagnosis.text
    )


def test_an_output_that_is_smaller(tf: Any) -> None:
    wrong = with_gradient(
        lambda x: tf.reduce_sum(tf.exp(x), 1), lambda u, x: u[:, None] * (tf.exp(x) + x)
    )
    diagnosis = gradcheck.check(named(wrong), DRAWN).diagnosis
    assert diagnosis is not None
    assert "is off by G·x; it should read G·exp(x) (" in diagnosis.text


@pytest.mark.parametrize("shape", [(), (2,), (5,), (3, 4)])
@pytest.mark.parametrize("kind", ["added", "instead", "of the input"])
def test_noise_is_no_formula(tf: Any, shape: tuple[int, ...], kind: str) -> None:
    for seed in range(3):
        rng = np.random.default_rng(seed)
        x, noise = rng.standard_normal(shape), rng.standard_normal(shape)
        function = {
            "added": planted(tf.tanh, lambda g, n=noise: [g[0] + n]),  # type: ignore[misc]
            "instead": with_gradient(tf.tanh, lambda u, _x, n=noise: u * n),
            "of the input": with_gradient(
                tf.tanh,
                lambda u, x: u * tf.math.floormod(x * 12345.678, 1.0),
            ),
        }[kind]
        diagnosis = gradcheck.check(function, x, seed=seed).diagnosis
        assert diagnosis is None or diagnosis.cause == "offset", diagnosis


def test_what_does_not_work_element_by_element_has_none(tf: Any) -> None:
    wrong = with_gradient(tf.nn.softmax, lambda u, x: u * tf.nn.softmax(x) * x)
    assert gradcheck.check(wrong, DRAWN).diagnosis is None


@pytest.mark.parametrize("factor", [1.01, -1.0])
def test_no_formula_in_place_of_itself(tf: Any, factor: float) -> None:
    """What is wrong in the first element is nothing beside what a formula of both is made of."""
    weights = np.array([[1e-11, 0.0], [1e-10, 1e8]])
    own = with_gradient(tf.identity, lambda g, _x: g * np.array([factor, 1.0]))
    result = gradcheck.check(lambda x: tf.linalg.matvec(weights, own(x)), np.array([1e5, 1e10]))
    assert result.verdict == "mismatch"
    text = str(result.diagnosis)
    assert "G·f(x)/x; it should read G·f(x)/x" not in text
