"""The user's gradient functions that a wrong gradient comes from, by file and line."""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradcheck
from gradcheck.checker.api import describe
from gradcheck.checker.code_places import with_places
from gradcheck.checker.reference.point import evaluate_at
from gradcheck.checker.subject.explore import explored
from gradcheck.checker.subject.gradient_functions import (
    _run,
    any_registered,
    gradient_functions,
    may_be_any,
)
from gradcheck.checker.subject.operand import Operand
from gradcheck.checker.subject.problem import Problem
from gradcheck.model import Verdict
from tests.checker.planted import planted

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradcheck.model import Result

X = np.linspace(-2, 2, 5)


@pytest.fixture(scope="module")
def own(tf: Any) -> Any:
    del tf
    from tests.checker import own_gradients

    return own_gradients


def line_of(text: str) -> int:
    """Where this begins in the file with the gradient functions."""
    lines = (Path(__file__).parent / "own_gradients.py").read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if line.strip().startswith(text))


def must_point_at(result: Result, *names: str) -> None:
    """The result names these functions and no others, each at the line where it begins."""
    assert [place.function for place in result.places] == list(names), describe(result)
    for place in result.places:
        assert Path(place.path).name == "own_gradients.py"
        *_, name = place.function.split(".")
        assert place.line == line_of("@tf.RegisterGr" if name == "registered" else f"def {name}(")
        assert f"in your code: {place}" in describe(result) or len(names) > 1


CASES: dict[str, tuple[Callable[[Any, Any], Any], str]] = {
    "a function": (lambda own, x: own.swish(x), "swish.wrong"),
    "inside an expression": (lambda own, x: own.swish(x * x) - x, "swish.wrong"),
    "a method, in a layer, in a layer": (
        lambda own, x: own.Block()(x),
        "Activation.activate.backwards",
    ),
    "a tf.function that was traced before": (lambda own, x: own.traced(x), "swish.wrong"),
    "a partial": (lambda own, x: own.tripled(x), "_for_partial"),
}


@pytest.mark.parametrize("name", CASES)
def test_the_line_of_a_wrong_gradient_function(own: Any, name: str) -> None:
    function, wanted = CASES[name]
    own.traced(X)
    must_point_at(gradcheck.check(lambda x: function(own, x), X), wanted)


@pytest.mark.parametrize("mode", ["eager", "graph", "xla"])
def test_in_every_mode(own: Any, mode: str) -> None:
    must_point_at(gradcheck.check(own.swish, X, mode=mode), "swish.wrong")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_one_of_two_that_is_wrong(own: Any, dtype: str) -> None:
    result = gradcheck.check(lambda x: own.doubled(own.swish(own.doubled(x))), X.astype(dtype))
    must_point_at(result, "swish.wrong")


def test_two_that_are_wrong(own: Any) -> None:
    result = gradcheck.check(lambda x: own.swish(own.tripled(x)), X)
    must_point_at(result, "swish.wrong", "_for_partial")


def test_only_those_that_the_gradient_goes_through(own: Any) -> None:
    result = gradcheck.check(lambda x, y: own.swish(x) + own.tripled(y), X, X)
    functions = [[place.function for place in c.places] for c in result.comparisons]
    assert functions == [["swish.wrong"], ["_for_partial"]]


def test_an_input_that_is_right_points_nowhere(own: Any) -> None:
    result = gradcheck.check(own.product, X + 3, X - 3)
    assert [bool(c.places) for c in result.comparisons] == [False, True]


def test_a_place_takes_few_calls(tf: Any) -> None:
    calls = 0

    @tf.custom_gradient  # type: ignore[untyped-decorator]  # no types in TF
    def waves(x: Any) -> Any:
        nonlocal calls
        calls += 1
        return tf.sin(x), lambda upstream: upstream * tf.cos(x) * (1 + 0.01 * tf.sin(3 * x))

    result = gradcheck.check(waves, X)
    assert result.verdict == Verdict.MISMATCH
    assert [len(c.places) for c in result.comparisons] == [1]
    with explored(Problem(waves, (Operand("x", X),))) as problem:
        point, calls = evaluate_at(problem), 0
        with_places(replace(result.comparisons[0], name="x"), point)
    assert calls < 45


def test_a_registered_gradient(tf: Any, own: Any) -> None:
    result = gradcheck.check(lambda x: tf.sin(tf.raw_ops.Snapshot(input=x)), X)
    must_point_at(result, "registered")
    both = gradcheck.check(lambda x: own.swish(tf.raw_ops.Snapshot(input=x)), X)
    must_point_at(both, "swish.wrong")


