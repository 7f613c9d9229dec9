"""What a gradient says at one point alone is not rounding."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradcheck
from gradcheck.checker import tolerances
from gradcheck.checker.api import describe
from gradcheck.checker.judge.gradient_spread import Spread
from tests.checker.judge.special_points import SPECIAL, TIED
from tests.checker.planted import cause, first, planted

if TYPE_CHECKING:
    from gradcheck.model import Array
    from tests.checker.judge.special_points import Special


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("special", SPECIAL, ids=str)
class TestOnePoint:
    def test_the_wrong_one_is_a_mismatch_there(self, tf: Any, special: Special, dtype: str) -> None:
        inputs = [x.astype(dtype) for x in special.inputs]
        result = gradcheck.check(special.wrong(tf), *inputs)
        first = result.comparisons[0]
        assert result.verdict == first.verdict == "mismatch", describe(result)
        assert {element.index for element in first.worst} == set(special.special)
        assert first.failing == len(special.special)
        assert first.diagnosis is not None or len(special.special) == first.elements

    def test_the_right_one_is_not(self, tf: Any, special: Special, dtype: str) -> None:
        inputs = [x.astype(dtype) for x in special.inputs]
        result = gradcheck.check(special.right(tf), *inputs)
        assert result.verdict == special.verdict, describe(result)


ELSEWHERE = [s for s in SPECIAL if "at 0" in s.name or s.inputs[0] is TIED[0]]
"""Where it is a matter of values, and of some elements only."""


@pytest.mark.parametrize("special", ELSEWHERE, ids=str)
def test_elsewhere_the_wrong_one_is_right(tf: Any, special: Special) -> None:
    inputs = [x + 0.3 * (k + 1) for k, x in enumerate(special.inputs)]
    assert gradcheck.check(special.wrong(tf), *inputs).verdict == "pass"


class TestSpecialPoints:
    def test_a_finite_wrong_value_at_one_point(self) -> None:
        import tensorflow as tf

        def sinc(x: Any) -> Any:
            safe = tf.where(x == 0, 1.0, x)
            return tf.where(x == 0, tf.ones_like(x), tf.sin(safe) / safe)

        x = np.array([-1.0, 0.0, 2.0])
        assert gradcheck.check(sinc, x).verdict == "pass"
        right: Array = np.array([0.0, 1.0, 0.0])
        result = gradcheck.check(planted(sinc, first(lambda g: g + right)), x)
        assert cause(result) == "element"
        assert result.comparisons[0].worst_index == (1,)


class TestSpread:
    def test_neighbours_that_scatter_around_the_point_tell_its_rounding(self) -> None:
        spread = Spread(np.array([1.0, 5.0]))
        for neighbour in ([1.1, 5.0], [0.8, 5.0], [1.05, np.nan]):
            spread.add(np.array(neighbour))
        assert spread.size == pytest.approx([0.2, 0.0])
        low, high = spread.ends
        assert low.tolist() == [0.8, 5.0]
        assert high.tolist() == [1.1, 5.0]

    def test_a_value_at_the_point_alone_is_no_rounding(self) -> None:
        spread = Spread(np.array([1.0]))
        for neighbour in (3.0, 3.001):
            spread.add(np.array([neighbour]))
        assert tolerances.STANDS_OUT * 0.001 < 2
        assert spread.size == pytest.approx([0.002])
