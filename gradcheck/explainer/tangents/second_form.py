"""Closed forms along a direction: the output's change, the Hessian times it, the Hessian."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

from gradcheck.explainer import trees
from gradcheck.explainer.calculus.einstein import NotDerivable, differentiate, mentions, walk
from gradcheck.explainer.calculus.indices import Index, Space
from gradcheck.explainer.calculus.simplify import simplify
from gradcheck.explainer.calculus.sum_rules import SUM_RULES
from gradcheck.explainer.calculus.translate import OPEN_RULES, Translation
from gradcheck.explainer.calculus.values import Rule, Value, tensor
from gradcheck.explainer.derive.chain import Closed, adjoints, bar
from gradcheck.explainer.derive.gradient_steps import partial
from gradcheck.explainer.formula.matrix_form import formula_of
from gradcheck.explainer.formula.sums_and_products import NoMatrixForm
from gradcheck.explainer.tangents.tangent_chain import (
    Change,
    adjoint_changes,
    dot,
    step_changes,
)
from gradcheck.explainer.time_limit import TookTooLong, limited_work

if TYPE_CHECKING:
    import ast
    from collections.abc import Mapping, Sequence

    from gradcheck.explainer.calculus.einstein import Node
    from gradcheck.explainer.derive.call_graph import Graph

__all__ = ["Block", "changed_output", "hessian_block", "hessian_product"]

FORM_SECONDS = 3.0
"""What may be spent on putting one of these together."""
LONGEST_FORM = 320
"""Characters of a formula that helps; a longer one is read from the steps."""
LARGEST_HESSIAN = 36
"""Elements of a block that is written out."""


@dataclass(frozen=True)
class Block:
    """∂²L/∂x∂y, element by element."""

    row: str
    column: str
    node: Node
    at: tuple[Index, ...]
    other: tuple[Index, ...]


def changed_output(graph: Graph, moving: Sequence[str]) -> Closed | None:
    """The change of the output in one formula; None where the calculus has none that helps."""
    changes = step_changes(graph, moving)
    if not changes.reach(graph.output):
        return None
    return _shortest(graph, moving, changes.lines, graph.output, graph.shapes[graph.output])


def hessian_product(graph: Graph, name: str, moving: Sequence[str]) -> Closed | None:
    """The Hessian times the direction, its part for one input, in one formula."""
    back, of = adjoint_changes(graph, moving), bar(graph, name)
    if not back.reach(of):
        return None
    changes = (*step_changes(graph, moving).lines, *back.lines)
    return _shortest(graph, moving, changes, of, graph.inputs[name])


def _shortest(
    graph: Graph, moving: Sequence[str], changes: Sequence[Change], of: str, shape: tuple[int, ...]
) -> Closed | None:
    found: list[Closed] = []
    with contextlib.suppress(TookTooLong), limited_work(FORM_SECONDS):
        for rules in (SUM_RULES, OPEN_RULES):
            for inline in (True, False):
                with contextlib.suppress(Exception):  # the steps are there
                    found.append(_formed(graph, moving, changes, of, shape, rules, inline=inline))
            if any(form.formula is not None for form in found):
                break
    short = [form for form in found if form.formula is not None and _size(form) <= LONGEST_FORM]
    if short:
        return min(short, key=_size)
    plain = [form for form in found if sum(1 for _ in walk(form.node)) <= LONGEST_FORM // 8]
    return plain[0] if plain else None


def _size(form: Closed) -> int:
    return len(trees.text_of(form.formula)) if form.formula is not None else 0


def _formed(
    graph: Graph,
    moving: Sequence[str],
    changes: Sequence[Change],
    of: str,
    shape: tuple[int, ...],
    rules: Mapping[str, Rule],
    *,
    inline: bool,
    space: Space | None = None,
) -> Closed:
    space = Space() if space is None else space
    known: dict[str, Value | Any] = {n: tensor(n, s) for n, s in graph.inputs.items()}
    known |= {dot(n): tensor(dot(n), graph.inputs[n]) for n in moving}
    known["G"] = tensor("G", graph.shapes[graph.output])

    def value(tree: ast.expr) -> Value:
        return Translation(space, known, rules).value(tree)

    for step in graph.steps:
        known[step.name] = tensor(step.name, step.shape)
        if inline:
            known[step.name] = value(step.forward)
    for adjoint in adjoints(graph):
        known[bar(graph, adjoint.name)] = value(adjoint.tree)
    for change in changes:
        known[dot(change.of)] = value(change.tree)
    indices = space.axes(shape)
    node = simplify(known[dot(of)].fitted(indices), space)
    try:
        formula: ast.expr | None = formula_of(node, indices, space)
    except NoMatrixForm:
        formula = None
    named = tuple(step.name for step in graph.steps if mentions(node, step.name))
    return Closed(of, node, indices, formula, named)


def hessian_block(graph: Graph, row: str, column: str) -> Block | None:
    """∂²L/∂row∂column, element by element, where it is small; None where no rule leads to it."""
    if prod(graph.inputs[row]) * prod(graph.inputs[column]) > LARGEST_HESSIAN:
        return None
    moving, of = (column,), bar(graph, row)
    back = adjoint_changes(graph, moving)
    if not back.reach(of):
        return None
    changes = (*step_changes(graph, moving).lines, *back.lines)
    with contextlib.suppress(TookTooLong), limited_work(FORM_SECONDS):
        for inline in (True, False):
            with contextlib.suppress(NotDerivable, KeyError, TypeError, ValueError, RecursionError):
                return _block(graph, row, column, changes, inline=inline)
    return None


def _block(
    graph: Graph, row: str, column: str, changes: Sequence[Change], *, inline: bool
) -> Block:
    shape, of = graph.inputs[row], bar(graph, row)
    space = Space()
    form = _formed(graph, (column,), changes, of, shape, OPEN_RULES, inline=inline, space=space)
    other = space.axes(graph.inputs[column])
    raw = differentiate(form.node, dot(column), other, partial)
    node = simplify(raw, space)
    if sum(1 for _ in walk(node)) > LONGEST_FORM // 2:
        raise NotDerivable("too long to be read")
    return Block(row, column, node, form.indices, other)
