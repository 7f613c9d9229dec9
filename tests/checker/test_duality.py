from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradcheck
from gradcheck.model import Verdict

X = np.array([0.7, 0.9, -1.2])


def test_what_differences_do_not_see(tf: Any) -> None:
    """Forward and reverse mode differ by less than any numeric derivative could tell."""

    @tf.custom_gradient  # type: ignore[untyped-decorator]
    def twice(x: Any) -> Any:
        def grad(upstream: Any) -> Any:
            return 2 * upstream + 2e-13 * upstream * tf.abs(upstream)

        return 2 * x, grad

    result = gradcheck.check(twice, X, checks="forward", seed=3)
    assert result.verdict is Verdict.MISMATCH
    note = result.comparisons[0].note
    assert "forward and reverse mode differ: ⟨u, Jv⟩ is " in note
    assert "apart where rounding explains" in note


@pytest.mark.parametrize("shape", [(3, 3), (2, 12, 12)])
def test_a_symmetric_matrix_stays_one(tf: Any, shape: tuple[int, ...]) -> None:
    root = np.random.default_rng(0).normal(size=shape)
    matrix = root @ np.swapaxes(root, -1, -2) + 20 * np.eye(shape[-1])
    result = gradcheck.check(
        tf.linalg.cholesky, matrix, checks="forward", structure={"input": "symmetric"}
    )
    assert result.verdict is Verdict.PASS


def test_what_cancels_is_no_difference(tf: Any) -> None:
    """Rounding that is lost on the way is measured, and not taken for a fault."""

    def cancels(x: Any) -> Any:
        return (1e8 + tf.exp(x)) - 1e8 + tf.math.log(tf.exp(x) * 1e10) ** 3

    result = gradcheck.check(cancels, X, checks="forward")
    assert result.verdict in (Verdict.PASS, Verdict.INCONCLUSIVE)


SURE = [[[0.0, 40.0, 3.0], [50.0, 0.0, 1.0]], [[0.0, 60.0, 3.0]], [[0.0, 200.0, 3.0, 150.0]]]


@pytest.mark.parametrize("at", SURE)
def test_what_reverse_mode_loses_alone(tf: Any, at: list[list[float]]) -> None:
    """Of a softmax that is sure one less one is nothing in one mode, a last digit in the other."""
    x = np.array(at)
    result = gradcheck.check(tf.nn.softmax, x, checks="forward")
    assert result.verdict in (Verdict.PASS, Verdict.INCONCLUSIVE), result

    @tf.custom_gradient  # type: ignore[untyped-decorator]
    def bent(t: Any) -> Any:
        return tf.identity(t), lambda upstream: upstream + 2e-13 * upstream * tf.abs(upstream)

    def beside_others(t: Any) -> Any:
        return tf.nn.softmax(t), bent(tf.sin(t))

    result = gradcheck.check(beside_others, x, checks="forward", seed=3)
    assert result.verdict is Verdict.MISMATCH


@pytest.mark.parametrize("seed", [0, 1])
def test_a_function_that_computes_in_less_inside(tf: Any, seed: int) -> None:
    def chain(x: Any) -> Any:
        y = tf.cast(x, tf.float32)
        for _ in range(3):
            y = tf.sin(2.0 * y) + 0.3 * tf.reduce_logsumexp(y)
        return tf.cast(y, tf.float64)

    result = gradcheck.check(chain, np.linspace(-1.3, 1.1, 6), checks="forward", seed=seed)
    assert result.verdict is Verdict.PASS, result


@pytest.mark.parametrize("factor", [1.0, 1 + 1e-6])
def test_a_constant_of_float32_in_either_mode(tf: Any, factor: float) -> None:
    """It was rounded in the one and not in the other: that is no fault, and a factor is one."""

    @tf.custom_gradient  # type: ignore[untyped-decorator]
    def tenth(x: Any) -> Any:
        return tf.sin(x) * np.float32(0.1), lambda u: u * tf.cos(x) * (0.1 * factor)

    result = gradcheck.check(tenth, X.astype(np.float32), checks="forward")
    assert result.verdict is (Verdict.PASS if factor == 1 else Verdict.MISMATCH)
    exactly = gradcheck.check(tenth, X, checks="forward")
    assert exactly.verdict is Verdict.MISMATCH
