"""The explanation of one op in one call."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gradcheck import ops
from gradcheck.explain import tree as trees
from gradcheck.explain.code import UnknownCode
from gradcheck.explain.derive import (
    GradientSteps,
    Letters,
    copies,
    forward_element,
    gradient_steps,
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
from gradcheck.explain.style import UNICODE
from gradcheck.explain.subject import Subject, is_elementwise
from gradcheck.ops.language import FUNCTIONS

if TYPE_CHECKING:
    from gradcheck.explain.style import Style
    from gradcheck.model import Shape
    from gradcheck.ops.declaration import Op, Parameter

__all__ = ["explain_op", "one_line"]

Math = Callable[["Style"], str]

_WORTH_A_WORD = frozenset(
    ["unreduce", "unbroadcast", "one_hot_max", "prod_others", "scatter_add", "put_slice", "part",
     "pick", "take", "flip", "roll", "cumsum", "tril", "triu", "diag", "diagonal", "windows",
     "unwindows", "digamma", "polygamma", "scatter_nd", "gather_nd", "one_hot"]
)  # fmt: skip


def explain_op(subject: Subject) -> Document:
    """Everything there is to say about an op's gradient, in the order in which one reads it."""
    op = subject.op
    sections = [
        Section("Shapes", _shapes(subject)),
        Section("Forward", _forward(subject)),
        *_derivation(subject),
        Section("Gradient", _gradient(subject)),
        *_complex(subject),
        *_forward_mode(subject),
        *_broadcasting(subject),
        *_undefined(subject),
    ]
    if op.pitfalls:
        sections.append(Section("Common mistakes", (Bullets(op.pitfalls),)))
    related = _related(op)
    if related:
        sections.append(Section("Related", (Paragraph(", ".join(related)),)))
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
        "gradient": {n: trees.text_of(t) for n, t in subject.gradients.items()},
        "complex_gradient": {n: trees.text_of(t) for n, t in subject.complex_gradients.items()},
        "tangent": trees.text_of(subject.tangent) if subject.tangent is not None else None,
        "pitfalls": list(op.pitfalls),
        "related": list(_related(op)),
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


def _derivation(subject: Subject) -> list[Section]:
    if subject.op.derivation:
        return [Section("Derivation", _written(subject))]
    sections = []
    for name in subject.gradients:
        steps = gradient_steps(subject, name)
        if steps is not None:
            shown = subject.symbols[name]
            title = (
                f"Derivation of ∂{subject.loss}/∂{shown}"
                if len(subject.gradients) > 1
                else "Derivation"
            )
            sections.append(Section(title, _generated(subject, steps)))
    if not sections:
        sections.append(Section("Derivation", _rearranged(subject)))
    return sections


def _written(subject: Subject) -> tuple[Block, ...]:
    blocks: list[Block] = []
    out = subject.symbols["out"]
    names, loss = subject.op.output_names(subject.call), subject.loss
    symbols = "G_" + ", G_".join(names) if names else f"∂{loss}/∂{out}"
    number = 0
    for step in subject.op.derivation:
        if step.text:
            number += 1
            blocks.append(Paragraph(f"{number}. {step.text}"))
        if step.claim:
            defines = ":=" in step.claim
            left, right = step.claim.split(" := " if defines else " == ")
            math_ = _claim(subject, subject.tree(left), subject.tree(right))
            blocks.append(Equation(math_, text=step.claim))
    if "G" in {n for s in subject.op.derivation if s.claim for n in _claim_names(s.claim)}:
        what = (
            f"G = {symbols}"
            if not subject.op.outputs
            else f"{symbols} are the gradients of {loss} by the outputs"
        )
        blocks.insert(
            0, Paragraph(f"{loss} is any number that is computed from the output; {what}.")
        )
    return tuple(blocks)


def _claim(subject: Subject, left: ast.expr, right: ast.expr) -> Math:
    def math_(style: Style) -> str:
        setting = subject.setting(style)
        return f"{setting.text(left)} = {setting.text(right)}"

    return math_


def _claim_names(claim: str) -> set[str]:
    parts = claim.replace(" := ", " == ").split(" == ")
    return {name for part in parts for name in trees.names_in(trees.read(part))}


