"""How the names of an expression are written on its page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradcheck.explainer.derive.chain import bar
from gradcheck.explainer.typeset.matrix_notation import Setting

if TYPE_CHECKING:
    from gradcheck.explainer.derive.call_graph import Graph
    from gradcheck.explainer.style import Style

__all__ = ["loss_of", "setting_of"]


def setting_of(graph: Graph, style: Style) -> Setting:
    """Sets formulas over the inputs, the steps and their adjoints."""
    symbols = {bar(graph, step.name): f"~{graph.symbol(step.name)}" for step in graph.steps}
    symbols |= {name: graph.symbol(name) for name in graph.shapes} | {"G": "G"}
    scalars = {name for name, shape in graph.shapes.items() if not shape}
    scalars |= {bar(graph, name) for name in scalars}
    shapes = {**graph.shapes, "G": graph.shapes[graph.output]}
    shapes |= {bar(graph, name): shape for name, shape in graph.shapes.items()}
    return Setting(style, symbols, frozenset(scalars), loss_of(graph), shapes)


def loss_of(graph: Graph) -> str:
    """The letter of the loss: L, unless an input is called so."""
    return "ℓ" if "L" in map(graph.symbol, graph.inputs) else "L"
