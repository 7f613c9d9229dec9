"""A whole expression or layer that is one declared op: its gradient in the op's own form.

What a layer runs may be another way to compute the same (Keras' LayerNormalization holds the mean
fixed and adds a bias that it has made): no rule of algebra leads from there to three terms. So the
two are evaluated at random points, and where they are one function the op's gradient is printed.
"""

from __future__ import annotations

import ast
import contextlib
from dataclasses import dataclass
from itertools import permutations, product
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck import ops
from gradcheck.errors import GradcheckError
from gradcheck.explainer import trees
from gradcheck.explainer.derive.op_subject import Subject
from gradcheck.explainer.formula.tensorflow_code import tensorflow_code

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gradcheck.explainer.derive.call_graph import Graph
    from gradcheck.model import Array
    from gradcheck.ops.declaration import Op

__all__ = ["WholeOp", "as_one_op"]

FEWEST_STEPS = 3
"""An expression of fewer steps has a short gradient anyway."""
MOST_INPUTS = 4
"""The orders of more inputs are too many to be tried."""
POINTS = 2
"""Random points at which two functions are compared, with all their elements."""


@dataclass(frozen=True)
class WholeOp:
    """The op, and the names of the page for its inputs."""

    subject: Subject
    names: Mapping[str, str]
    """By input of the op: that of the expression."""
    output: str
    """The name of the page for what it gives."""

    def formula(self, name: str) -> trees.Shortened | None:
        """The gradient of an input of the expression, and the names of its parts; None if none."""
        own = {page: parameter for parameter, page in self.names.items()}
        if own.get(name) not in self.subject.printed:
            return None
        values = {parameter: ast.Name(page) for parameter, page in self.names.items()}
        values["out"] = ast.Name(self.output)
        whole = trees.substitute(self.subject.printed[own[name]], values)
        taken = {*self.names.values(), "G", self.output}
        forward = self.subject.forward
        given = {} if forward is None else {self.output: trees.substitute(forward, values)}
        parts = given | {
            letter: trees.substitute(tree, values)
            for letter, tree in self.subject.definitions.items()
            if letter not in taken
        }
        return trees.shorten((whole,), parts)

    def whole_formula(self, name: str) -> ast.expr | None:
        """The gradient over the inputs alone, as it is executed."""
        short = self.formula(name)
        if short is None:
            return None
        found = short.formulas[0]
        for letter in reversed(list(short.names)):
            found = trees.substitute(found, {letter: short.names[letter]})
        return found

    def code(self, graph: Graph, name: str) -> list[str]:
        """The lines that compute it."""
        short = self.formula(name)
        if short is None:
            return []
        shapes = {**graph.shapes, "G": graph.shapes[graph.output]}
        code = tensorflow_code({**short.names, f"d{name}": short.formulas[0]}, shapes)
        return [] if code[-1].startswith("#") else code

    @property
    def told(self) -> str:
        """What it is, as a call."""
        subject = self.subject
        args = [f"{k} = {v}" for k, v in subject.call.args.items()]
        given = ", ".join([*(self.names[p] for p in subject.call.shapes), *args])
        return f"{subject.op.name}({given})"


def as_one_op(graph: Graph) -> WholeOp | None:
    """The op that the whole of it is; None where it is none, or where its own form is short."""
    used = [name for name in graph.inputs if graph.uses(name)]
    if len(graph.steps) < FEWEST_STEPS or graph.unwritten or not 0 < len(used) <= MOST_INPUTS:
        return None
    if len(graph.shapes[graph.output]) < max(len(graph.inputs[name]) for name in used):
        return None  # of losses the rules find what a textbook has: p − y
    points = _points(graph)
    for op in _candidates(len(used)):
        for order in permutations(used):
            for args in _arguments(op, graph):
                found = _matched(op, graph, order, args, points)
                if found is not None:
                    return found
    return None


def _candidates(count: int) -> list[Op]:
    """Ops that have a derivation of their own, which is what makes their form short."""
    return [
        op
        for op in ops.all_ops()
        if op.family == "nn" and op.derivation and len(op.inputs) == count and not op.outputs
        and not op.variadic and not op.required
    ]  # fmt: skip


def _arguments(op: Op, graph: Graph) -> Iterator[dict[str, Any]]:
    """The arguments that it may have: numbers that stand in the expression, and the defaults."""
    constants: list[Any] = [
        node.value
        for step in graph.steps
        for node in ast.walk(step.forward)
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float)
    ]
    choices = []
    for default in op.args.values():
        wanted = [c for c in constants if isinstance(default, float) == isinstance(c, float)]
        choices.append(list(dict.fromkeys([default, *wanted])))
    for chosen in product(*choices):
        yield dict(zip(op.args, chosen, strict=True))


def _points(graph: Graph) -> list[tuple[dict[str, Array], Array]]:
    """Values of the inputs, and what comes of them."""
    rng, found = np.random.default_rng(5), []
    for _ in range(POINTS):
        inputs = {name: rng.uniform(-1.5, 1.5, shape) for name, shape in graph.inputs.items()}
        known: dict[str, Any] = dict(inputs)
        with contextlib.suppress(Exception):  # an input that holds places, a root of a negative
            for step in graph.steps:
                known[step.name] = trees.run(step.forward, known)
            found.append((inputs, np.asarray(known[graph.output])))
    return found


def _matched(
    op: Op,
    graph: Graph,
    order: tuple[str, ...],
    args: Mapping[str, Any],
    points: list[tuple[dict[str, Array], Array]],
) -> WholeOp | None:
    names = dict(zip((p.name for p in op.inputs), order, strict=True))
    try:
        shapes = {parameter: graph.inputs[page] for parameter, page in names.items()}
        subject = Subject(op, op.call(shapes, args))
        if subject.forward is None or subject.shape != graph.shapes[graph.output]:
            return None
        for inputs, wanted in points:
            own = {parameter: inputs[page] for parameter, page in names.items()}
            found = np.asarray(trees.run(subject.forward, {**subject.call.args, **own}))
            same = found.shape == wanted.shape and np.allclose(found, wanted, 1e-10, 1e-12)
            if not same:
                return None
    except (GradcheckError, ValueError, TypeError, IndexError):
        return None
    return WholeOp(subject, names, graph.output) if len(points) == POINTS else None
