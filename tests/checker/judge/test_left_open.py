"""A check ends when its budget is spent, with what it knows: nothing passes that was not seen."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradcheck
from gradcheck.checker import budget, verdict
from gradcheck.checker.api import check
from gradcheck.checker.budget import Spent
from gradcheck.checker.check import check_problem
from gradcheck.checker.judge.left_open import left_open
from gradcheck.checker.numerics.estimate import Estimate, Noise
from gradcheck.checker.reference.derivatives import Derivatives
from gradcheck.checker.reference.point import evaluate_at
from gradcheck.checker.subject.operand import Operand
from gradcheck.checker.subject.problem import Problem
from gradcheck.checker.verdict import gradients
from gradcheck.errors import UsageError

if TYPE_CHECKING:
    from gradcheck.model import Result


class Clock:
    """Goes on only when the function is called, by a tenth of a second."""

    def __init__(self) -> None:
        # (An iterator: what else a function changes is put back.)
        self.calls = itertools.count()

    @property
    def now(self) -> float:
        return int(repr(self.calls)[len("count(") : -1]) / 10

    def process_time(self) -> float:
        return self.now

    monotonic = process_time


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(budget, "time", clock)
    return clock


def dear(tf: Any, clock: Clock, factor: Any = 1.0) -> Any:
    """Takes a tenth of a second for each call, and one point at a time."""

    def once(x: Any) -> Any:
        assert x.ndim == 1, "no batch"
        next(clock.calls)
        return np.asarray(np.sum(np.tanh(x) * np.roll(x, 1)), x.dtype)

    @tf.custom_gradient  # type: ignore[untyped-decorator]  # no types in TensorFlow
    def function(x: Any) -> Any:
        y = tf.numpy_function(once, [x], x.dtype)
        y.set_shape([])

        def gradient(upstream: Any) -> Any:
            right = (1 - tf.tanh(x) ** 2) * tf.roll(x, 1, 0) + tf.roll(tf.tanh(x), -1, 0)
            return upstream * right * factor

        return y, gradient

    return function


def run(tf: Any, clock: Clock, seconds: float, factor: Any = 1.0, **changes: Any) -> Result:
    x = np.random.default_rng(3).normal(size=24).astype(changes.pop("dtype", np.float64))
    return check(dear(tf, clock, factor), x, budget=seconds, **changes)


def test_a_dear_function_says_what_is_known_when_the_budget_is_spent(tf: Any, clock: Clock) -> None:
    result = run(tf, clock, 4.0)
    (x,) = result.comparisons
    assert (result.verdict, x.decided_by) == ("inconclusive", "budget")
    assert "the budget of 4 s was spent" in x.note
    assert "of 24 derivatives are left open; `budget:`" in x.note
    assert 0 < x.failing < 24, "some of them are known"
    assert clock.now < 5, "that was all"


def test_where_nothing_was_judged_there_is_no_error_to_tell(tf: Any, clock: Clock) -> None:
    (x,) = run(tf, clock, 0.15).comparisons
    assert (x.verdict, x.failing) == ("inconclusive", 24)
    assert (x.max_abs_error, x.max_rel_error, x.error_bar) == (None, None, None)


def test_what_looks_wrong_and_was_not_confirmed_is_told(tf: Any, clock: Clock) -> None:
    one = np.ones(24)
    one[7] = 1.5
    notes = [run(tf, clock, seconds, one).comparisons[0].note for seconds in range(4, 40, 4)]
    told = [note for note in notes if "looks wrong and was not confirmed: [7], " in note]
    assert told
    assert " where the first steps gave " in told[0]
    right = [run(tf, clock, seconds).comparisons[0].note for seconds in range(4, 40, 4)]
    assert not any("looks wrong" in note for note in right)


def test_with_more_it_is_decided(tf: Any, clock: Clock) -> None:
    result = run(tf, clock, 100.0)
    assert (result.verdict, result.decided_by) == ("pass", "first look")


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("seconds", [0.15, 1.0, 3.0, 10.0, 30.0, 60.0, 100.0, 200.0])
def test_nothing_is_wrongly_said_however_little_there_is(
    tf: Any, clock: Clock, seconds: float, dtype: Any
) -> None:
    right = run(tf, clock, seconds, dtype=dtype).verdict
    assert right in ("pass", "inconclusive")
    assert run(tf, clock, seconds, 1.01, dtype=dtype).verdict in ("mismatch", "inconclusive")
    one = np.ones(24)
    one[7] = 1.01
    assert run(tf, clock, seconds, one.astype(dtype), dtype=dtype).verdict in (
        "mismatch",
        "inconclusive",
    )
    if seconds == 200:
        assert right == "pass"


def test_what_is_wrong_is_found_and_confirmed_within_it(tf: Any, clock: Clock) -> None:
    result = run(tf, clock, 120.0, 1.01)
    assert result.verdict == "mismatch"
    assert clock.now < 140, "but for a few calls that nothing more depends on"


def test_a_check_ends_before_its_time_is_up(tf: Any, clock: Clock) -> None:
    problem = Problem(dear(tf, clock), (Operand("x", np.linspace(-1.0, 1.0, 24)),), timeout=5.0)
    result = check_problem(problem, "dear")
    assert (result.verdict, result.decided_by) == ("inconclusive", "budget")
    assert 2 < clock.now < 5


def test_it_says_which_limit_it_was(tf: Any, clock: Clock) -> None:
    problem = Problem(dear(tf, clock), (Operand("x", np.linspace(-1.0, 1.0, 24)),), timeout=5.0)
    (x,) = check_problem(problem, "dear").comparisons
    assert "the time limit of the case was near: " in x.note
    assert "`timeout:` in the spec, or `--timeout`, raises it" in x.note


def sampled(tf: Any, clock: Clock) -> tuple[Any, Any]:
    """A function of more numbers than are moved, wrong in one of them, and its point."""
    x = np.random.default_rng(5).uniform(0.5, 1.5, size=5000)

    @tf.custom_gradient  # type: ignore[untyped-decorator]  # no types in TensorFlow
    def function(x: Any) -> Any:
        next(clock.calls)
        if x.shape.rank != 1:
            raise ValueError("no batch")
        factor = np.ones(5000)
        factor[1234] = -1.0
        return tf.reduce_sum(
            tf.sin(x)
        ) ** 2, lambda upstream: 2 * upstream * tf.reduce_sum(tf.sin(x)) * tf.cos(x) * factor

    return function, x


@pytest.mark.parametrize("seconds", [1.0, 10.0, 40.0, 60.0, 80.0, 100.0, 150.0, 300.0, 600.0])
def test_a_sample_vouches_for_nothing_without_its_directions(
    tf: Any, clock: Clock, seconds: float
) -> None:
    function, x = sampled(tf, clock)
    assert check(function, x, budget=seconds).verdict in ("mismatch", "inconclusive")


def test_directions_that_nobody_compared(tf: Any, clock: Clock) -> None:
    """All the elements of the sample are right, and known well."""
    function, x = sampled(tf, clock)
    point = evaluate_at(Problem(function, (Operand("x", x),)))
    evidence = gradients(point, None, None)
    count = len(evidence.analytic)
    known = Estimate.smooth(evidence.analytic, *np.full((6, count), 1e-15))
    derivatives = Derivatives(point, evidence.plan, Noise.ideal(point.base))
    evidence = replace(evidence, estimate=known, derivatives=derivatives)
    evidence = replace(evidence, inputs=evidence.by_input(known))
    (own,) = left_open(evidence).inputs
    assert len(own.part.directions)
    assert own.suggestion == ("inconclusive", "budget")


def test_a_kink_whose_ties_nobody_looked_at(tf: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def spent(*_: Any) -> Any:
        raise Spent

    x = np.array([2.0, 2.0, 1.0])
    assert check(tf.reduce_max, x).verdict == "kink"
    monkeypatch.setattr(verdict, "with_ties", spent)
    result = check(tf.reduce_max, x)
    assert (result.verdict, result.decided_by) == ("inconclusive", "budget")


@pytest.mark.parametrize("checks", ["forward", "second"])
def test_other_derivatives_have_the_same_budget(tf: Any, clock: Clock, checks: str) -> None:
    def function(x: Any) -> Any:
        next(clock.calls)
        if x.shape.rank != 1:
            raise ValueError("no batch")
        return tf.reduce_sum(tf.tanh(x) * tf.roll(x, 1, 0))

    x = np.random.default_rng(3).normal(size=24)
    result = check(tf.autograph.experimental.do_not_convert(function), x, checks=checks, budget=1.0)
    assert result.verdict in ("inconclusive", "pass")
    assert clock.now < 3


@pytest.mark.parametrize("given", [0, -1.0, float("nan"), float("inf"), "10", True])
def test_a_budget_is_a_number_of_seconds(tf: Any, given: Any) -> None:
    with pytest.raises(UsageError, match="budget"):
        gradcheck.check(tf.tanh, [1.0], budget=given)
