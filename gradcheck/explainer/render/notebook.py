"""An explanation for a notebook: HTML that needs nothing from elsewhere, with MathML in it.

It takes the colours and letters of the page around it, so that it is readable in light and dark.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradcheck.explainer.document import Bullets, Code, Equation, Paragraph
from gradcheck.explainer.render.elements import Markup, element, joined, style_sheet
from gradcheck.explainer.render.mathml import mathml
from gradcheck.explainer.render.pictured import chain_part, number_parts
from gradcheck.explainer.style import LATEX

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gradcheck.explainer.document import Block, Document

__all__ = ["render_formulas", "render_html"]

WIDEST_CODE = 88
"""Characters of a line of code that a page of a notebook has room for."""

_DERIVED = ("Gradient", "Backward", "Closed form")
"""How the headings begin behind the last of which the numbers stand."""
_RESULTS = ("Gradient", "Closed form")
"""How the headings begin below which the gradients stand that are derived."""


def render_html(document: Document, level: int = 3) -> str:
    """A fragment of HTML whose title is a heading of that level."""
    style = "".join(map(style_sheet, ("explanation.css", "chain.css")))
    body = "\n".join(_parts(document, level))
    return f'<div class="gradcheck-explanation"><style>\n{style}</style>\n{body}\n</div>'


def _parts(document: Document, level: int) -> Iterator[str]:
    """The title, the sections, and the pictures among them."""
    yield element(f"h{level}", element("code", document.title))
    if document.lead:
        yield element("p", document.lead)
    picture = document.picture() if document.picture is not None else None
    headings = [section.heading for section in document.sections]
    derived = [i for i, heading in enumerate(headings) if heading.startswith(_DERIVED)]
    last = derived[-1] if derived else len(headings) - 1
    if picture is not None:
        yield from _part(*chain_part(picture), level)
    for i, section in enumerate(document.sections):
        blocks = Markup("\n".join(_block(block) for block in section.blocks))
        yield from _part(section.heading, blocks, level)
        if i == last and picture is not None:
            for part in number_parts(picture):
                yield from _part(*part, level)


def _part(heading: str, content: Markup, level: int) -> Iterator[str]:
    yield element(f"h{level + 1}", heading)
    yield content


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


def _block(block: Block) -> Markup:
    if isinstance(block, Paragraph):
        return element("p", _prose(block.text))
    if isinstance(block, Equation):
        note = element("span", block.note, class_="note") if block.note else ""
        return element("div", Markup(mathml(block.math(LATEX))), note, class_="equation")
    if isinstance(block, Code):
        return element("pre", element("code", "\n".join(block.broken(WIDEST_CODE))))
    if isinstance(block, Bullets):
        return element("ul", *(element("li", _prose(item)) for item in block.items))
    head = element("thead", _row(block.head, "th"))
    body = element("tbody", *(_row(row, "td") for row in block.rows))
    return element("div", element("table", head, body), class_="gcx-wide")


def _prose(text: str) -> Markup:
    """Words, with what stands between backquotes set as code."""
    parts = text.split("`") if text.count("`") % 2 == 0 else [text]
    return joined(*(element("code", part) if i % 2 else part for i, part in enumerate(parts)))


def _row(cells: Sequence[str], tag: str) -> Markup:
    return element("tr", *(element(tag, cell) for cell in cells))
