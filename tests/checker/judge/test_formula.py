"""The third oracle beside the other two."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from gradcheck.checker.check import check_problem
from gradcheck.checker.subject.operand import Operand
from gradcheck.checker.subject.problem import Formula, Problem
from gradcheck.model import Comparison, Verdict
from tests.checker.planted import planted, swallowed

if TYPE_CHECKING:
    from collections.abc import Mapping

X = np.array([0.5, 1.0, 2.0])
RIGHT: Mapping[str, Formula] = {"x": lambda inputs, upstream, _out: upstream[0] * 2 * inputs[0]}
WRONG: Mapping[str, Formula] = {"x": lambda inputs, upstream, _out: upstream[0] * 2.001 * inputs[0]}


def compared(function: Any, **rest: Any) -> Comparison:
    problem = Problem(function=function, operands=(Operand("x", X),), **rest)
    (comparison,) = check_problem(problem, "name").comparisons
    return comparison


@pytest.mark.parametrize("oracle", ["formulas", "claims"])
def test_all_agree(tf: Any, oracle: str) -> None:
    comparison = compared(tf.square, **{oracle: RIGHT})
    assert comparison.verdict is Verdict.PASS
    assert comparison.formula is not None
    assert comparison.worst[0].formula is not None


def test_a_claim_is_wrong(tf: Any) -> None:
    comparison = compared(tf.square, claims=WRONG)
    assert comparison.verdict is Verdict.MISMATCH
    assert "the claimed gradient differs from the tape" in comparison.note
    assert "the numeric derivative agrees with the tape" in comparison.note
    assert comparison.failing == 3


@pytest.mark.parametrize("value", [2.001, np.nan, np.inf])
def test_a_declaration_that_is_wrong_is_no_fault_of_the_gradient(tf: Any, value: float) -> None:
    wrong: Mapping[str, Formula] = {"x": lambda inputs, g, _out: g[0] * value * inputs[0]}
    comparison = compared(tf.square, formulas=wrong)
    assert comparison.verdict is Verdict.PASS
    assert "the declared formula does not hold at this point" in comparison.note


def test_a_declaration_decides_between_what_the_error_bar_leaves_open(tf: Any) -> None:
    def rough(x: Any) -> Any:
        return tf.cast(tf.square(tf.cast(x, tf.float32)), tf.float64)

    exact: Mapping[str, Formula] = {"x": lambda inputs, g, _out: g[0] * 2 * inputs[0]}
    off: Mapping[str, Formula] = {"x": lambda inputs, g, _out: g[0] * 2.5 * inputs[0]}
    assert compared(rough, formulas=exact).verdict is Verdict.PASS
    assert "does not hold" in compared(rough, formulas=off).note


def test_a_declaration_that_overflows_says_nothing(tf: Any) -> None:
    hidden = swallowed(tf.square, 1e17)
    nowhere: Mapping[str, Formula] = {"x": lambda x, g, _out: g[0] * x[0] * np.nan}
    assert compared(hidden, formulas=nowhere).verdict is Verdict.INCONCLUSIVE
    assert compared(hidden, claims=nowhere).verdict is Verdict.MISMATCH


def test_rounding_in_a_formula_is_no_fault_and_no_proof(tf: Any) -> None:
    hidden = swallowed(tf.square, 1e17)
    big = 2.0**40
    cancelling: Mapping[str, Formula] = {
        "x": lambda x, g, _out: 3 * g[0] * ((2 * x[0] / 3 + big * x[0]) - big * x[0])
    }
    assert compared(hidden, claims=cancelling).verdict is Verdict.INCONCLUSIVE
    assert compared(tf.square, claims=cancelling).verdict is Verdict.PASS


def test_the_tape_is_wrong(tf: Any) -> None:
    comparison = compared(planted(tf.square, lambda gs: [-gs[0]]), formulas=RIGHT)
    assert comparison.verdict is Verdict.MISMATCH
    assert comparison.diagnosis is not None
    assert comparison.worst[0].formula == pytest.approx(comparison.worst[0].numeric)


def test_an_error_that_the_numeric_derivative_cannot_see(tf: Any) -> None:
    function = planted(lambda x: tf.square(x) + 1e9, lambda gs: [gs[0] * (1 + 1e-9)])
    assert compared(function).verdict is Verdict.PASS
    assert compared(function, claims=RIGHT).verdict in (Verdict.PASS, Verdict.MISMATCH)


def test_it_decides_where_the_numeric_derivative_cannot(tf: Any) -> None:
    hidden = swallowed(tf.square, 1e17)
    assert compared(hidden).verdict is Verdict.INCONCLUSIVE
    assert compared(hidden, claims=RIGHT).verdict is Verdict.PASS
    assert compared(hidden, claims=WRONG).verdict is Verdict.MISMATCH


def test_at_a_kink_a_declared_formula_may_choose(tf: Any) -> None:
    at_zero = Operand("x", np.array([0.0, 1.0]))

    def choose(slope: float) -> Mapping[str, Formula]:
        return {"x": lambda inputs, g, _out: g[0] * np.where(inputs[0] > 0, 1.0, slope)}

    problem = Problem(function=tf.nn.relu, operands=(at_zero,), formulas=choose(0.5))
    assert check_problem(problem, "relu").verdict is Verdict.KINK
    claimed = Problem(function=tf.nn.relu, operands=(at_zero,), claims=choose(0.5))
    assert check_problem(claimed, "relu").verdict is Verdict.MISMATCH


@pytest.mark.parametrize(
    ("value", "verdict", "words"),
    [
        (np.ones(2), Verdict.MISMATCH, "shape [2]"),
        (np.array(["a", "b", "c"]), Verdict.ERROR, "not a number"),
    ],
)
def test_what_is_no_gradient(tf: Any, value: Any, verdict: Verdict, words: str) -> None:
    comparison = compared(tf.square, claims={"x": lambda *_: value})
    assert comparison.verdict is verdict
    assert words in comparison.note


def test_what_cannot_be_evaluated(tf: Any) -> None:
    comparison = compared(tf.square, claims={"x": lambda *_: 1 / 0})
    assert comparison.verdict is Verdict.ERROR
    assert "cannot be evaluated: ZeroDivisionError" in comparison.note
