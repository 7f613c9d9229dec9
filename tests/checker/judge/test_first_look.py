"""The first look: enough for an ordinary gradient, and never for a wrong one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from gradcheck.checker.judge.evidence import along_coordinates
from gradcheck.checker.judge.first_look import Look, look_at
from gradcheck.checker.reference.plan import make_plan
from gradcheck.checker.reference.point import evaluate_at
from gradcheck.checker.subject.operand import Operand
from gradcheck.checker.subject.problem import Problem
from gradcheck.checker.subject.tape import Tape
from gradcheck.model import Tolerance
from tests.checker.planted import planted

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradcheck.model import Array

X = np.array([0.3, -0.7, 1.9])


def look(function: Callable[..., Any], x: Array = X, **options: Any) -> Look | None:
    problem = Problem(function, (Operand("x", x),), **options)
    point = evaluate_at(problem)
    plan = make_plan(point)
    passed = Tape(function, problem.operands)(point.values, point.upstream)
    return look_at(point, plan, passed, along_coordinates(point, plan, passed))[1]


def test_a_right_gradient_is_settled(tf: Any) -> None:
    found = look(tf.tanh)
    assert found is not None
    assert found.settled.all()
    assert not found.doubtful.any()


@pytest.mark.parametrize("error", [1e-8, 0.5, np.nan])
def test_a_wrong_element_alone_is_doubtful(tf: Any, error: float) -> None:
    found = look(planted(tf.tanh, lambda gs: [gs[0] * (1 + np.array([0.0, error, 0.0]))]))
    assert found is not None
    assert found.settled.tolist() == [True, False, True]
    assert found.doubtful.tolist() == [False, True, False]


def test_what_stands_still_as_the_gradient_says_is_not_doubtful() -> None:
    found = look(lambda x: x * np.array([1.0, 0.0, 1.0]))
    assert found is not None
    assert found.settled[[0, 2]].all()
    assert not found.doubtful.any()


def test_a_function_that_rounds_inside_is_not_settled(tf: Any) -> None:
    found = look(lambda x: tf.cast(tf.tanh(tf.cast(x, tf.float32)), tf.float64))
    # (Its stairs are longer than the first step: nothing moves, or not as it should.)
    assert found is None or not found.settled.any()


def test_what_is_no_ordinary_problem_gets_none(tf: Any) -> None:
    assert look(tf.tanh, tolerance=Tolerance(rtol=1e-3)) is None
    assert look(planted(tf.tanh, lambda gs: [gs[0][:2]])) is None
    assert look(lambda x: 0 * x) is None, "nothing moves at all"