def _generated(subject: Subject, steps: GradientSteps) -> tuple[Block, ...]:
    name, out = steps.name, subject.symbols["out"]

    def lines(style: Style) -> tuple[Letters, str, str, list[str], list[str]]:
        letters = Letters(subject, style, steps.out, steps.at)
        symbol = letters.setting.symbol(name)
        return letters, symbol, style.symbol(out), letters.names(steps.out), letters.names(steps.at)

    def jacobian_of(style: Style) -> str:
        _, symbol, y, outs, ats = lines(style)
        above, below = style.indexed(y, outs), style.indexed(symbol, ats)
        if style.quotient("", "").startswith("\\"):
            return style.quotient(rf"\partial {above}", rf"\partial {below}")
        return f"∂{above}/∂{below}"

    def chain(style: Style) -> str:
        letters, symbol, _, outs, ats = lines(style)
        body = style.dot([style.indexed("G", outs), jacobian_of(style)])
        summed = [letters.out[i] for i in steps.out if isinstance(i, str)]
        right = style.total(summed, body) if summed else body
        return f"{letters.setting.gradient(symbol, ats)} = {right}"

    def jacobian(style: Style) -> str:
        return f"{jacobian_of(style)} = {lines(style)[0].text(steps.jacobian)}"

    def raw(style: Style) -> str:
        return f"{jacobian_of(style)} = {lines(style)[0].text(steps.raw)}"

    def inserted(style: Style) -> str:
        letters, symbol, _, _, ats = lines(style)
        return f"{subject.setting(style).gradient(symbol, ats)} = {letters.text_at(steps.product)}"

    def contracted(style: Style) -> str:
        letters, symbol, _, _, ats = lines(style)
        return f"{subject.setting(style).gradient(symbol, ats)} = {letters.text_at(steps.result)}"

    symbol = subject.symbols[name]
    if is_elementwise(subject.op):
        how = (
            f"Differentiate: {out} at one place depends on {symbol} at the same place "
            "alone, hence the δ (1 where its indices agree, else 0)."
        )
    else:
        how = "Differentiate the forward; δ is 1 where its indices agree, else 0."
    blocks: list[Block] = [
        Paragraph(
            f"1. Let {subject.loss} be any number that is computed from {out}, and G = "
            f"∂{subject.loss}/∂{out}. The chain rule goes through every element of "
            f"{out}:"
        ),
        Equation(chain),
        Paragraph(f"2. {how}"),
        *([Equation(raw)] if raw(UNICODE) != jacobian(UNICODE) else []),
        Equation(jacobian),
        Paragraph("3. Insert it, and sum: each δ picks the one index that it allows."),
        *([Equation(inserted)] if steps.out else []),
        Equation(contracted),
    ]
    if steps.matrix is not None:
        matrix = steps.matrix
        blocks += [
            Paragraph("4. Without indices:"),
            Equation(
                lambda style: (
                    f"{subject.setting(style).gradient(subject.setting(style).symbol(name))} = "
                    f"{subject.setting(style).text(matrix)}"
                ),
                text=trees.text_of(matrix),
            ),
        ]
    return tuple(blocks)


def _rearranged(subject: Subject) -> tuple[Block, ...]:
    out = subject.symbols["out"]
    if not subject.is_linear:
        return (
            Paragraph(
                f"With G = ∂L/∂{out}, the change of L is the inner product of G with the "
                f"change of {out}; moving everything but the input's own change over to G "
                "gives the formula below."
            ),
        )
    blocks: list[Block] = [
        Paragraph(
            "1. The op is linear: it copies or adds elements and computes nothing "
            f"else, so ∂{out}/∂x is 1 where an element was taken to, and 0 elsewhere."
        ),
        Paragraph(
            "2. Let G = ∂L/∂"
            + out
            + ". By the chain rule an element of the input gets the sum of G over all "
            "the places to which it went: the op run backwards."
        ),
    ]
    moved = copies(subject)
    if moved is not None:
        for name in subject.gradients:
            places: dict[tuple[int, ...], list[tuple[int, ...]]] = {}
            for to, owner, source in moved:
                if owner == name:
                    places.setdefault(source, []).append(to)
            if places:
                blocks.append(
                    Equation(
                        _backwards(subject, name, dict(list(places.items())[:4])),
                        "for these shapes",
                    )
                )
    return tuple(blocks)


def _backwards(
    subject: Subject, name: str, places: dict[tuple[int, ...], list[tuple[int, ...]]]
) -> Math:
    def math_(style: Style) -> str:
        symbol = subject.setting(style).symbol(name)
        return ",  ".join(
            f"{subject.setting(style).gradient(symbol, [str(i) for i in source])} = "
            + " + ".join(style.indexed("G", [str(i) for i in to]) for to in targets)
            for source, targets in places.items()
        )

    return math_


