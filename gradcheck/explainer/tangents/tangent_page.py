"""Sections of a page along a direction: forward mode, the Hessian times it, the Hessian."""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from functools import partial
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING, TypeVar

from gradcheck.errors import ExpressionError
from gradcheck.explainer import trees
from gradcheck.explainer.calculus.indices import named
from gradcheck.explainer.derive.chain import bar
from gradcheck.explainer.derive.passed_through import STOPPED
from gradcheck.explainer.document import Block, Bullets, Code, Equation, Paragraph, Section
from gradcheck.explainer.formula.matrix_form import without_indices
from gradcheck.explainer.page.glossary import glossary
from gradcheck.explainer.page.graph_setting import loss_of, setting_of
from gradcheck.explainer.page.written_code import code_of
from gradcheck.explainer.style import UNICODE
from gradcheck.explainer.tangents.second_form import (
    changed_output,
    hessian_block,
    hessian_product,
)
from gradcheck.explainer.tangents.tangent_chain import (
    Changes,
    adjoint_changes,
    dot,
    step_changes,
)
from gradcheck.explainer.tangents.tangent_rules import DIVIDING
from gradcheck.explainer.tangents.tree_tangent import NoTangent
from gradcheck.explainer.typeset.index_notation import ElementSetting
from gradcheck.explainer.typeset.index_places import index_places
from gradcheck.explainer.typeset.lettering import Lettering, lettered

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gradcheck.explainer.derive.call_graph import Graph
    from gradcheck.explainer.derive.chain import Closed
    from gradcheck.explainer.document import Math
    from gradcheck.explainer.style import Style
    from gradcheck.explainer.tangents.second_form import Block as HessianBlock
    from gradcheck.explainer.tangents.tangent_chain import Change
    from gradcheck.explainer.typeset.matrix_notation import Setting

Form = TypeVar("Form")

__all__ = ["forward_code", "forward_sections", "moving_inputs", "second_code", "second_sections"]


def moving_inputs(graph: Graph, wanted: Sequence[str] | None) -> tuple[str, ...]:
    """The inputs that are moved: those that are differentiated and used."""
    return tuple(name for name in (wanted or graph.inputs) if graph.uses(name))


def _setting(graph: Graph, style: Style) -> Setting:
    """Sets the lines with a dot above what changes."""
    plain = setting_of(graph, style)
    symbols = {dot(name): f"˙{shown}" for name, shown in plain.symbols.items() if name != "G"}
    shapes = {dot(name): shape for name, shape in plain.shapes.items()}
    return replace(
        plain,
        symbols={**plain.symbols, **symbols},
        scalars=plain.scalars | {dot(name) for name in plain.scalars},
        shapes={**plain.shapes, **shapes},
    )


def _named(graph: Graph, names: Sequence[str]) -> str:
    return ", ".join(UNICODE.change_symbol(graph.symbol(name)) for name in names)


def _avoided(graph: Graph) -> frozenset[str]:
    """The symbols of the page, which are no letters of indices."""
    return frozenset({*map(graph.symbol, graph.shapes), "G", loss_of(graph)})


def forward_sections(graph: Graph, wanted: Sequence[str] | None = None) -> list[Section]:
    """How the output changes with the inputs: ẏ = J ẋ, step by step and in one formula."""
    moving = moving_inputs(graph, wanted)
    changes = step_changes(graph, moving)
    if changes.lost and not changes.lines:
        return [_refused("Forward mode", changes)]
    output = UNICODE.change_symbol(graph.symbol(graph.output))
    told = Paragraph(
        f"Each input moves along a direction of its own shape, {_named(graph, moving)}; a dot "
        f"marks how a value changes with that. {output} is the Jacobian times the direction."
    )
    lines = [_line(graph, change) for change in changes.lines]
    words = glossary(tuple(change.tree for change in changes.lines))
    lost = _told_of_lost(graph, changes)
    blocks: list[Block] = [told, *lines, *lost, *([Bullets(words)] if words else [])]
    sections = [Section("Forward mode, step by step", tuple(blocks))]
    form = changed_output(graph, moving)
    if form is not None and len(graph.steps) > 1:
        found = _closed(graph, form, _of_output(graph), forward_code(graph, form))
        sections.append(Section(f"Closed form of {output}", found))
    return sections


