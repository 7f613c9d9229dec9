"""What a lesson shows of an explanation: the formulas that were derived, and the numbers."""

from __future__ import annotations

from dataclasses import replace

from gradcheck.explainer.document import Document, Equation, Section

_SHOWN = ("Gradient", "Closed form", "In numbers")
"""How the headings begin of the sections with the result; the others say how one gets there."""


def key_sections(document: Document) -> Document:
    """The explanation without its derivation, and without code."""
    kept = [s for s in document.sections if s.heading.startswith(_SHOWN)]
    return replace(document, sections=tuple(_formulas(section) for section in kept))


def _formulas(section: Section) -> Section:
    blocks = tuple(block for block in section.blocks if isinstance(block, Equation))
    return Section(section.heading, blocks)
