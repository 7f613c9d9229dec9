"""What TensorFlow gives along a direction: nested tapes, forward accumulators, differences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.explainer.derive.chain import run_chain
from gradcheck.explainer.tangents.tangent_chain import dot

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from gradcheck.explainer.derive.call_graph import Graph
    from gradcheck.model import Array

__all__ = ["Asked", "Point"]

STEP = 2.0**-9
"""Of the differences: five points, whose error is of its fourth power."""


@dataclass(frozen=True, eq=False)
class Point:
    """Where a graph and the function that it is of are evaluated."""

    function: Callable[..., Any]
    """Takes a tensor for each of the names; gives the output."""
    names: tuple[str, ...]
    values: Mapping[str, Any]
    """Of all names of the graph's inputs."""
    structures: Mapping[str, str]
    seed: int = 0

    def direction(self, name: str) -> Array:
        """A random direction in which an input may move."""
        rng = np.random.default_rng([self.seed, *name.encode()])
        drawn: Array = rng.standard_normal(np.shape(self.values[name]))
        structure = self.structures.get(name, "")
        if structure == "symmetric":
            drawn = (drawn + np.swapaxes(drawn, -1, -2)) / 2
        return np.tril(drawn) if structure == "lower" else drawn


class Asked:
    """What TensorFlow gives at the point."""

    def __init__(self, graph: Graph, point: Point, moving: Sequence[str]) -> None:
        self.graph, self.point, self.moving = graph, point, moving
        rng = np.random.default_rng([point.seed, 77])
        self.upstream = rng.standard_normal(graph.shapes[graph.output])
        self.dots = {name: point.direction(name) for name in moving}

    def tensors(self, step: float = 0.0) -> dict[str, Any]:
        """The inputs, so many times the directions away from the point."""
        import tensorflow as tf

        values = {name: np.asarray(self.point.values[name]) for name in self.point.names}
        return {
            n: tf.constant(v + step * self.dots[n] if n in self.dots else v)
            for n, v in values.items()
        }

    def out(self, tensors: Mapping[str, Any]) -> Any:
        """What the function gives there."""
        import tensorflow as tf

        found = tf.nest.flatten(self.point.function(*tensors.values()))
        return found[0]

    def gradients(self, tensors: Mapping[str, Any]) -> list[Any]:
        """What the tape gives there, for each input that moves."""
        import tensorflow as tf

        watched = [tensors[name] for name in self.moving]
        with tf.GradientTape() as tape:
            tape.watch(watched)
            out = self.out(tensors)
        found = tape.gradient(
            out, watched, tf.constant(self.upstream), tf.UnconnectedGradients.ZERO
        )
        return [tf.convert_to_tensor(each) for each in found]

    def nested(self) -> dict[str, Array]:
        """The Hessian times the directions, by a tape around a tape."""
        import tensorflow as tf

        tensors = self.tensors()
        watched = [tensors[name] for name in self.moving]
        with tf.GradientTape() as outer:
            outer.watch(watched)
            found = self.gradients(tensors)
            inner = tf.add_n(
                [tf.reduce_sum(g * self.dots[n]) for g, n in zip(found, self.moving, strict=True)]
            )
        back = outer.gradient(inner, watched, unconnected_gradients=tf.UnconnectedGradients.ZERO)
        pairs = zip(self.moving, back, strict=True)
        return {name: np.asarray(tf.convert_to_tensor(each)) for name, each in pairs}

    def hessian(self, row: str, column: str) -> Array:
        """∂²L/∂row∂column, by a tape around a tape."""
        import tensorflow as tf

        tensors = self.tensors()
        with tf.GradientTape(persistent=True) as outer:
            outer.watch(tensors[column])
            found = self.gradients(tensors)[self.moving.index(row)]
        return np.asarray(
            outer.jacobian(
                found,
                tensors[column],
                tf.UnconnectedGradients.ZERO,
                experimental_use_pfor=False,
            )
        )

    def hessian_by_differences(self, row: str, column: str) -> Array:
        """The same, by differences of the gradient: one element of the column after the other."""
        shape = self.graph.inputs[column]
        place, kept, found = self.moving.index(row), self.dots, []
        for unit in np.eye(int(np.prod(shape))):
            self.dots = {column: unit.reshape(shape)}
            found.append(self.difference(lambda tensors: self.gradients(tensors)[place]))
        self.dots = kept
        return np.stack(found, axis=-1).reshape(*self.graph.inputs[row], *shape)

    def accumulated(self) -> Array:
        """The change of the output, by forward mode."""
        import tensorflow as tf

        tensors = self.tensors()
        watched = [tensors[name] for name in self.moving]
        dots = [tf.constant(self.dots[name]) for name in self.moving]
        with tf.autodiff.ForwardAccumulator(watched, dots) as accumulator:
            out = self.out(tensors)
        found = accumulator.jvp(out, tf.UnconnectedGradients.ZERO)
        return np.asarray(tf.convert_to_tensor(found))

    def difference(self, function: Callable[[Mapping[str, Any]], Any]) -> Array:
        """How something changes along the directions, by five points."""
        near, far = (
            np.asarray(function(self.tensors(k * STEP))) - function(self.tensors(-k * STEP))
            for k in (1, 2)
        )
        found: Array = (8 * near - far) / (12 * STEP)
        return found

    def known(self) -> dict[str, Any]:
        """Every name of the page but those of changes."""
        known = run_chain(self.graph, self.point.values, self.upstream)
        return known | {dot(name): change for name, change in self.dots.items()}