def second_sections(graph: Graph, wanted: Sequence[str] | None = None) -> list[Section]:
    """The Hessian times a direction, by the steps and in closed form, and the Hessian itself."""
    heading, moving = "Second derivative, along a direction", moving_inputs(graph, wanted)
    forward, back = step_changes(graph, moving), adjoint_changes(graph, moving)
    still = {bar(graph, name) for name in graph.inputs if name not in moving}
    moved = tuple(change for change in back.lines if change.of not in still)
    back = Changes(moved, {name: why for name, why in back.lost.items() if name not in still})
    if back.lost and not any(change.step in moving for change in back.lines):
        return [_refused(heading, back if back.reasons else forward)]
    sections = [Section(heading, _second_lines(graph, moving, forward, back))]
    reached = [name for name in moving if back.reach(bar(graph, name))]
    for name in reached:
        form = _derived(partial(hessian_product, graph, name, moving))
        if form is not None:
            found = _closed(graph, form, _of_input(name), second_code(graph, name, form))
            shown = UNICODE.changed(f"∂{loss_of(graph)}/∂{graph.symbol(name)}")
            sections.append(Section(f"Closed form of {shown}", found))
    pairs = combinations_with_replacement(moving, 2)
    blocks = [_derived(partial(hessian_block, graph, a, b)) for a, b in pairs]
    lines = tuple(_block_line(graph, block) for block in blocks if block is not None)
    if lines:
        held = ", with tf.stop_gradient's results held fixed" if _holds(graph) else ""
        sections.append(Section(f"The Hessian, element by element{held}", lines))
    return sections


HELD = (
    "What tf.stop_gradient gives is held fixed, as nested tapes do: where it changes with the "
    "inputs this is not the Hessian of the function."
)


def _derived(derive: Callable[[], Form | None]) -> Form | None:
    """A closed form; None where no rule leads to one: the lines stand without it."""
    try:
        return derive()
    except (NoTangent, ExpressionError):
        return None


def _holds(graph: Graph) -> bool:
    return any(step.op is STOPPED for step in graph.steps)


def _refused(heading: str, changes: Changes) -> Section:
    why = " nor ".join(changes.reasons)
    text = f"It is not derived here: no rule says how {why} changes."
    return Section(heading, (Paragraph(text),))


def _told_of_lost(graph: Graph, changes: Changes) -> list[Paragraph]:
    """What no line says."""
    if not changes.lost:
        return []
    names = ", ".join(_changed_name(graph, name) for name in changes.lost)
    why = " nor ".join(changes.reasons)
    told = f": no rule says how {why} changes" if why else ", which is made of those"
    return [Paragraph(f"Not derived here is {names}{told}.")]


def _changed_name(graph: Graph, of: str) -> str:
    """How the change of a value is written: v̇₁, or (∂L/∂x)˙."""
    setting, inputs = _setting(graph, UNICODE), {bar(graph, n): n for n in graph.inputs}
    if of in inputs:
        return UNICODE.changed(setting.gradient(setting.symbol(inputs[of])))
    return setting.symbol(dot(of))


def _second_lines(
    graph: Graph, moving: Sequence[str], forward: Changes, back: Changes
) -> tuple[Block, ...]:
    loss, first = loss_of(graph), graph.symbol(moving[0]) if moving else ""
    gradient = UNICODE.changed(f"∂{loss}/∂{first}")
    output = UNICODE.symbol(graph.symbol(graph.output))
    told = (
        f"Each input moves along a direction of its own shape, {_named(graph, moving)}, and G is "
        f"held fixed; a dot marks how a value changes with that. {gradient}, the change of the "
        f"gradient, is the Hessian of ⟨G, {output}⟩ times the direction."
    )
    if _holds(graph):
        told += f" {HELD}"
    blocks: list[Block] = [Paragraph(told), *(_line(graph, change) for change in forward.lines)]
    blocks += _told_of_lost(graph, forward)
    if any(_divides(change.tree) for change in back.lines):
        blocks[0] = Paragraph(f"{told} What divides by an element holds where none is 0.")
    if back.lines:
        blocks.append(Paragraph("The lines of the way back, changed by the same move:"))
    else:
        inputs = ", ".join(map(graph.symbol, moving))
        still = f"The gradient does not depend on {inputs}: the Hessian is zero."
        blocks.append(Paragraph(still))
    blocks += [_line(graph, change) for change in back.lines]
    blocks += _told_of_lost(graph, back)
    words = glossary(tuple(change.tree for change in (*forward.lines, *back.lines)))
    return (*blocks, Bullets(words)) if words else tuple(blocks)


