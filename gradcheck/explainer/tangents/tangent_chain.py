"""The steps of a graph and their adjoints along a direction: lines that can be executed.

Forward mode carries a change through the steps, v̇ = J·ẋ. What the adjoints change by in the same
move is the Hessian times the direction, when it reaches an input (forward over reverse).
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from gradcheck.explainer import trees
from gradcheck.explainer.derive.chain import adjoints, bar
from gradcheck.explainer.derive.passed_through import STOPPED
from gradcheck.explainer.formula.broadcasting import is_elementwise
from gradcheck.explainer.tangents.tree_tangent import NoTangent, tangent

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from gradcheck.explainer.derive.call_graph import Graph, Step
    from gradcheck.explainer.derive.chain import Adjoint

__all__ = ["Change", "Changes", "adjoint_changes", "dot", "run_changes", "step_changes"]


@dataclass(frozen=True)
class Change:
    """How one value changes."""

    of: str
    """The value: an input or a step, or the adjoint of one."""
    step: str
    """The input or step that it belongs to."""
    tree: ast.expr


@dataclass(frozen=True)
class Changes:
    """What is derived along a direction, line by line, and what is not."""

    lines: tuple[Change, ...]
    lost: Mapping[str, str]
    """By value that changes in a way that nobody derives: what has no rule; empty where it is made
    of another such value."""

    def reach(self, of: str) -> bool:
        """Whether a line says how this value changes."""
        return any(line.of == of for line in self.lines)

    @property
    def reasons(self) -> tuple[str, ...]:
        """What has no rule."""
        return tuple(dict.fromkeys(why for why in self.lost.values() if why))


def dot(name: str) -> str:
    """The name of a change."""
    return f"{name}_dot"


def step_changes(graph: Graph, moving: Sequence[str]) -> Changes:
    """From the inputs that move to the output; steps that stand still are left out."""
    lines = _Lines({name: ast.Name(dot(name)) for name in moving})
    for step in graph.steps:
        lines.add(step.name, step.name, partial(_of_step, step))
    return lines.changes


class _Lines:
    """Changes, one after the other: what has no rule is lost, and all that is made of it."""

    def __init__(self, moves: dict[str, ast.expr], lost: Collection[str] = ()) -> None:
        self._moves, self._found = moves, list[Change]()
        self._out_of_reach = {dot(name) for name in lost}
        self._lost: dict[str, str] = {}

    def add(
        self, of: str, step: str, derive: Callable[[Mapping[str, ast.expr]], ast.expr | None]
    ) -> None:
        """The line of one value, if there is one."""
        why = ""
        try:
            tree = derive(self._moves)
        except NoTangent as error:
            tree, why = None, str(error)
        if tree is None and not why:
            return
        self._moves[of] = ast.Name(dot(of))
        if tree is not None and not trees.names_in(tree) & self._out_of_reach:
            self._found.append(Change(of, step, tree))
        else:
            self._lost[of] = why
            self._out_of_reach.add(dot(of))

    @property
    def changes(self) -> Changes:
        return Changes(tuple(self._found), self._lost)


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
        trees.picked(step.filled(formulas[parameter], G=change, out=ast.Name(step.name)))
        for parameter, change in given.items()
    ]
    whole = any(step.call.shapes[parameter] == step.shape for parameter in given)
    total = trees.added(parts)
    shape = trees.read(repr(list(step.shape)))
    return total if whole else trees.call("broadcast_to", total, shape)


def adjoint_changes(graph: Graph, moving: Sequence[str]) -> Changes:
    """What every adjoint changes by, from the output back to the inputs; G is held fixed."""
    forward = step_changes(graph, moving)
    moved = {*forward.lost, *(change.of for change in forward.lines)}
    moves: dict[str, ast.expr] = {name: ast.Name(dot(name)) for name in (*moving, *moved)}
    closed = {s.name: s.op.name for s in graph.steps if s.through is not None and s.name in moves}
    kinds = {step.name: step.op.name for step in graph.steps}
    lines = _Lines(moves, forward.lost)

    def derive(adjoint: Adjoint, moves: Mapping[str, ast.expr]) -> ast.expr | None:
        for part in adjoint.parts:
            if part.step in closed:
                raise NoTangent(f"{closed[part.step]}, of which the Jacobian alone is known,")
        try:
            return tangent(adjoint.tree, moves)
        except NoTangent as why:
            through = ", ".join(dict.fromkeys(kinds[part.step] for part in adjoint.parts))
            raise NoTangent(f"the way back through {through} ({why})") from None

    for adjoint in adjoints(graph):
        lines.add(bar(graph, adjoint.name), adjoint.name, partial(derive, adjoint))
    return lines.changes


def run_changes(changes: Iterable[Change], known: Mapping[str, Any]) -> dict[str, Any]:
    """Every value and every change, by name."""
    values = dict(known)
    for change in changes:
        values[dot(change.of)] = trees.run(change.tree, values)
    return values
