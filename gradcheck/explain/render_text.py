"""An explanation for the terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import TYPE_CHECKING

from gradcheck.explain.document import Bullets, Code, Equation, Paragraph, Table
from gradcheck.explain.style import UNICODE

if TYPE_CHECKING:
    from gradcheck.explain.document import Block, Document

__all__ = ["render_text"]

WIDTH = 88

Bold = Callable[[str], str]


def render_text(document: Document, bold: Bold = str) -> str:
    """Plain text with Unicode mathematics; `bold` marks headings where the terminal can."""
    lines = [f"{bold(document.title)}: {document.lead}" if document.lead else bold(document.title)]
    for section in document.sections:
        lines += ["", bold(section.heading)]
        for block in section.blocks:
            lines += _block(block)
    return "\n".join(lines)


def _block(block: Block) -> list[str]:
    if isinstance(block, Paragraph):
        hanging = "     " if block.text[:1].isdigit() else "  "
        return textwrap.wrap(block.text, WIDTH, initial_indent="  ", subsequent_indent=hanging)
    if isinstance(block, Equation):
        text = block.math(UNICODE)
        note = f"    ({block.note})" if block.note else ""
        return [f"      {line}" for line in _wrapped(text + note)]
    if isinstance(block, Code):
        return [f"      {line}" for line in block.lines]
    if isinstance(block, Bullets):
        lines = []
        for item in block.items:
            lines += textwrap.wrap(item, WIDTH, initial_indent="  - ", subsequent_indent="    ")
        return lines
    return _table(block)


def _wrapped(text: str) -> list[str]:
    """A long line of mathematics, broken at sums and commas."""
    if len(text) <= 2 * WIDTH:
        return [text]
    return textwrap.wrap(text, WIDTH, subsequent_indent="    ", break_long_words=False)


def _table(table: Table) -> list[str]:
    rows = [table.head, *table.rows]
    widths = [max(len(row[i]) for row in rows) for i in range(len(table.head))]
    return [
        "  " + "  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
