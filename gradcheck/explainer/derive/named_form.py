"""Gradients that nobody would read as one formula, with names for what comes back on the way.

A textbook writes the gradient of an LSTM by the deltas of its gates, that of attention by the one
of its scores. So does this: the chain rule is followed from the output back, each line put together
as far as it stays short, and what is used twice, or is long, keeps its name. Every line can be
executed, those before it first. Without it `test_what_is_long_is_read_in_lines` fails.
"""

from __future__ import annotations

import ast
import contextlib
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from gradcheck.explainer import trees
from gradcheck.explainer.calculus.einstein import walk
from gradcheck.explainer.calculus.indices import Space
from gradcheck.explainer.calculus.simplify import simplify
from gradcheck.explainer.calculus.sum_rules import SUM_RULES
from gradcheck.explainer.calculus.translate import Translation
from gradcheck.explainer.calculus.values import Value, tensor
from gradcheck.explainer.derive.chain import ClosedForms, adjoints, bar
from gradcheck.explainer.formula.matrix_form import formula_of, without_indices
from gradcheck.explainer.formula.same_way import same_way_round
from gradcheck.explainer.time_limit import TookTooLong, limited_work

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from gradcheck.explainer.derive.call_graph import Graph
    from gradcheck.explainer.derive.chain import Adjoint, Closed

__all__ = ["NamedForm", "in_lines", "lines_of", "run_named"]

READABLE = 300
"""Characters of a closed form that may stand as one formula."""
PER_PART = 20
"""Characters of one that is written by elements: so many for each of its parts, which have indices
of their own."""
PER_SCALING = 40
"""Characters more for each diagonal matrix: what a vector does to rows is easier to read."""
WORTH_NAMES = 0.75
"""A line, or the number of them, has to be so much less than what there is without names."""

LONG_LINE = 120
"""Characters of a line that is long enough: what goes on from there has a name for it."""
NO_NAME = 24
"""Characters of what is written again wherever it is used."""
LINE_SECONDS = 0.5
"""What may be spent on putting one line together; else it is as the page has it."""


@dataclass(frozen=True)
class NamedForm:
    """The gradient of one input: the lines that it is made of, and itself."""

    name: str
    formula: ast.expr
    lines: Mapping[str, ast.expr]
    """By step: what comes back to it."""
    steps: tuple[str, ...]
    """The steps of the forward that are named."""
    without: int
    """How many lines there are on the way back if each has its own."""

    @property
    def longest(self) -> int:
        """The characters of its longest line."""
        return max(len(trees.text_of(tree)) for tree in (*self.lines.values(), self.formula))


def run_named(graph: Graph, form: NamedForm, known: Mapping[str, Any]) -> Any:
    """Its value, by its own lines."""
    values = dict(known)
    for name, tree in form.lines.items():
        values[bar(graph, name)] = trees.run(tree, values)
    return trees.run(form.formula, values)


@dataclass
class _Line:
    """What comes back to one value."""

    name: str
    formula: ast.expr
    value: Value | None
    """In index notation, over what has a name; None where the calculus has no word for it."""
    used: set[str] = field(default_factory=set)

    @property
    def size(self) -> int:
        return len(trees.text_of(self.formula))


def in_lines(graph: Graph, name: str, form: Closed | None) -> NamedForm | None:
    """The gradient of an input by lines; None where one formula, or the steps, are as easy to read.

    Args:
        graph: the expression.
        name: the input.
        form: its closed form, if there is one.
    """
    size = _size(form) if form is not None else None
    if size is not None and size <= READABLE:
        return None
    found = _forms(_Same(graph)).of(name)
    if found is None:
        return None
    if size is None:
        return found if len(found.lines) < WORTH_NAMES * found.without else None
    return found if found.longest < WORTH_NAMES * size else None


def lines_of(graph: Graph, names: Iterable[str]) -> list[NamedForm]:
    """Gradients by lines, whether they are long or not."""
    forms = _forms(_Same(graph))
    return [form for name in names if (form := forms.of(name)) is not None]


def _size(form: Closed) -> int:
    formula = form.formula
    if formula is not None and (without_indices(formula) or not form.indices):
        text = trees.text_of(formula)
        return len(text) + PER_SCALING * text.count("diag(")
    return PER_PART * sum(1 for _ in walk(form.node))


