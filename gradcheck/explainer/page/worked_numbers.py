"""`--at`: the steps with values, so that a reader can follow by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.errors import UsageError
from gradcheck.explainer import trees
from gradcheck.explainer.derive.chain import adjoints, bar, run_chain
from gradcheck.explainer.document import Block, Equation, Paragraph, Section
from gradcheck.explainer.page.graph_setting import setting_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gradcheck.explainer.derive.call_graph import Graph
    from gradcheck.explainer.derive.op_subject import Subject
    from gradcheck.explainer.style import Style
    from gradcheck.model import Array

__all__ = ["expression_numbers", "op_numbers", "shown"]


def shown(value: Any) -> str:
    """An array in few digits, rows in brackets."""
    array = np.asarray(value)
    if array.ndim == 0:
        number = array.item()
        if isinstance(number, bool):
            return str(number)
        return f"{number:.6g}".replace("-", "−")
    return "[" + ", ".join(shown(item) for item in array) + "]"


def _value_line(left: Any, value: Any, note: str = "") -> Equation:
    def math(style: Style) -> str:
        return f"{left(style)} = {shown(value).replace('−', style.minus())}"

    return Equation(math, note)


def op_numbers(subject: Subject, at: Mapping[str, Array]) -> Section:
    """The op at given inputs: output, upstream, gradients."""
    values = {name: at[name] for name in subject.call.shapes if name in at}
    missing = [name for name in subject.call.shapes if name not in values]
    if missing:
        raise UsageError(f"--at needs a value for {missing[0]} too")
    if subject.forward is None:
        raise UsageError(f"{subject.op.name} can only be evaluated by TensorFlow: use --verify")
    blocks: list[Block] = [
        _value_line(_symbol(subject, name), value) for name, value in values.items()
    ]
    out = trees.run(subject.forward, values)
    several = bool(subject.op.outputs)
    for i, one in enumerate(out if several else [out]):
        key = f"out[{i}]" if several else "out"
        blocks.append(_value_line(_symbol(subject, key), one, "forward"))
    upstream: Any = at.get("G")
    if upstream is None:
        upstream = [np.ones(np.shape(o)) for o in out] if several else np.ones(np.shape(out))
        total = "the real part of the sum" if subject.op.complex_out else "the sum"
        blocks.append(
            Paragraph(f"With G = ones, which makes L {total} of the output (give G for another):")
        )
    else:
        blocks.append(_value_line(lambda style: style.symbol("G"), upstream))
    known = {**subject.call.args, **values, "out": out, "G": upstream}
    for name, tree in subject.printed.items():
        value = trees.run(tree, known)

        def left(style: Style, name: str = name, tree: Any = tree) -> str:
            setting = subject.setting(style)
            return f"{setting.gradient(setting.symbol(name))} = {setting.text(tree)}"

        blocks.append(_value_line(left, value))
    return Section("In numbers", tuple(blocks))


def _symbol(subject: Subject, name: str) -> Any:
    return lambda style: style.symbol(subject.symbols.get(name, name))


def expression_numbers(graph: Graph, at: Mapping[str, Array]) -> Section:
    """Every step forward and every adjoint back, with its value."""
    missing = [name for name in graph.inputs if name not in at]
    if missing:
        raise UsageError(f"--at needs a value for {missing[0]} too")
    upstream = at.get("G", np.ones(graph.shapes[graph.output]))
    known = run_chain(graph, {n: value for n, value in at.items() if n != "G"}, upstream)
    blocks: list[Block] = []

    def line(name: str, formula: Any = None) -> Equation:
        def left(style: Style) -> str:
            setting = setting_of(graph, style)
            text = setting.symbol(name)
            if name.endswith("_bar") and name[:-4] in graph.inputs:
                text = setting.gradient(setting.symbol(name[:-4]))
            return f"{text} = {setting.text(formula)}" if formula is not None else text

        return _value_line(left, known[name])

    blocks += [line(name) for name in graph.inputs]
    blocks += [line(step.name, step.forward) for step in graph.steps]
    blocks.append(line("G"))
    blocks += [line(bar(graph, a.name), a.tree) for a in adjoints(graph)]
    return Section("In numbers", tuple(blocks))
