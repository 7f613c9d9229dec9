"""How the scalar moves: outputs that stand still, sizes that overflow, digits that are lost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.checker.numerics.smooth import allowed, estimate
from tests.checker.planted import planted, with_gradient
from tests.checker.verdicts import draw, verdict

if TYPE_CHECKING:
    from gradcheck.model import Array


HUGE = float(np.finfo(np.float64).max)


class TestOutputsThatDoNotMove:
    @pytest.mark.parametrize("still", [np.inf, -np.inf, np.nan, 1.7e308, -1.7e308])
    def test_they_do_not_matter(self, still: float) -> None:
        def function(points: Array) -> Array:
            return np.concatenate([np.sin(points), np.full((len(points), 1), still)], axis=1)

        x = np.array([0.3, 0.8])
        found = estimate(function, x)
        assert (np.abs(found.numeric - np.cos(x)) <= allowed(found)).all()
        assert found.bound.max() < 1e-10

    def test_a_constant_has_no_derivative(self) -> None:
        found = estimate(lambda p: np.ones((len(p), 1)), np.array([0.3, 0.8]))
        assert found.numeric.tolist() == [0, 0]
        assert found.bound.max() < 1e-9

    @pytest.mark.parametrize("still", [HUGE, -HUGE, np.inf, -np.inf, np.nan])
    def test_beside_outputs_that_do(self, tf: Any, still: float) -> None:
        def function(x: Any) -> Any:
            return tf.concat([x * x, tf.fill([2], tf.constant(still, tf.float64))], 0)

        assert verdict(function, draw(3)) == "pass"
        assert verdict(planted(function, lambda gs: [gs[0] * (1 + 1e-8)]), draw(3)) == "mismatch"

    @pytest.mark.parametrize("lowest", [-HUGE, -np.inf])
    def test_a_masked_softmax(self, tf: Any, lowest: float) -> None:
        def function(x: Any) -> Any:
            return tf.nn.softmax(tf.where([True, False, True], x, tf.constant(lowest, tf.float64)))

        assert verdict(function, np.array([0.3, 1.0, 2.0])) == "pass"


class TestMagnitudes:
    @pytest.mark.parametrize("scale", [1e-300, 1e-200, 1e-150, 1e-100, 1e100, 1e200, 1e290])
    def test_outputs_of_any_size(self, tf: Any, scale: float) -> None:
        for seed in range(4):
            x = np.random.default_rng(seed).standard_normal(5)
            assert verdict(lambda x: tf.exp(x) * scale, x, seed=seed) == "pass"
        wrong = planted(lambda x: tf.exp(x) * scale, lambda gs: [gs[0] * 1.001])
        assert verdict(wrong, x) == "mismatch"


def hilbert(size: int) -> Array:
    """A matrix whose condition grows like 30 to the power of its size."""
    return np.asarray(1 / (np.arange(size)[:, np.newaxis] + np.arange(size) + 1.0))


class TestConditioning:
    @pytest.mark.parametrize(
        ("name", "size"),
        [
            *[(name, size) for name in ("inv", "det", "solve") for size in (4, 6, 8, 10)],
            ("inv", 12),
            ("det", 12),
            ("solve", 12),
        ],
    )
    def test_a_bad_condition_is_never_a_mismatch(self, tf: Any, name: str, size: int) -> None:
        inputs = [hilbert(size)] + ([draw(size, 2)] if name == "solve" else [])
        found = verdict(getattr(tf.linalg, name), *inputs)
        assert found in (("pass",) if size < 6 else ("pass", "inconclusive"))

    @pytest.mark.parametrize("size", [4, 6, 7, 8])
    def test_nor_a_vacuous_pass(self, tf: Any, size: int) -> None:
        wrong = planted(tf.linalg.inv, lambda gs: [-gs[0]])
        assert verdict(wrong, hilbert(size)) in ("mismatch", "inconclusive")

    def test_an_error_of_a_thousandth_at_a_condition_of_ten_millions(self, tf: Any) -> None:
        wrong = planted(tf.linalg.inv, lambda gs: [gs[0] * 1.001])
        assert verdict(wrong, hilbert(6)) == "mismatch"


def test_an_ill_conditioned_function_passes_no_wrong_gradient(tf: Any) -> None:
    """Its noise was measured along one line, and is larger along others."""

    def logdet(x: Any) -> Any:
        return tf.linalg.logdet(tf.matmul(x, x, transpose_a=True))

    wrong = with_gradient(
        logdet, lambda u, x: u * 1.05 * 2 * tf.linalg.matrix_transpose(tf.linalg.inv(x))
    )
    x = np.array(
        [
            [0.000903796379726831, 0.0007228818508102341, -0.0007515301081588327],
            [-0.6600966916201538, -0.48153357079916803, 0.5725871093903414],
            [0.044543047593095436, 0.03277254742085515, -0.038494842624054455],
        ]
    )
    assert verdict(wrong, x, seed=7) == "inconclusive"
