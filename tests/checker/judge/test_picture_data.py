"""What pictures are made of: gathered where it is asked for, and never at the verdict's cost."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gradcheck.checker.check import check_problem
from gradcheck.checker.subject.operand import Operand
from gradcheck.checker.subject.problem import Problem
from gradcheck.model import Array, Comparison, Result, Verdict
from tests.checker.planted import Function, with_gradient
from tests.checker.verdicts import draw

ALL = frozenset(Verdict)


def checked(
    function: Function, *inputs: Array, close_ups: frozenset[Verdict] = ALL, **rest: Any
) -> Result:
    operands = tuple(Operand(name, value) for name, value in zip("xyz", inputs, strict=False))
    return check_problem(Problem(function, operands, close_ups=close_ups, **rest), "case")


def first(result: Result) -> Comparison:
    return result.comparisons[0]


def test_the_error_falls_and_rises_with_the_step(tf: Any) -> None:
    seen = first(checked(tf.exp, draw(3))).close_up
    assert seen is not None
    assert list(seen.steps) == sorted(seen.steps, reverse=True)
    lowest = int(np.argmin(seen.errors))
    assert 5 < lowest < 20
    # Truncation: a quarter for each half of the step. Round-off: more than at the bottom.
    assert seen.errors[2] / seen.errors[3] == pytest.approx(4, rel=0.1)
    assert seen.errors[-1] > 100 * seen.errors[lowest]
    assert seen.steps[0] > seen.chosen > seen.steps[-1]
    assert seen.numeric == pytest.approx(seen.analytic, rel=1e-9)


def test_it_is_the_worst_element(tf: Any) -> None:
    def wrong(upstream: Any, x: Any) -> Any:
        return upstream * tf.cos(x) * tf.constant([1.0, 1.0, 3.0], tf.float64)

    told = first(checked(with_gradient(tf.sin, wrong), draw(3)))
    assert told.verdict is Verdict.MISMATCH
    assert told.close_up is not None
    assert told.close_up.index == told.worst[0].index == (2,)
    assert told.close_up.analytic == pytest.approx(3 * told.close_up.numeric)


def test_both_sides_of_a_kink(tf: Any) -> None:
    told = first(checked(tf.nn.relu, np.array([1.0, 0.0, -2.0]), upstream="ones"))
    assert told.verdict is Verdict.KINK
    seen = told.close_up
    assert seen is not None
    assert seen.index == (1,)
    assert set(seen.left) == {0.0}
    assert seen.right == pytest.approx(seen.steps)


def test_steps_stay_in_the_domain(tf: Any) -> None:
    x = Operand("x", np.array([0.01, 2.0]), low=0.0)
    result = check_problem(Problem(tf.sqrt, (x,), close_ups=ALL), "case")
    seen = first(result).close_up
    assert seen is not None
    if seen.index == (0,):
        assert np.isnan(seen.left[0]) == (seen.steps[0] > 0.01)
    assert np.isfinite(seen.errors[-1])


def test_of_complex_ones_the_part_that_is_wrong(tf: Any) -> None:
    def conjugated(upstream: Any, x: Any) -> Any:
        return tf.math.conj(upstream * tf.math.conj(2 * x))

    function = with_gradient(tf.square, conjugated)
    told = first(checked(function, np.array([1 + 2j, 0.5 - 1j])))
    assert told.verdict is Verdict.MISMATCH
    assert told.close_up is not None
    assert told.jacobian == ()
    error = abs(told.close_up.analytic - told.close_up.numeric)
    assert error > 0.1


def test_which_outputs_move_with_which_elements(tf: Any) -> None:
    told = checked(lambda x, y: tf.cumsum(x) - y, draw(3), draw(3)).comparisons
    assert [c.jacobian for c in told] == [("+00", "++0", "+++"), ("-00", "0-0", "00-")]


@pytest.mark.parametrize("size", [1, 65])
def test_a_jacobian_that_nobody_could_look_at_is_left_out(tf: Any, size: int) -> None:
    assert first(checked(tf.sin, draw(size))).jacobian == ()


def test_nothing_is_gathered_that_nobody_asked_for(tf: Any) -> None:
    told = first(checked(tf.sin, draw(3), close_ups=ALL - {Verdict.PASS}))
    assert told.verdict is Verdict.PASS
    assert told.close_up is None
    assert told.jacobian == ()


def test_no_more_calls_are_made_then(tf: Any) -> None:
    calls = []

    def counted(x: Any) -> Any:
        calls.append(1)
        return tf.sin(x)

    def count(close_ups: frozenset[Verdict]) -> int:
        calls.clear()
        checked(counted, draw(3), close_ups=close_ups)
        return len(calls)

    assert count(frozenset()) == count(ALL - {Verdict.PASS}) < count(ALL)


def test_a_function_that_raises_farther_away_keeps_its_verdict(tf: Any) -> None:
    def narrow(x: Any) -> Any:
        tf.debugging.assert_less(tf.abs(x), tf.constant(1.2, tf.float64))
        return tf.square(x)

    result = checked(narrow, np.array([1.0, 1.0, 1.0]))
    alone = checked(narrow, np.array([1.0, 1.0, 1.0]), close_ups=frozenset())
    assert result.verdict is alone.verdict is Verdict.PASS
    seen = first(result).close_up
    assert seen is None or np.isnan(seen.errors[0])


def test_a_verdict_is_the_same_with_pictures(tf: Any) -> None:
    def wrong(upstream: Any, x: Any) -> Any:
        return upstream * tf.cos(x) * 1.001

    with_them = first(checked(with_gradient(tf.sin, wrong), draw(3)))
    without = first(checked(with_gradient(tf.sin, wrong), draw(3), close_ups=frozenset()))
    assert without.close_up is None
    bare = replace(with_them, close_up=None, jacobian=())
    assert repr(bare) == repr(without)


def test_symmetric_matrices_are_moved_as_such(tf: Any) -> None:
    matrix = np.array([[2.0, 0.5], [0.5, 1.0]])
    x = Operand("x", matrix, structure="symmetric")
    told = first(check_problem(Problem(tf.linalg.inv, (x,), close_ups=ALL), "case"))
    assert told.verdict is Verdict.PASS
    assert told.close_up is not None
    assert min(told.close_up.errors) < 1e-6
    assert told.jacobian == ()
