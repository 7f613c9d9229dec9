"""What reaches each value of an expression, composed into index notation step by step."""

from __future__ import annotations

import ast
import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gradcheck.explainer import trees
from gradcheck.explainer.calculus.einstein import NotDerivable
from gradcheck.explainer.calculus.folding import Quotient, quotient
from gradcheck.explainer.calculus.indices import Space
from gradcheck.explainer.calculus.scalar import can_fuse, derivative
from gradcheck.explainer.calculus.translate import Translation
from gradcheck.explainer.calculus.values import Rule, Value, tensor
from gradcheck.explainer.formula.broadcasting import (
    formula_shape,
    is_elementwise,
    summed_back,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gradcheck.explainer.derive.call_graph import Graph, Step

__all__ = [
    "Way",
    "added",
    "bar",
    "composed",
    "contribution",
    "contributions",
    "fusion",
    "is_traced",
    "ways_back",
]


def bar(graph: Graph, name: str) -> str:
    """The name of the gradient that reaches a value."""
    return "G" if name == graph.output else f"{name}_bar"


def contributions(graph: Graph, step: Step) -> list[tuple[str, ast.expr]]:
    """What a step brings back to each value that it uses."""
    return [(value, contribution(graph, step, parameter)) for parameter, value in ways_back(step)]


def ways_back(step: Step) -> list[tuple[str, str]]:
    """The op's inputs that get a gradient, each with the value that it is."""
    formulas = step.op.formulas(step.call)
    return [(own, value) for own, value in step.differentiable.items() if own in formulas]


def contribution(graph: Graph, step: Step, parameter: str) -> ast.expr:
    """What a step brings back to one of its inputs."""
    formula = step.op.formulas(step.call)[parameter]
    if parameter in step.op.of_multiple and is_traced(graph, step):
        formula = step.op.of_multiple[parameter]
    upstream, out = step.around(ast.Name(bar(graph, step.name)))
    tree = trees.picked(step.filled(formula, G=upstream, out=out))
    return _summed(step, parameter, _with_known(graph, tree))


def is_traced(graph: Graph, step: Step) -> bool:
    """Whether the trace alone is taken of a step: what comes back is then a multiple of I."""
    uses = graph.uses(step.name)
    return step.name != graph.output and all(use.op.name == "trace" for use in uses)


_PARTS_OF = {
    "eigenvalues": ("eigh", 0), "eigenvectors": ("eigh", 1), "singular_values": ("svd", 0),
    "left_singular": ("svd", 1), "right_singular": ("svd", 2),
}  # fmt: skip
"""By function: the decomposition that gives the same, and which of its outputs it is."""


def _with_known(graph: Graph, tree: ast.expr) -> ast.expr:
    """The parts of a decomposition by the names that the forward has given them."""
    if all(step.part is None for step in graph.steps):
        return tree
    known: dict[str, str] = {}
    for step in graph.steps:
        own = step.forward
        known[trees.text_of(own)] = step.name
        if isinstance(own, ast.Call) and trees.called(own) in _PARTS_OF:
            function, place = _PARTS_OF[trees.called(own)]
            whole = ast.Subscript(trees.call(function, *own.args), ast.Constant(place))
            known[trees.text_of(whole)] = step.name
    return trees.renamed_parts(tree, known)


def _summed(step: Step, parameter: str, formula: ast.expr) -> ast.expr:
    """Summed over the axes along which the value was repeated."""
    full = formula_shape(step.op, step.call, parameter)
    return summed_back(formula, full, step.call.shapes[parameter])


@dataclass(frozen=True)
class Way:
    """What reaches each value, composed by one set of rules."""

    space: Space
    reached: Mapping[str, list[Value]]
    quotients: list[Quotient]
    """The steps that are one thing over another, where all steps are written over the inputs."""


def composed(
    graph: Graph, rules: Mapping[str, Rule], fused: dict[str, str], *, inline: bool
) -> Way:
    """What reaches each value, in index notation; `inline`: over the inputs alone."""
    space = Space()
    known: dict[str, Value | Any] = {n: tensor(n, s) for n, s in graph.inputs.items()}
    for step in graph.steps:
        known[step.name] = tensor(step.name, step.shape)
        if inline:
            known[step.name] = Translation(space, known, rules).value(step.forward)
    known["G"] = tensor("G", graph.shapes[graph.output])
    reached: dict[str, list[Value]] = {}
    for step in reversed(graph.steps):
        if step.name in fused and fused[step.name] != step.name:
            continue
        if step.name != graph.output:
            if step.name not in reached:
                continue
            known[bar(graph, step.name)] = added(space, reached[step.name])
        for target, tree in _fused_contributions(graph, step, fused):
            reached.setdefault(target, []).append(Translation(space, known, rules).value(tree))
    return Way(space, reached, _quotients(graph, known, space) if inline else [])


def _quotients(graph: Graph, known: Mapping[str, Value | Any], space: Space) -> list[Quotient]:
    found: list[Quotient] = []
    for step in graph.steps:
        if any(mark in trees.text_of(step.forward) for mark in ("/", "sqrt")):
            indices = space.axes(step.shape)
            with contextlib.suppress(NotDerivable):
                made = quotient(step.name, known[step.name].at(indices), indices, space)
                found += [] if made is None else [made]
    return found


def added(space: Space, values: list[Value]) -> Value:
    """The sum of arrays."""
    names = {f"part{i}": value for i, value in enumerate(values)}
    return Translation(space, names).value(" + ".join(names))


def fusion(graph: Graph) -> dict[str, str]:
    """By elementwise step: the step that ends its chain of scalar functions."""
    roots: dict[str, str] = {}
    for step in reversed(graph.steps):
        if not is_elementwise(step.op) or not can_fuse(step.forward):
            continue
        consumers = {used.name for used in graph.uses(step.name)}
        ends = {roots.get(consumer) for consumer in consumers}
        end = next(iter(ends)) if len(ends) == 1 and step.name != graph.output else None
        roots[step.name] = end or step.name
    return roots


def _fused_contributions(
    graph: Graph, step: Step, fused: dict[str, str]
) -> list[tuple[str, ast.expr]]:
    members = {name for name, root in fused.items() if root == step.name}
    if len(members) < 2:
        return contributions(graph, step)
    whole = step.forward
    for inner in reversed(graph.steps):
        if inner.name in members and inner.name != step.name:
            whole = trees.substitute(whole, {inner.name: inner.forward})
    found = []
    for leaf in sorted(trees.names_in(whole) & set(graph.shapes)):
        slope = derivative(whole, leaf)
        tree: ast.expr = ast.BinOp(ast.Name(bar(graph, step.name)), ast.Mult(), slope)
        found.append((leaf, summed_back(tree, step.shape, graph.shapes[leaf])))
    return found
