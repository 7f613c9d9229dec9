"""Kinks, jumps and edges: what a sequence of steps shows beside a derivative."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradcheck
from gradcheck.checker.api import describe
from tests.checker.numerics.smooth import allowed, estimate
from tests.checker.verdicts import verdict


class TestKinks:
    def test_both_sides_of_relu(self) -> None:
        found = estimate(lambda p: np.maximum(p, 0), np.array([0.0, 1.0, -1.0]))
        assert found.kink.tolist() == [True, False, False]
        assert (found.left[0], found.right[0]) == pytest.approx((0, 1))

    def test_both_sides_of_abs(self) -> None:
        found = estimate(np.abs, np.array([0.0, 2.0]))
        assert found.kink.tolist() == [True, False]
        assert (found.left[0], found.right[0]) == pytest.approx((-1, 1))

    def test_the_sides_of_a_kink_may_be_curved(self) -> None:
        found = estimate(lambda p: np.abs(p) + p**2 + np.exp(p), np.zeros(1))
        assert found.kink.all()
        assert (found.left[0], found.right[0]) == pytest.approx((0, 2), abs=1e-9)

    @pytest.mark.parametrize("distance", [1e-12, 1e-9, 1e-6, 1e-3])
    def test_a_kink_nearby_is_not_here(self, distance: float) -> None:
        found = estimate(lambda p: np.abs(p - 1), np.array([1 + distance, 1 - distance]))
        assert not found.kink.any()
        np.testing.assert_allclose(found.numeric, [1, -1], rtol=1e-3)

    def test_a_jump(self) -> None:
        found = estimate(lambda p: np.floor(p) + 3 * p, np.array([2.0, 2.5]))
        assert found.kink.tolist() == [True, False]
        assert (found.left[0], found.right[0]) == pytest.approx((3, 3))

    @pytest.mark.parametrize("curve", [lambda p: p * np.abs(p), lambda p: np.maximum(p, 0) ** 2])
    def test_a_kink_of_the_second_derivative_is_none(self, curve: object) -> None:
        assert callable(curve)
        found = estimate(curve, np.array([0.0, 1.0]))
        assert not found.kink.any()
        assert found.numeric[0] == pytest.approx(0, abs=1e-6)


class TestDomains:
    def test_one_side_at_an_edge(self) -> None:
        found = estimate(lambda p: p**1.5 + p, np.array([0.0, 1.0]), low=0.0)
        assert found.numeric[0] == pytest.approx(1.0, abs=1e-3)
        assert abs(found.numeric[0] - 1.0) <= allowed(found)[0]
        assert not found.kink[0]

    def test_infinite_at_an_edge(self) -> None:
        found = estimate(lambda p: np.sqrt(np.abs(p)), np.array([0.0, 1.0]), low=0.0)
        assert found.numeric[0] == np.inf
        assert found.numeric[1] == pytest.approx(0.5)


class TestTiesAndKinks:
    @pytest.mark.parametrize("distance", [1e-300, 1e-12, 1e-9, 1e-3])
    def test_near_a_kink_at_zero(self, tf: Any, distance: float) -> None:
        assert verdict(tf.nn.relu, np.array([distance, -distance])) == "pass"

    @pytest.mark.parametrize("distance", [1e-12, 1e-9, 1e-6, 1e-3])
    def test_near_a_kink_elsewhere(self, tf: Any, distance: float) -> None:
        x = np.array([1 + distance, 1 - distance])
        assert verdict(lambda x: tf.abs(x - 1), x) == "pass"

    @pytest.mark.parametrize(
        ("name", "x"),
        [
            ("nn.relu", [0.0, 1.0]),
            ("abs", [0.0, 1.0]),
            ("reduce_max", [1.0, 1.0, 0.0]),
            ("sort", [1.0, 1.0, 0.0]),
            ("sign", [0.0, 0.7]),
        ],
    )
    def test_at_a_kink(self, tf: Any, name: str, x: list[float]) -> None:
        function = tf
        for part in name.split("."):
            function = getattr(function, part)
        result = gradcheck.check(function, np.array(x))
        assert result.verdict == "kink", describe(result)
        worst = result.comparisons[0].worst[0]
        assert worst.left is not None
        assert worst.right is not None

    def test_a_jump_beside_a_slope(self, tf: Any) -> None:
        assert verdict(lambda x: x + tf.floor(x), np.array([2.0, 0.3])) == "kink"
        assert verdict(lambda x: x + tf.sign(x), np.array([0.0, 0.3])) == "kink"

    def test_kinks_of_the_second_derivative_are_smooth(self, tf: Any) -> None:
        def huber(x: Any) -> Any:
            return tf.where(tf.abs(x) < 1, x * x / 2, tf.abs(x) - 0.5)

        assert verdict(huber, np.array([1.0, -1.0, 1 + 1e-9])) == "pass"
        assert verdict(lambda x: tf.nn.relu(x) ** 2, np.array([0.0, 1.0])) == "pass"

    def test_an_infinite_derivative_is_none_that_is_wrong(self, tf: Any) -> None:
        assert verdict(tf.sqrt, np.array([0.0, 1.0])) == "pass"
