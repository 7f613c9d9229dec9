"""The first look: enough for an ordinary gradient, and never for a wrong one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradcheck
from gradcheck.checker.judge.first_look import Look, look_at
from gradcheck.checker.reference.plan import along_coordinates, make_plan
from gradcheck.checker.reference.point import evaluate_at
from gradcheck.checker.subject.operand import Operand
from gradcheck.checker.subject.problem import Problem
from gradcheck.checker.subject.tape import Tape
from gradcheck.model import Tolerance
from tests.checker.planted import planted
from tests.checker.verdicts import verdict

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


def test_a_function_that_rounds_is_looked_at_once(tf: Any) -> None:
    calls, inside = [], "float32"

    def function(x: Any) -> Any:
        calls.append(x)
        return tf.sin(tf.cast(tf.cast(x, inside), x.dtype))

    look(function, rounds_in=frozenset({inside}))
    once = len(calls)
    look(function)
    # Whoever does not know that it rounds asks for more and more steps.
    assert len(calls) - once > once + 3


@pytest.mark.parametrize("seed", [40, 64, 101])
def test_a_switch_nearby_where_something_was_rounded(tf: Any, seed: int) -> None:
    def saturated(x: Any) -> Any:
        weights = tf.cast(tf.constant([0.2989, 0.587, 0.114], tf.float32), x.dtype)
        grey = tf.reduce_sum(x * weights, -1, keepdims=True)
        return tf.clip_by_value(x + 0.6 * (x - grey), 0.0, 1.0)

    # Steps that cross the switch look like noise to whoever measures that.
    x = np.random.default_rng(seed).uniform(0.1, 0.9, (1, 1, 2, 3))
    assert gradcheck.check(saturated, x).verdict == "pass"


def test_what_is_no_ordinary_problem_gets_none(tf: Any) -> None:
    assert look(tf.tanh, tolerance=Tolerance(rtol=1e-3)) is None
    assert look(planted(tf.tanh, lambda gs: [gs[0][:2]])) is None
    assert look(lambda x: 0 * x) is None, "nothing moves at all"


def regression(tf: Any, factors: Any = 1.0) -> Any:
    """The loss of a softmax regression of 320 weights, which counts its calls.

    Its gradient is multiplied by the factors.
    """
    rng = np.random.default_rng(5)
    images, labels = rng.standard_normal((64, 32)), rng.integers(0, 10, 64)

    def own(weights: Any) -> Any:
        logits = tf.matmul(tf.constant(images), weights)
        return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))

    @tf.custom_gradient  # type: ignore[untyped-decorator]  # no types in TensorFlow
    def loss(weights: Any) -> Any:
        loss.calls += 1

        def grad(upstream: Any) -> Any:
            with tf.GradientTape() as tape:
                tape.watch(weights)
                value = own(weights)
            return upstream * tape.gradient(value, weights) * tf.constant(factors, tf.float64)

        return own(weights), grad

    loss.calls = 0
    return loss


WEIGHTS = np.random.default_rng(6).standard_normal((32, 10)) / 4


def test_a_scalar_loss_takes_few_calls(tf: Any) -> None:
    loss = regression(tf)
    result = gradcheck.check(loss, WEIGHTS)
    assert result.verdict == "pass"
    assert result.decided_by == "first look"
    (weights,) = result.comparisons
    assert weights.directions
    assert weights.judged < weights.elements
    assert loss.calls < 150


@pytest.mark.parametrize("small", [1e-7, 1e-9, 1e-12, 1e-30])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_elements_that_are_tiny_are_seen(tf: Any, small: float, dtype: str) -> None:
    """Weights after pruning: their gradients are as large as those of the others."""
    rng = np.random.default_rng(7)
    weights = rng.uniform(0.5, 1.5, size=120) * rng.choice([-1, 1], size=120)
    weights[::3] = small
    wrong = np.where(np.arange(120) % 3, 1.0, -1.0)

    def loss(x: Any) -> Any:
        return tf.reduce_sum(tf.sin(x) * tf.roll(tf.cos(x), 1, 0))

    given = weights.astype(dtype)
    assert gradcheck.check(loss, given).verdict != "mismatch"
    for factor in (wrong, np.maximum(wrong, 0.0)):
        by = tf.constant(factor)
        spoilt = planted(loss, lambda gs: [gs[0] * tf.cast(by, gs[0].dtype)])  # noqa: B023
        assert gradcheck.check(spoilt, given).verdict != "pass"


def test_a_gradient_that_is_small_is_seen(tf: Any) -> None:
    sizes = np.ones(100)
    sizes[17] = 1e-11

    def loss(x: Any) -> Any:
        return tf.reduce_sum(tf.sin(x) * sizes)

    x = np.random.default_rng(8).uniform(0.3, 1.2, size=100)
    assert gradcheck.check(loss, x).verdict != "mismatch"
    wrong = np.ones(100)
    wrong[17] = -1.0
    assert gradcheck.check(planted(loss, lambda gs: [gs[0] * wrong]), x).verdict != "pass"


@pytest.mark.parametrize("size", [1e-7, 1e-3])
@pytest.mark.parametrize("where", ["largest", "middle", "two", "all"])
def test_its_faults_are_found(tf: Any, where: str, size: float) -> None:
    weights = tf.constant(WEIGHTS)
    with tf.GradientTape() as tape:
        tape.watch(weights)
        loss = regression(tf)(weights)
    gradient = tape.gradient(loss, weights).numpy().ravel()
    order, wrong = np.argsort(np.abs(gradient)), np.zeros(gradient.size)
    if where == "all":
        wrong[:] = size
    elif where == "two":
        # (Of opposite sign and one size: they cancel where both are moved alike.)
        first, second = order[-2], order[-3]
        wrong[first], wrong[second] = size, -size * gradient[first] / gradient[second]
    else:
        wrong[order[-1 if where == "largest" else len(order) // 2]] = size
    spoilt = regression(tf, 1 + wrong.reshape(WEIGHTS.shape))
    assert gradcheck.check(spoilt, WEIGHTS).verdict == "mismatch"


@pytest.mark.parametrize("edge", [1.003, 1.01, 1.02])
def test_what_stands_still_beside_a_switch_is_known(tf: Any, edge: float) -> None:
    """The longer steps cross the switch, and the shorter ones do not."""

    def switched(x: Any) -> Any:
        size = tf.norm(x, axis=1, keepdims=True)
        held = tf.constant([[3.7123, 2.1121]], tf.float64)
        return tf.where(size > edge, tf.sin(x) / size, held)

    x = np.array([[0.127, -0.142], [-0.118, 0.99301], [0.797, -0.598], [-2.07, -0.52]])
    (told,) = gradcheck.check(switched, x).comparisons
    assert told.verdict == "pass"
    assert told.error_bar is not None
    assert told.error_bar < 1e-6


def test_what_stands_still_is_known(tf: Any) -> None:
    x = np.array([-1.0, 0.5, -2.0, 3.0])
    result = gradcheck.check(tf.nn.relu, x)
    assert result.verdict == "pass"
    assert result.decided_by == "first look"

    @tf.custom_gradient  # type: ignore[untyped-decorator]  # no types in TensorFlow
    def total(x: Any) -> Any:
        return tf.reduce_sum(x), lambda upstream: upstream * tf.constant([1.0, 0.0], tf.float64)

    # (It moves by less than the last digit of the sum.)
    assert gradcheck.check(total, np.array([1e20, 1.0])).verdict != "pass"


@pytest.mark.parametrize("factor", [1.0, 1.0 + 1e-6])
def test_few_points_share_a_call_and_more_do_not(tf: Any, factor: float) -> None:
    """The first steps ride along with the probe; what is left in doubt takes too many."""

    def waves(x: Any) -> Any:
        return tf.math.segment_prod(tf.sin(30.0 * x), [0] * 3 + [2] * 12)

    x = np.random.default_rng(0).uniform(0.5, 2.0, (15, 12))
    result = gradcheck.check(planted(waves, lambda gradients: [g * factor for g in gradients]), x)
    assert result.message == ""
    assert result.verdict == ("pass" if factor == 1.0 else "mismatch")


def test_what_rounds_nothing_and_stands_still_is_known_at_first_sight(tf: Any) -> None:
    """Nobody measures the noise of a ReLU that is dead."""
    x = np.array([-0.9, -0.5, -0.1])
    (told,) = gradcheck.check(tf.nn.relu, x).comparisons
    assert (told.verdict, told.decided_by) == ("pass", "first look")

    @tf.custom_gradient  # type: ignore[untyped-decorator]  # no types in TF
    def wrong(x: Any) -> Any:
        return tf.nn.relu(x), lambda upstream: 0.1 * upstream

    assert gradcheck.check(wrong, x).verdict == "mismatch"
    # (What computes is not asked so little: its last digits may hide what moves.)
    (told,) = gradcheck.check(lambda x: tf.nn.relu(x) * 1.5, x).comparisons
    assert (told.verdict, told.decided_by) != ("pass", "first look")


NEAR_A_CORNER = [1e-15, 1e-20, 1e-100, 1e-300]


class TestNearACornerAtZero:
    """A number beside which all others are huge is on its own side of a corner at zero."""

    @pytest.mark.parametrize("name", ["relu", "relu6", "leaky_relu", "elu", "selu"])
    @pytest.mark.parametrize("near", NEAR_A_CORNER)
    def test_the_right_one(self, tf: Any, name: str, near: float) -> None:
        function = getattr(tf.nn, name)
        for x in ([near], [-near], [near, 1.0], [-near, 1.0]):
            assert verdict(function, np.array(x)) in ("pass", "kink")

    @pytest.mark.parametrize("name", ["relu", "relu6", "leaky_relu", "elu", "selu"])
    @pytest.mark.parametrize("near", NEAR_A_CORNER)
    def test_one_outside_of_both_sides(self, tf: Any, name: str, near: float) -> None:
        wrong = planted(getattr(tf.nn, name), lambda gs: [gs[0] + np.array([4.0, 0.0])])
        for x in ([near, 1.0], [-near, 1.0]):
            assert verdict(wrong, np.array(x)) == "mismatch"

    @pytest.mark.parametrize("near", NEAR_A_CORNER)
    def test_a_relu_is_flat_however_near_its_corner_is(self, tf: Any, near: float) -> None:
        assert verdict(tf.nn.relu, np.array([-near, 1.0])) == "pass"
        other = planted(tf.nn.relu, lambda gs: [gs[0] + np.array([0.5, 0.0])])
        assert verdict(other, np.array([-near, 1.0])) == "mismatch"
