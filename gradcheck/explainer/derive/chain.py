"""Reverse mode over an expression: adjoints step by step, then a closed form of each gradient."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.explainer import trees
from gradcheck.explainer.calculus.einstein import (
    Array,
    Grid,
    Node,
    NotDerivable,
    mentions,
    walk,
)
from gradcheck.explainer.calculus.folding import folded
from gradcheck.explainer.calculus.found_softmax import with_shares
from gradcheck.explainer.calculus.scalar import NotScalar, load_sympy
from gradcheck.explainer.calculus.simplify import joined_terms, terms_of
from gradcheck.explainer.calculus.sum_rules import SUM_RULES
from gradcheck.explainer.calculus.translate import OPEN_RULES
from gradcheck.explainer.derive.composition import Way, added, bar, composed, contributions, fusion
from gradcheck.explainer.derive.drawn_point import domains_to_try, drawn
from gradcheck.explainer.derive.joined_parts import joined_parts
from gradcheck.explainer.derive.known_factors import (
    squared_again,
    with_matrices_given,
    without_factors,
    written_over,
)
from gradcheck.explainer.formula.matrix_form import formula_of, without_indices
from gradcheck.explainer.formula.same_way import same_way_round
from gradcheck.explainer.formula.sums_and_products import NoMatrixForm
from gradcheck.explainer.time_limit import TookTooLong, limited_work
from gradcheck.ops.declaration import ANYWHERE

if TYPE_CHECKING:
    import ast
    from collections.abc import Mapping

    from gradcheck.explainer.calculus.indices import Index, Space
    from gradcheck.explainer.derive.call_graph import Graph

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
        return joined_parts([part.tree for part in self.parts])


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


def adjoints(graph: Graph) -> tuple[Adjoint, ...]:
    """From the output back to the inputs."""
    parts: dict[str, list[Contribution]] = {}
    found: list[Adjoint] = []
    for step in reversed(graph.steps):
        if step.name != graph.output:
            if step.name not in parts:
                continue
            found.append(Adjoint(step.name, tuple(parts[step.name])))
        for name, tree in contributions(graph, step):
            parts.setdefault(name, []).append(Contribution(step.name, tree))
    found += [Adjoint(name, tuple(parts[name])) for name in graph.inputs if name in parts]
    return tuple(found)


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
SAME_WITHIN = 1e-9
"""Rounding granted where it is asked whether two formulas are the same."""
MUCH_SHORTER = 0.8
"""A name has to take away so much of a formula, or it is not worth to look it up."""
LONGER_OPENED = 2
"""So many times as much may be read where no function of whole arrays is left in the elements."""
LONGEST_FORMULA = 240
"""A formula longer than this is easier to read with the steps named."""


def closed_form(graph: Graph, name: str) -> Closed | None:
    """The gradient of an input in one formula; None where the calculus cannot compose it."""
    return ClosedForms(graph).of(name)


class ClosedForms:
    """The closed forms of an expression: what its inputs share is computed once."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.ways: dict[tuple[bool, bool, bool], Way] = {}

    def of(self, name: str) -> Closed | None:
        """The gradient of an input in one formula; None where the calculus cannot compose it."""
        if (found := self._over_the_matrix(name)) is not None:
            return found
        roots = fusion(self.graph)
        if len({*roots.values()}) < len(roots):
            load_sympy()
        # Functions that move elements stay closed, so that the formula can do without indices;
        # where it cannot, they are written with indices if that is no longer.
        found = None
        with contextlib.suppress(TookTooLong), limited_work(CLOSED_SECONDS):
            found = self._best(name, opened=False)
            if found is None or found.formula is None or not without_indices(found.formula):
                found = _easier(found, self._best(name, opened=True))
            elif any(isinstance(part, Array) for part in walk(found.node)):
                found = _element_by_element(found, self._best(name, opened=True))
        return found

    def _over_the_matrix(self, name: str) -> Closed | None:
        """Without the Cholesky factors that it is computed by, where that is no other gradient."""
        for graph in (self.graph, with_matrices_given(self.graph)):
            with contextlib.suppress(TookTooLong, Exception), limited_work(CLOSED_SECONDS):
                over = without_factors(graph) if graph is not None else None
                if over is not None:
                    form = _written(self.graph, name, *written_over(over, name))
                    if form.formula is not None:
                        form = replace(form, formula=squared_again(form.formula))
                        if _size(form) <= LONGEST_FORMULA and is_the_same(self.graph, form):
                            return form
        return None

    def of_matrices(self) -> dict[str, Closed]:
        """By step that is a matrix which is factored: what comes back to it, if that is short."""
        given = with_matrices_given(self.graph)
        if given is None:
            return {}
        own, names = ClosedForms(given), given.inputs.keys() - self.graph.inputs.keys()
        found = {name: own._over_the_matrix(name) for name in sorted(names)}
        return {name: form for name, form in found.items() if form is not None}

    def _best(self, name: str, *, opened: bool) -> Closed | None:
        """By one set of rules, over the inputs alone if that is not too long."""
        found: list[Closed] = []
        for inline in (True, False):
            form = self._tried(name, opened=opened, inline=inline)
            if form is not None and inline:
                form = self._with_quotients(form, opened=opened)
            if form is not None and 0 < _size(form) <= LONGEST_FORMULA:
                return form
            found += [] if form is None else [form]
        return min(found, key=lambda form: _weight(form.node), default=None)

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

    def _with_quotients(self, form: Closed, *, opened: bool) -> Closed:
        """The form with the names of normalised steps, where it is much shorter with them."""
        way = next(way for key, way in self.ways.items() if key[0] == opened and key[2])
        if not any(step.below for step in way.quotients):
            return form
        terms = folded(terms_of(form.node, way.space), way.quotients)
        node = joined_terms(terms)
        shorter = _written(self.graph, form.name, node, form.indices, way.space)
        much = 0 < _size(shorter) < MUCH_SHORTER * _size(form)
        return shorter if much and shorter.steps else form

    def _way(self, opened: bool, fused: bool, inline: bool) -> Way:
        key = (opened, fused, inline)
        if key not in self.ways:
            rules = OPEN_RULES if opened else SUM_RULES
            roots = fusion(self.graph) if fused else {}
            self.ways[key] = composed(self.graph, rules, roots, inline=inline)
        return self.ways[key]


