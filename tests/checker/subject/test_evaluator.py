"""Rows of points through a function: batched only where that is the same."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradcheck
from gradcheck.checker.subject.ended import Ended
from gradcheck.checker.subject.evaluator import Evaluator
from gradcheck.checker.subject.operand import Operand

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradcheck.model import Array


class Counted:
    """A function that counts its calls."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.calls = 0

    def __call__(self, *inputs: Any) -> Any:
        self.calls += 1
        return self.function(*inputs)


def evaluator(function: Callable[..., Any], *values: Array, **rest: Any) -> Evaluator:
    operands = [Operand(f"x{i}", value, **rest) for i, value in enumerate(values)]
    return Evaluator(function, operands, list(values))


def rows(found: Evaluator, count: int = 40) -> Array:
    rng = np.random.default_rng(0)
    return np.asarray(found.point + 0.1 * rng.standard_normal((count, len(found.point))))


def draw(*shape: int) -> Array:
    return np.random.default_rng(1).standard_normal(shape)


LEADING = ["elementwise", "matmul", "broadcast", "softmax"]
FOLDED = ["first axis", "rank", "shape", "transposed", "einsum"]
BATCHED = LEADING + FOLDED
APART = ["kernel", "free indices"]
SINGLE = ["mean", "size", "reshape", "roll"]


def functions(tf: Any) -> dict[str, tuple[Callable[..., Any], list[Array]]]:
    return {
        "elementwise": (tf.sin, [draw(3, 2)]),
        "matmul": (tf.linalg.matmul, [draw(3, 2), draw(2, 4)]),
        "broadcast": (tf.add, [draw(3, 2), draw(2)]),
        "softmax": (tf.nn.softmax, [draw(3, 4)]),
        "mean": (lambda x: x - tf.reduce_mean(x), [draw(3, 2)]),
        "first axis": (lambda x: tf.nn.softmax(x, axis=0), [draw(3, 2)]),
        "transposed": (tf.transpose, [draw(3, 2)]),
        "einsum": (lambda x, y: tf.einsum("ij,ij->i", x, y), [draw(3, 2), draw(3, 2)]),
        "kernel": (lambda x, w: tf.nn.conv1d(x, w, 1, "SAME"), [draw(1, 6, 2), draw(3, 2, 2)]),
        "free indices": (lambda x, y: tf.einsum("ij,jk->ki", x, y), [draw(3, 2), draw(2, 4)]),
        "roll": (lambda x: tf.sin(tf.roll(x, [1, 1], axis=[0, 1])), [draw(3, 2)]),
        "rank": (lambda x: x * 2 if x.shape.rank == 2 else x * 3, [draw(3, 2)]),
        "shape": (lambda x: x / tf.cast(tf.shape(x)[0], tf.float64), [draw(3, 2)]),
        "size": (lambda x: x / tf.cast(tf.size(x), tf.float64), [draw(3, 2)]),
        "reshape": (lambda x: tf.reshape(x, [6]) ** 2, [draw(3, 2)]),
    }


@pytest.mark.parametrize("name", BATCHED + APART + SINGLE)
def test_as_if_called_one_by_one(tf: Any, name: str) -> None:
    function, values = functions(tf)[name]
    found = evaluator(function, *values)
    points = rows(found)
    outputs = found(points)
    for point, output in zip(points, outputs, strict=True):
        arrays = [tf.constant(a) for a in found.inputs.unflatten(point)]
        np.testing.assert_allclose(output, function(*arrays).numpy().ravel(), rtol=1e-12)


@pytest.mark.parametrize("name", BATCHED)
def test_batched_where_it_can_be(tf: Any, name: str) -> None:
    function, values = functions(tf)[name]
    counted = Counted(function)
    found = evaluator(counted, *values)
    points = rows(found, 200)
    found(points)
    before = counted.calls
    found(points)
    assert counted.calls == before + 1


@pytest.mark.parametrize("name", SINGLE)
def test_one_by_one_where_it_cannot(tf: Any, name: str) -> None:
    function, values = functions(tf)[name]
    counted = Counted(function)
    found = evaluator(counted, *values)
    points = rows(found, 50)
    found(points)
    before = counted.calls
    found(points)
    assert counted.calls >= before + 50


def test_a_constant_operand_stays(tf: Any) -> None:
    operands = [Operand("x", draw(3)), Operand("i", np.array([0, 2]), differentiate=False)]
    found = Evaluator(tf.gather, operands, [o.value for o in operands])
    points = rows(found)
    np.testing.assert_array_equal(found(points), points[:, [0, 2]])


def test_a_batch_that_only_fits_once(tf: Any) -> None:
    # Seven rows are taken for a batch, any other number is not.
    def fussy(x: Any) -> Any:
        if x.shape.rank == 2 and x.shape[0] > 100:
            raise ValueError("too many")
        return tf.sin(x)

    found = evaluator(fussy, draw(3))
    few, many = rows(found, 20), rows(found, 150)
    np.testing.assert_allclose(found(few), np.sin(few))
    np.testing.assert_allclose(found(many), np.sin(many))


def test_precision() -> None:
    assert evaluator(lambda x: x, draw(2)).precision is None
    assert evaluator(lambda x: x, draw(2).astype(np.float32)).precision == np.float32
    assert evaluator(lambda x: x, draw(2).astype(np.complex64)).precision == np.float32


def test_must_repeat(tf: Any) -> None:
    evaluator(tf.sin, draw(3)).must_repeat(4)
    chance = evaluator(lambda x: x + tf.random.normal([3], dtype=tf.float64), draw(3))
    with pytest.raises(Ended, match="not deterministic"):
        chance.must_repeat(4)


@pytest.mark.parametrize("name", APART)
def test_one_operand_at_a_time(tf: Any, name: str) -> None:
    function, values = functions(tf)[name]
    counted = Counted(function)
    found = evaluator(counted, *values)
    for start, stop in pairwise(found.inputs.offsets):
        points = np.repeat(found.point[np.newaxis], 50, axis=0)
        points[:, start:stop] = rows(found, 50)[:, start:stop]
        found.probe()
        before = counted.calls
        outputs = found(points)
        assert counted.calls == before + 1
        single = [function(*found.inputs.unflatten(p)).numpy().ravel() for p in points]
        np.testing.assert_allclose(outputs, single, rtol=1e-12)


def test_operands_that_stay_are_stacked_too(tf: Any) -> None:
    # Labels must have the leading axis of the logits: else every point is a call of its own.
    labels = np.eye(4)[[0, 1, 2, 3, 1, 2]]
    counted = Counted(tf.nn.softmax_cross_entropy_with_logits)
    assert str(gradcheck.check(counted, labels, draw(6, 4), wrt=[1]).verdict) == "pass"
    assert counted.calls < 10


def test_a_function_that_takes_no_batch_is_vectorised(tf: Any) -> None:
    def single(x: Any) -> Any:
        return tf.cast(tf.sin(tf.cast(tf.reshape(x, [300]), tf.float32)), tf.float64)

    counted = Counted(single)
    assert str(gradcheck.check(counted, draw(300)).verdict) == "pass"
    assert counted.calls < 1000
