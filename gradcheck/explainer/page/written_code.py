"""The gradients of an expression as TensorFlow code: in one formula, else by the lines of the page.

A closed form that the language of TensorFlow has no words for, as of a convolution, is no reason to
print no code: every step has its own, and the chain rule puts them together.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from gradcheck.explainer import trees
from gradcheck.explainer.derive.chain import adjoints, bar
from gradcheck.explainer.derive.composition import contribution, ways_back
from gradcheck.explainer.derive.named_form import NamedForm, in_lines, lines_of
from gradcheck.explainer.derive.typed_constants import with_typed_constants
from gradcheck.explainer.derive.whole_op import as_one_op
from gradcheck.explainer.formula.held_arrays import with_arrays
from gradcheck.explainer.formula.tensorflow_code import tensorflow_code

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from gradcheck.explainer.derive.call_graph import Graph, Step
    from gradcheck.explainer.derive.chain import Closed
    from gradcheck.model import Shape

__all__ = ["all_code", "code_by_lines", "code_of"]


def all_code(graph: Graph, forms: Mapping[str, Closed | None]) -> dict[str, list[str]]:
    """By input: the lines that compute its gradient; none where there are no words for a step."""
    found = {name: code_of(graph, name, form) for name, form in forms.items()}
    lacking = [name for name, lines in found.items() if not lines]
    together, written = code_by_lines(graph, lacking)
    return found | {name: together for name in lacking if name in written}


def code_of(
    graph: Graph,
    name: str,
    form: Closed | None,
    assigned: str = "",
    beside: Mapping[str, Shape] | None = None,
) -> list[str]:
    """The lines that compute a gradient by its closed form; none where there are no such words.

    Args:
        graph: the expression.
        name: the input.
        form: its closed form.
        assigned: the name that the result gets; `dx` for the gradient of x.
        beside: the shapes of names that are neither inputs nor steps.
    """
    if not assigned and (whole := as_one_op(graph)) is not None and whole.formula(name):
        return with_arrays(whole.code(graph, name), graph.given)
    if not assigned and in_lines(graph, name, form) is not None:
        return []
    if form is None or form.formula is None:
        return []
    needed = _needed(graph, set(form.steps))
    if graph.unwritten & trees.names_in(form.formula).union(
        needed, *map(trees.names_in, needed.values())
    ):
        return []
    shapes = _shapes(graph) | dict(beside or {})
    written = {s.name: _source(graph, s) for s in graph.steps if s.name in needed and s.source}
    code = tensorflow_code({**needed, assigned or f"d{name}": form.formula}, shapes, written)
    return [] if code[-1].startswith("#") else with_arrays(code, graph.given)


def code_by_lines(graph: Graph, names: Sequence[str]) -> tuple[list[str], list[str]]:
    """The steps and what comes back to them, line by line; and which of the gradients that gives.

    A gradient is left out where there are no words for one of its lines.
    """
    short, plain = _Lines(graph, lines_of(graph, names)), _Lines(graph)
    given = [name for name in names if plain.gives(name)]
    if not given:
        return [], []
    lines = short if all(map(short.gives, given)) else plain
    return with_arrays(lines.of(given), graph.given), given


class _Lines:
    """What each value is, forward and back, as a formula or as the code that its op declares."""

    def __init__(self, graph: Graph, forms: Iterable[NamedForm] = ()) -> None:
        """All that the page has lines for.

        Args:
            graph: the expression.
            forms: gradients whose lines are put together, in the place of those of the page.
        """
        self.graph = graph
        self.formulas: dict[str, ast.expr] = {}
        self.written: dict[str, str] = {}
        for step in graph.steps:
            self.formulas[step.name] = step.forward
            if step.source:
                self.written[step.name] = _source(graph, step)
        parts: dict[str, list[ast.expr]] = {}
        steps = {step.name: step for step in graph.steps}
        for adjoint in adjoints(graph):
            own = bar(graph, adjoint.name)
            self.formulas[own] = adjoint.tree
            parts[own] = [part.tree for part in adjoint.parts]
            self._declared(own, adjoint.name, steps)
        for form in forms:
            for name, tree in (*form.lines.items(), (form.name, form.formula)):
                self.formulas[bar(graph, name)] = tree
                self.written.pop(bar(graph, name), None)

    def _declared(self, own: str, name: str, steps: Mapping[str, Step]) -> None:
        """The lines of ops that declare their code, each with a name if there are several."""
        uses = [
            (step, parameter)
            for step in reversed(self.graph.steps)
            if step.name in {*steps} and (step.name == self.graph.output or self._is_reached(step))
            for parameter, value in ways_back(step)
            if value == name
        ]
        codes = [_declared_code(self.graph, step, parameter) for step, parameter in uses]
        if not any(codes):
            return
        names = [own] if len(uses) == 1 else [f"{own}_{i}" for i in range(1, len(uses) + 1)]
        del self.formulas[own]
        for each, (step, parameter), code in zip(names, uses, codes, strict=True):
            self.formulas[each] = contribution(self.graph, step, parameter)
            if code:
                self.written[each] = code
        if len(names) > 1:
            self.formulas[own] = trees.added([ast.Name(each) for each in names])

    def _is_reached(self, step: Step) -> bool:
        return bar(self.graph, step.name) in self.formulas

    def gives(self, name: str) -> bool:
        """Whether every line that the gradient of an input needs can be written."""
        lines = self.of([name])
        return bool(lines) and not any(line.startswith("#") for line in lines)

    def of(self, names: Sequence[str]) -> list[str]:
        """The lines that these gradients need."""
        wanted = {bar(self.graph, name) for name in names}
        for own in reversed(self.formulas):
            if own in wanted:
                wanted |= self._used(own)
        if wanted & self.graph.unwritten or not wanted <= {*self.formulas, *_shapes(self.graph)}:
            return []
        results = {bar(self.graph, name): f"d{name}" for name in names}
        needed = {results.get(o, o): tree for o, tree in self.formulas.items() if o in wanted}
        written = {results.get(own, own): text for own, text in self.written.items()}
        shapes = _shapes(self.graph)
        shapes |= {bar(self.graph, step.name): step.shape for step in self.graph.steps}
        return tensorflow_code(needed, shapes, written)

    def _used(self, own: str) -> set[str]:
        names = trees.names_in(self.formulas[own])
        if own in self.written:
            names = trees.names_in(trees.read(self.written[own]))
        return names & {*self.formulas, *_shapes(self.graph), *self.graph.unwritten}


def _source(graph: Graph, step: Step) -> str:
    """The line of a step, its constants in the precision of the rest.

    Without it `test_a_kernel_of_points` fails.
    """
    return with_typed_constants(step.source, ("G", *graph.shapes))


def _declared_code(graph: Graph, step: Step, parameter: str) -> str:
    """The line that an op declares for the gradient of an input, in the names of the expression."""
    codes = step.op.codes(step.call) if step.part is None else {}
    names = dict(step.operands)
    if parameter not in codes or not all(map(_can_be_put, names.values())):
        return ""
    names = {k: n if isinstance(n, ast.Name) else _tensor(n) for k, n in names.items()}
    put = {**names, "G": ast.Name(bar(graph, step.name)), "out": ast.Name(step.name)}
    return trees.text_of(trees.substitute(trees.read(codes[parameter]), put))


def _can_be_put(value: ast.expr) -> bool:
    """Whether code may be given it where a name stands: a name, or places; floats have no dtype."""
    numbers = [node for node in ast.walk(value) if isinstance(node, ast.Constant)]
    listed = isinstance(value, ast.List) and trees.names_in(value) == set()
    return isinstance(value, ast.Name) or (
        listed and all(isinstance(number.value, int) for number in numbers)
    )


def _tensor(numbers: ast.expr) -> ast.expr:
    """A list of numbers as what can be calculated with."""
    return ast.Call(ast.Attribute(ast.Name("tf"), "constant"), [numbers], [])


def _needed(graph: Graph, wanted: set[str]) -> dict[str, ast.expr]:
    """The steps of these names, and those that they are made of."""
    for step in reversed(graph.steps):
        if step.name in wanted:
            wanted = wanted | trees.names_in(step.forward)
    return {step.name: step.forward for step in graph.steps if step.name in wanted}


def _shapes(graph: Graph) -> dict[str, Shape]:
    return {**graph.shapes, "G": graph.shapes[graph.output]}
