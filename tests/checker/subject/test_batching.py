"""Many points in one call: where that is the same, and where it is not."""

from __future__ import annotations

import operator
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradcheck
from gradcheck.checker.subject.batching import Calls
from gradcheck.checker.subject.evaluator import Evaluator
from gradcheck.checker.subject.operand import Operand
from gradcheck.checker.subject.problem import Problem
from tests.checker.planted import planted
from tests.checker.subject.called import LEADING, Counted, draw, evaluator, functions, rows
from tests.checker.verdicts import verdict

if TYPE_CHECKING:
    from collections.abc import Callable


class TestBatching:
    """Functions that give something else when they are called with a batch."""

    @pytest.mark.parametrize(
        "function",
        [
            lambda tf, x: x / tf.cast(tf.shape(x)[0], tf.float64),
            lambda tf, x: x - tf.reduce_mean(x),
            lambda tf, x: tf.nn.softmax(x, axis=0),
            lambda _tf, x: x * x if x.shape.rank == 2 else x * 3,
            lambda tf, x: tf.transpose(x) * tf.reduce_sum(x),
            lambda tf, x: tf.reshape(x, [-1]) ** 2,
        ],
    )
    def test_they_pass_all_the_same(self, tf: Any, function: Callable[..., Any]) -> None:
        assert verdict(lambda x: function(tf, x), draw(3, 2)) == "pass"


def test_at_zero_no_batch_is_taken_for_one(tf: Any) -> None:
    # At zero the mean over all points is that of one of them.
    def centred(x: Any) -> Any:
        return x - tf.reduce_mean(x, 0)

    assert verdict(centred, np.zeros((3, 4))) == "pass"
    wrong = planted(centred, lambda gs: [gs[0] + 1.0])
    assert verdict(wrong, np.zeros((3, 4))) == "mismatch"
    shifted = tf.Variable(tf.zeros([300], tf.float64), name="b")

    def flat(x: Any) -> Any:
        return tf.reshape(tf.sin(x) + shifted, [300])

    assert verdict(flat, draw(300)) == "pass"


@pytest.mark.parametrize("name", LEADING)
def test_batched_where_it_can_be(tf: Any, name: str) -> None:
    function, values = functions(tf)[name]
    counted = Counted(function)
    found = evaluator(counted, *values)
    points = rows(found, 200)
    found(points)
    before = counted.calls
    found(points)
    assert counted.calls == before + 1


@pytest.mark.parametrize("name", ["a cube", "sin", "det"])
def test_what_looks_at_no_values_takes_no_call_of_its_own(
    tf: Any, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    function = {"a cube": lambda x: 2 * x * x * x, "sin": tf.sin, "det": tf.linalg.det}[name]
    own: list[Any] = []
    monkeypatch.setattr(Calls, "once", lambda _calls, values: own.append(values))
    assert verdict(function, draw(3, 3)) == "pass"
    assert not own


def test_what_may_look_at_values_has_a_call_of_its_own(tf: Any) -> None:
    def first(x: Any) -> Any:
        return x.numpy().flat[0]

    # The tape takes the factor for a constant; so do many points that share the first one's.
    assert verdict(lambda x: x * x.numpy().flat[0], np.array(1.5)) == "mismatch"
    assert verdict(lambda x: x * first(x), np.array(1.5)) == "mismatch"
    assert verdict(partial(operator.mul, tf.constant(2.0, tf.float64)), np.array(1.5)) == "pass"


@pytest.mark.parametrize(("is_of_a_library", "calls"), [(True, 2), (False, 4)])
def test_a_function_of_a_library_is_not_called_again(
    tf: Any, is_of_a_library: bool, calls: int
) -> None:
    # (It looks at a value, so that its points share no call: that takes a call to find out.)
    counted = Counted(lambda x: x * 2.0 if float(x[0]) > -9 else x)
    operands = (Operand("x", draw(3)),)
    problem = Problem(counted, operands, repeats=True, is_of_a_library=is_of_a_library)
    Evaluator(problem, [draw(3)]).probe()
    assert counted.calls == calls


def test_operands_that_stay_are_stacked_too(tf: Any) -> None:
    # Labels must have the leading axis of the logits: else every point is a call of its own.
    labels = np.eye(4)[[0, 1, 2, 3, 1, 2]]
    counted = Counted(tf.nn.softmax_cross_entropy_with_logits)
    assert str(gradcheck.check(counted, labels, draw(6, 4), wrt=[1]).verdict) == "pass"
    assert counted.calls < 10


def test_what_cannot_be_traced_leaves_nothing_behind(tf: Any) -> None:
    from tensorflow.python.ops import variable_scope

    def loss(x: Any) -> Any:
        return tf.reduce_sum(x * x) * float(tf.reduce_sum(tf.sin(x)))

    x = np.linspace(0.1, 1.0, 40)
    calls = Calls(Problem(loss, (Operand("x", x),)), [x])
    with pytest.raises(Exception, match="float"):
        calls.looped()
    assert variable_scope.get_variable_scope().caching_device is None


@pytest.mark.parametrize(("axis", "stacks"), [(0, False), ([0], False), (-1, True), ([-1], True)])
def test_what_counts_axes_from_the_front_gets_no_leading_one(
    tf: Any, axis: Any, stacks: bool
) -> None:
    shapes = set()

    def function(x: Any) -> Any:
        shapes.add(tuple(x.shape))
        return tf.reduce_sum(tf.sin(x), axis)

    assert str(gradcheck.check(function, draw(3, 4)).verdict) == "pass"
    assert any(len(shape) == 3 for shape in shapes) is stacks


def test_a_determinant_gets_a_leading_axis(tf: Any) -> None:
    ranks = []

    def function(x: Any) -> Any:
        ranks.append(x.shape.rank)
        return tf.linalg.det(x)

    assert str(gradcheck.check(function, draw(3, 3)).verdict) == "pass"
    # Watched, together, and alone at another point: what is carried takes one more.
    assert ranks == [2, 3, 2]


def test_what_reduces_in_a_graph_gets_no_leading_axis(tf: Any) -> None:
    shapes = set()
    inside = tf.function(lambda x: tf.reduce_sum(tf.sin(x), -1))

    def function(x: Any) -> Any:
        shapes.add(tuple(x.shape))
        return inside(x)

    assert str(gradcheck.check(function, draw(3, 4)).verdict) == "pass"
    assert shapes == {(3, 4)}


def test_what_is_large_is_stacked_before_it_is_carried(tf: Any) -> None:
    # (What is carried would be moved point by point then.)
    shapes = set()

    def function(x: Any) -> Any:
        shapes.add(tuple(x.shape))
        return tf.concat([x, tf.sin(x)], -1)

    assert str(gradcheck.check(function, draw(30, 200)).verdict) == "pass"
    assert any(len(shape) == 3 for shape in shapes)
