"""What is carried along with a call, and what is not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradcheck
from gradcheck.checker.subject.carry.cargo import CannotCarry
from gradcheck.checker.subject.carry.carried_op import RULES
from gradcheck.checker.subject.carry.carrying import carried
from tests.checker.planted import planted
from tests.checker.subject.called import CARRIED, Counted, draw, evaluator, functions, rows
from tests.checker.verdicts import verdict

X = np.array([0.5, -1.0, 2.0])
POINTS = X + np.linspace(-0.1, 0.1, 7)[:, np.newaxis]


def at_points(tf: Any, function: Any, x: Any = None) -> Any:
    given = tf.constant(X) if x is None else x
    (outputs,), cargo = carried(lambda: [function(given)], [(given, POINTS)], len(POINTS))
    return outputs, cargo


@pytest.mark.parametrize("name", CARRIED)
def test_carried_where_no_batch_is_taken(tf: Any, name: str) -> None:
    function, values = functions(tf)[name]
    counted = Counted(function)
    found = evaluator(counted, *values)
    points = rows(found, 50)
    found(points)
    before = counted.calls
    found(points)
    assert counted.calls == before + 1


def test_an_op_without_a_rule_is_run_for_each_point(tf: Any) -> None:
    def function(x: Any) -> Any:
        return tf.raw_ops.Bitcast(input=tf.bitcast(x, tf.int64), type=tf.float64) * 2

    outputs, cargo = at_points(tf, function)
    assert np.array_equal(outputs, 2 * POINTS)
    assert (cargo.batched, cargo.looped) == (1, 2)


def test_what_does_not_depend_on_them_is_the_same(tf: Any) -> None:
    outputs, cargo = at_points(tf, lambda x: tf.sin(tf.ones([2], x.dtype)))
    assert np.array_equal(outputs, np.full((7, 2), np.sin(1.0)))
    assert (cargo.batched, cargo.looped) == (0, 0)


def test_a_variable(tf: Any) -> None:
    outputs, _ = at_points(tf, lambda v: tf.reduce_sum(v * v), tf.Variable(X))
    assert np.allclose(outputs, (POINTS**2).sum(axis=1))


@pytest.mark.parametrize(
    "function",
    [
        lambda tf, x: x * 2 if tf.reduce_sum(x) > 0 else x,
        lambda tf, x: x * float(tf.reduce_sum(x)),
        lambda tf, x: x * tf.reduce_sum(x).numpy(),
        lambda _tf, x: x * int(x[2]),
        lambda tf, x: x * len(range(tf.cast(x[2], tf.int32))),
    ],
)
def test_a_branch_is_not_carried(tf: Any, function: Any) -> None:
    with pytest.raises(CannotCarry):
        at_points(tf, lambda x: function(tf, x))


def test_what_leaves_tensorflow_is_called_one_by_one(tf: Any) -> None:
    def by_buffer(x: Any) -> Any:
        return tf.reduce_sum(x * np.sin(memoryview(x)))

    # (The product rule is broken by what TensorFlow does not see.)
    assert verdict(by_buffer, X) == "mismatch"


def test_a_switch_is_seen(tf: Any) -> None:
    """A branch that one side of the point takes, and the other does not."""

    @tf.custom_gradient  # type: ignore[untyped-decorator]  # no types in TensorFlow
    def bent(x: Any) -> Any:
        above = bool(tf.reduce_sum(x) >= 1.5)
        return tf.reduce_sum(x) * (
            3.0 if above else 1.0
        ) - 3.0 * above, lambda up: up * 3 * tf.ones([3], tf.float64)

    assert verdict(bent, X) == "kink"


def test_traced_functions_are_run_as_python(tf: Any) -> None:
    @tf.function  # type: ignore[untyped-decorator]  # no types in TensorFlow
    def function(x: Any) -> Any:
        for _ in range(3):
            x = tf.sin(x) * tf.reduce_sum(x)
        return tf.reduce_sum(x)

    counted = Counted(function)
    assert verdict(counted, draw(20)) == "pass"
    assert counted.calls < 10
    wrong = planted(function, lambda gs: [gs[0] * (1 + 1e-8)])
    assert verdict(wrong, draw(20)) == "mismatch"


def test_a_variable_that_is_written_to(tf: Any) -> None:
    kept = tf.Variable(0.0, dtype=tf.float64, trainable=False)

    def average(x: Any) -> Any:
        kept.assign(0.9 * kept + 0.1 * tf.reduce_mean(x))
        return tf.reduce_sum(x - tf.reduce_mean(x) ** 2)

    def through_it(x: Any) -> Any:
        kept.assign(tf.reduce_mean(x))
        return tf.reduce_sum(x * kept)

    at_points(tf, average)
    with pytest.raises(CannotCarry):
        at_points(tf, through_it)


def test_other_threads_are_left_alone(tf: Any) -> None:
    from concurrent.futures import ThreadPoolExecutor

    x = tf.constant(X)

    def function(given: Any) -> Any:
        with ThreadPoolExecutor(1) as other:
            return given * other.submit(lambda: tf.reduce_sum(tf.ones([3], tf.float64))).result()

    outputs, _ = at_points(tf, function, x)
    assert np.allclose(outputs, 3 * POINTS)


def test_everything_is_put_back(tf: Any) -> None:
    from tensorflow.python import pywrap_tfe

    before = (
        pywrap_tfe.TFE_Py_FastPathExecute,
        pywrap_tfe.TFE_Py_Execute,
        type(tf.constant(0))._numpy,
    )
    with pytest.raises(CannotCarry):
        at_points(tf, lambda x: x * float(x[0]))
    after = (
        pywrap_tfe.TFE_Py_FastPathExecute,
        pywrap_tfe.TFE_Py_Execute,
        type(tf.constant(0))._numpy,
    )
    assert after == before
    assert not tf.config.functions_run_eagerly()


def test_random_numbers_are_drawn_in_every_call(tf: Any) -> None:
    def noisy(x: Any) -> Any:
        return tf.reduce_sum(x * tf.round(tf.random.uniform([], dtype=tf.float64)))

    assert str(gradcheck.check(noisy, X).verdict) == "inconclusive"


def test_a_rule_that_is_wrong_is_found_out(tf: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What moves one input alone is not in the probe."""

    def wrong(op: Any) -> Any:
        moved = [
            (b.numpy() != own.numpy()).any(axis=(1, 2))
            for own, b in zip(op.inputs, op.batches, strict=False)
        ]
        told = tf.matmul(*op.batches).numpy()
        told[~moved[0] & moved[1]] = op.outputs[0].numpy()
        return [tf.constant(told)]

    monkeypatch.setitem(RULES, "MatMul", wrong)
    weight = tf.Variable(draw(3, 4))
    assert verdict(lambda x: tf.tanh(x @ weight), draw(2, 3)) == "pass"


