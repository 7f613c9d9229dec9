"""An explanation as Markdown, with the mathematics in LaTeX between dollar signs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradcheck.explainer.document import Bullets, Code, Equation, Paragraph
from gradcheck.explainer.style import LATEX

if TYPE_CHECKING:
    from gradcheck.explainer.document import Block, Document

__all__ = ["render_markdown"]


def render_markdown(document: Document) -> str:
    """Markdown as GitHub and most readers understand it."""
    lines = [f"# `{document.title}`", "", document.lead]
    for section in document.sections:
        lines += ["", f"## {section.heading}", ""]
        for block in section.blocks:
            lines += [*_block(block), ""]
        lines.pop()
    return "\n".join(lines)


def _block(block: Block) -> list[str]:
    if isinstance(block, Paragraph):
        return [block.text]
    if isinstance(block, Equation):
        note = f"  *({block.note})*" if block.note else ""
        return ["$$", block.math(LATEX), "$$", *([note.strip()] if note else [])]
    if isinstance(block, Code):
        return ["```python", *block.lines, "```"]
    if isinstance(block, Bullets):
        return [f"- {item}" for item in block.items]
    rows = [block.head, tuple("---" for _ in block.head), *block.rows]
    return ["| " + " | ".join(row) + " |" for row in rows]
