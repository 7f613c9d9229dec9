"""Faults among the elements of a large input, whether all of them are moved or a sample."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradcheck
from gradcheck.checker.reference import point
from gradcheck.model import Verdict
from tests.checker.planted import planted
from tests.checker.reference.large import SIZE, entangled
from tests.checker.verdicts import draw, verdict


@pytest.fixture(params=["apart", "entangled"])
def large(request: pytest.FixtureRequest, tf: Any) -> Any:
    """Of the first kind every element of a large input is judged, of the second a sample."""
    return tf.sin if request.param == "apart" else entangled(tf)


class TestBeyondTheBudget:
    X = np.linspace(-3, 3, SIZE)

    def test_kinks_among_many(self, tf: Any) -> None:
        x = self.X.copy()
        x[[7, 4000]] = 0.0
        result = gradcheck.check(tf.abs, x)
        assert result.verdict is Verdict.KINK
        (comparison,) = result.comparisons
        assert (comparison.judged, comparison.worst_index) == (SIZE, (7,))

    @pytest.mark.parametrize("error", [1e-8, 1e-3])
    def test_all_of_it_wrong(self, large: Any, error: float) -> None:
        wrong = planted(large, lambda gs: [gs[0] * (1 + error)])
        assert gradcheck.check(wrong, self.X).verdict is Verdict.MISMATCH

    @pytest.mark.parametrize("position", [0, 1234, 4999])
    def test_one_element_wrong(self, large: Any, position: int) -> None:
        factor = np.ones(SIZE)
        factor[position] = 1.001
        wrong = planted(large, lambda gs: [gs[0] * factor])
        assert gradcheck.check(wrong, self.X).verdict is Verdict.MISMATCH

    @pytest.mark.parametrize("position", [0, 1234, 4999])
    def test_one_element_a_little_wrong(self, tf: Any, position: int) -> None:
        factor = np.ones(SIZE)
        factor[position] = 1 + 1e-8
        result = gradcheck.check(planted(tf.sin, lambda gs: [gs[0] * factor]), self.X)
        assert result.verdict is Verdict.MISMATCH
        (comparison,) = result.comparisons
        assert (comparison.failing, comparison.worst_index) == (1, (position,))

    def test_two_errors_that_cancel(self, large: Any) -> None:
        extra = np.zeros(SIZE)
        extra[10], extra[11] = 1.0, -1.0
        wrong = planted(large, lambda gs: [gs[0] + extra])
        assert gradcheck.check(wrong, self.X).verdict is Verdict.MISMATCH

    def test_nan_at_an_element_that_was_not_sampled(self, large: Any) -> None:
        factor = np.ones(SIZE)
        factor[1234] = np.nan
        wrong = planted(large, lambda gs: [gs[0] * factor])
        assert gradcheck.check(wrong, self.X).verdict is Verdict.NONFINITE


@pytest.mark.parametrize("seed", range(8))
def test_beside_a_switch_of_what_rounds(tf: Any, seed: int) -> None:
    def larger(x: Any, y: Any) -> Any:
        low = tf.maximum(tf.cast(x, tf.float32), tf.cast(y, tf.float32))
        return tf.cast(low, x.dtype)

    rng = np.random.default_rng(seed)
    x = rng.standard_normal(6)
    gaps = 10 ** rng.uniform(-4, -0.5, 6) * rng.choice([-1, 1], 6)
    assert gradcheck.check(larger, x, x * (1 + gaps)).verdict.acceptable
    wrong = planted(larger, lambda gs: [gs[1], gs[0]])
    assert gradcheck.check(wrong, x, x * (1 + gaps)).verdict == "mismatch"


LOSSES: dict[str, Any] = {
    "squares": lambda tf: lambda y: tf.reduce_sum(tf.square(y)),
    "entropy": lambda tf: lambda y: tf.reduce_sum(tf.nn.log_softmax(y)[:, 0]),
    "norm": lambda tf: tf.norm,
}


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", [3, 7])
def test_steps_that_are_larger_than_the_reach(tf: Any, loss: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, weights = rng.normal(size=(3, 4)), rng.normal(size=(4, 3))

    def function(x: Any) -> Any:
        # Each element moves three numbers, which are rounded to steps of other sizes.
        return LOSSES[loss](tf)(tf.cast(tf.cast(x @ weights, tf.bfloat16), x.dtype))

    result = gradcheck.check(function, x, seed=seed, upstream="ones")
    assert result.verdict == "pass", gradcheck.checker.api.describe(result)
    wrong = planted(function, lambda gs: [1.3 * gs[0]])
    assert gradcheck.check(wrong, x, seed=seed, upstream="ones").verdict == "mismatch"


def test_what_only_chooses_does_not_round(tf: Any) -> None:
    # (Two units in the last place of bfloat16 apart, which a bar for its rounding would hide.)
    near = tf.constant([[0.859375, 0.84375, 0.26757812, -1.0]], tf.bfloat16)

    def chosen(x: Any) -> Any:
        return tf.nn.max_pool3d(tf.reshape(x, [1, 1, 2, 2, 1]), [1, 2, 2], [1, 2, 2], "VALID")

    assert verdict(chosen, near) == "pass"
    assert verdict(planted(chosen, lambda gs: [0.5 * gs[0]]), near) == "mismatch"


def test_nor_does_what_stops_at_six(tf: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(point, "rounded_off", lambda *given: asked.append(given))
    x = np.array([-1.5, 0.3, 2.0, 5.5, 7.25])
    assert verdict(tf.nn.relu6, x) == "pass"
    assert not asked
    assert verdict(planted(tf.nn.relu6, lambda gs: [gs[0] + [0, 0, 0, 0, 1e-6]]), x) == "mismatch"


def test_what_numpy_computes_is_not_taken_for_a_choice(tf: Any) -> None:
    @tf.custom_gradient  # type: ignore[untyped-decorator]  # no types in TF
    def cubed(x: Any) -> Any:
        values = tf.constant(x.numpy().astype(np.float32) ** 3, x.dtype)
        return tf.reshape(values, [-1]), lambda upstream: upstream * 3 * x**2

    assert verdict(cubed, draw(4)) == "pass"
