"""The explanation of one op in one call."""

from __future__ import annotations

import re
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from gradcheck.explainer import trees
from gradcheck.explainer.calculus.einstein import Select, walk
from gradcheck.explainer.derive.gradient_steps import forward_element
from gradcheck.explainer.document import (
    Block,
    Bullets,
    Code,
    Document,
    Equation,
    Paragraph,
    Section,
)
from gradcheck.explainer.page.element_moves import copies, forward_line
from gradcheck.explainer.page.glossary import glossary
from gradcheck.explainer.page.known_findings import findings_of, known_bugs
from gradcheck.explainer.page.op_derivation import Letters, derivation_sections
from gradcheck.explainer.page.op_notes import broadcasting, undefined
from gradcheck.explainer.page.op_shapes import shapes
from gradcheck.explainer.typeset.index_places import index_places, shape_known

if TYPE_CHECKING:
    import ast

    from gradcheck.explainer.derive.op_subject import Subject
    from gradcheck.explainer.document import Math
    from gradcheck.explainer.style import Style

__all__ = ["explain_op", "gradient_math", "one_line"]

_STEEPEST = "A complex gradient points along the steepest ascent, which conjugates the factors:"
_AS_GIVEN = "That is what TensorFlow gives."


def explain_op(subject: Subject) -> Document:
    """Everything there is to say about an op's gradient, in the order in which one reads it."""
    op = subject.op
    sections = [
        Section("Shapes", shapes(subject)),
        Section("Forward", _forward(subject)),
        *derivation_sections(subject),
        Section("Gradient", _gradient(subject)),
        *_complex(subject),
        Section("Forward mode", _forward_mode(subject)),
        broadcasting(subject),
        undefined(subject),
        *known_bugs(op.name),
        Section("Common mistakes", (Bullets(op.pitfalls),)),
        Section("Related", (Paragraph(", ".join(op.related)),)),
    ]
    return Document(op.name, op.summary, tuple(sections), _data(subject))


def _data(subject: Subject) -> dict[str, Any]:
    op = subject.op
    return {
        "op": op.name,
        "tensorflow": [op.tf, *op.aliases],
        "family": op.family,
        "shapes": {name: list(shape) for name, shape in subject.call.shapes.items()},
        "args": dict(subject.call.args),
        "output_shape": [list(s) for s in subject.shape] if op.outputs else list(subject.shape),
        "forward": trees.text_of(subject.forward) if subject.forward is not None else None,
        "gradient": {n: trees.text_of(t) for n, t in subject.printed.items()},
        "complex_gradient": {n: trees.text_of(t) for n, t in subject.complex_gradients.items()},
        "tangent": trees.text_of(subject.tangent) if subject.tangent is not None else None,
        "code": subject.code(),
        "known_bugs": [asdict(finding) for finding in findings_of(op.name)],
        "pitfalls": list(op.pitfalls),
        "related": list(op.related),
    }


def _forward(subject: Subject) -> tuple[Block, ...]:
    forward = subject.forward
    if forward is None:
        return (Paragraph(subject.op.summary),)
    blocks: list[Block] = []
    found = forward_element(subject)
    if found is None or not trees.equation_of(forward):

        def whole(style: Style) -> str:
            left, setting = _outputs(subject, style), subject.setting(style)
            letters = trees.equation_of(forward).partition("->")[2]
            places = index_places(letters, shape_known(forward, setting.shapes))
            return f"{style.indexed(left, places)} = {setting.text(forward)}"

        blocks.append(Equation(whole, text=trees.text_of(forward)))
        words = glossary((forward,))
        blocks += [Bullets(words)] if words else []
    if found is not None:
        element = found

        def math_(style: Style) -> str:
            letters = Letters(subject, style, element.indices, (), (element.node,))
            out = style.symbol(subject.symbols["out"])
            left = style.indexed(out, letters.names(element.indices))
            return f"{left} = {letters.text(element.node)}"

        note = "element by element" if subject.shape and blocks else ""
        blocks.append(Equation(math_, note))
    computed = found is None or any(isinstance(part, Select) for part in walk(found.node))
    moved = copies(subject) if computed and subject.is_linear else None
    if moved:
        blocks.append(Equation(forward_line(subject, moved), "for these shapes"))
    return tuple(blocks)