def is_the_same(graph: Graph, form: Closed) -> bool:
    """Whether a formula is what the steps say, at a point where they are defined."""
    for tried in domains_to_try(graph):
        values = {n: drawn(tried.get(n, ANYWHERE), s, n, 0) for n, s in graph.inputs.items()}
        upstream = drawn(ANYWHERE, graph.shapes[graph.output], "G", 0)
        known = run_chain(graph, values, upstream)
        wanted = np.asarray(known[bar(graph, form.name)])
        if np.isfinite(wanted).all():
            return form.formula is not None and np.allclose(
                trees.run(form.formula, known), wanted, rtol=SAME_WITHIN, atol=SAME_WITHIN
            )
    return False


def _easier(closed: Closed | None, opened: Closed | None) -> Closed | None:
    """The one with less to read; the code of what stays closed is kept beside its elements."""
    if closed is None or opened is None or _weight(opened.node) > _weight(closed.node):
        return closed or opened
    keeps = opened.formula is None and closed.formula is not None and not closed.steps
    return replace(opened, formula=closed.formula) if keeps else opened


def _element_by_element(closed: Closed, opened: Closed | None) -> Closed:
    """The closed form, its elements without functions of whole arrays, if that is no longer."""
    if opened is None or _weight(opened.node) > LONGER_OPENED * _weight(closed.node):
        return closed
    if any(isinstance(part, Array) for part in walk(opened.node)):
        return closed
    steps = tuple(dict.fromkeys((*closed.steps, *opened.steps)))
    return replace(opened, formula=closed.formula, steps=steps)


def _weight(node: Node) -> int:
    """How much there is to read, what functions of whole arrays are given among it."""
    arrays = [part for part in walk(node) if isinstance(part, Array)]
    given = [arg for array in arrays for arg in array.args]
    inside = sum(_weight(arg.body) if isinstance(arg, Grid) else 1 for arg in given)
    return inside + sum(1 for _ in walk(node))


def _size(form: Closed) -> int:
    """The letters of the formula without indices; 0 where there is none."""
    return len(trees.text_of(form.formula)) if form.formula is not None else 0


def _closed(graph: Graph, name: str, way: Way) -> Closed:
    if name not in way.reached:
        raise NotDerivable(name)
    space = way.space
    value = added(space, way.reached[name])
    indices = space.axes(graph.inputs[name])
    terms = with_shares(terms_of(value.fitted(indices), space))
    return _written(graph, name, joined_terms(terms), indices, space)


def _written(
    graph: Graph, name: str, node: Node, indices: tuple[Index, ...], space: Space
) -> Closed:
    try:
        formula: ast.expr | None = same_way_round(formula_of(node, indices, space))
    except NoMatrixForm:
        formula = None
    named = tuple(step.name for step in graph.steps if mentions(node, step.name))
    return Closed(name, node, indices, formula, named)
