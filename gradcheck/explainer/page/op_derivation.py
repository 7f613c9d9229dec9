"""The derivation of an op's gradient, written or generated, as blocks of a page."""

from __future__ import annotations

import ast
from itertools import count
from typing import TYPE_CHECKING

from gradcheck.explainer import trees
from gradcheck.explainer.calculus.einstein import Delta, Select, walk
from gradcheck.explainer.calculus.indices import extent, named
from gradcheck.explainer.derive.gradient_steps import GradientSteps, gradient_steps
from gradcheck.explainer.document import Block, Equation, Paragraph, Section
from gradcheck.explainer.formula.broadcasting import is_elementwise
from gradcheck.explainer.formula.matrix_form import without_indices
from gradcheck.explainer.page.element_moves import back_lines, copies
from gradcheck.explainer.style import UNICODE
from gradcheck.explainer.typeset.index_notation import ElementSetting
from gradcheck.explainer.typeset.index_places import index_places, shape_known
from gradcheck.explainer.typeset.lettering import Lettering, lettered
from gradcheck.ops.sentences import MOVE, moved_over

if TYPE_CHECKING:
    from gradcheck.explainer.calculus.einstein import Node
    from gradcheck.explainer.calculus.indices import Index
    from gradcheck.explainer.derive.op_subject import Subject
    from gradcheck.explainer.document import Math
    from gradcheck.explainer.style import Style
    from gradcheck.model import Shape
    from gradcheck.ops.declaration import Derivation

__all__ = ["Letters", "derivation_sections"]


def derivation_sections(subject: Subject) -> list[Section]:
    """The derivation that is declared; else one for each input, by the rules."""
    if subject.derivation:
        return [Section("Derivation", _written(subject))]
    sections: list[Section] = []
    for name in subject.gradients:
        steps = gradient_steps(subject, name)
        if steps is not None:
            several = len(subject.gradients) > 1
            heading = f"Derivation of ∂{subject.loss}/∂{subject.symbols[name]}"
            blocks = _Generated(subject, steps, again=bool(sections)).blocks()
            sections.append(Section(heading if several else "Derivation", blocks))
    if not sections:
        # The calculus gives up on arrays without elements alone; a test holds that.
        nothing = Paragraph("There are no elements here, and nothing to derive.")
        sections.append(Section("Derivation", (nothing,)))
    return sections


def _written(whole: Subject) -> tuple[Block, ...]:
    subject = whole.single
    loss, names = subject.loss, subject.op.output_names(subject.call)
    blocks = _steps(subject, subject.derivation)
    used = {n for s in subject.derivation if s.claim for n in _claim_names(s.claim)}
    if "G" not in used:
        return tuple(blocks)
    upstream = (
        f"G = ∂{loss}/∂{subject.symbols['out']}"
        if not names
        else f"{', '.join(_upstream(subject))} are the gradients of {loss} by the outputs"
    )
    given = f"{loss} is any number that is computed from the output; {upstream}."
    if subject is not whole:
        given += " The steps are those of one matrix of the batch: the others go beside it."
    return (Paragraph(given), *blocks)


def _upstream(subject: Subject) -> list[str]:
    return [
        UNICODE.symbol(subject.symbols[f"G[{i}]"])
        for i in range(len(subject.op.output_names(subject.call)))
    ]


def _steps(subject: Subject, derivation: Derivation, start: int = 1) -> list[Block]:
    """The sentences, numbered, each above what it claims."""
    blocks: list[Block] = []
    number = start - 1
    for step in derivation:
        if step.text:
            number += 1
            text = step.text.replace(MOVE, moved_over(*_free_capitals(subject)))
            blocks.append(Paragraph(f"{number}. {text}"))
        if step.claim:
            blocks.append(_claim(subject, step.claim))
    return blocks


def _free_capitals(subject: Subject) -> list[str]:
    """Three letters for any matrices, none of which the page has another meaning for."""
    taken = {*subject.symbols.values(), *subject.definitions, subject.loss, "I"}
    firsts = {name[:1] for name in taken}
    return [c for c in "ABCXYZMNPQRST" if c not in firsts][:3]