def test_none_and_what_is_not_finite(own: Any) -> None:
    cut = gradcheck.check(own.cut, X)
    assert cut.verdict == Verdict.DISCONNECTED
    must_point_at(cut, "cut.nothing")
    root = gradcheck.check(own.root, X + 3)
    assert root.verdict == Verdict.NONFINITE
    must_point_at(root, "root.infinite")


def test_a_gradient_whose_own_gradient_is_wrong(own: Any) -> None:
    function = lambda x: own.cubed(own.doubled(x))  # noqa: E731
    assert gradcheck.check(function, X).verdict == Verdict.PASS
    result = gradcheck.check(function, X, checks="second")
    assert not result.verdict.acceptable
    must_point_at(result, "cubed.once")


def test_nothing_of_a_library(tf: Any, own: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    # A right gradient of the user's own beside a wrong one that is none of theirs.
    library = planted(tf.tanh, lambda g: [2 * g[0]])
    place = gradcheck.check(library, X).places
    assert [p.function for p in place] == ["planted.function.gradient"]
    target = "gradcheck.checker.subject.gradient_functions.is_own_code"
    monkeypatch.setattr(target, lambda file: file.endswith("own_gradients.py"))
    result = gradcheck.check(lambda x: own.doubled(library(x)), X)
    assert result.verdict == Verdict.MISMATCH
    assert result.places == ()


def test_a_function_without_gradients_of_its_own_points_nowhere(tf: Any) -> None:
    result = gradcheck.check(lambda x: tf.stop_gradient(x) * x, X)
    assert (result.verdict, result.places) == (Verdict.MISMATCH, ())


def test_a_right_gradient_is_not_watched(own: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gradcheck.checker.code_places.gradient_functions", None)
    assert gradcheck.check(own.doubled, X).verdict == Verdict.PASS


def test_a_profiler_is_left_alone(own: Any) -> None:
    def profiler(*_: Any) -> None: ...

    sys.setprofile(profiler)
    try:
        result = gradcheck.check(own.swish, X)
        assert sys.getprofile() is profiler
    finally:
        sys.setprofile(None)
    assert result.places == ()


def test_where_nothing_of_the_users_runs_inputs_share_a_pass(
    tf: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gradcheck.checker.code_places.gradient_functions", None)
    result = gradcheck.check(lambda x, y: tf.stop_gradient(x * y) * x * y, X + 3, X - 3)
    assert [c.verdict for c in result.comparisons] == [Verdict.MISMATCH] * 2, describe(result)
    assert result.places == ()


def test_in_a_function_of_tensorflow_nobody_looks(tf: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("gradient_functions", "may_be_any"):
        monkeypatch.setattr(f"gradcheck.checker.code_places.{name}", None)
    # (Their gradient is that of the bisection that finds them.)
    values = np.array([1.0, 2.5]), np.array([0.3])
    result = gradcheck.check(tf.linalg.eigh_tridiagonal, *values)
    assert [c.verdict for c in result.comparisons] == [Verdict.MISMATCH] * 2, describe(result)
    assert result.places == ()


@pytest.mark.usefixtures("own")
def test_unless_the_user_has_registered_a_gradient_for_one_of_its_ops() -> None:
    assert any_registered({"Sin", "Snapshot"})
    assert not any_registered({"Sin", "MatMul", "?"})


def test_of_several_wrong_inputs_one_may_go_through_a_function(tf: Any, own: Any) -> None:
    result = gradcheck.check(lambda x, y: tf.stop_gradient(x) * x + own.swish(y), X + 3, X - 3)
    assert [c.verdict for c in result.comparisons] == [Verdict.MISMATCH] * 2, describe(result)
    functions = [[place.function for place in c.places] for c in result.comparisons]
    assert functions == [[], ["swish.wrong"]]


def test_what_raises_for_one_input_hides_nothing_of_another(tf: Any, own: Any) -> None:
    image = np.full((1, 1, 3), 0.5, np.float32)
    operands = [Operand(name, image) for name in "xy"]
    # (It has no gradient.)
    hue = partial(tf.raw_ops.AdjustHue, delta=0.1)
    orders: tuple[Callable[[Any, Any], Any], ...] = (
        lambda x, y: own.swish(y) + hue(images=x),
        lambda x, y: hue(images=x) + own.swish(y),
    )
    for function in orders:
        assert may_be_any(function, operands, [image], "xy")
        assert gradient_functions(function, operands, [image], "y")
    # (Else this could not fail.)
    assert not all(gradient_functions(f, operands, [image], "x") for f in orders)
    seen = [_run(function, operands, [image], "xy") for function in orders]
    assert any(each.has_raised and not each.found for each in seen)
