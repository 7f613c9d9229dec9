"""The functions of a trial of rounding: what people build from, small, of one to three inputs.

Each takes its tensors and `mark`, which it calls on what may be rounded inside.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    from gradcheck.model import Array, Shape


class Body(NamedTuple):
    """A function, and how its inputs are drawn."""

    name: str
    function: Callable[..., Any]
    shapes: tuple[Shape, ...]
    positive: bool = False

    @property
    def places(self) -> tuple[str, ...]:
        """What can be rounded."""
        one = ("first",) if len(self.shapes) == 1 else ("first", "last", "inputs")
        return (*one, "inside", "output")

    def draw(self, rng: np.random.Generator) -> list[Array]:
        """Inputs of its kind."""
        if self.positive:
            return [rng.uniform(0.5, 2.0, size=shape) for shape in self.shapes]
        return [rng.standard_normal(shape) for shape in self.shapes]


def _tf() -> Any:
    import tensorflow as tf

    return tf


def _product(x: Any, k: Any, *, mark: Any) -> Any:
    return _tf().matmul(mark("inside", x * x), k)


def _dense(x: Any, k: Any, b: Any, *, mark: Any) -> Any:
    return _tf().tanh(mark("inside", _tf().matmul(x, k)) + b)


def _softmax(x: Any, *, mark: Any) -> Any:
    return _tf().nn.softmax(mark("inside", 2 * x))


def _normalised(x: Any, scale: Any, *, mark: Any) -> Any:
    tf = _tf()
    centred = x - tf.reduce_mean(x, axis=-1, keepdims=True)
    variance = mark("inside", tf.reduce_mean(centred**2, axis=-1, keepdims=True))
    return centred * tf.math.rsqrt(variance + 1e-3) * scale


def _convolved(x: Any, kernel: Any, *, mark: Any) -> Any:
    return _tf().nn.conv1d(mark("inside", _tf().sin(x)), kernel, stride=1, padding="SAME")


def _attended(q: Any, k: Any, v: Any, *, mark: Any) -> Any:
    tf = _tf()
    scores = mark("inside", tf.matmul(q, k, transpose_b=True) / 2)
    return tf.matmul(tf.nn.softmax(scores), v)


def _cross_entropy(logits: Any, target: Any, *, mark: Any) -> Any:
    tf = _tf()
    logs = mark("inside", tf.nn.log_softmax(logits))
    return -tf.reduce_sum(tf.nn.softmax(target) * logs, axis=-1)


def _squared_error(x: Any, y: Any, *, mark: Any) -> Any:
    return _tf().reduce_mean(mark("inside", x - y) ** 2)


def _waves(x: Any, y: Any, *, mark: Any) -> Any:
    return _tf().sin(mark("inside", x * y)) + _tf().exp(-x * x)


def _powers(x: Any, y: Any, *, mark: Any) -> Any:
    return _tf().sqrt(mark("inside", x)) * y + _tf().math.log(x)


def _norm(x: Any, y: Any, *, mark: Any) -> Any:
    return _tf().sqrt(_tf().reduce_sum(mark("inside", x * y) ** 2, axis=-1))


def _solved(x: Any, y: Any, *, mark: Any) -> Any:
    tf = _tf()
    matrix = mark("inside", tf.matmul(x, x, transpose_b=True)) + 2 * tf.eye(3, dtype=x.dtype)
    return tf.linalg.solve(matrix, y)


def _gated(x: Any, w: Any, *, mark: Any) -> Any:
    tf = _tf()
    return tf.sigmoid(mark("inside", tf.reduce_sum(x * w, axis=-1, keepdims=True))) * x


BODIES = (
    Body("product", _product, ((3, 4), (4, 2))),
    Body("dense", _dense, ((3, 4), (4, 2), (2,))),
    Body("softmax", _softmax, ((2, 4),)),
    Body("normalised", _normalised, ((2, 5), (5,))),
    Body("convolved", _convolved, ((1, 5, 2), (3, 2, 2))),
    Body("attended", _attended, ((3, 2), (3, 2), (3, 2))),
    Body("cross_entropy", _cross_entropy, ((2, 4), (2, 4))),
    Body("squared_error", _squared_error, ((2, 3), (2, 3))),
    Body("waves", _waves, ((5,), (5,))),
    Body("powers", _powers, ((4,), (4,)), positive=True),
    Body("norm", _norm, ((2, 4), (2, 4))),
    Body("solved", _solved, ((3, 3), (3, 2))),
    Body("gated", _gated, ((3, 4), (4,))),
)