def _claim(subject: Subject, claim: str) -> Equation:
    left, right = (subject.tree(t) for t in claim.replace(" := ", " == ").split(" == "))

    def math_(style: Style) -> str:
        setting = subject.setting(style)
        shown = setting.text(left)
        letters = trees.equation_of(right).partition("->")[2]
        if letters and isinstance(left, ast.Name):
            places = index_places(letters, shape_known(right, setting.shapes))
            shown = style.indexed(shown, places)
        elif letters:
            return f"{shown} = {style.family(setting.text(right), letters)}"
        return f"{shown} = {setting.text(right)}"

    return Equation(math_, text=claim)


def _claim_names(claim: str) -> set[str]:
    parts = claim.replace(" := ", " == ").split(" == ")
    return {name for part in parts for name in trees.names_in(trees.read(part))}


class _Generated:
    """The lines of a derivation by the rules: chain rule, product rule, deltas contracted."""

    def __init__(self, subject: Subject, steps: GradientSteps, *, again: bool) -> None:
        self.subject, self.steps, self.again = subject, steps, again
        self.chosen: dict[Style, Letters] = {}

    def blocks(self) -> tuple[Block, ...]:
        """Everything, in order, the paragraphs numbered."""
        found = [*self._chain(), *self._differentiated(), *self._inserted(), *self._recognised()]
        numbers = count(1)
        return tuple(
            Paragraph(f"{next(numbers)}. {b.text}") if isinstance(b, Paragraph) else b
            for b in found
        )

    def _letters(self, style: Style) -> Letters:
        """Chosen once for all the lines: that is most of what a line costs."""
        if style not in self.chosen:
            steps = self.steps
            lines = (steps.raw, steps.jacobian, steps.product, steps.result)
            self.chosen[style] = Letters(self.subject, style, steps.out, steps.at, lines)
        return self.chosen[style]

    def _left(self, style: Style) -> str:
        """∂L/∂x[m]."""
        letters = self._letters(style)
        symbol = letters.setting.symbol(self.steps.name)
        return letters.setting.gradient(symbol, letters.names(self.steps.at))

    def _jacobian(self, style: Style) -> str:
        """∂y[i]/∂x[m]."""
        letters = self._letters(style)
        out = style.symbol(self.subject.symbols["out"])
        above = style.indexed(out, letters.names(self.steps.out))
        symbol = letters.setting.symbol(self.steps.name)
        return style.derivative(above, style.indexed(symbol, letters.names(self.steps.at)))

    def _chain(self) -> list[Block]:
        loss, out = self.subject.loss, self.subject.symbols["out"]
        text = (
            f"As before, through every element of {out}:"
            if self.again
            else f"Let {loss} be any number that is computed from {out}, and G = "
            f"∂{loss}/∂{out}. The chain rule goes through every element of {out}:"
        )

        def chain(style: Style) -> str:
            letters = self._letters(style)
            upstream = style.indexed("G", letters.names(self.steps.out))
            body = style.dot([upstream, self._jacobian(style)])
            summed = [letters.out[i] for i in self.steps.out if isinstance(i, str)]
            return f"{self._left(style)} = {style.total(summed, body) if summed else body}"

        return [Paragraph(text), Equation(chain)]

    def _differentiated(self) -> list[Block]:
        subject, steps = self.subject, self.steps
        out, symbol = subject.symbols["out"], subject.symbols[steps.name]
        how = "Differentiate the forward."
        if is_elementwise(subject.op):
            how = _where_from(out, symbol, subject.call.shapes[steps.name], subject.shape)
        if not self.again:
            how = " ".join([how, *_notation(steps.raw, steps.jacobian)])

        def line(node: Node) -> Math:
            return lambda style: f"{self._jacobian(style)} = {self._letters(style).text(node)}"

        raw, done = line(steps.raw), line(steps.jacobian)
        blocks: list[Block] = [*([] if self.again else _slope(subject)), Paragraph(how)]
        if raw(UNICODE) != done(UNICODE):
            blocks.append(Equation(raw))
        return [*blocks, Equation(done)]

    def _inserted(self) -> list[Block]:
        steps = self.steps

        def line(node: Node, *, placed: bool) -> Math:
            return lambda style: (
                f"{self._left(style)} = {self._letters(style).text_at(node, placed=placed)}"
            )

        product, result = line(steps.product, placed=False), line(steps.result, placed=True)
        kinds = {type(part) for part in walk(steps.product)}
        text = "Insert it."
        if Select in kinds:
            text = "Insert it; the sum keeps what meets the conditions."
        elif Delta in kinds and steps.out:
            text = "Insert it, and sum: each δ picks the one index that it allows."
        same = product(UNICODE) == result(UNICODE)
        return [Paragraph(text), *([] if same else [Equation(product)]), Equation(result)]

    def _recognised(self) -> list[Block]:
        """The last line without indices; else the formula of whole arrays that it is."""
        subject, steps = self.subject, self.steps
        matrix = steps.matrix
        shown = matrix is not None and without_indices(matrix)
        tree = matrix if matrix is not None and shown else subject.printed[steps.name]
        if trees.equation_of(tree) or not steps.at:
            return []

        def line(style: Style) -> str:
            setting = subject.setting(style)
            return f"{setting.gradient(setting.symbol(steps.name))} = {setting.text(tree)}"

        text = "Without indices:" if shown else "That is, for the whole array at once:"
        blocks: list[Block] = [Paragraph(text), Equation(line, text=trees.text_of(tree))]
        moved = None if shown else copies(subject)
        if moved and not self.again:
            blocks += [Equation(math, "for these shapes") for math in back_lines(subject, moved)]
        return blocks