@pytest.mark.parametrize("x", [[1.0, 0.5], [0.5, 1.0]])
def test_a_switch_that_numpy_looks_at(tf: Any, x: list[float]) -> None:
    """By the buffer of a tensor, which cannot be watched."""

    def bent(x: Any) -> Any:
        if np.max(x) <= 1.0:
            return tf.reduce_sum(x * x)
        return tf.reduce_sum(x * x) + 3 * (tf.reduce_sum(x) - 1.5)

    assert verdict(bent, np.array(x)) == "kink"


def test_who_catches_it_is_not_carried_either(tf: Any) -> None:
    def bent(x: Any) -> Any:
        try:
            large = bool(x[0] > 1.0)
        except Exception:
            large = False
        return tf.reduce_sum(x * x) + (3 * (x[0] - 1.0) if large else 0.0)

    assert verdict(bent, np.array([1.0, 0.5])) == "kink"


def test_a_variable_that_a_traced_function_reads(tf: Any) -> None:
    kept = tf.Variable(np.ones(3), trainable=False)
    doubled = tf.function(lambda: kept * 2.0).get_concrete_function()

    def through_it(x: Any) -> Any:
        kept.assign(tf.where(x > 1.0, x, tf.ones_like(x)))
        return tf.reduce_sum(doubled()) + tf.reduce_sum(x * x)

    assert verdict(through_it, np.array([1.0, 1.0, 0.5])) == "kink"


def test_a_batch_of_matrices_is_no_batch_of_points(tf: Any) -> None:
    matrices = tf.constant(np.tril(draw(7, 2, 2)) + 2 * np.eye(2))

    def solve(x: Any) -> Any:
        return tf.linalg.triangular_solve(matrices, x)

    given = tf.constant(draw(2, 2))
    points = np.stack([given.numpy() + i for i in range(7)])
    (outputs,), _ = carried(lambda: [solve(given)], [(given, points)], 7)
    assert np.allclose(outputs, [solve(tf.constant(p)).numpy() for p in points])


def test_what_is_kept_by_the_identity_of_a_tensor(tf: Any) -> None:
    kept: dict[int, Any] = {}

    def remembering(x: Any) -> Any:
        if id(x) not in kept:
            kept[id(x)] = x, tf.exp(x)
        return tf.reduce_sum(kept[id(x)][1])

    counted = Counted(remembering)
    assert verdict(counted, draw(30)) == "pass"
    assert counted.calls < 10


def test_a_text_of_a_value_is_no_look_at_it(tf: Any) -> None:
    outputs, _ = at_points(tf, lambda x: x * len(repr(x)[:1]))
    assert np.allclose(outputs, POINTS)
    # (TensorFlow makes a text of a variable to say that it is float32, and says it to nobody.)
    weight = tf.Variable(draw(3, 2).astype(np.float32))
    counted = Counted(lambda x: tf.reduce_sum(x @ weight))
    assert verdict(counted, draw(2, 3).astype(np.float32)) == "pass"
    assert counted.calls < 12
