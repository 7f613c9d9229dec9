"""`python -m tools.identities`: writes docs/identities.md, our closed forms beside the known ones.

Every row is executed: ours against the known result, and both against central differences.
"""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.explainer import trees
from gradcheck.explainer.calculus.evaluate import evaluate
from gradcheck.explainer.derive.chain import closed_form, run_chain
from gradcheck.explainer.derive.read_graph import read_graph
from gradcheck.explainer.page.graph_setting import setting_of
from gradcheck.explainer.page.named_parts import named_parts
from gradcheck.explainer.style import UNICODE
from tools.identity_list import IDENTITIES, SHAPES, Identity

if TYPE_CHECKING:
    import ast

    from gradcheck.explainer.derive.call_graph import Graph

__all__ = ["errors", "page"]

PAGE = Path(__file__).parents[1] / "docs" / "identities.md"
STEP = 2.0**-11


def _values(identity: Identity) -> dict[str, Any]:
    rng = np.random.default_rng(zlib.crc32(identity.expr.encode()))
    values: dict[str, Any] = {n: rng.uniform(0.2, 1.2, SHAPES[n]) for n in identity.names}
    for name in {*values} & {*"ABCXYW"}:
        values[name] = values[name] + 2 * np.eye(3)
    if "S" in values:
        values["S"] = values["S"] @ values["S"].T + np.eye(3)
    return values


def errors(identity: Identity) -> tuple[float, float]:
    """How far the known result is from ours, and from central differences."""
    graph = read_graph(identity.expr, {name: SHAPES[name] for name in identity.names})
    form = closed_form(graph, identity.by)
    if form is None:
        return np.inf, np.inf
    values = _values(identity)
    rng = np.random.default_rng(1)
    shape = graph.shapes[graph.output]
    upstream = rng.standard_normal(shape) if shape else np.asarray(1.0)
    known = run_chain(graph, values, upstream)
    ours = evaluate(form.node, known, form.indices)
    theirs = np.asarray(trees.run(identity.known, known), dtype=np.float64)

    def loss(move: Any) -> float:
        moved = {**values, identity.by: values[identity.by] + move}
        return float(np.sum(run_chain(graph, moved, upstream)[graph.output] * upstream))

    direction = rng.standard_normal(values[identity.by].shape)
    if identity.by == "S":
        direction = direction + direction.T
    far, near = ((loss(h * direction) - loss(-h * direction)) / (2 * h) for h in (STEP, STEP / 2))
    slope = (4 * near - far) / 3
    scale = max(1.0, float(np.max(np.abs(theirs))))
    seen = _symmetric if identity.by == "S" else np.asarray
    apart = float(np.max(np.abs(seen(ours) - seen(np.broadcast_to(theirs, ours.shape))))) / scale
    return apart, abs(float(np.sum(theirs * direction)) - slope) / max(1.0, abs(slope))


def _symmetric(gradient: Any) -> Any:
    """A symmetric matrix moves symmetrically: only that part of its gradient is seen."""
    return (gradient + gradient.T) / 2


def _row(identity: Identity) -> str:
    graph = read_graph(identity.expr, {name: SHAPES[name] for name in identity.names})
    form, setting = closed_form(graph, identity.by), setting_of(graph, UNICODE)
    ours = "—" if form is None or form.formula is None else _printed(graph, form.formula)
    cells = (f"`{identity.expr}`", f"∂/∂{identity.by}", ours, setting.text(identity.known))
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _printed(graph: Graph, formula: ast.expr) -> str:
    """The formula as the page prints it, its letters behind it."""
    setting, short = setting_of(graph, UNICODE), named_parts(graph, formula)
    parts = [f"{letter} = {setting.text(tree)}" for letter, tree in short.names.items()]
    steps = [step for step in graph.steps if step.name in trees.names_in(formula)]
    parts += [f"{UNICODE.symbol(s.name)} = {setting.text(s.forward)}" for s in steps]
    whole = setting.text(short.formulas[0])
    return f"{whole}, {', '.join(parts)}" if parts else whole


def page() -> str:
    """The whole page."""
    return "\n".join(
        [
            "# Known derivatives, and ours",
            "",
            "Derivatives that the tables of matrix calculus have (after the Matrix Cookbook, and "
            "what matrixcalculus.org",
            "answers), beside the closed form that `gradcheck explain --expr` prints. Every row is "
            "executed by",
            "`tests/explainer/test_identities.py`: ours against the known one, and both against "
            "central differences. G is what",
            "reaches the expression; where that is a number, L is it, and G is 1. "
            "`python -m tools.identities` writes this page.",
            "",
            "| expression | by | explain prints | known |",
            "| --- | --- | --- | --- |",
            *map(_row, IDENTITIES),
            "",
        ]
    )


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