def _divides(tree: ast.expr) -> bool:
    """Whether it has a product of the other elements, whose change divides by each of them."""
    return any(trees.called(node) in DIVIDING for node in ast.walk(tree))


def _line(graph: Graph, change: Change) -> Equation:
    tree, shape = change.tree, graph.shapes[change.step]

    def math(style: Style) -> str:
        setting = _setting(graph, style)
        indices = index_places(trees.equation_of(tree).partition("->")[2], shape)
        if change.step in graph.inputs:
            left = style.changed(setting.gradient(setting.symbol(change.step), indices))
        else:
            left = style.indexed(setting.symbol(dot(change.of)), indices)
        return f"{left} = {setting.text(tree)}"

    kinds = {step.name: step.op.name for step in graph.steps}
    note = "" if change.step in graph.inputs else kinds[change.step]
    return Equation(math, note, trees.text_of(tree))


def _of_input(name: str) -> Callable[[Setting, Sequence[str]], str]:
    def left(setting: Setting, indices: Sequence[str] = ()) -> str:
        return setting.style.changed(setting.gradient(setting.symbol(name), indices))

    return left


def _of_output(graph: Graph) -> Callable[[Setting, Sequence[str]], str]:
    def left(setting: Setting, indices: Sequence[str] = ()) -> str:
        return setting.style.indexed(setting.symbol(dot(graph.output)), indices)

    return left


def second_code(graph: Graph, name: str, form: Closed | None) -> list[str]:
    """The lines that compute `hv_x`, the Hessian times the direction, for x."""
    beside = {dot(n): shape for n, shape in graph.inputs.items()}
    return code_of(graph, name, form, f"hv_{name}", beside)


def forward_code(graph: Graph, form: Closed | None) -> list[str]:
    """The lines that compute `jvp`, the change of the output."""
    beside = {dot(n): shape for n, shape in graph.inputs.items()}
    lines = code_of(graph, graph.output, form, "jvp", beside)
    # (Forward there is no G.)
    used = (name for name in beside if any(re.search(rf"\b{name}\b", line) for line in lines))
    known = next(used, graph.output)
    return [re.sub(r"\bG\.dtype\b", f"{known}.dtype", line) for line in lines]


def _closed(
    graph: Graph, form: Closed, left: Callable[..., str], code: list[str]
) -> tuple[Block, ...]:
    blocks: list[Block] = []

    def element(style: Style) -> str:
        setting = _setting(graph, style)
        avoided = _avoided(graph)
        names = Lettering(avoided).of(form.indices)
        letters = lettered((form.node,), names, avoided)
        shown = left(setting, named(form.indices, names))
        return f"{shown} = {ElementSetting(setting, letters=letters).text(form.node, names)}"

    if form.indices or form.formula is None:
        blocks.append(Equation(element))
    formula = form.formula
    if formula is not None and (without_indices(formula) or not form.indices):
        blocks.append(Equation(_whole(graph, left, formula), "", trees.text_of(formula)))
    if code:
        blocks.append(Code(tuple(code)))
    if form.steps:
        names = ", ".join(UNICODE.symbol(graph.symbol(step)) for step in form.steps)
        blocks.append(Paragraph(f"{names} as in the forward steps."))
    return tuple(blocks)


def _whole(graph: Graph, left: Callable[..., str], formula: ast.expr) -> Math:
    def math(style: Style) -> str:
        setting = _setting(graph, style)
        return f"{left(setting)} = {setting.text(formula)}"

    return math


def _block_line(graph: Graph, block: HessianBlock) -> Equation:
    def math(style: Style) -> str:
        setting = _setting(graph, style)
        avoided = _avoided(graph)
        names = Lettering(avoided).of((*block.at, *block.other))
        letters = lettered((block.node,), names, avoided)
        row = style.indexed(setting.symbol(block.row), named(block.at, names))
        column = style.indexed(setting.symbol(block.column), named(block.other, names))
        left = style.second_derivative(loss_of(graph), row, column)
        return f"{left} = {ElementSetting(setting, letters=letters).text(block.node, names)}"

    return Equation(math)
