"""Lines of a page: what a step is, what comes back to it, and gradients that are read in lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradcheck.explainer import trees
from gradcheck.explainer.derive.chain import bar
from gradcheck.explainer.document import Block, Equation, Paragraph
from gradcheck.explainer.page.graph_setting import setting_of
from gradcheck.explainer.style import UNICODE
from gradcheck.explainer.typeset.index_places import index_places

if TYPE_CHECKING:
    import ast

    from gradcheck.explainer.derive.call_graph import Graph
    from gradcheck.explainer.derive.named_form import NamedForm
    from gradcheck.explainer.document import Math
    from gradcheck.explainer.style import Style

__all__ = ["forward_line", "gradient_line", "written_in_lines"]


def forward_line(graph: Graph, left: str, tree: ast.expr) -> Math:
    """The line that computes a step."""

    def math(style: Style) -> str:
        setting = setting_of(graph, style)
        shown = style.indexed(setting.symbol(left), _indices(graph, left, tree))
        return f"{shown} = {setting.text(tree)}"

    return math


def _indices(graph: Graph, name: str, tree: ast.expr) -> list[str]:
    """The indices that a line has on its left, where they stand on its right."""
    return index_places(trees.equation_of(tree).partition("->")[2], graph.shapes.get(name, ()))


def gradient_line(graph: Graph, name: str, tree: ast.expr) -> Math:
    """The line that gives what comes back to an input or a step."""

    def math(style: Style) -> str:
        setting = setting_of(graph, style)
        indices = _indices(graph, name, tree)
        left = (
            style.indexed(setting.symbol(bar(graph, name)), indices)
            if name not in graph.inputs
            else setting.gradient(setting.symbol(name), indices)
        )
        return f"{left} = {setting.text(tree)}"

    return math


def written_in_lines(graph: Graph, form: NamedForm, above: set[str]) -> tuple[Block, ...]:
    """The gradient by lines, each put together as far as it is easy to read.

    Args:
        graph: the expression.
        form: the lines.
        above: what has its line already; those that are written here are added.
    """
    all_lines = {**form.lines, form.name: form.formula}
    fresh = {name: tree for name, tree in all_lines.items() if name not in above}
    used = set().union(*map(trees.names_in, fresh.values()))
    known = [name for name in form.lines if name in above and bar(graph, name) in used]
    said = "In one formula it would be long: what comes back has names."
    if known:
        bars = [UNICODE.adjoint_symbol(graph.symbol(name)) for name in known]
        said += f" {', '.join(bars)} as above."
    blocks: list[Block] = [Paragraph(said)]
    for name, tree in fresh.items():
        blocks.append(Equation(gradient_line(graph, name, tree), "", trees.text_of(tree)))
    above.update(form.lines)
    names = ", ".join(UNICODE.symbol(step) for step in form.steps if step in used)
    return (*blocks, Paragraph(f"{names} as in the forward steps.")) if names else tuple(blocks)
