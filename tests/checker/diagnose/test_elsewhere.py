"""Suspects have to hold at other points too."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pytest

import gradcheck
from gradcheck.checker.diagnose.elsewhere import Elsewhere, OtherPoints
from gradcheck.checker.diagnose.view import View
from gradcheck.checker.reference.point import evaluate_at
from gradcheck.checker.subject.evaluator import Evaluator
from gradcheck.checker.subject.operand import Operand
from gradcheck.checker.subject.problem import Problem
from gradcheck.checker.verdict import GATHERING, gradients
from tests.checker.planted import planted, with_gradient

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradcheck.model import Array

Wrong = tuple[Any, "Callable[..., Any]"]


def swish(tf: Any) -> Wrong:
    def gradient(u: Any, x: Any) -> Any:
        s = tf.sigmoid(x)
        return u * (s + x * s)

    return lambda x: x * tf.sigmoid(x), gradient


ACCIDENTS: dict[str, tuple[Callable[[Any], Wrong], Array, set[str]]] = {
    "zero hides the missing term, and is the one place that is right": (
        swish, np.linspace(-2, 2, 5), {"slice", "element", "border"},
    ),
    "one number has any factor": (
        lambda tf: (tf.sin, lambda u, x: u * x), np.array([0.7]), {"factor", "offset", "sign"},
    ),
    "equal numbers have one factor, which is their number": (
        lambda _tf: (lambda x: x**3, lambda u, x: u * x), np.ones(3), {"factor"},
    ),
    "whole numbers": (
        lambda _tf: (lambda x: x**4, lambda u, x: u * x**4), np.array([2.0, 2.0]),
        {"factor", "chain"},
    ),
    "two numbers of one size are off by the same": (
        lambda tf: (tf.cosh, lambda u, x: u * x / u), np.array([-1.5, 1.5]),
        {"factor", "offset", "sign", "chain"},
    ),
    "at zero all is a factor": (
        lambda tf: (tf.exp, lambda u, x: 3 * u * (1 + x) ** 2), np.zeros(4), {"factor"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ACCIDENTS)
def test_an_accident_of_the_point_is_no_cause(tf: Any, name: str) -> None:
    make, x, wrong = ACCIDENTS[name]
    result = gradcheck.check(with_gradient(*make(tf)), x)
    assert result.verdict == "mismatch"
    assert result.diagnosis is None or result.diagnosis.cause not in wrong, result.diagnosis


def test_what_is_only_wrong_here_is_said_to_be(tf: Any) -> None:
    function = with_gradient(tf.tanh, lambda u, x: tf.where(x == 0, 5 * u, u / tf.cosh(x) ** 2))
    diagnosis = gradcheck.check(function, np.linspace(-2, 2, 5)).diagnosis
    assert diagnosis is not None
    assert diagnosis.cause == "point"
    assert "at other points the gradient of input0 is right" in diagnosis.text


def test_where_no_other_point_is_to_be_had_the_point_must_show_enough(
    tf: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(OtherPoints, "drawn", lambda *_: None)
    tripled = planted(tf.sin, lambda g: [3 * g[0]])
    assert gradcheck.check(tripled, np.array([0.5, 0.7])).diagnosis is None
    found = gradcheck.check(tripled, np.linspace(0.5, 3, 8)).diagnosis
    assert found is not None
    assert found.cause == "factor"


def test_no_more_points_are_drawn_than_it_takes(tf: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn, asked = OtherPoints.drawn, set()

    def noted(points: OtherPoints, number: int, mirrored: str = "") -> Any:
        asked.add(number)
        return drawn(points, number, mirrored)

    monkeypatch.setattr(OtherPoints, "drawn", noted)
    # What is wrong has no cause that could be named, and each output moves with many elements.
    mixed = with_gradient(
        lambda x: tf.square(tf.cumsum(x)), lambda u, x: u * tf.sin(7 * tf.cumsum(x)) + x
    )
    result = gradcheck.check(mixed, np.array([0.3, 1.1]))
    assert result.verdict == "mismatch"
    assert asked == {0}


def elsewhere(function: Any, *operands: Operand) -> Elsewhere:
    """Other points for the first operand."""
    problem = Problem(function=function, operands=operands, takes_other_shapes=True)
    evidence = gradients(evaluate_at(problem), None, None)
    for stage in GATHERING:
        evidence = stage(evidence)
    gradient = np.asarray(evidence.passed.gradients[0])
    here = View(operands[0].name, gradient, gradient, np.zeros(gradient.shape), evidence)
    return Elsewhere(here, OtherPoints(evidence))


def test_other_points_are_others_and_of_the_same_shapes(tf: Any) -> None:
    x, y = np.array([[0.0, 1.0, 1.0], [-1.0, 2.0, 0.0]]), np.ones(3)
    views = list(elsewhere(tf.multiply, Operand("x", x), Operand("y", y)).views())
    assert len(views) == 2
    for view in views:
        assert view.value.shape == x.shape
        assert (view.value != x).all()
        assert len(np.unique(view.value)) == x.size
        assert len(np.unique(view.others["y"])) == y.size
        np.testing.assert_allclose(view.numeric, view.analytic, atol=1e-9)
    one, other = (view.evidence.point.upstream[0] for view in views)
    assert (one != other).any()


def test_of_few_elements_there_are_more(tf: Any) -> None:
    assert len(list(elsewhere(tf.sin, Operand("x", np.array([1.0]))).views())) == 5


def test_a_domain_is_not_left_and_where_a_function_has_no_value_points_are_nearer(tf: Any) -> None:
    known = Operand("x", np.array([0.1, 0.9, 0.5, -0.95]), low=-1.0, high=1.0)
    unknown = Operand("x", np.array([0.1, 0.9, 0.5, -0.99]))
    for operand in (known, unknown):
        views = list(elsewhere(tf.acos, operand).views())
        assert len(views) == 2
        assert all((np.abs(view.value) < 1).all() for view in views)


@pytest.mark.parametrize("structure", ["symmetric", "lower"])
def test_matrices_stay_of_their_kind(tf: Any, structure: str) -> None:
    matrix = np.eye(3) * 4 + 1
    operand = Operand("x", matrix if structure == "symmetric" else np.tril(matrix))
    operand = Operand("x", operand.value, structure=structure)
    function = tf.linalg.cholesky if structure == "symmetric" else tf.linalg.matmul
    given = [operand] if structure == "symmetric" else [operand, Operand("y", matrix)]
    for view in elsewhere(function, *given).views():
        value = view.value
        np.testing.assert_array_equal(
            value, value.T if structure == "symmetric" else np.tril(value)
        )


def test_a_longer_axis(tf: Any) -> None:
    x, y = np.arange(6.0).reshape(2, 3), np.arange(3.0)
    found = elsewhere(tf.multiply, Operand("x", x), Operand("y", y))
    longer = found.resized([("x", 1), ("y", 0)])
    assert longer is not None
    assert longer.shape == (2, 4)
    assert longer.others["y"].shape == (4,)
    fixed = elsewhere(lambda x: x * tf.constant(y), Operand("x", x))
    assert fixed.resized([("x", 1)]) is None


def test_integers_and_what_is_not_differentiated_stay(tf: Any) -> None:
    x, index = np.arange(4.0), np.array([0, 2])
    found = elsewhere(tf.gather, Operand("x", x), Operand("i", index, differentiate=False))
    for view in found.views():
        np.testing.assert_array_equal(cast("Any", view.evidence.point.values[1]), index)


def test_no_longer_axis_for_what_takes_no_other_shapes(tf: Any) -> None:
    found = elsewhere(tf.square, Operand("x", np.arange(3.0)))
    assert found.resized([("x", 0)]) is not None
    point = found.here.evidence.point
    strict = replace(point, problem=replace(point.problem, takes_other_shapes=False))
    other = OtherPoints(replace(found.here.evidence, point=strict))
    assert other.resized([("x", 0)]) is None


def test_suspects_share_what_they_evaluate(tf: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    doubled = planted(tf.sin, lambda gradients: [2 * gradients[0]])
    function, evaluate, rows = (
        elsewhere(doubled, Operand("x", np.linspace(-2, 2, 5))),
        Evaluator.__call__,
        0,
    )

    def counted(self: Evaluator, points: Array) -> Array:
        nonlocal rows
        rows += len(points)
        return evaluate(self, points)

    monkeypatch.setattr(Evaluator, "__call__", counted)
    for evidence in (function._points.here, next(function.views()).evidence):
        derivatives, before = evidence.derivatives, rows
        assert derivatives is not None
        first = derivatives.with_weights(evidence.point.weights)
        assert evidence is not function._points.here or rows > before
        before = rows
        other = derivatives.with_weights(-evidence.point.weights)
        np.testing.assert_array_equal(other.numeric, -first.numeric)
        assert rows == before