def _gradient(subject: Subject) -> tuple[Block, ...]:
    blocks: list[Block] = []
    code: list[str] = []
    for name, tree in subject.gradients.items():
        blocks.append(Equation(_gradient_math(subject, name, tree), text=trees.text_of(tree)))
        try:
            code.append(f"d{name} = {subject.code(name)}")
        except UnknownCode:
            code.append(f"# d{name}: no single TensorFlow call does this; see the formula")
    words = _glossary(subject)
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


def _glossary(subject: Subject) -> tuple[str, ...]:
    used = {trees.called(n) for t in subject.gradients.values() for n in ast.walk(t)}
    shown = {"unreduce": "spread"}
    return tuple(
        f"{shown.get(name, name)}: {_lower(FUNCTIONS[name].__doc__ or '')}"
        for name in sorted(used & _WORTH_A_WORD)
        if name in FUNCTIONS
    )


def _lower(text: str) -> str:
    first = text.strip().splitlines()[0]
    return first[0].lower() + first[1:] if first[1:2].islower() or first[1:2] == " " else first


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


def _broadcasting(subject: Subject) -> list[Section]:
    op, lines = subject.op, list[str]()
    stretched = {
        name: axes
        for name in subject.gradients
        if (axes := _stretched(subject, name)) and not op.outputs
    }
    summed = is_elementwise(op) or op.name in ("matmul", "matvec")
    for name, axes in stretched.items():
        if summed:
            lines.append(
                f"{subject.symbols[name]} was broadcast: the formula has the output's "
                f"shape {list(subject.shape)}, "
                f"and is summed over axis {', '.join(map(str, axes))} back to "
                f"{list(subject.call.shapes[name])}."
            )
    if summed and not lines and len(subject.call.shapes) > 1:
        lines.append(
            "Inputs of different shapes are broadcast: what was repeated on the way "
            "forward is summed on the way back, "
            "over each axis that an input lacks or has with size 1."
        )
    if op.family == "linalg" and op.name not in ("einsum", "tensordot"):
        lines.append(
            "Axes before the last two are batch axes: the formula holds for each matrix by itself."
        )
    elif is_elementwise(op) and not lines:
        lines.append("Any number of axes: the formula holds element by element.")
    return [Section("Broadcasting and batches", (Bullets(tuple(lines)),))] if lines else []


def _stretched(subject: Subject, name: str) -> list[int]:
    shape, full = subject.call.shapes[name], subject.shape
    if subject.op.name == "matmul":
        shape, full = shape[:-2], full[:-2]
    extra = len(full) - len(shape)
    if extra < 0:
        return []
    return [i for i in range(len(full)) if i < extra or (shape[i - extra] == 1 and full[i] != 1)]


def _undefined(subject: Subject) -> list[Section]:
    lines = list(subject.op.undefined)
    for parameter in subject.op.inputs:
        text = _domain(parameter, subject.symbols.get(parameter.name, parameter.name))
        if text:
            lines.append(text)
    if not lines:
        lines = ["Defined and differentiable everywhere."]
    return [Section("Where it is not defined or not differentiable", (Bullets(tuple(lines)),))]


def _domain(parameter: Parameter, symbol: str) -> str:
    domain = parameter.domain
    said = []
    low, high = math.isfinite(domain.low), math.isfinite(domain.high)
    if low and high:
        said.append(f"{symbol} lies between {domain.low:.4g} and {domain.high:.4g}")
    elif low:
        said.append(f"{symbol} lies above {domain.low:g}")
    elif high:
        said.append(f"{symbol} lies below {domain.high:g}")
    kinks = [k for k in domain.kinks if k not in (domain.low, domain.high)]
    if kinks:
        said.append(
            f"{symbol} = {' or '.join(f'{k:g}' for k in kinks)} is a point without a "
            "(continuous) derivative"
        )
    return "; ".join(said) + "." if said else ""


def _related(op: Op) -> tuple[str, ...]:
    if op.related:
        return tuple(name for name in op.related if ops.find(name) is not None)
    family = [other.name for other in ops.all_ops() if other.family == op.family]
    place = family.index(op.name)
    near = family[max(0, place - 2) : place] + family[place + 1 : place + 3]
    return tuple(near)


def one_line(subject: Subject, style: Style) -> str:
    """The gradients of an op in one line."""
    return ",  ".join(
        _gradient_math(subject, name, tree)(style) for name, tree in subject.gradients.items()
    )
