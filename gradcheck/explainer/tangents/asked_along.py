"""What TensorFlow gives along a direction: nested tapes, forward accumulators, differences."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.explainer.derive.chain import bar, run_chain
from gradcheck.explainer.tangents.tangent_chain import dot

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from gradcheck.explainer.derive.call_graph import Graph
    from gradcheck.model import Array

__all__ = ["Asked", "Point"]

MOVED_BY = (2.0**-7, 2.0**-9, 2.0**-11, 2.0**-14)
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
    give: Mapping[str, Callable[[Array], Any]] = field(default_factory=dict)
    """By name: what the function is given for a value, where that is no tensor."""
    tape_is_cut: bool = False
    """Whether the function computes by way of a variable, where no tape of TensorFlow's goes."""

    def given(self, name: str, value: Array) -> Any:
        """What the function is given for this value."""
        import tensorflow as tf

        return self.give.get(name, tf.constant)(value)

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
        values = {name: np.asarray(self.point.values[name]) for name in self.point.names}
        return {
            n: self.point.given(n, v + step * self.dots[n] if n in self.dots else v)
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

    def slope(self, tensors: Mapping[str, Any], name: str) -> Any:
        """The gradient whose differences are the second derivative: TensorFlow's, for one input.

        Where its tape is cut that is the gradient of another function, and the page's is taken.
        Without it `test_through_a_variable_the_page_has_the_hessian` fails.
        """
        if self.point.tape_is_cut:
            return self.known(tensors)[bar(self.graph, name)]
        return self.gradients(tensors)[self.moving.index(name)]

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
        kept, found = self.dots, []
        for unit in np.eye(int(np.prod(shape))):
            self.dots = {column: unit.reshape(shape)}
            found.append(self.difference(partial(self.slope, name=row)))
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
        """How something changes along the directions, by five points.

        Shorter steps are for what bends much, as near a singular matrix, longer ones for what was
        computed in few digits: those are taken that agree best with the next shorter ones.
        Without them `test_beside_a_singular_matrix` fails.
        """
        found: list[Array] = []
        raised: Exception | None = None
        for step in MOVED_BY:
            try:
                found.append(self._at_step(function, step))
            except Exception as error:  # it is not defined so far away
                raised = error
        if raised is not None and len(found) < 2:
            raise raised
        apart = [float(np.max(np.abs(a - b), initial=0.0)) for a, b in pairwise(found)]
        return found[1 + int(np.argmin(np.nan_to_num(apart, nan=np.inf)))]

    def _at_step(self, function: Callable[[Mapping[str, Any]], Any], step: float) -> Array:
        near, far = (
            np.asarray(function(self.tensors(k * step))) - function(self.tensors(-k * step))
            for k in (1, 2)
        )
        found: Array = (8 * near - far) / (12 * step)
        return found

    def known(self, given: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Every name of the page but those of changes; at other inputs where these are given."""
        there = {name: np.asarray(value) for name, value in (given or {}).items()}
        known = run_chain(self.graph, {**self.point.values, **there}, self.upstream)
        return known | {dot(name): change for name, change in self.dots.items()}
