"""The explanation of one op in one call."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gradcheck.explain import tree as trees
from gradcheck.explain.code import UnknownCode
from gradcheck.explain.derive import (
    Letters,
    copies,
    forward_element,
)
from gradcheck.explain.document import (
    Block,
    Bullets,
    Code,
    Document,
    Equation,
    Paragraph,
    Section,
)
from gradcheck.explain.glossary import glossary
from gradcheck.explain.op_derivation import derivation_sections
from gradcheck.explain.op_notes import broadcasting, related, undefined

if TYPE_CHECKING:
    from gradcheck.explain.style import Style
    from gradcheck.explain.subject import Subject
    from gradcheck.model import Shape

__all__ = ["explain_op", "one_line"]

Math = Callable[["Style"], str]


def explain_op(subject: Subject) -> Document:
    """Everything there is to say about an op's gradient, in the order in which one reads it."""
    op = subject.op
    sections = [
        Section("Shapes", _shapes(subject)),
        Section("Forward", _forward(subject)),
        *derivation_sections(subject),
        Section("Gradient", _gradient(subject)),
        *_complex(subject),
        *_forward_mode(subject),
        *broadcasting(subject),
        *undefined(subject),
    ]
    if op.pitfalls:
        sections.append(Section("Common mistakes", (Bullets(op.pitfalls),)))
    others = related(op)
    if others:
        sections.append(Section("Related", (Paragraph(", ".join(others)),)))
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
        "pitfalls": list(op.pitfalls),
        "related": list(related(op)),
    }


def _set(subject: Subject, tree: ast.expr) -> Math:
    return lambda style: subject.setting(style).text(tree)


def _shapes(subject: Subject) -> tuple[Block, ...]:
    """Each array with a letter and a size per axis."""
    found = forward_element(subject)
    blocks: list[Block] = []
    names = {**subject.call.shapes}
    letters = _axis_letters(subject) if found is not None else {}
    for name, shape in names.items():
        blocks.append(_shape_line(subject, name, shape, letters.get(name)))
    outputs = subject.shape if subject.op.outputs else [subject.shape]
    for i, shape in enumerate(outputs):
        key = f"out[{i}]" if subject.op.outputs else "out"
        blocks.append(_shape_line(subject, key, shape, letters.get(key)))
    return tuple(blocks)


def _axis_letters(subject: Subject) -> dict[str, list[str]]:
    """The letters under which the forward in index notation reads each input."""
    from gradcheck.explain.element import LETTERS, letters_for
    from gradcheck.explain.index import Tensor, Total, walk

    found = forward_element(subject)
    if found is None:
        return {}
    names = dict(letters_for(found.indices))
    result = {"out": [names[i] if isinstance(i, str) else "1" for i in found.indices]}
    for part in walk(found.node):
        if isinstance(part, Total):
            names |= letters_for(part.indices, "".join(names.values()))
        if isinstance(part, Tensor) and part.name in subject.call.shapes:
            shown = [names.get(i, "?") if isinstance(i, str) else "1" for i in part.indices]
            if all(letter in LETTERS or letter == "1" for letter in shown):
                result.setdefault(part.name, shown)
    return result


def _shape_line(subject: Subject, name: str, shape: Shape, letters: list[str] | None) -> Equation:
    def math_(style: Style) -> str:
        setting = subject.setting(style)
        shown = subject.symbols.get(name, name) if "[" in name else None
        base = style.symbol(shown) if shown else setting.symbol(name)
        sizes = (
            [
                f"{letter}={size}" if letter != "1" else str(size)
                for letter, size in zip(letters, shape, strict=True)
            ]
            if letters is not None
            else [str(size) for size in shape]
        )
        inner = ", ".join(sizes)
        return f"{base}: [{inner}]" if shape else f"{base}: {style.words('a number')}"

    own = subject.symbols.get(name)
    note = f"the input {name}" if name in subject.call.shapes and own != name else ""
    if name.startswith("out"):
        note = "the output" + (", and so is its upstream gradient G" if name == "out" else "")
    return Equation(math_, note)