def _outputs(subject: Subject, style: Style) -> str:
    if not subject.op.outputs:
        return style.symbol(subject.symbols["out"])
    return ", ".join(style.symbol(name) for name in subject.op.output_names(subject.call))


def _changes(subject: Subject, style: Style) -> str:
    names = subject.op.output_names(subject.call) or (subject.symbols["out"],)
    equation = trees.equation_of(subject.forward) if subject.forward is not None else ""
    indices = list(equation.partition("->")[2])
    return ", ".join(style.indexed(f"d{style.symbol(name)}", indices) for name in names)


def _gradient(subject: Subject) -> tuple[Block, ...]:
    single = subject.single
    short = single.shortened(*single.printed.values())
    blocks: list[Block] = []
    note = "" if single is subject else "for each matrix of the batch"
    for i, (name, tree) in enumerate(short.names.items()):
        blocks.append(Equation(_definition(single, name, tree), "" if i else "as above"))
    for name, tree in zip(subject.printed, short.formulas, strict=True):
        executed = trees.text_of(subject.printed[name])
        blocks.append(Equation(gradient_math(single, name, tree), note, executed))
    words = glossary((*short.names.values(), *short.formulas))
    if words:
        blocks.append(Bullets(words))
    given = "G the upstream gradient"
    if subject.op.outputs:
        given = "G the list of upstream gradients"
    code = subject.code()
    used = any(re.search(r"\bout\b", line) for line in code)
    if used and not any(line.startswith("out = ") for line in code):
        given += " and out the output" + ("s" if subject.op.outputs else "")
    blocks += [Paragraph(f"In TensorFlow, with {given}:"), Code(tuple(code))]
    return tuple(blocks)


def _definition(subject: Subject, name: str, tree: ast.expr) -> Math:
    def math_(style: Style) -> str:
        setting = subject.setting(style)
        letters = trees.equation_of(tree).partition("->")[2]
        places = index_places(letters, shape_known(tree, setting.shapes))
        return f"{style.indexed(setting.symbol(name), places)} = {setting.text(tree)}"

    return math_


def gradient_math(subject: Subject, name: str, tree: ast.expr) -> Math:
    """The line that gives the gradient of an input."""

    def math_(style: Style) -> str:
        setting = subject.setting(style)
        letters = trees.equation_of(tree).partition("->")[2]
        indices = index_places(letters, subject.call.shapes[name])
        return f"{setting.gradient(setting.symbol(name), indices)} = {setting.text(tree)}"

    return math_


def _complex(subject: Subject) -> list[Section]:
    if not subject.complex_gradients:
        return []
    single = subject.single
    lines = [
        Equation(gradient_math(single, name, tree), text=trees.text_of(whole))
        for (name, tree), whole in zip(
            single.complex_gradients.items(), subject.complex_gradients.values(), strict=True
        )
    ]
    finding = subject.op.complex_finding
    told = f"{finding}: its gradient is not this one." if finding else _AS_GIVEN
    return [Section("For complex inputs", (Paragraph(_STEEPEST), *lines, Paragraph(told)))]


def _forward_mode(subject: Subject) -> tuple[Block, ...]:
    single, tree = subject.single, subject.tangent
    if tree is None or single.tangent is None:
        return (Paragraph("No formula is declared."),)
    short = single.shortened(single.tangent)
    moves = ", ".join(f"d{subject.symbols[name]}" for name in subject.gradients)
    lines = [Equation(_definition(single, name, part)) for name, part in short.names.items()]

    def math_(style: Style) -> str:
        changed = single.setting(style).text(short.formulas[0], indexed=True)
        return f"{_changes(single, style)} = {changed}"

    said = Paragraph(f"How the output changes when the input changes by {moves}:")
    return (said, *lines, Equation(math_, text=trees.text_of(tree)))


def one_line(subject: Subject, style: Style) -> str:
    """The gradients of an op in one line."""
    return ",  ".join(
        gradient_math(subject, name, tree)(style) for name, tree in subject.gradients.items()
    )
