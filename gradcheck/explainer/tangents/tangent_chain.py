"""The steps of a graph and their adjoints along a direction: lines that can be executed.

Forward mode carries a change through the steps, v̇ = J·ẋ. What the adjoints change by in the same
move is the Hessian times the direction, when it reaches an input (forward over reverse).
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gradcheck.explainer import trees
from gradcheck.explainer.derive.chain import adjoints, bar
from gradcheck.explainer.derive.passed_through import STOPPED
from gradcheck.explainer.formula.broadcasting import is_elementwise
from gradcheck.explainer.tangents.tree_tangent import NoTangent, tangent

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gradcheck.explainer.derive.call_graph import Graph, Step

__all__ = ["Change", "adjoint_changes", "dot", "run_changes", "step_changes"]


@dataclass(frozen=True)
class Change:
    """How one value changes."""

    of: str
    """The value: an input or a step, or the adjoint of one."""
    step: str
    """The input or step that it belongs to."""
    tree: ast.expr


def dot(name: str) -> str:
    """The name of a change."""
    return f"{name}_dot"


def step_changes(graph: Graph, moving: Sequence[str]) -> tuple[Change, ...]:
    """From the inputs that move to the output; steps that stand still are left out."""
    moves: dict[str, ast.expr] = {name: ast.Name(dot(name)) for name in moving}
    found = []
    for step in graph.steps:
        tree = _of_step(step, moves)
        if tree is not None:
            moves[step.name] = ast.Name(dot(step.name))
            found.append(Change(step.name, step.name, tree))
    return tuple(found)


def _of_step(step: Step, moves: Mapping[str, ast.expr]) -> ast.expr | None:
    if step.op is STOPPED:
        return None
    symbols = step.through
    given = {p: moves[n] for p, n in step.differentiable.items() if n in moves}
    if symbols is not None:
        parts = [symbols(parameter, change) for parameter, change in given.items()]
        return trees.added(parts) if parts else None
    if is_elementwise(step.op) and given and step.part is None:
        return _elementwise(step, given)
    declared = step.op.tangent_text(step.call)
    needed = trees.names_in(trees.read(declared)) if declared else set()
    if declared and step.part is None and {f"d{p}" for p in given} >= _changes(step, needed):
        more = {f"d{parameter}": change for parameter, change in given.items()}
        return step.filled(declared, out=ast.Name(step.name), **more) if given else None
    try:
        return tangent(step.forward, moves)
    except NoTangent as why:
        raise NoTangent(f"{step.op.name} ({why})") from None


def _changes(step: Step, names: set[str]) -> set[str]:
    """The changes of inputs that a declared text names."""
    return {f"d{parameter}" for parameter in step.operands} & names


def _elementwise(step: Step, given: Mapping[str, ast.expr]) -> ast.expr:
    """The declared slopes, times the changes."""
    formulas = step.op.formulas(step.call)
    parts = [
        step.filled(formulas[parameter], G=change, out=ast.Name(step.name))
        for parameter, change in given.items()
    ]
    whole = any(step.call.shapes[parameter] == step.shape for parameter in given)
    total = trees.added(parts)
    shape = trees.read(repr(list(step.shape)))
    return total if whole else trees.call("broadcast_to", total, shape)


def adjoint_changes(graph: Graph, moving: Sequence[str]) -> tuple[Change, ...]:
    """What every adjoint changes by, from the output back to the inputs; G is held fixed."""
    moves: dict[str, ast.expr] = {name: ast.Name(dot(name)) for name in moving}
    moves |= {c.of: ast.Name(dot(c.of)) for c in step_changes(graph, moving)}
    for step in graph.steps:
        if step.through is not None and step.name in moves:
            raise NoTangent(f"{step.op.name}, of which the Jacobian alone is known")
    found = []
    for adjoint in adjoints(graph):
        try:
            tree = tangent(adjoint.tree, moves)
        except NoTangent as why:
            used = {step.name: step.op.name for step in graph.steps}
            through = ", ".join(dict.fromkeys(used[part.step] for part in adjoint.parts))
            raise NoTangent(f"the way back through {through} ({why})") from None
        if tree is not None:
            name = bar(graph, adjoint.name)
            moves[name] = ast.Name(dot(name))
            found.append(Change(name, adjoint.name, tree))
    return tuple(found)


def run_changes(changes: Sequence[Change], known: Mapping[str, Any]) -> dict[str, Any]:
    """Every value and every change, by name."""
    values = dict(known)
    for change in changes:
        values[dot(change.of)] = trees.run(change.tree, values)
    return values