def _where_from(out: str, symbol: str, own: Shape, whole: Shape) -> str:
    """On which element of an input an element of the output depends."""
    if own == whole:
        return f"{out} at one place depends on {symbol} at the same place alone."
    if not any(size != 1 for size in own):
        return f"Every element of {out} depends on the one of {symbol}."
    return f"{out} at one place depends on one element of {symbol} alone: that repeated there."


def _notation(*nodes: Node) -> list[str]:
    """What the signs mean that stand in the lines below."""
    parts = [part for node in nodes for part in walk(node)]
    said = []
    if any(isinstance(part, Delta) for part in parts):
        said.append("δ is 1 where its indices agree, else 0.")
    if any(isinstance(part, Select) for part in parts):
        said.append("A condition in […] is 1 where it holds, else 0.")
    return said


def _slope(subject: Subject) -> list[Block]:
    """Why the slope is what it is; a slope that needs no words has none."""
    blocks: list[Block] = []
    for i, step in enumerate(subject.op.slope_steps(subject.call)):
        blocks.append(Paragraph(step.text if i else f"First the slope. {step.text}"))
        if step.claim:
            blocks.append(_claim(subject, step.claim))
    return blocks


class Letters:
    """Sets the lines of a derivation with one choice of letters."""

    def __init__(
        self,
        subject: Subject,
        style: Style,
        out: tuple[Index, ...],
        at: tuple[Index, ...],
        nodes: tuple[Node, ...] = (),
    ):
        self.setting = subject.setting(style)
        avoided = frozenset(subject.symbols.values()) | {"G", subject.loss}
        self.out = Lettering(avoided).of(out)
        before = Lettering(avoided | set("ijkl"), ranges=_ranges(self.out))
        self.at = before.of(at, self.out.values())
        self.lettering = lettered(nodes, {**self.out, **self.at}, avoided)

    def names(self, indices: tuple[Index, ...]) -> list[str]:
        """The letters of indices; a number stands for itself."""
        return named(indices, {**self.out, **self.at})

    def text(self, node: Node) -> str:
        """An expression for one element of the output."""
        return self._set(node, {**self.out, **self.at}, placed=True)

    def text_at(self, node: Node, *, placed: bool = True) -> str:
        """An expression for one element of the input: the letters of the output are free."""
        return self._set(node, self.at, placed=placed)

    def _set(self, node: Node, names: dict[Index, str], *, placed: bool) -> str:
        return ElementSetting(self.setting, placed, self.lettering).text(node, names)


def _ranges(names: dict[Index, str]) -> dict[str, int]:
    return {letter: extent(index) for index, letter in names.items() if isinstance(index, str)}
