"""An explanation for the terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from gradcheck.explainer.document import Bullets, Code, Equation, Paragraph, Table
from gradcheck.explainer.render.pattern_lines import pattern_lines
from gradcheck.explainer.style import UNICODE

if TYPE_CHECKING:
    from gradcheck.explainer.document import Block, Document

__all__ = ["WIDEST", "render_text"]

WIDEST = 88
"""Lines longer than this are hard to read, however wide the terminal is."""
NARROWEST = 40
"""Lines shorter than this would break every formula, however narrow the terminal is."""

Bold = Callable[[str], str]


def render_text(
    document: Document, bold: Bold = str, width: int = WIDEST, *, blocks: bool = True
) -> str:
    """Plain text with Unicode mathematics.

    Args:
        document: the page.
        bold: marks headings where the terminal can.
        width: of the terminal.
        blocks: whether it has characters beyond ASCII to draw with.
    """
    page = _Page(max(NARROWEST, min(width, WIDEST)))
    title = textwrap.wrap(
        f"{document.title}: {document.lead}" if document.lead else document.title,
        page.width,
        subsequent_indent="  ",
        break_long_words=False,
    )
    title = [part for line in title for part in page.cut(line, "  ")]
    lines = [title[0].replace(document.title, bold(document.title), 1), *title[1:]]
    drawn = _jacobian(document, page.width, blocks)
    headings = [section.heading for section in document.sections]
    derived = [i for i, heading in enumerate(headings) if heading.startswith(_DERIVED)]
    for i, section in enumerate(document.sections):
        lines += ["", bold(section.heading)]
        for block in section.blocks:
            lines += page.block(block)
        if drawn and i == (derived[-1] if derived else len(headings) - 1):
            lines += ["", bold("Jacobian"), *drawn]
    return "\n".join(lines)


_DERIVED = ("Gradient", "Backward", "Closed form")
"""How the headings begin behind the last of which the Jacobian stands."""


def _jacobian(document: Document, width: int, blocks: bool) -> list[str]:
    if document.picture is None:
        return []
    return pattern_lines(document.picture(), width, blocks=blocks)


class _Page:
    """Blocks as lines of a width."""

    def __init__(self, width: int) -> None:
        self.width = width

    def block(self, block: Block) -> list[str]:
        """The lines of one block."""
        if isinstance(block, Paragraph):
            hanging = "     " if block.text[:1].isdigit() else "  "
            return self._wrapped(block.text, "  ", hanging)
        if isinstance(block, Equation):
            return self._equation(block)
        if isinstance(block, Code):
            return [f"      {line}" for line in block.broken(self.width - 6)]
        if isinstance(block, Bullets):
            return [line for item in block.items for line in self._wrapped(item, "  - ", "    ")]
        return _table(block, self.width)

    def _wrapped(self, text: str, first: str, others: str) -> list[str]:
        lines = textwrap.wrap(
            text,
            self.width,
            initial_indent=first,
            subsequent_indent=others,
            break_long_words=False,
            break_on_hyphens=False,
        )
        return [part for line in lines for part in self.cut(line, others)]

    def cut(self, line: str, others: str) -> list[str]:
        """A line without a blank to be broken at: behind a dot or a comma, else anywhere."""
        cut = []
        while len(line) > self.width:
            # (`[ids[i],j]·` is broken behind the dot, or behind the comma, rather than within.)
            end = max((line.rfind(sign, len(others), self.width) for sign in "·,"), default=-1)
            end = end + 1 if end > self.width // 2 else self.width
            cut.append(line[:end])
            line = others + line[end:]
        return [*cut, line]

    def _equation(self, block: Equation) -> list[str]:
        """A line of mathematics, its remark beside it or below."""
        lines = self._wrapped(block.math(UNICODE), "      ", "          ")
        note = f"({block.note})" if block.note else ""
        if note and len(lines[-1]) + 4 + len(note) <= self.width:
            return [*lines[:-1], f"{lines[-1]}    {note}"]
        return [*lines, *self._wrapped(note, "          ", "          ")]


def _table(table: Table, width: int) -> list[str]:
    """Columns; where they do not fit their heads take two lines, and then each row does."""
    lines = _columns([table.head, *table.rows])
    if _widest(lines) <= width:
        return lines
    pairs = [head.partition("−") for head in table.head]  # "formula−tape"
    heads = [[first + sign for first, sign, _ in pairs], [last for *_, last in pairs]]
    heads = heads if any(heads[1]) else heads[:1]
    lines = _columns([*heads, *table.rows])
    if _widest(lines) <= width or len(table.head) < 3:
        return lines
    names = _columns([row[:2] for row in (*heads, *table.rows)])
    others = _columns([row[2:] for row in (*heads, *table.rows)], indent=6)
    several = len(heads)
    below = zip(names[several:], others[several:], strict=True)
    return [names[0], *others[:several], *(line for pair in below for line in pair)]


def _widest(lines: Sequence[str]) -> int:
    return max(map(len, lines), default=0)


def _columns(rows: Sequence[Sequence[str]], indent: int = 2) -> list[str]:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return [
        " " * indent
        + "  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
