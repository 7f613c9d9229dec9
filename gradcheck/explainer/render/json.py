"""An explanation as JSON: the names and formulas, and every section in two styles."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from gradcheck.explainer.document import Equation
from gradcheck.explainer.style import LATEX, UNICODE

if TYPE_CHECKING:
    from gradcheck.explainer.document import Block, Document

__all__ = ["render_json"]


def render_json(document: Document) -> str:
    """One JSON object."""
    content = {
        "title": document.title,
        "summary": document.lead,
        **document.data,
        "sections": [
            {"heading": section.heading, "blocks": [_block(block) for block in section.blocks]}
            for section in document.sections
        ],
    }
    return json.dumps(content, ensure_ascii=False, indent=2)


def _block(block: Block) -> dict[str, Any]:
    kind = type(block).__name__.lower()
    if isinstance(block, Equation):
        return {
            "kind": kind,
            "unicode": block.math(UNICODE),
            "latex": block.math(LATEX),
            **({"executed": block.text} if block.text else {}),
            **({"note": block.note} if block.note else {}),
        }
    return {"kind": kind, **asdict(block)}
