"""Changes that a function rounds off, or hides behind larger ones."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pytest

import gradcheck
from gradcheck.checker.api import describe
from tests.checker.planted import planted, with_gradient
from tests.checker.verdicts import draw_from, verdict


class TestHiddenChanges:
    def test_an_output_that_is_too_large_to_show_a_change(self, tf: Any) -> None:
        # The first input reaches both outputs; of 1e18 the second one does not show it.
        weights = np.array([[1e-11, 0.0], [1e-10, 1e8]])

        def function(x: Any, factor: float = 1.0) -> Any:
            wrong = with_gradient(tf.identity, lambda g, _x: g * np.array([factor, 1.0]))
            return tf.linalg.matvec(weights, wrong(x))

        x = np.array([1e5, 1e10])
        assert verdict(function, x) == "pass"
        assert verdict(lambda x: function(x, 1.01), x) == "mismatch"

    def test_what_is_moved_and_does_not_show_it(self, tf: Any) -> None:
        """Where a change is not to be had by itself, there is a bar that leaves room for it."""
        weights = np.array([[1e-11, 0.0], [1e-10, 1e8]])

        def function(x: Any) -> Any:
            return tf.linalg.diag_part(tf.linalg.diag(tf.linalg.matvec(weights, x)))

        result = gradcheck.check(function, np.array([1e5, 1e10]))
        assert result.verdict in ("pass", "inconclusive"), describe(result)
        ((shown, _),) = [c.bound for c in result.comparisons if c.bound is not None]
        assert shown > 1e-10

    def test_what_is_not_hidden_is_still_refuted(self, tf: Any) -> None:
        weights = np.array([[1.0, 0.0], [0.0, 1e8]])
        wrong = planted(
            lambda x: tf.linalg.matvec(weights, x), lambda g: [g[0] * np.array([1 + 1e-8, 1])]
        )
        assert verdict(wrong, np.array([1.0, 1e3])) == "mismatch"

    @pytest.mark.parametrize("size", [1e-12, 1e-9])
    def test_a_change_that_is_lost_inside(self, tf: Any, size: float) -> None:
        def function(x: Any) -> Any:
            return 1 - tf.cos(x)

        x = size * draw_from(1, 4)
        assert verdict(function, x) == "pass", "over the size of one it shows"
        assert verdict(with_gradient(function, lambda g, _x: g), x) == "mismatch"
        assert verdict(with_gradient(function, lambda g, _x: 0 * g), x) == "mismatch"

    def test_a_product_with_zero_hides_nothing(self) -> None:
        wrong = with_gradient(lambda x: 0 * x, lambda g, _x: g)
        assert verdict(wrong, draw_from(2, 3)) == "mismatch"

    def test_a_function_that_refuses_nan(self, tf: Any) -> None:
        def function(x: Any) -> Any:
            return tf.debugging.check_numerics(0 * x, "no")

        assert verdict(function, draw_from(2, 3)) == "pass"
        wrong = with_gradient(function, lambda g, _x: g)
        assert verdict(wrong, draw_from(2, 3)) == "mismatch"


def test_an_element_that_a_huge_one_hides(tf: Any) -> None:
    # What the smallest element does is lost beside terms of 1e14, unless it is moved past them.
    a = np.array([[-48422.25, -267764.3, 6605.59], [-2.15e8, 5.17e9, 8.159e-05]])
    b = np.array(
        [[2253835.7, -0.00254], [5.87e-10, 2.26e-10], [8.57e7, 4.4e-9], [-3.2e-7, -2.3e-9]]
    )
    result = gradcheck.check(lambda a, b: tf.tensordot(a, b, [[0], [1]]), a, b)
    assert result.verdict == "pass", describe(result)


class TestOutputsThatMoveByLessThanTheirLastDigit:
    """An output of one that loses 1e-17 to another does not show it."""

    def test_a_softmax_that_is_sure(self, tf: Any) -> None:
        assert verdict(tf.nn.softmax, np.array([20.0, -16.0, -17.0, -19.0])) != "mismatch"
        assert verdict(tf.nn.softmax, np.array([20.0, -16.0, -17.0, 19.0])) != "mismatch"
        for seed in range(8):
            x = np.random.default_rng([seed, 7]).standard_normal((3, 4))
            assert verdict(tf.nn.softmax, 10 * x, seed=seed) != "mismatch"
            assert verdict(tf.nn.softmax, 1000 * x, seed=seed) != "mismatch"


class TestInputsThatAreTiny:
    """Functions need not vary over the size of their inputs: over the size of one they do."""

    FUNCTIONS: ClassVar[dict[str, Any]] = {
        "a square and one": lambda _, x: 1 + x * x,
        "a cosine": lambda tf, x: 1 - tf.cos(x),
        "a sum": lambda tf, x: tf.reduce_sum(1 + x**3 + x * x),
    }
    POINT: ClassVar[Any] = np.array([1.0, 0.7, -1.3])

    @pytest.mark.parametrize("size", [1e-9, 1e-7, 1e-6, 1e-5])
    @pytest.mark.parametrize("name", FUNCTIONS)
    def test_what_is_tiny_varies_over_the_size_of_one(
        self, tf: Any, name: str, size: float
    ) -> None:
        def function(x: Any) -> Any:
            return self.FUNCTIONS[name](tf, x)

        assert verdict(function, size * self.POINT) == "pass"
        wrong = planted(function, lambda g: [g[0] * 1.0001])
        assert verdict(wrong, size * self.POINT) == "mismatch"

    @pytest.mark.parametrize("factor", [0.0, 0.99, -1.0])
    @pytest.mark.parametrize("size", [1e-9, 1e-7])
    def test_what_longer_steps_knew_is_not_forgotten(self, size: float, factor: float) -> None:
        wrong = planted(lambda x: 1 + x * x, lambda g: [g[0] * factor])
        assert verdict(wrong, size * self.POINT) == "mismatch"

    @pytest.mark.parametrize("size", [1e-9, 1e-6])
    def test_what_varies_over_its_own_size(self, tf: Any, size: float) -> None:
        def function(x: Any) -> Any:
            return tf.sin(x / size) + 3

        assert verdict(function, size * self.POINT) == "pass"
        wrong = planted(function, lambda g: [g[0] * 1.0001])
        assert verdict(wrong, size * self.POINT) == "mismatch"

    @pytest.mark.parametrize("kind", ["reverse", "forward"])
    def test_what_is_zero_throughout(self, tf: Any, kind: str) -> None:
        def function(x: Any) -> Any:
            return x - tf.identity(x)

        for x in (self.POINT, 1e-9 * self.POINT, 1e-300 * self.POINT, 1e300 * self.POINT):
            assert verdict(function, x, checks=kind) == "pass"

    @pytest.mark.parametrize("kind", ["reverse", "forward"])
    def test_what_underflows_is_no_fault(self, kind: str) -> None:
        assert verdict(lambda x: x * x, 1e-300 * self.POINT, checks=kind) != "mismatch"


def test_what_stands_still_on_either_side_of_a_switch(tf: Any) -> None:
    # The gradient of the second is 1 − 1 here, and zero where the third has taken over: between
    # the two it is not, and its last digit is all that the others are.
    sure = np.array([[0.0, 100.0, 3.0], [500.0, 0.0, 1.0]])
    assert verdict(tf.nn.softmax, sure, checks="second") == "inconclusive"
    wrong = planted(tf.nn.softmax, lambda g: [g[0] * 1.001])
    assert verdict(wrong, np.array([[0.0, 2.0, 3.0]]), checks="second") == "mismatch"
