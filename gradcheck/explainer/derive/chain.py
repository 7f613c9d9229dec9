"""Reverse mode over an expression: adjoints step by step, then a closed form of each gradient."""

from __future__ import annotations

import ast
import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gradcheck.explainer import trees
from gradcheck.explainer.calculus.einstein import Node, NotDerivable, mentions, walk
from gradcheck.explainer.calculus.indices import Index, Space
from gradcheck.explainer.calculus.scalar import NotScalar, can_fuse, derivative
from gradcheck.explainer.calculus.simplify import simplify
from gradcheck.explainer.calculus.sum_rules import SUM_RULES
from gradcheck.explainer.calculus.translate import OPEN_RULES, Translation
from gradcheck.explainer.calculus.values import Rule, Value, tensor
from gradcheck.explainer.formula.broadcasting import formula_shape, is_elementwise
from gradcheck.explainer.formula.matrix_form import formula_of
from gradcheck.explainer.formula.sums_and_products import NoMatrixForm
from gradcheck.explainer.time_limit import TookTooLong, limited

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gradcheck.explainer.derive.call_graph import Graph, Step

__all__ = [
    "Adjoint",
    "Closed",
    "ClosedForms",
    "Contribution",
    "adjoints",
    "bar",
    "closed_form",
    "run_chain",
]


@dataclass(frozen=True)
class Contribution:
    """What one use of a value brings back to it."""

    step: str
    tree: ast.expr


@dataclass(frozen=True)
class Adjoint:
    """The gradient that reaches a value: the sum over its uses."""

    name: str
    parts: tuple[Contribution, ...]

    @property
    def tree(self) -> ast.expr:
        """The sum as one formula."""
        return trees.added([part.tree for part in self.parts])


@dataclass(frozen=True)
class Closed:
    """The gradient of one input in one formula."""

    name: str
    node: Node
    indices: tuple[Index, ...]
    formula: ast.expr | None
    """Without indices, where that can be written."""
    steps: tuple[str, ...]
    """The steps that are named in it; none where it is written over the inputs alone."""


def bar(graph: Graph, name: str) -> str:
    """The name of the gradient that reaches a value."""
    return "G" if name == graph.output else f"{name}_bar"


def adjoints(graph: Graph) -> tuple[Adjoint, ...]:
    """From the output back to the inputs."""
    parts: dict[str, list[Contribution]] = {}
    found: list[Adjoint] = []
    for step in reversed(graph.steps):
        if step.name != graph.output:
            if step.name not in parts:
                continue
            found.append(Adjoint(step.name, tuple(parts[step.name])))
        for name, tree in _contributions(graph, step):
            parts.setdefault(name, []).append(Contribution(step.name, tree))
    found += [Adjoint(name, tuple(parts[name])) for name in graph.inputs if name in parts]
    return tuple(found)


def _contributions(graph: Graph, step: Step) -> list[tuple[str, ast.expr]]:
    formulas = step.op.formulas(step.call)
    upstream, out = step.around(ast.Name(bar(graph, step.name)))
    found = []
    for parameter, value in step.differentiable.items():
        if parameter in formulas:
            formula = trees.picked(step.filled(formulas[parameter], G=upstream, out=out))
            found.append((value, _summed(step, parameter, formula)))
    return found


def _summed(step: Step, parameter: str, formula: ast.expr) -> ast.expr:
    """Summed over the axes along which the value was repeated."""
    shape = step.call.shapes[parameter]
    if formula_shape(step.op, step.call, parameter) == shape:
        return formula
    return trees.call("unbroadcast", formula, trees.read(repr(list(shape))))


def run_chain(graph: Graph, values: Mapping[str, Any], upstream: Any) -> dict[str, Any]:
    """Every step and every adjoint, by name, computed by the formulas as they are shown."""
    known: dict[str, Any] = dict(values)
    for step in graph.steps:
        known[step.name] = trees.run(step.forward, known)
    known["G"] = upstream
    for adjoint in adjoints(graph):
        known[bar(graph, adjoint.name)] = trees.run(adjoint.tree, known)
    return known


