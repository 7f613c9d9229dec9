"""Steps that stay inside a domain, are no power of two, and shrink where a function is fast."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradcheck
from gradcheck.checker import stepping
from gradcheck.checker.numerics.choose_coordinates import choose
from gradcheck.checker.numerics.step_choice import first_steps
from gradcheck.checker.numerics.vectors import Layout
from tests.checker.numerics.smooth import Input, allowed, estimate
from tests.checker.planted import with_gradient
from tests.checker.verdicts import verdict

if TYPE_CHECKING:
    from gradcheck.model import Array


class TestDomains:
    def test_steps_stay_inside(self) -> None:
        def function(points: Array) -> Array:
            assert (points >= 0).all() or len(points) == 1 or (points > -1e-3).all()
            return np.sqrt(np.abs(points))

        found = estimate(function, np.array([1e-6, 0.5]), low=0.0)
        true = 0.5 / np.sqrt(np.array([1e-6, 0.5]))
        assert (np.abs(found.numeric - true) <= allowed(found)).all()

    def test_a_log_next_to_zero(self) -> None:
        x = np.array([1e-9, 1e-3, 0.01])
        found = estimate(np.log, x, low=0.0)
        assert (np.abs(found.numeric - 1 / x) <= allowed(found)).all()
        assert (found.bound * x < 1e-8).all()


class TestPrecisionInside:
    @pytest.mark.parametrize("size", [6, 300])
    @pytest.mark.parametrize("bits", [4, 7, 8, 16, 20])
    def test_stairs_are_seen(self, tf: Any, bits: int, size: int) -> None:
        # Fixed point with a gradient that passes straight through. Steps of a power of two would
        # meet it only where the stairs lie on a line.
        stairs = with_gradient(lambda x: tf.round(x * 2.0**bits) / 2.0**bits, lambda g, _: g)
        x = np.random.default_rng(3).uniform(1.0, 4.0, size)
        (comparison,) = gradcheck.check(stairs, x).comparisons
        assert comparison.verdict != "pass" or (comparison.error_bar or 0) > 2.0**-bits / 10


class TestFastFunctions:
    def test_a_pole_close_by(self) -> None:
        near = np.array([1.001, 0.999, 1.0001, 1.000001])
        assert verdict(lambda x: 1 / (x - 1), near) == "pass"

    @pytest.mark.parametrize("name", ["sqrt", "log"])
    def test_a_branch_point_close_by(self, tf: Any, name: str) -> None:
        function = getattr(tf.math, name)
        assert verdict(lambda x: function(x - 1), 1 + np.array([1e-3, 1e-5, 1e-7])) == "pass"

    @pytest.mark.parametrize("name", ["asin", "acos", "atanh"])
    def test_the_end_of_the_domain_close_by(self, tf: Any, name: str) -> None:
        near = np.array([0.999, 0.99999, 0.9999999, -0.99999])
        assert verdict(getattr(tf.math, name), near) == "pass"

    @pytest.mark.parametrize("centre", [0.0, 1.0])
    def test_a_length_scale_of_a_millionth(self, tf: Any, centre: float) -> None:
        offsets = 1e-6 * np.array([-1.0, -0.3, 0.2, 1.5])
        assert verdict(lambda x: tf.tanh((x - centre) * 1e6), centre + offsets) == "pass"

    def test_a_length_scale_of_a_millionth_around_zero(self, tf: Any) -> None:
        assert verdict(lambda x: tf.tanh(x * 1e6), np.zeros(1)) == "pass"
        assert verdict(lambda x: x / (1 + (1e6 * x) ** 2), np.zeros(1)) == "pass"


def test_the_first_step_takes_half_of_the_room_at_most() -> None:
    x = np.array([0.5, 1e-6, 0.0])
    space = choose([Input(low=0.0)], Layout.of([x]), x, 0, None).space
    steps = first_steps(space)
    assert steps[0] <= stepping.ODD * stepping.FIRST_STEP * space.unit[0]
    assert 0 < steps[1] < 1e-6
    assert steps[2] > 0, "to the one side that there is"
    assert (np.frexp(steps / stepping.ODD)[0] == 0.5).all(), "a power of two, but for the factor"