def _forward(subject: Subject) -> tuple[Block, ...]:
    op, blocks = subject.op, list[Block]()
    if subject.forward is None:
        return (Paragraph(op.summary),)
    found = forward_element(subject)
    out = subject.symbols["out"]
    whole = Equation(
        lambda style: (
            f"{_outputs(subject, style)} = {subject.setting(style).text(subject.forward or '')}"
        ),
        text=trees.text_of(subject.forward),
    )
    if found is None or trees.called(subject.forward) != "einsum":
        blocks.append(whole)
    if found is not None:
        element = found

        def math_(style: Style) -> str:
            letters = Letters(subject, style, element.indices, ())
            left = style.indexed(style.symbol(out), letters.names(element.indices))
            return f"{left} = {letters.text(element.node)}"

        note = "element by element" if len(blocks) else ""
        blocks.append(Equation(math_, note))
    moved = copies(subject) if found is None and subject.is_linear else None
    if moved:
        shown = moved[:6]

        def pairs(style: Style) -> str:
            setting = subject.setting(style)
            lines = [
                f"{style.indexed(style.symbol(out), [str(i) for i in to])} = "
                f"{style.indexed(setting.symbol(name), [str(i) for i in source])}"
                for to, name, source in shown
            ]
            more = (
                [style.words("…") if style.words("") == "" else r"\dots"] if len(moved) > 6 else []
            )
            return ",  ".join([*lines, *more])

        blocks.append(Equation(pairs, "for these shapes"))
    return tuple(blocks)


def _outputs(subject: Subject, style: Style) -> str:
    if not subject.op.outputs:
        return style.symbol(subject.symbols["out"])
    return ", ".join(style.symbol(name) for name in subject.op.output_names(subject.call))


def _changes(subject: Subject, style: Style) -> str:
    names = subject.op.output_names(subject.call) or (subject.symbols["out"],)
    return ", ".join(f"d{style.symbol(name)}" for name in names)


def _gradient(subject: Subject) -> tuple[Block, ...]:
    blocks: list[Block] = []
    code: list[str] = []
    for name, tree in subject.printed.items():
        blocks.append(Equation(_gradient_math(subject, name, tree), text=trees.text_of(tree)))
        try:
            code.append(f"d{name} = {subject.code(name)}")
        except UnknownCode:
            code.append(f"# d{name}: no single TensorFlow call does this; see the formula")
    words = glossary(tuple(subject.printed.values()))
    if words:
        blocks.append(Bullets(words))
    blocks.append(
        Paragraph(
            "In TensorFlow, with G the upstream gradient"
            + (
                " and out the output"
                if any("out" in trees.names_in(t) for t in subject.gradients.values())
                else ""
            )
            + ":"
        )
    )
    imports = ["import math"] if any("math." in line for line in code) else []
    blocks.append(Code((*imports, *code)))
    return tuple(blocks)


def _gradient_math(subject: Subject, name: str, tree: ast.expr) -> Math:
    def math_(style: Style) -> str:
        setting = subject.setting(style)
        indices = _einsum_output(tree)
        return (
            f"{subject.setting(style).gradient(setting.symbol(name), indices)} = "
            f"{setting.text(tree)}"
        )

    return math_


def _einsum_output(tree: ast.expr) -> list[str]:
    if trees.called(tree) == "einsum" and isinstance(tree, ast.Call):
        equation = tree.args[0]
        if isinstance(equation, ast.Constant):
            return list(str(equation.value).partition("->")[2])
    return []


def _complex(subject: Subject) -> list[Section]:
    if not subject.complex_gradients:
        return []
    blocks: list[Block] = [
        Paragraph(
            "TensorFlow's gradient of a holomorphic function is G times the conjugate "
            "derivative, so the factors are conjugated:"
        )
    ]
    blocks += [
        Equation(_gradient_math(subject, name, tree), text=trees.text_of(tree))
        for name, tree in subject.complex_gradients.items()
    ]
    return [Section("For complex inputs", tuple(blocks))]


def _forward_mode(subject: Subject) -> list[Section]:
    tree = subject.tangent
    if tree is None:
        return []
    return [
        Section(
            "Forward mode",
            (
                Equation(
                    lambda style: (
                        f"{_changes(subject, style)} = {subject.setting(style).text(tree)}"
                    ),
                    "how the output moves when the inputs move by d…",
                    trees.text_of(tree),
                ),
            ),
        )
    ]


def one_line(subject: Subject, style: Style) -> str:
    """The gradients of an op in one line."""
    return ",  ".join(
        _gradient_math(subject, name, tree)(style) for name, tree in subject.gradients.items()
    )