CLOSED_SECONDS = 6.0
"""What may be spent on putting the gradient of an input together; usually it is hundredths."""
LONGEST_FORMULA = 240
"""A formula longer than this is easier to read with the steps named."""


def closed_form(graph: Graph, name: str) -> Closed | None:
    """The gradient of an input in one formula; None where the calculus cannot compose it."""
    return ClosedForms(graph).of(name)


class ClosedForms:
    """The closed forms of an expression: what its inputs share is computed once."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.ways: dict[tuple[bool, bool, bool], _Way] = {}

    def of(self, name: str) -> Closed | None:
        """The gradient of an input in one formula; None where the calculus cannot compose it."""
        found: list[Closed] = []
        # Functions that move elements stay closed, so that the formula can do without indices;
        # where one of them stands in the way, they are written with indices.
        with contextlib.suppress(TookTooLong), limited(CLOSED_SECONDS):
            for opened in (False, True):
                for inline in (True, False):
                    form = self._tried(name, opened=opened, inline=inline)
                    if form is not None and 0 < _size(form) <= LONGEST_FORMULA:
                        return form
                    found += [] if form is None else [form]
                if found:
                    break
        if not found:
            return None
        return min(found, key=lambda form: sum(1 for _ in walk(form.node)))

    def _tried(self, name: str, *, opened: bool, inline: bool) -> Closed | None:
        """The closed form by one set of rules; None where they do not lead to one.

        Where SymPy does not differentiate chains of functions as a whole, they are taken step by
        step.
        """
        for fused in (True, False):
            try:
                return _closed(self.graph, name, self._way(opened, fused, inline))
            except NotScalar:
                continue
            except Exception:  # numbers beyond all bounds, formulas too long: the steps are there
                return None
        return None

    def _way(self, opened: bool, fused: bool, inline: bool) -> _Way:
        key = (opened, fused, inline)
        if key not in self.ways:
            rules = OPEN_RULES if opened else SUM_RULES
            roots = _fusion(self.graph) if fused else {}
            self.ways[key] = _composed(self.graph, rules, roots, inline=inline)
        return self.ways[key]


def _size(form: Closed) -> int:
    """The letters of the formula without indices; 0 where there is none."""
    return len(trees.text_of(form.formula)) if form.formula is not None else 0


@dataclass(frozen=True)
class _Way:
    """What reaches each value, composed by one set of rules."""

    space: Space
    reached: Mapping[str, list[Value]]


def _composed(
    graph: Graph, rules: Mapping[str, Rule], fused: dict[str, str], *, inline: bool
) -> _Way:
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
            known[bar(graph, step.name)] = _added(space, reached[step.name])
        for target, tree in _fused_contributions(graph, step, fused):
            reached.setdefault(target, []).append(Translation(space, known, rules).value(tree))
    return _Way(space, reached)


def _closed(graph: Graph, name: str, way: _Way) -> Closed:
    if name not in way.reached:
        raise NotDerivable(name)
    space = way.space
    value = _added(space, way.reached[name])
    indices = space.axes(graph.inputs[name])
    node = simplify(value.fitted(indices), space)
    try:
        formula: ast.expr | None = formula_of(node, indices, space)
    except NoMatrixForm:
        formula = None
    named = tuple(step.name for step in graph.steps if mentions(node, step.name))
    return Closed(name, node, indices, formula, named)


def _added(space: Space, values: list[Value]) -> Value:
    names = {f"part{i}": value for i, value in enumerate(values)}
    return Translation(space, names).value(" + ".join(names))


def _fusion(graph: Graph) -> dict[str, str]:
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
        return _contributions(graph, step)
    whole = step.forward
    for inner in reversed(graph.steps):
        if inner.name in members and inner.name != step.name:
            whole = trees.substitute(whole, {inner.name: inner.forward})
    found = []
    for leaf in sorted(trees.names_in(whole) & set(graph.shapes)):
        slope = derivative(whole, leaf)
        tree: ast.expr = ast.BinOp(ast.Name(bar(graph, step.name)), ast.Mult(), slope)
        if graph.shapes[leaf] != step.shape:
            tree = trees.call("unbroadcast", tree, trees.read(repr(list(graph.shapes[leaf]))))
        found.append((leaf, tree))
    return found
