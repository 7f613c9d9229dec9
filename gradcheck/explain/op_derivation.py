"""The derivation of an op"s gradient, written or generated, as blocks of a page."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from gradcheck.explain import tree as trees
from gradcheck.explain.derive import GradientSteps, Letters, copies, gradient_steps
from gradcheck.explain.document import Block, Equation, Paragraph, Section
from gradcheck.explain.matrix import without_indices
from gradcheck.explain.style import UNICODE
from gradcheck.explain.subject import Subject, is_elementwise

if TYPE_CHECKING:
    import ast

    from gradcheck.explain.style import Style

Math = Callable[["Style"], str]

__all__ = ["derivation_sections"]


def derivation_sections(subject: Subject) -> list[Section]:
    """The derivation that is declared; else one for each input, by the rules."""
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
    if steps.matrix is not None and without_indices(steps.matrix):
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
