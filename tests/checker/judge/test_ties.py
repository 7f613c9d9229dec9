"""Ties: each element alone may be anything between two slopes, together they add up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradcheck
from gradcheck.checker.api import describe
from tests.checker.judge.special_points import TIED, choice
from tests.checker.planted import planted, with_gradient

if TYPE_CHECKING:
    from gradcheck.model import Array
    from tests.checker.judge.special_points import Make


class TestTies:
    """What elements that tie do together: TensorFlow's own choices add up, whatever they are."""

    TIES: dict[str, tuple[Make, tuple[Array, ...]]] = {  # noqa: RUF012
        "maximum": (lambda tf: tf.maximum, TIED),
        "minimum": (lambda tf: tf.minimum, TIED),
        "equal inputs": (lambda tf: tf.maximum, (np.ones(4), np.ones(4))),
        "broadcast": (lambda tf: tf.maximum, (np.array([[1.0, 2.0], [0.0, 1.0]]), np.ones(2))),
        "the distance": (lambda tf: lambda a, b: tf.abs(a - b), TIED),
        "reduce_max": (lambda tf: tf.reduce_max, (np.array([[1.0, 3.0], [3.0, 3.0]]),)),
        "reduce_min": (lambda tf: tf.reduce_min, (np.array([1.0, 1.0, 2.0]),)),
        "sort": (lambda tf: tf.sort, (np.array([2.0, 1.0, 2.0, 3.0, 1.0]),)),
        "top_k": (lambda tf: lambda x: tf.math.top_k(x, 2)[0], (np.array([1.0, 2.0, 2.0, 0.0]),)),
        "segment_max": (
            lambda tf: lambda x: tf.math.segment_max(x, [0, 0, 1, 1]),
            (np.array([1.0, 1.0, 2.0, 1.0]),),
        ),
        "max_pool": (
            lambda tf: lambda x: tf.nn.max_pool1d(x, 2, 1, "VALID"),
            (np.array([1.0, 1.0, 0.0, 0.0, 1.0]).reshape(1, 5, 1),),
        ),
        "clip at its limit": (
            lambda tf: tf.clip_by_value, (np.array([0.0, 1.0]), np.array(0.0), np.array(1.0))
        ),
        "many zeros": (lambda tf: tf.nn.relu, (np.zeros(6),)),
        "many zeros, summed": (lambda tf: lambda x: tf.reduce_sum(tf.abs(x)), (np.zeros(6),)),
        "leaky": (lambda tf: tf.nn.leaky_relu, (np.zeros(5),)),
        "two limits": (lambda tf: tf.nn.relu6, (np.array([0.0, 6.0, 0.0, 6.0]),)),
    }  # fmt: skip

    @pytest.mark.parametrize("seed", range(4))
    @pytest.mark.parametrize("name", TIES)
    def test_no_false_alarm(self, tf: Any, name: str, seed: int) -> None:
        make, inputs = self.TIES[name]
        result = gradcheck.check(make(tf), *inputs, seed=seed)
        assert result.verdict == "kink", describe(result)

    def test_the_report_says_what_does_not_add_up(self, tf: Any) -> None:
        zeros = with_gradient(tf.maximum, choice(lambda a, b: a > b, lambda a, b: b > a))
        result = gradcheck.check(zeros, *TIED, upstream="ones")
        causes = [c.diagnosis.cause for c in result.comparisons if c.diagnosis]
        assert causes == ["tie", "tie"]
        assert "2 tied elements" in describe(result)
        assert "the derivative is 1 ±" in describe(result)
        assert "theirs add up to 0" in describe(result)
        assert [c.max_abs_error for c in result.comparisons] == pytest.approx([1.0, 1.0])

    @pytest.mark.parametrize("error", [1e-8, 1e-3, 0.5])
    def test_a_share_too_small(self, tf: Any, error: float) -> None:
        wrong = planted(tf.reduce_max, lambda gs: [gs[0] * (1 - error)])
        # (All of it is wrong, but no element alone: half of the upstream lies between the sides.)
        result = gradcheck.check(wrong, np.array([2.0, 1.0, 2.0]))
        assert result.verdict == "mismatch"
        assert result.diagnosis is not None
        assert result.diagnosis.cause == "tie"

    def test_a_tie_of_three_is_never_a_mismatch(self, tf: Any) -> None:
        # The one in the middle has a gradient that is on neither side of any of them.
        seen = set()
        for seed in range(6):
            result = gradcheck.check(tf.sort, np.array([2.0, 2.0, 2.0]), seed=seed)
            seen.add(str(result.verdict))
            if result.verdict == "inconclusive":
                assert "more than two elements tie" in describe(result)
        assert seen == {"kink", "inconclusive"}


class TestSpecialPoints:
    def test_equal_inputs(self) -> None:
        import tensorflow as tf

        # The distance of a point from itself: a kink, and TensorFlow says NaN.
        result = gradcheck.check(lambda a, b: tf.norm(a - b), np.ones(3), np.ones(3))
        assert result.verdict == "nonfinite"


def _scaled(function: Any, factor: float) -> Any:
    return planted(function, lambda gs: [gs[0] * factor])


class TestOutsideOfAKink:
    """What a gradient varies by beside a kink excuses it, if it is right there."""

    FUNCTIONS: dict[str, tuple[Make, Array]] = {  # noqa: RUF012
        "a length that is clipped": (
            lambda tf: lambda x: tf.clip_by_norm(x, 5.0),
            np.array([3.0, 4.0]),
        ),
        "a median": (lambda tf: lambda x: 3 * tf.sort(x)[1], np.array([1.0, 1.0, 0.3])),
        "pooling": (
            lambda tf: lambda x: tf.nn.max_pool1d(x[None, :, None], 2, 2, "VALID"),
            np.array([1.0, 1.0, 2.0, 2.0]),
        ),
        "top_k": (lambda tf: lambda x: tf.math.top_k(x, 2)[0], np.array([1.0, 1.0, 1.0, 3.0])),
        "the largest of three": (lambda tf: tf.reduce_max, np.array([1.0, 1.0, 1.0, 0.3])),
    }

    @pytest.mark.parametrize("dtype", ["float64", "float32"])
    @pytest.mark.parametrize("name", FUNCTIONS)
    def test_outside_of_a_kink_and_wrong_beside_it(self, tf: Any, name: str, dtype: str) -> None:
        make, x = self.FUNCTIONS[name]
        result = gradcheck.check(make(tf), x.astype(dtype))
        assert result.verdict == "kink", describe(result)
        for factor in (1.0001, 1.1, -1.0):
            result = gradcheck.check(_scaled(make(tf), factor), x.astype(dtype))
            assert result.verdict == "mismatch", (factor, describe(result))
            assert result.comparisons[0].failing

    def test_a_variable_holds_what_it_held(self, tf: Any) -> None:
        x = tf.Variable([3.0, 4.0], dtype=tf.float64)
        wrong = planted(lambda x: tf.clip_by_norm(x, 5.0), lambda gs: [-gs[0]])
        assert gradcheck.check(lambda: wrong(x.read_value())).verdict == "mismatch"
        assert x.numpy().tolist() == [3.0, 4.0]
