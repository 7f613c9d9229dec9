"""How verdicts arise: each is planted where one stage must find it, and names that stage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradcheck
from gradcheck.checker import decide as deciding
from gradcheck.checker.api import describe
from gradcheck.checker.check import check_problem
from gradcheck.checker.subject.operand import Operand
from gradcheck.checker.subject.problem import Problem
from gradcheck.model import CheckKind, Stage, Verdict
from tests.checker.planted import planted, swallowed, with_gradient

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradcheck.model import Array

X = np.array([0.3, -0.7, 1.9])


@dataclass(frozen=True)
class Told:
    """A function that a stage decides on, and how."""

    stage: Stage
    verdict: str
    make: Callable[[Any], Callable[..., Any]]
    """From TensorFlow to the function."""
    inputs: tuple[Array, ...] = (X,)

    def __str__(self) -> str:
        return f"{self.stage}: {self.verdict}"


def noise(tf: Any, x: Any) -> Any:
    return tf.random.uniform([], 1, 2, x.dtype)


def raising(_x: Any) -> Any:
    raise ValueError("not today")


def in_low_precision(tf: Any, precise: Any, coarse: Any) -> Callable[..., Any]:
    """A function with one gradient in float64, and another one below."""
    return with_gradient(
        tf.tanh,
        lambda u, x: u * (1 - tf.tanh(x) ** 2) * (precise if x.dtype == tf.float64 else coarse),
    )


def entangled(tf: Any) -> Callable[..., Any]:
    return lambda x: tf.tanh(x) * tf.reduce_sum(x)


def one_wrong(tf: Any) -> Callable[..., Any]:
    factor = np.ones(6000)
    factor[0] = 1.5
    return planted(entangled(tf), lambda gs: [gs[0] * factor])


def at_a_tie(tf: Any, share: float) -> Callable[..., Any]:
    def gradient(u: Any, a: Any, b: Any) -> Any:
        tied = tf.cast(a == b, u.dtype) * share
        return u * (tf.cast(a > b, u.dtype) + tied), u * (tf.cast(a < b, u.dtype) + tied)

    return with_gradient(tf.maximum, gradient)


SINGLE = (X.astype(np.float32),)
LARGE = (np.random.default_rng(0).uniform(0.1, 1.0, 6000),)
TOLD = [
    Told(Stage.SET_UP, "error", lambda _: raising),
    Told(Stage.SET_UP, "inconclusive", lambda _: lambda x: x * np.nan),
    Told(Stage.FIRST_LOOK, "pass", lambda tf: tf.tanh),
    Told(Stage.NOISE, "pass", lambda tf: lambda x: tf.cast(tf.cast(x, tf.float32) ** 2, x.dtype)),
    Told(Stage.NOISE, "kink", lambda tf: tf.nn.relu, (np.array([0.0, 1.0, -1.0]),)),
    Told(Stage.NOISE, "nonfinite", lambda tf: planted(tf.tanh, lambda gs: [gs[0] * np.nan])),
    Told(
        Stage.CONFIRMATION,
        "pass",
        lambda tf: tf.math.special.bessel_j0,
        (np.array([-2.3926148430864536e11, 3.5]),),
    ),
    Told(
        Stage.CONFIRMATION,
        "inconclusive",
        lambda tf: tf.linalg.inv,
        (1 / (np.arange(12)[:, np.newaxis] + np.arange(12) + 1.0),),
    ),
    Told(Stage.NOISE, "inconclusive", lambda tf: swallowed(tf.identity, 1e20)),
    Told(Stage.CONFIRMATION, "mismatch", lambda tf: planted(tf.tanh, lambda gs: [1.001 * gs[0]])),
    Told(
        Stage.ROUNDING,
        "pass",
        lambda tf: tf.math.special.dawsn,
        (np.array([4.00073297643e5, 0.7]),),
    ),
    Told(Stage.FIRST_LOOK, "pass", entangled, LARGE),
    Told(Stage.DIRECTIONS, "mismatch", one_wrong, LARGE),
    Told(Stage.NOISE, "kink", lambda tf: at_a_tie(tf, 0.5), (X, X)),
    Told(Stage.TIES, "mismatch", lambda tf: at_a_tie(tf, 1.0), (X, X)),
    Told(
        Stage.REPEATABILITY,
        "inconclusive",
        lambda tf: lambda x: x * tf.random.uniform([], 1, 2, x.dtype),
    ),
    Told(Stage.CONNECTION, "disconnected", lambda tf: lambda x: tf.stop_gradient(x) * 2),
    Told(Stage.SHAPE, "mismatch", lambda tf: planted(tf.tanh, lambda gs: [gs[0][:, None]])),
    Told(Stage.SHAPE, "pass", lambda tf: tf.tanh, (np.zeros((0, 3)),)),
    Told(Stage.PRECISION, "pass", lambda tf: tf.tanh, SINGLE),
    Told(Stage.PRECISION, "mismatch", lambda tf: in_low_precision(tf, 1.0, 1.01), SINGLE),
    Told(Stage.PRECISION, "nonfinite", lambda tf: in_low_precision(tf, 1.0, np.inf), SINGLE),
    # What is wrong in float64 is wrong, whatever float32 makes of it.
    Told(Stage.CONFIRMATION, "mismatch", lambda tf: in_low_precision(tf, 1.01, 1.0), SINGLE),
]


@pytest.mark.parametrize("told", TOLD, ids=str)
def test_the_stage_that_decides(tf: Any, told: Told) -> None:
    result = gradcheck.check(told.make(tf), *told.inputs)
    assert result.verdict == told.verdict, describe(result)
    assert result.decided_by is told.stage, describe(result)


def test_forward_mode(tf: Any) -> None:
    result = gradcheck.check(tf.tanh, X, checks=["forward"])
    assert (result.verdict, result.decided_by) == (Verdict.PASS, Stage.FORWARD)


class TestFormulas:
    @staticmethod
    def check(function: Any, claim: Callable[..., Any], x: Array = X) -> Any:
        return check_problem(Problem(function, (Operand("x", x),), claims={"x": claim}), "name")

    def test_a_claim_that_is_right_leaves_the_verdict_to_the_numbers(self, tf: Any) -> None:
        result = self.check(tf.square, lambda i, g, _o: 2 * i[0] * g[0])
        assert (result.verdict, result.decided_by) == (Verdict.PASS, Stage.FIRST_LOOK)

    @pytest.mark.parametrize(
        ("claim", "verdict"),
        [
            (lambda i, g, _o: 3 * i[0] * g[0], Verdict.MISMATCH),
            (lambda _i, g, _o: g[0][:2], Verdict.MISMATCH),
            (lambda _i, g, _o: g[1], Verdict.ERROR),
        ],
    )
    def test_a_claim_that_is_wrong_decides(self, tf: Any, claim: Any, verdict: Verdict) -> None:
        result = self.check(tf.square, claim)
        assert (result.verdict, result.decided_by) == (verdict, Stage.FORMULA)

    def test_a_formula_vouches_where_the_numbers_cannot_judge(self, tf: Any) -> None:
        function = swallowed(tf.identity, 1e20)  # the change drowns
        alone = gradcheck.check(function, X)
        assert (alone.verdict, alone.decided_by) == (Verdict.INCONCLUSIVE, Stage.NOISE)
        result = self.check(function, lambda _i, g, _o: g[0])
        assert (result.verdict, result.decided_by) == (Verdict.PASS, Stage.FORMULA)

    def test_a_gradient_of_another_shape_is_wrong_whatever_is_claimed(self, tf: Any) -> None:
        wrong = planted(tf.square, lambda gs: [gs[0][:2]])
        result = self.check(wrong, lambda i, g, _o: 2 * i[0] * g[0])
        assert (result.verdict, result.decided_by) == (Verdict.MISMATCH, Stage.SHAPE)
        assert "has not the shape or dtype of its input" in describe(result)
        assert "numeric derivative" not in describe(result)


def test_the_gravest_input_names_the_stage(tf: Any) -> None:
    wrong = planted(lambda a, b: a * b, lambda gs: [gs[0], -gs[1]])
    result = gradcheck.check(wrong, X, X + 1)
    assert [c.decided_by for c in result.comparisons] == [Stage.FIRST_LOOK, Stage.CONFIRMATION]
    assert result.decided_by is Stage.CONFIRMATION


def test_no_stage_changes_what_another_decided(tf: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first stage that decides is the last that is asked."""
    asked = []

    def listening(stage: Any) -> Any:
        def ask(case: Any) -> Any:
            asked.append(stage.__name__)
            return stage(case)

        return ask

    stages = tuple(listening(stage) for stage in deciding.DECIDING)
    monkeypatch.setattr(deciding, "DECIDING", stages)
    gradcheck.check(lambda x: tf.stop_gradient(x) * 2, X)
    assert asked == ["connection"]


def test_second_order_is_judged_like_the_first(tf: Any) -> None:
    result = gradcheck.check(tf.tanh, X, checks=["second"])
    assert [c.check for c in result.comparisons] == [CheckKind.SECOND]
    assert result.decided_by is Stage.FIRST_LOOK
