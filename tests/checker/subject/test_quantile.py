"""Samples by rejection, whose gradients are implicit ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradcheck
from gradcheck.checker.subject.quantile import draws
from tests.checker.test_api import verdicts

A = np.array([1.5, 2.5, 0.7])


def gamma(tf: Any) -> Any:
    return lambda a: tf.random.stateless_gamma([4, 3], [1, 2], a, dtype=tf.float64)


def test_they_are_named(tf: Any) -> None:
    result = gradcheck.check(gamma(tf), A)
    assert result.verdict == "mismatch"
    assert "implicit" in result.comparisons[0].note


def test_others_are_not(tf: Any) -> None:
    result = gradcheck.check(lambda a: tf.stop_gradient(tf.sin(a)) * a, A)
    assert result.verdict == "mismatch"
    assert "implicit" not in result.comparisons[0].note


def test_one_that_draws_another_number_under_a_tape(tf: Any) -> None:
    @tf.custom_gradient  # type: ignore[untyped-decorator]  # no types in TF
    def inner(a: Any) -> Any:
        return a + 0.5, lambda g: g

    def sample(a: Any) -> Any:
        from tensorflow.python.eager import record

        return inner(a) if record.could_possibly_record() else tf.identity(a)

    result = gradcheck.check(sample, A)
    assert result.verdict == "inconclusive"
    assert "where its gradient is wanted" in result.message
    assert "implicit" in result.message


def test_samples_are_differentiated_implicitly(tf: Any) -> None:
    result = gradcheck.check(gamma(tf), A, cdf=lambda z, a: tf.math.igamma(a, z))
    assert verdicts(result) == {"a": "pass"}
    (comparison,) = result.comparisons
    assert comparison.max_rel_error is not None
    assert comparison.max_rel_error < 1e-9


@pytest.mark.parametrize("factor", [1.0, 1 + 1e-6])
def test_a_sample_that_is_another_one_compiled(tf: Any, factor: float) -> None:
    @tf.custom_gradient  # type: ignore[untyped-decorator]  # no types in TF
    def larger(m: Any) -> Any:
        return m, lambda g: g * factor

    def sample(m: Any, s: Any) -> Any:
        drawn = tf.random.stateless_uniform([3], [1, 2], 0.5, 1.5, tf.float64)
        return larger(m) + s * drawn**2

    def cdf(z: Any, m: Any, s: Any) -> Any:
        return tf.sqrt((z - m) / s) - 0.5

    result = gradcheck.check(sample, 0.3, 1.7, cdf=cdf, mode="xla")
    assert verdicts(result) == {"m": "pass" if factor == 1 else "mismatch", "s": "pass"}


@pytest.mark.parametrize("factor", [2.0, 1 + 1e-6])
def test_a_wrong_one_is_caught(tf: Any, factor: float) -> None:
    def scaled(a: Any) -> Any:
        z = gamma(tf)(a)
        return z + (factor - 1) * (z - tf.stop_gradient(z))

    result = gradcheck.check(scaled, A, cdf=lambda z, a: tf.math.igamma(a, z))
    assert verdicts(result) == {"a": "mismatch"}


def test_a_distribution_function_that_is_another(tf: Any) -> None:
    result = gradcheck.check(gamma(tf), A, cdf=lambda z, a: tf.math.igamma(a + 1.0, z))
    assert result.verdict == "mismatch"


def test_one_that_raises(tf: Any) -> None:
    result = gradcheck.check(gamma(tf), A, cdf=tf.matmul)
    assert result.verdict == "error"
    assert result.message.startswith("`cdf` raised InvalidArgumentError")


def test_of_several_samples(tf: Any) -> None:
    def two(a: Any) -> Any:
        return gamma(tf)(a), a

    cdf = lambda z, a: tf.math.igamma(a, z)  # noqa: E731
    assert "choose one of them" in gradcheck.check(two, A, cdf=cdf).message
    assert gradcheck.check(two, A, cdf=cdf, outputs=0).verdict == "pass"


def test_what_draws() -> None:
    assert draws({"Mul", "StatelessRandomGammaV3"})
    assert draws({"RngReadAndSkip"})
    assert not draws({"Mul", "MatMul"})
