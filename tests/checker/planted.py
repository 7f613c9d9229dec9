"""Functions whose gradients are known to be right, and ways to make them wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

import gradcheck

if TYPE_CHECKING:
    from gradcheck.model import Array, Result

Function = Callable[..., Any]
DTYPES = ["float64", "float32", "complex128"]


def planted(forward: Function, change: Callable[[list[Any]], list[Any]]) -> Function:
    """The function, with its gradients (one per input) put through `change`."""
    import tensorflow as tf

    @tf.custom_gradient  # type: ignore[untyped-decorator]  # no types in TF
    def function(*inputs: Any) -> Any:
        with tf.GradientTape(watch_accessed_variables=False) as tape:
            tape.watch(inputs)
            output = forward(*inputs)

        def gradient(upstream: Any) -> Any:
            gradients = tape.gradient(output, inputs, output_gradients=upstream)
            return change([tf.convert_to_tensor(g) for g in gradients])

        return output, gradient

    return cast("Function", function)


def with_gradient(forward: Function, gradient: Callable[..., Any]) -> Function:
    """The function, with `gradient(upstream, *inputs)` in place of its own."""
    import tensorflow as tf

    @tf.custom_gradient  # type: ignore[untyped-decorator]  # no types in TF
    def function(*inputs: Any) -> Any:
        return forward(*inputs), lambda *upstream: gradient(*upstream, *inputs)

    return cast("Function", function)


def swallowed(function: Function, offset: float) -> Function:
    """The function beside what is too large to show it; nor does a change show in complex numbers.

    (Of real ones it would be carried by itself.)
    """
    import tensorflow as tf

    def hidden(*inputs: Any) -> Any:
        output = function(*inputs) + offset
        return tf.math.real(tf.complex(output, tf.zeros_like(output)))

    return hidden


@dataclass(frozen=True, eq=False)
class Subject:
    """A correct function and its inputs, in double precision."""

    name: str
    function: Function
    inputs: tuple[Array, ...]
    takes_complex: bool = False

    def __str__(self) -> str:
        return self.name

    def cast(self, dtype: str) -> list[Array]:
        """The inputs in another precision; complex ones get imaginary parts."""
        if not dtype.startswith("complex"):
            return [x.astype(dtype) for x in self.inputs]
        turned = [x + 1j * np.roll(x, 1).reshape(x.shape) for x in self.inputs]
        return [x.astype(dtype) for x in turned]


def _draw(*shapes: tuple[int, ...]) -> tuple[Array, ...]:
    rng = np.random.default_rng(5)
    return tuple(rng.standard_normal(shape) for shape in shapes)


def subjects() -> list[Subject]:
    """One function of each kind."""
    import tensorflow as tf

    def layer_norm(x: Any, gain: Any, bias: Any) -> Any:
        mean, variance = tf.nn.moments(x, axes=[-1], keepdims=True)
        return (x - mean) * tf.math.rsqrt(variance + 1e-3) * gain + bias

    well = np.eye(4) * 4
    a, b = _draw((4, 4), (4, 2))
    return [
        Subject("tanh", tf.tanh, _draw((3, 4)), takes_complex=True),
        Subject("multiply", tf.multiply, _draw((3, 4), (3, 4)), takes_complex=True),
        Subject("broadcast add", tf.add, _draw((3, 4), (4,)), takes_complex=True),
        Subject("matmul", tf.linalg.matmul, _draw((4, 5), (5, 3)), takes_complex=True),
        Subject("softmax", tf.nn.softmax, _draw((4, 8))),
        Subject("reduce_mean", lambda x: tf.reduce_mean(x, axis=1), _draw((3, 4)), True),
        Subject("logsumexp", tf.reduce_logsumexp, _draw((3, 4))),
        Subject(
            "conv2d",
            lambda x, w: tf.nn.conv2d(x, w, strides=1, padding="SAME"),
            _draw((1, 5, 5, 2), (3, 3, 2, 3)),
        ),
        Subject("gather", lambda x: tf.gather(x, [0, 2, 2, 5]), _draw((6, 3)), True),
        Subject(
            "einsum",
            lambda x, y: tf.einsum("ijk,ikl->ijl", x, y),
            _draw((3, 2, 4), (3, 4, 5)),
            takes_complex=True,
        ),
        Subject("solve", tf.linalg.solve, (a + well, b), takes_complex=True),
        Subject("layer norm", layer_norm, (*_draw((4, 8)), *_draw((8,), (8,)))),
    ]


def subject(name: str) -> Subject:
    """The one of this name."""
    return next(s for s in subjects() if s.name == name)


def cause(result: Result) -> str | None:
    """The diagnosis of a mismatch."""
    assert result.verdict == "mismatch", gradcheck.checker.api.describe(result)
    return result.diagnosis.cause if result.diagnosis else None


def first(change: Callable[[Any], Any]) -> Callable[[list[Any]], list[Any]]:
    """Change the first input's gradient alone."""
    return lambda gradients: [change(gradients[0]), *gradients[1:]]


def at(gradient: Any, index: tuple[int, ...], factor: float) -> Any:
    """One element multiplied."""
    import tensorflow as tf

    factors = np.ones(gradient.shape)
    factors[index] = factor
    return gradient * tf.cast(tf.constant(factors), gradient.dtype)


def run(which: Subject, change: Callable[[list[Any]], list[Any]], dtype: str) -> Result:
    """Check a subject whose gradients are put through `change`, in this precision."""
    return gradcheck.check(planted(which.function, change), *which.cast(dtype))
