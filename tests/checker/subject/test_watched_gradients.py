"""Which registered gradient functions are called on the way back: seen, not guessed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from gradcheck.checker import check_case
from gradcheck.checker.check import check_problem
from gradcheck.checker.subject import watched_gradients
from gradcheck.checker.subject.operand import Operand
from gradcheck.checker.subject.private_names import Absent, Private, private
from gradcheck.checker.subject.problem import Problem
from gradcheck.checker.subject.watched_gradients import watching
from gradcheck.model import CheckKind, Mode, Verdict
from tests.checker.cases import ROOT, case, shape

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradcheck.model import GradientCall, Result

X = np.array([[0.3, -1.2, 0.7], [1.1, 0.4, -0.6]])


def checked(
    function: Callable[..., Any],
    *values: Any,
    mode: Mode = Mode.EAGER,
    checks: tuple[CheckKind, ...] = (CheckKind.REVERSE,),
) -> tuple[Result, set[GradientCall]]:
    """A check of the function, and what was called on its ways back."""
    operands = tuple(Operand(name=f"x{i}", value=np.asarray(v)) for i, v in enumerate(values))
    called: set[GradientCall] = set()
    problem = Problem(function=function, operands=operands, mode=mode, checks=checks, called=called)
    with watching():
        return check_problem(problem, "f"), called


def ops(function: Callable[..., Any], *values: Any, **how: Any) -> set[str]:
    result, called = checked(function, *values, **how)
    assert result.verdict in (Verdict.PASS, Verdict.KINK), result
    return {call.op for call in called}


@pytest.mark.parametrize("mode", Mode)
def test_what_is_called_is_seen_in_every_mode(tf: Any, mode: Mode) -> None:
    assert ops(lambda x: tf.matmul(x, tf.sin(x), transpose_b=True), X, mode=mode) == {
        "MatMul",
        "Sin",
    }


def test_attributes_and_dtypes_are_told(tf: Any) -> None:
    _, called = checked(lambda x: tf.matmul(x, x, transpose_b=True), X.astype(np.float32))
    # (The formula is judged in float64, the arithmetic in float32.)
    assert {call.dtypes for call in called} == {("float32",), ("float64",)}
    assert all("transpose_a=False transpose_b=True" in call.attributes for call in called)


def test_what_the_output_does_not_depend_on_is_not_called(tf: Any) -> None:
    result, called = checked(lambda x: tf.sin(tf.stop_gradient(x)), X)
    assert (result.verdict, called) == (Verdict.DISCONNECTED, set())


@pytest.mark.parametrize("mode", [Mode.EAGER, Mode.GRAPH])
@pytest.mark.parametrize("traced", [False, True])
def test_a_gradient_that_leads_nowhere_does_not_count(tf: Any, mode: Mode, traced: bool) -> None:
    """TensorFlow goes back through the cosines, and finds that ones have no gradient."""

    def function(x: Any) -> Any:
        return tf.exp(x) + tf.cosh(tf.cos(tf.ones_like(x)))

    under_test = tf.function(function) if traced else function
    assert ops(under_test, X, mode=mode) - {"Identity"} == {"Exp", "AddV2"}


def test_a_gradient_function_that_says_none_is_called(tf: Any) -> None:
    """Its answer is what is judged; that of the sine before it is not."""
    _, called = checked(lambda x: tf.sin(tf.floor(x)), X)
    assert {call.op for call in called} == {"Floor"}


def test_one_of_two_ways_is_enough(tf: Any) -> None:
    assert ops(lambda x: tf.sin(x + tf.ones_like(x)), X) == {"Sin", "AddV2"}


@pytest.mark.parametrize("mode", [Mode.EAGER, Mode.GRAPH])
def test_a_custom_gradient_goes_around_the_registered_one(tf: Any, mode: Mode) -> None:
    @tf.custom_gradient  # type: ignore[untyped-decorator]  # no types in TF
    def own_sine(x: Any) -> Any:
        return tf.sin(x), lambda upstream: upstream * tf.cos(x)

    assert ops(lambda x: own_sine(x) * 2.0, X, mode=mode) == {"Mul"}
    # (So it is in a traced function, too.)
    assert ops(tf.function(lambda x: own_sine(x) * 2.0), X, mode=mode) == {"Mul", "Identity"}


@pytest.mark.parametrize("mode", [Mode.EAGER, Mode.GRAPH])
def test_what_was_traced_before_counts_where_it_runs(tf: Any, mode: Mode) -> None:
    inner = tf.function(tf.tanh)
    outer = tf.function(lambda x: inner(x) ** 2)

    with tf.GradientTape() as tape, watching():
        given = tf.constant(X)
        tape.watch(given)
        outer(given)
    first = ops(outer, X, mode=mode)
    # Nothing is traced any more, and the same functions run.
    assert first == ops(outer, X, mode=mode) == {"Tanh", "Pow", "Identity"}


def test_what_is_traced_and_does_not_run_does_not_count(tf: Any) -> None:
    other = tf.function(tf.cosh)
    with watching(), tf.GradientTape() as tape:
        given = tf.constant(X)
        tape.watch(given)
        other(given)
    # (Called on the way forward, for the sake of its value: nobody goes back through it.)
    assert ops(lambda x: tf.sin(x) + other(tf.constant(X)), X) == {"Sin", "AddV2"}


def test_the_gradient_of_a_loop(tf: Any) -> None:
    def loop(x: Any) -> Any:
        return tf.while_loop(
            lambda i, _: i < 3, lambda i, y: (i + 1, tf.sin(y)), (0, x), maximum_iterations=3
        )[1]

    assert ops(loop, X) == {"Sin"}  # Python's own
    assert {"StatelessWhile", "Sin"} <= ops(loop, X, mode=Mode.GRAPH)


@pytest.mark.parametrize("traced", [False, True])
def test_the_gradient_of_a_branch_does_not_count(tf: Any, traced: bool) -> None:
    """In a graph both are made, and one of them runs."""

    def function(x: Any) -> Any:
        return tf.cond(tf.reduce_sum(x) > 100, lambda: tf.sin(x), lambda: tf.cos(x)) * 2.0

    under_test = tf.function(function) if traced else function
    called = ops(under_test, X, mode=Mode.GRAPH)
    assert {"Mul", "StatelessIf"} <= called
    assert not called & {"Sin", "Cos"}
    assert ops(function, X) == {"Cos", "Mul"}


def test_a_gradient_has_its_own_ways_back(tf: Any) -> None:
    _, called = checked(tf.exp, X, checks=(CheckKind.REVERSE, CheckKind.SECOND))
    assert {call.op for call in called if call.check is CheckKind.REVERSE} == {"Exp"}
    assert {"Mul", "Exp"} <= {call.op for call in called if call.check is CheckKind.SECOND}


def test_forward_mode_is_no_way_back(tf: Any) -> None:
    assert ops(tf.exp, X, checks=(CheckKind.FORWARD,)) == set()


def test_a_gradient_that_is_looked_for_by_others_does_not_count(tf: Any) -> None:
    """What finds the wrong one of several gradient functions checks each of them by itself."""

    @tf.custom_gradient  # type: ignore[untyped-decorator]  # no types in TF
    def wrong(x: Any) -> Any:
        return tf.sin(x), lambda upstream: upstream * tf.cos(x) * 1.01

    result, called = checked(lambda x: wrong(x) * 2.0, X)
    assert result.verdict is Verdict.MISMATCH
    assert {call.op for call in called} == {"Mul"}


def test_only_who_asks_is_told(tf: Any) -> None:
    asked = case("op", "tanh", shape("x", 3))
    assert check_case(asked, root=str(ROOT)).called is None
    before = private(Private.REGISTRY)
    told = check_case(asked, root=str(ROOT), called=True).called
    assert told is not None
    assert {call.op for call in told} == {"Tanh"}
    assert private(Private.REGISTRY) is before


def test_an_error_leaves_the_registry_as_it_was(tf: Any) -> None:
    before = private(Private.REGISTRY), private(Private.GRAPH_REGISTRY)
    with pytest.raises(ValueError, match="stop"), watching():
        raise ValueError("stop")
    assert (private(Private.REGISTRY), private(Private.GRAPH_REGISTRY)) == before


def test_without_the_registry_nothing_is_told(tf: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def without(wanted: Private) -> Any:
        if wanted is Private.REGISTRY:
            raise Absent(wanted.value)
        return private(wanted)

    monkeypatch.setattr(watched_gradients, "private", without)
    result, called = checked(tf.tanh, X)
    assert (result.verdict, called) == (Verdict.PASS, set())
