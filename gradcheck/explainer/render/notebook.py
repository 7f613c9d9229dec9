"""An explanation for a notebook: HTML that needs nothing from elsewhere, with MathML in it.

It takes the colours and letters of the page around it, so that it is readable in light and dark.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from gradcheck.explainer.document import Bullets, Code, Equation, Paragraph
from gradcheck.explainer.render.mathml import mathml
from gradcheck.explainer.style import LATEX

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcheck.explainer.document import Block, Document

__all__ = ["render_formulas", "render_html"]

_STYLE = (
    ".gradcheck-explanation h4{margin:1em 0 .3em}"
    ".gradcheck-explanation p,.gradcheck-explanation ul{margin:.3em 0;max-width:50em}"
    ".gradcheck-explanation math{margin:.5em 0;text-align:left}"
    ".gradcheck-explanation .equation{display:flex;gap:2em;align-items:center;padding-left:2em;"
    "overflow-x:auto}"
    ".gradcheck-explanation .note{opacity:.75;font-style:italic;white-space:nowrap}"
    ".gradcheck-explanation pre{padding:.6em 1em;border:1px solid rgba(128,128,128,.4);"
    "overflow-x:auto;background:none;color:inherit}"
    ".gradcheck-explanation td,.gradcheck-explanation th{padding:.2em .8em;text-align:left;"
    "border-bottom:1px solid rgba(128,128,128,.4)}"
)

WIDEST_CODE = 88
"""Characters of a line of code that a page of a notebook has room for."""

_RESULTS = ("Gradient", "Closed form")
"""How the headings begin below which the gradients stand that are derived."""


def render_html(document: Document) -> str:
    """A fragment of HTML."""
    lead = f"<p>{escape(document.lead)}</p>" if document.lead else ""
    parts = [f"<h3><code>{escape(document.title)}</code></h3>{lead}"]
    for section in document.sections:
        parts.append(f"<h4>{escape(section.heading)}</h4>")
        parts += [_block(block) for block in section.blocks]
    body = "\n".join(parts)
    return f'<div class="gradcheck-explanation"><style>{_STYLE}</style>\n{body}\n</div>'


def render_formulas(document: Document) -> str:
    r"""The gradients alone, in LaTeX between `$$`; empty for a page that has none."""
    lines = [
        block.math(LATEX)
        for section in document.sections
        if section.heading.startswith(_RESULTS)
        for block in section.blocks
        if isinstance(block, Equation)
    ]
    if not lines:
        return ""
    rows = r" \\ ".join(lines)
    return rf"$$\begin{{gathered}} {rows} \end{{gathered}}$$"


def _block(block: Block) -> str:
    if isinstance(block, Paragraph):
        return f"<p>{escape(block.text)}</p>"
    if isinstance(block, Equation):
        note = f'<span class="note">{escape(block.note)}</span>' if block.note else ""
        return f'<div class="equation">{mathml(block.math(LATEX))}{note}</div>'
    if isinstance(block, Code):
        return f"<pre><code>{escape(chr(10).join(block.broken(WIDEST_CODE)))}</code></pre>"
    if isinstance(block, Bullets):
        return f"<ul>{''.join(f'<li>{escape(item)}</li>' for item in block.items)}</ul>"
    rows = "".join(_row(row, "td") for row in block.rows)
    return f"<table><thead>{_row(block.head, 'th')}</thead><tbody>{rows}</tbody></table>"


def _row(cells: Sequence[str], tag: str) -> str:
    return f"<tr>{''.join(f'<{tag}>{escape(cell)}</{tag}>' for cell in cells)}</tr>"
