"""The chain of an explanation as a picture that stands by itself, in light and dark."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradcheck.errors import ExplainError
from gradcheck.explainer.render.chain_drawing import MOST_PLACES, standing_alone
from gradcheck.explainer.render.elements import plain_ascii

if TYPE_CHECKING:
    from gradcheck.explainer.document import Document

__all__ = ["render_svg"]


def render_svg(document: Document) -> str:
    """A file of SVG; ExplainError where there is nothing to draw."""
    if document.picture is None:
        raise ExplainError(f"{document.title}: this page has no chain to draw")
    drawn = standing_alone(document.picture(), document.title)
    if not drawn:
        raise ExplainError(
            f"there are more than {MOST_PLACES} values on the way: explain a part of it"
        )
    return plain_ascii(f'<?xml version="1.0" encoding="UTF-8"?>\n{drawn}')