class _Same:
    """A graph that is the same as itself alone: two of the same text may have other steps."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph

    def __hash__(self) -> int:
        return id(self.graph)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.graph is self.graph


def _read_there(tree: ast.expr) -> set[str]:
    """The names that are read in a formula; the shapes of others are not written."""
    if trees.called(tree) == "shape":
        return set()
    own = {tree.id} if isinstance(tree, ast.Name) else set()
    parts = (part for part in ast.iter_child_nodes(tree) if isinstance(part, ast.expr))
    return own.union(*map(_read_there, parts))


@lru_cache(maxsize=8)
def _forms(same: _Same) -> _Forms:
    return _Forms(same.graph, adjoints(same.graph))


class _Forms:
    """The gradients of an expression by lines; what its inputs share is put together once."""

    def __init__(self, graph: Graph, found: Sequence[Adjoint]) -> None:
        """Nothing is put together yet.

        Args:
            graph: the expression.
            found: what comes back, from the output to the inputs.
        """
        self._graph, self._found = graph, found
        self._space = Space()
        self._open: dict[str, _Line] = {}
        """By name of what comes back: what is written where it is used."""
        self._named: dict[str, ast.expr] = {}
        """By name of what comes back: its own line."""
        self._steps = {bar(graph, step.name): step.name for step in graph.steps}

    def of(self, name: str) -> NamedForm | None:
        """The gradient of an input; None where nothing comes back to it."""
        formula = self._results.get(name)
        if formula is None:
            return None
        needed = trees.names_in(formula)
        order = [bar(self._graph, adjoint.name) for adjoint in self._found]
        for own in reversed(order):
            if own in needed and own in self._named:
                needed |= trees.names_in(self._named[own])
        lines = {
            self._steps[own]: self._named[own]
            for own in order
            if own in needed and own in self._named
        }
        shown = set().union(*map(_read_there, (*lines.values(), formula)))
        steps = tuple(step.name for step in self._graph.steps if step.name in shown)
        return NamedForm(name, formula, lines, steps, self._without(name))

    def _without(self, name: str) -> int:
        """How many lines of the page an input's gradient is made of."""
        needed = {bar(self._graph, name)}
        count = 0
        for adjoint in reversed(self._found):
            if bar(self._graph, adjoint.name) in needed:
                needed |= trees.names_in(adjoint.tree)
                count += 1
        return count

    @cached_property
    def _results(self) -> dict[str, ast.expr]:
        """By input: its gradient."""
        uses: dict[str, int] = {}
        for adjoint in self._found:
            for name in trees.names_in(adjoint.tree):
                uses[name] = uses.get(name, 0) + 1
        found: dict[str, ast.expr] = {}
        matrices = ClosedForms(self._graph).of_matrices()
        for adjoint in self._found:
            known = matrices.get(adjoint.name)
            if known is not None and known.formula is not None:
                self._named[bar(self._graph, adjoint.name)] = known.formula
                continue
            line = self._line(adjoint)
            if line.size > LONG_LINE:
                line = self._with_names(adjoint, line)
            if adjoint.name in self._graph.inputs:
                found[adjoint.name] = line.formula
                continue
            own = bar(self._graph, adjoint.name)
            again = uses.get(own, 0) > 1 and line.size > NO_NAME
            if again or line.size > LONG_LINE or line.value is None:
                self._named[own] = line.formula
            else:
                self._open[own] = line
        return found

    def _with_names(self, adjoint: Adjoint, line: _Line) -> _Line:
        """The line, whose parts get names until it is short."""
        parts = [self._open[own] for own in sorted(line.used) if self._open[own].size > NO_NAME]
        for part in sorted(parts, key=lambda part: -part.size):
            own = bar(self._graph, part.name)
            self._named[own] = part.formula
            del self._open[own]
            line = self._line(adjoint)
            if line.size <= LONG_LINE:
                break
        return line

    def _line(self, adjoint: Adjoint) -> _Line:
        """What comes back to a value, over what has a name."""
        used = trees.names_in(adjoint.tree) & self._open.keys()
        plain = trees.substitute(adjoint.tree, {own: self._open[own].formula for own in used})
        line = _Line(adjoint.name, trees.picked(plain), None, used)
        # What TookTooLong ends may be half done: the line as it was is whole.
        with contextlib.suppress(TookTooLong, Exception), limited_work(LINE_SECONDS):
            line = self._put_together(adjoint, line)
        return line

    def _put_together(self, adjoint: Adjoint, plain: _Line) -> _Line:
        graph, space = self._graph, self._space
        shapes = {**graph.shapes, "G": graph.shapes[graph.output]}
        shapes |= {bar(graph, name): shape for name, shape in graph.shapes.items()}
        known: dict[str, Value | Any] = {name: tensor(name, s) for name, s in shapes.items()}
        known |= {own: self._open[own].value for own in plain.used}
        value = Translation(space, known, SUM_RULES).value(adjoint.tree)
        indices = space.axes(graph.shapes[adjoint.name])
        node = simplify(value.fitted(indices), space)
        found = replace(plain, value=value)
        formula = same_way_round(formula_of(node, indices, space))
        if without_indices(formula) and len(trees.text_of(formula)) <= plain.size:
            return replace(found, formula=formula)
        return found
