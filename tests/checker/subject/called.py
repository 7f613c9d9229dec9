"""Functions that take a batch in one way or another, and how often they are called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.checker.subject.evaluator import Evaluator
from gradcheck.checker.subject.operand import Operand
from gradcheck.checker.subject.problem import Problem

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
    problem = Problem(function, tuple(operands), takes_other_shapes=True)
    return Evaluator(problem, list(values))


def rows(found: Evaluator, count: int = 40) -> Array:
    rng = np.random.default_rng(0)
    return np.asarray(found.point + 0.1 * rng.standard_normal((count, len(found.point))))


def draw(*shape: int) -> Array:
    return np.random.default_rng(1).standard_normal(shape)


LEADING = ["elementwise", "matmul", "broadcast", "softmax"]
CARRIED = ["first axis", "rank", "shape", "transposed", "einsum", "kernel", "free indices"]
CARRIED += ["mean", "size", "reshape", "roll"]


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
