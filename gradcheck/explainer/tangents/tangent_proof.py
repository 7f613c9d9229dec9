"""`--verify` along a direction: against nested tapes, forward accumulators and differences."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.explainer import trees
from gradcheck.explainer.calculus.evaluate import evaluate
from gradcheck.explainer.derive.chain import bar, run_chain
from gradcheck.explainer.derive.passed_through import STOPPED
from gradcheck.explainer.document import Paragraph, Section, Table
from gradcheck.explainer.page_code import run_code
from gradcheck.explainer.proof import Proof, moved_within, visible_within
from gradcheck.explainer.tangents.second_form import (
    changed_output,
    hessian_block,
    hessian_product,
)
from gradcheck.explainer.tangents.tangent_chain import (
    adjoint_changes,
    dot,
    run_changes,
    step_changes,
)
from gradcheck.explainer.tangents.tangent_page import forward_code, moving_inputs, second_code

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from gradcheck.explainer.derive.call_graph import Graph
    from gradcheck.explainer.derive.chain import Closed
    from gradcheck.model import Array

__all__ = ["Point", "along_section", "prove_forward", "prove_second"]

AGREES = 2.0**-30
"""Granted between a formula and nested tapes, relative to the largest element."""
NUMERIC_AGREES = 2.0**-18
"""Granted against differences of gradients, which lose some digits."""
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


class _Asked:
    """What TensorFlow gives at the point."""

    def __init__(self, graph: Graph, point: Point, moving: Sequence[str]) -> None:
        self.graph, self.point, self.moving = graph, point, moving
        rng = np.random.default_rng([point.seed, 77])
        self.upstream = rng.standard_normal(graph.shapes[graph.output])
        self.dots = {name: point.direction(name) for name in moving}

    def tensors(self, step: float = 0.0) -> dict[str, Any]:
        import tensorflow as tf

        values = {name: np.asarray(self.point.values[name]) for name in self.point.names}
        return {
            n: tf.constant(v + step * self.dots[n] if n in self.dots else v)
            for n, v in values.items()
        }

    def out(self, tensors: Mapping[str, Any]) -> Any:
        import tensorflow as tf

        found = tf.nest.flatten(self.point.function(*tensors.values()))
        return found[0]

    def gradients(self, tensors: Mapping[str, Any]) -> list[Any]:
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


def prove_second(
    graph: Graph, point: Point, wanted: Sequence[str] | None
) -> list[tuple[str, Proof]]:
    """The Hessian times a direction, by the lines, the closed forms and the code; the Hessian."""
    moving = moving_inputs(graph, wanted)
    asked = _Asked(graph, point, moving)
    changes = (*step_changes(graph, moving), *adjoint_changes(graph, moving))
    known = run_changes(changes, asked.known())
    tape = _given(asked.nested) or {}
    held = any(step.op is STOPPED for step in graph.steps)
    found = []
    for place, name in enumerate(moving):
        numeric = asked.difference(lambda t, place=place: asked.gradients(t)[place])  # type: ignore[misc]
        wanted_ = tape.get(name), None if held else numeric
        structure = point.structures.get(name, "")
        own = known.get(dot(bar(graph, name)), np.zeros(graph.inputs[name]))
        label = f"(∂L/∂{name})˙"
        found.append((label, _proof(name, "by the lines", own, *wanted_, structure)))
        form = hessian_product(graph, name, moving)
        code = second_code(graph, name, form)
        for how, value in _of_form(form, code, f"hv_{name}", known, asked):
            found.append((label, _proof(name, how, value, *wanted_, structure)))
    for row, column in combinations_with_replacement(moving, 2):
        block = hessian_block(graph, row, column)
        if block is not None and not {point.structures.get(n, "") for n in (row, column)} & {
            "symmetric",
            "lower",
        }:
            value = evaluate(block.node, known, (*block.at, *block.other))
            tape_gives = _given(lambda row=row, column=column: asked.hessian(row, column))  # type: ignore[misc]
            if tape_gives is not None:
                proof = _proof(row, "the Hessian", value, tape_gives, None, "")
                found.append((f"∂²L/∂{row}∂{column}", proof))
    return found


def prove_forward(
    graph: Graph, point: Point, wanted: Sequence[str] | None
) -> list[tuple[str, Proof]]:
    """The change of the output, by the lines, the closed form and the code."""
    moving = moving_inputs(graph, wanted)
    asked = _Asked(graph, point, moving)
    known = run_changes(step_changes(graph, moving), asked.known())
    held = any(step.op is STOPPED for step in graph.steps)
    wanted_ = _given(asked.accumulated), None if held else asked.difference(asked.out)
    own = known.get(dot(graph.output), np.zeros(graph.shapes[graph.output]))
    label = f"{graph.output}˙"
    found = [(label, _proof(graph.output, "by the lines", own, *wanted_, ""))]
    form = changed_output(graph, moving)
    for how, value in _of_form(form, forward_code(graph, form), "jvp", known, asked):
        found.append((label, _proof(graph.output, how, value, *wanted_, "")))
    return found


def _of_form(
    form: Closed | None, code: list[str], assigned: str, known: Mapping[str, Any], asked: _Asked
) -> list[tuple[str, Any]]:
    """What a closed form gives, each way that it is printed."""
    import tensorflow as tf

    if form is None:
        return []
    found = [("closed, indices", evaluate(form.node, known, form.indices))]
    if form.formula is not None:
        found.append(("closed", trees.run(form.formula, known)))
    if code:
        given = {n: tf.constant(np.asarray(v)) for n, v in asked.known().items()}
        found.append(("code, float64", run_code(code, given)[assigned]))
    return found


def _given(ask: Callable[[], Any]) -> Any:
    """What TensorFlow gives; None where it has no such derivative, of which there are some."""
    try:
        return ask()
    except Exception:  # no gradient of a gradient is registered, or it does not run
        return None


def _proof(
    name: str, how: str, value: Any, tape: Array | None, numeric: Array | None, structure: str
) -> Proof:
    """One value beside what TensorFlow gives; NaN where there is nothing to compare with."""
    value = np.asarray(value, dtype=np.float64)
    right = tape if numeric is None else numeric
    if right is None:
        return Proof(name, f"{how}: nothing to compare", np.nan, np.nan, np.nan, holds=False)
    scale = max(1.0, float(np.max(np.abs(right), initial=0.0)))
    seen = visible_within(np.ones_like(value), structure) != 0

    def apart(one: Array | None, other: Array | None) -> float:
        if one is None or other is None:
            return math.nan
        if one.shape != other.shape:
            return math.inf
        with np.errstate(all="ignore"):
            off = np.abs(moved_within(one, structure) - moved_within(other, structure))
        worst = np.max(off, initial=0.0, where=seen)
        return math.inf if np.isnan(worst) else float(worst) / scale

    from_tape, from_numeric = apart(value, tape), apart(value, numeric)
    # (A comparison with NaN is false: there is nothing to disagree with.)
    wrong = from_tape > AGREES or from_numeric > NUMERIC_AGREES
    return Proof(name, how, from_tape, from_numeric, apart(tape, numeric), holds=not wrong)


def along_section(heading: str, found: Sequence[tuple[str, Proof]], against: str) -> Section:
    """The errors, as a table."""
    shown = [
        (label, p.formula, *map(_error, (p.against_tape, p.against_numeric)), _verdict(p))
        for label, p in found
    ]
    text = (
        f"At a random point, along a random direction, with a random G: against {against}, and "
        "against differences of what TensorFlow gives; errors relative to the largest element."
    )
    head = ("", "printed as", "formula−TensorFlow", "formula−numeric", "")
    return Section(heading, (Paragraph(text), Table(head, tuple(shown))))


def _error(error: float) -> str:
    return "–" if math.isnan(error) else f"{error:.1e}"


def _verdict(proof: Proof) -> str:
    if not proof.holds and proof.against_numeric <= NUMERIC_AGREES:
        return "TensorFlow DIFFERS"
    return "holds" if proof.holds else "FAILS"
