"""The explanation of a whole expression: forward steps, adjoints, closed forms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradcheck.explainer import trees
from gradcheck.explainer.calculus.indices import named
from gradcheck.explainer.derive.chain import Adjoint, Closed, ClosedForms, adjoints
from gradcheck.explainer.derive.composition import is_traced
from gradcheck.explainer.derive.named_form import in_lines
from gradcheck.explainer.derive.passed_through import STOPPED
from gradcheck.explainer.derive.whole_op import as_one_op
from gradcheck.explainer.document import (
    Block,
    Bullets,
    Code,
    Document,
    Equation,
    Paragraph,
    Section,
)
from gradcheck.explainer.formula.matrix_form import without_indices
from gradcheck.explainer.page.glossary import glossary
from gradcheck.explainer.page.graph_setting import loss_of, setting_of
from gradcheck.explainer.page.named_parts import (
    assumed,
    named_parts,
    note_of,
    where_shares,
    with_letters,
)
from gradcheck.explainer.page.page_lines import forward_line, gradient_line, written_in_lines
from gradcheck.explainer.page.written_code import code_by_lines, code_of
from gradcheck.explainer.style import UNICODE
from gradcheck.explainer.typeset.index_notation import ElementSetting
from gradcheck.explainer.typeset.lettering import Lettering, lettered

if TYPE_CHECKING:
    import ast

    from gradcheck.explainer.derive.call_graph import Graph
    from gradcheck.explainer.document import Math
    from gradcheck.explainer.style import Style

__all__ = ["explain_expression"]


def explain_expression(graph: Graph, wanted: tuple[str, ...] | None = None) -> Document:
    """How the gradient of each input comes about."""
    names = wanted or tuple(graph.inputs)
    found = adjoints(graph)
    forms = ClosedForms(graph)
    closed = {a.name: forms.of(a.name) for a in found if a.name in names}
    sections = [
        Section("Forward, step by step", _forward(graph)),
        Section("Backward, by the chain rule", _backward(graph, found, names)),
    ]
    lined = {name: in_lines(graph, name, form) for name, form in closed.items()}
    above: set[str] = set()
    for name, form in closed.items():
        lines = lined[name]
        blocks = written_in_lines(graph, lines, above) if lines else _closed(graph, name, form)
        sections.append(Section(f"Closed form of ∂{loss_of(graph)}/∂{name}", blocks))
    sections += _by_lines(graph, [n for n, form in closed.items() if not code_of(graph, n, form)])
    missing = [name for name in names if name not in closed]
    if missing:
        sections.append(Section("Not connected", _unreached(graph, missing)))
    return Document(graph.text, "", tuple(sections), _data(graph, found, closed))


def _unreached(graph: Graph, missing: list[str]) -> tuple[Block, ...]:
    """Inputs that are not used, and those that are used where nothing comes back."""
    used = {name for step in graph.steps for name in trees.names_in(step.forward)}
    unused = [name for name in missing if name not in used]
    held = [name for name in missing if name not in unused]
    told = "The expression does not depend on", "Nothing comes back to"
    pairs = zip(told, (unused, held), strict=True)
    return tuple(
        Paragraph(f"{what} {', '.join(names)}: the tape gives None.")
        for what, names in pairs
        if names
    )


def _by_lines(graph: Graph, lacking: list[str]) -> list[Section]:
    """The code of gradients whose closed form has none."""
    lines, given = code_by_lines(graph, lacking)
    if not given:
        return []
    of = ", ".join(f"∂{loss_of(graph)}/∂{name}" for name in given)
    said = Paragraph(f"By the lines of the forward and the backward steps, to paste: {of}.")
    return [Section("As code, step by step", (said, Code(tuple(lines))))]


def _data(
    graph: Graph, found: tuple[Adjoint, ...], closed: dict[str, Closed | None]
) -> dict[str, Any]:
    return {
        "expression": graph.text,
        "shapes": {name: list(shape) for name, shape in graph.shapes.items()},
        "forward": {step.name: trees.text_of(step.forward) for step in graph.steps},
        "adjoints": {a.name: trees.text_of(a.tree) for a in found},
        "gradient": {
            name: trees.text_of(form.formula) if form and form.formula is not None else None
            for name, form in closed.items()
        },
    }


def _forward(graph: Graph) -> tuple[Block, ...]:
    lines: list[Block] = []
    for name, shape in graph.inputs.items():
        lines.append(Equation(_shape_math(graph, name, list(shape)), graph.told.get(name, "input")))
    for number, step in enumerate(graph.steps, 1):
        lines.append(
            Equation(
                forward_line(graph, step.name, step.shown),
                f"step {number}: {step.op.name}, {_shape(list(step.shape))}",
                trees.text_of(step.shown),
            )
        )
    return tuple(lines)


def _shape(sizes: list[int]) -> str:
    return "×".join(map(str, sizes)) if sizes else "a number"


def _shape_math(graph: Graph, name: str, sizes: list[int]) -> Math:
    def math(style: Style) -> str:
        shown = "[" + ", ".join(map(str, sizes)) + "]" if sizes else style.words("a number")
        return f"{setting_of(graph, style).symbol(name)}: {shown}"

    return math


def _backward(
    graph: Graph, found: tuple[Adjoint, ...], wanted: tuple[str, ...]
) -> tuple[Block, ...]:
    loss = loss_of(graph)
    blocks: list[Block] = [
        Paragraph(
            f"{loss} is any number that is computed from the result "
            f"{UNICODE.symbol(graph.output)}. G = ∂{loss}/∂{UNICODE.symbol(graph.output)}, and a "
            f"bar marks the gradient of {loss} by a step."
        )
    ]
    numbers = {step.name: i for i, step in enumerate(graph.steps, 1)}
    for adjoint in found:
        if adjoint.name in graph.inputs and adjoint.name not in wanted:
            continue
        several = len(adjoint.parts) > 1
        if several:
            used = sorted(numbers[part.step] for part in adjoint.parts)
            uses = ", ".join(f"step {number}" for number in used)
            blocks.append(
                Paragraph(
                    f"{UNICODE.symbol(adjoint.name)} is used {len(adjoint.parts)} times ({uses}): "
                    "what comes back is added."
                )
            )
        by = ", ".join(
            dict.fromkeys(f"step {numbers[p.step]}, {_op(graph, p.step)}" for p in adjoint.parts)
        )
        blocks.append(
            Equation(
                gradient_line(graph, adjoint.name, adjoint.tree),
                f"through {by}",
                trees.text_of(adjoint.tree),
            )
        )
    words = glossary(tuple(adjoint.tree for adjoint in found))
    if any(step.op is STOPPED for step in graph.steps):
        words += ("stop_gradient: the value is that of its input; nothing goes back through it.",)
    words += tuple(
        f"{step.op.name}: what comes back to it is a multiple of I here, which commutes with "
        "everything; any other gradient would not go through so simply."
        for step in graph.steps
        if step.op.of_multiple and is_traced(graph, step)
    )
    return (*blocks, Bullets(words)) if words else tuple(blocks)


def _op(graph: Graph, name: str) -> str:
    return next(step.op.name for step in graph.steps if step.name == name)


def _element(graph: Graph, form: Closed, letters: dict[str, ast.expr]) -> Math:
    node = with_letters(form.node, letters)

    def math(style: Style) -> str:
        setting = setting_of(graph, style)
        avoided = frozenset({*graph.inputs, *letters, "G", loss_of(graph)})
        names = Lettering(avoided).of(form.indices)
        chosen = lettered((node,), names, avoided)
        left = setting.gradient(setting.symbol(form.name), named(form.indices, names))
        return f"{left} = {ElementSetting(setting, letters=chosen).text(node, names)}"

    return math


def _where_shares(
    graph: Graph, name: str, formula: ast.expr, short: trees.Shortened
) -> list[Block]:
    """What the gradient is where labels sum to one, and where that has been assumed already."""
    found = where_shares(graph, formula)
    if found is not None:
        labels, shorter = found
        text = setting_of(graph, UNICODE).text(labels)
        lettered_form = trees.shorten((shorter,), short.names).formulas[0]
        return [Equation(gradient_line(graph, name, lettered_form), f"where {text} = 1")]
    labels_of = ", ".join(UNICODE.symbol(own) for own in assumed(graph, name))
    said = f"{labels_of} is taken to sum to 1 along the axis, as TensorFlow takes it."
    return [Paragraph(said)] if labels_of else []


def _as_op(graph: Graph, name: str) -> tuple[Block, ...]:
    """The gradient in the form of the op that the whole is; nothing where it is none."""
    whole = as_one_op(graph)
    short = whole.formula(name) if whole is not None else None
    if whole is None or short is None:
        return ()
    derived = f"`gradcheck explain {whole.subject.op.name}` derives it"
    blocks: list[Block] = [Paragraph(f"All of it is {whole.told}; {derived}.")]
    blocks += [Equation(forward_line(graph, own, tree)) for own, tree in short.names.items()]
    executed = trees.text_of(whole.whole_formula(name) or short.formulas[0])
    blocks.append(Equation(gradient_line(graph, name, short.formulas[0]), "", executed))
    return (*blocks, Code(tuple(whole.code(graph, name))))


def _closed(graph: Graph, name: str, form: Closed | None) -> tuple[Block, ...]:
    if found := _as_op(graph, name):
        return found
    if form is None:
        return (
            Paragraph(
                "This one is not put together into one formula: read it from the steps above."
            ),
        )
    blocks: list[Block] = []
    readable = form.formula is not None and (without_indices(form.formula) or not form.indices)
    short = named_parts(graph, form.formula) if form.formula is not None and readable else None
    letters = short.names if short is not None else {}
    for own, tree in letters.items():
        blocks.append(Equation(forward_line(graph, own, tree), note_of(tree)))
    if form.indices or form.formula is None:
        blocks.append(Equation(_element(graph, form, letters)))
    if form.formula is not None:
        if short is not None:
            note = "without indices" if form.indices else ""
            line = gradient_line(graph, name, short.formulas[0])
            blocks.append(Equation(line, note, trees.text_of(form.formula)))
            blocks += _where_shares(graph, name, form.formula, short)
        code = code_of(graph, name, form)
        if code:
            blocks.append(Code(tuple(code)))
    if form.steps:
        names = ", ".join(UNICODE.symbol(step) for step in form.steps)
        blocks.append(Paragraph(f"{names} as in the forward steps."))
    return tuple(blocks)
