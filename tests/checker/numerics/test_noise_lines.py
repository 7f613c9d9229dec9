"""What values on short lines tell of the noise of an output."""

from __future__ import annotations

from typing import Any

import numpy as np

import gradcheck
from tests.checker.planted import with_gradient
from tests.checker.verdicts import draw, verdict


class TestPrecisionInside:
    def test_what_quantises_on_purpose_is_told_what_to_say(self, tf: Any) -> None:
        stairs = with_gradient(lambda x: tf.round(x * 100) / 100, lambda g, _: g)
        (comparison,) = gradcheck.check(stairs, draw(6)).comparisons
        assert comparison.verdict == "inconclusive"
        assert "say `expect: inconclusive` and why" in comparison.note


class TestFastFunctions:
    def test_noise_that_is_zero_by_chance_on_a_line(self, tf: Any) -> None:
        near = [0.9999999884361961 + 5.837250260597707e-09j, 0.99981431065 + 6.266758e-05j]
        near.append(0.999999985832742 - 6.202350918094879e-09j)
        assert verdict(tf.asin, np.array(near), seed=20) == "pass"
