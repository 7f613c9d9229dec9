"""The functions that are checked: the same mathematics, shapes and numbers in every framework."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.frameworks import load
from gradcheck.model import Array, Shape

Function = Callable[..., Any]
Draw = Callable[[np.random.Generator], tuple[Array, ...]]
In = Callable[[Any], Function]
"""The function, given the framework's module."""


@dataclass(frozen=True, eq=False)
class Subject:
    """One function and how its inputs are drawn."""

    name: str
    draw: Draw
    tensorflow: In
    torch: In
    jax: In | None = None
    torch_axes: Sequence[tuple[int, ...]] | None = None
    """How the axes of each input are ordered in torch, where that differs."""

    def function(self, framework: str) -> Function:
        """The function in this framework."""
        chosen: In = getattr(self, framework)
        return chosen(load(framework))

    def inputs(self, framework: str, seed: int = 0) -> list[Any]:
        """Its inputs as this framework's checkers take them, the same numbers for all."""
        arrays = list(self.draw(np.random.default_rng(seed)))
        if framework == "torch":
            if self.torch_axes is not None:
                arrays = [
                    np.ascontiguousarray(a.transpose(axes))
                    for a, axes in zip(arrays, self.torch_axes, strict=True)
                ]
            tensor = load("torch").tensor
            return [tensor(array, requires_grad=True) for array in arrays]
        if framework == "jax":
            return [load("jax").numpy.asarray(array) for array in arrays]
        return arrays


def normal(*shapes: Shape) -> Draw:
    """Standard normal numbers."""
    return lambda rng: tuple(rng.standard_normal(shape) for shape in shapes)


def uniform(low: float, high: float, *shapes: Shape) -> Draw:
    """Numbers between two limits."""
    return lambda rng: tuple(rng.uniform(low, high, shape) for shape in shapes)


def well_conditioned(size: int, *others: Shape) -> Draw:
    """A square matrix far from singular, and normal numbers for the other inputs."""

    def draw(rng: np.random.Generator) -> tuple[Array, ...]:
        matrix = rng.standard_normal((size, size)) + size * np.eye(size)
        return (matrix, *(rng.standard_normal(shape) for shape in others))

    return draw


def _tensorflow_layer_norm(tf: Any) -> Function:
    def layer_norm(x: Any, gain: Any, bias: Any) -> Any:
        mean, variance = tf.nn.moments(x, axes=[-1], keepdims=True)
        return (x - mean) * tf.math.rsqrt(variance + 1e-5) * gain + bias

    return layer_norm


DETECTION = (
    Subject(
        "matmul 4×5·5×3",
        normal((4, 5), (5, 3)),
        tensorflow=lambda tf: tf.matmul,
        torch=lambda torch: torch.matmul,
        jax=lambda jax: jax.numpy.matmul,
    ),
    Subject(
        "tanh, 1000 elements",
        normal((1000,)),
        tensorflow=lambda tf: tf.tanh,
        torch=lambda torch: torch.tanh,
        jax=lambda jax: jax.numpy.tanh,
    ),
    Subject(
        "softmax 4×8",
        normal((4, 8)),
        tensorflow=lambda tf: tf.nn.softmax,
        torch=lambda torch: lambda x: torch.softmax(x, -1),
        jax=lambda jax: jax.nn.softmax,
    ),
    Subject(
        "exp near x=−12",
        uniform(-12.5, -11.5, (6,)),
        tensorflow=lambda tf: tf.exp,
        torch=lambda torch: torch.exp,
        jax=lambda jax: jax.numpy.exp,
    ),
)
"""What planted faults are looked for in."""

SPEED = (
    Subject(
        "matmul 8×8",
        normal((8, 8), (8, 8)),
        tensorflow=lambda tf: tf.matmul,
        torch=lambda torch: torch.matmul,
    ),
    Subject(
        "tanh 256",
        normal((256,)),
        tensorflow=lambda tf: tf.tanh,
        torch=lambda torch: torch.tanh,
    ),
    Subject(
        "softmax 16×16",
        normal((16, 16)),
        tensorflow=lambda tf: tf.nn.softmax,
        torch=lambda torch: lambda x: torch.softmax(x, -1),
    ),
    Subject(
        "conv2d 1×8×8×2 by 3×3×2×4",
        normal((1, 8, 8, 2), (3, 3, 2, 4)),
        tensorflow=lambda tf: lambda x, w: tf.nn.conv2d(x, w, strides=1, padding="SAME"),
        torch=lambda torch: lambda x, w: torch.nn.functional.conv2d(x, w, padding=1),
        torch_axes=((0, 3, 1, 2), (3, 2, 0, 1)),
    ),
    Subject(
        "einsum (3,2,4)(3,4,5)",
        normal((3, 2, 4), (3, 4, 5)),
        tensorflow=lambda tf: lambda x, y: tf.einsum("ijk,ikl->ijl", x, y),
        torch=lambda torch: lambda x, y: torch.einsum("ijk,ikl->ijl", x, y),
    ),
    Subject(
        "solve 6",
        well_conditioned(6, (6, 2)),
        tensorflow=lambda tf: tf.linalg.solve,
        torch=lambda torch: torch.linalg.solve,
    ),
    Subject(
        "svd values 5",
        normal((5, 5)),
        tensorflow=lambda tf: lambda x: tf.linalg.svd(x, compute_uv=False),
        torch=lambda torch: torch.linalg.svdvals,
    ),
    Subject(
        "layer norm 4×8",
        normal((4, 8), (8,), (8,)),
        tensorflow=_tensorflow_layer_norm,
        torch=lambda torch: (
            lambda x, gain, bias: torch.nn.functional.layer_norm(x, (8,), gain, bias)
        ),
    ),
    Subject(
        "inv 4",
        well_conditioned(4),
        tensorflow=lambda tf: tf.linalg.inv,
        torch=lambda torch: torch.linalg.inv,
    ),
    Subject(
        "lgamma 20",
        uniform(0.5, 5.0, (20,)),
        tensorflow=lambda tf: tf.math.lgamma,
        torch=lambda torch: torch.lgamma,
    ),
)
"""What the time of a check is measured on."""
