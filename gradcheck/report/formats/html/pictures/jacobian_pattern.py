"""Which outputs move with which elements of an input, and which way."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gradcheck.report.formats.html import drawing
from gradcheck.report.formats.html.markup import tag

if TYPE_CHECKING:
    from gradcheck.model import Comparison
    from gradcheck.report.formats.html.markup import Html


def jacobian_pattern(comparison: Comparison) -> Html | None:
    """A cell for each pair of an output (row) and an element (column)."""
    rows = comparison.jacobian
    if not rows or not rows[0]:
        return None
    signs = np.array([list(row) for row in rows])
    height, width = signs.shape
    moving = int(np.count_nonzero(signs != "0"))
    told = f"{height} outputs (rows) by {width} elements of {comparison.name} (columns)"
    title = f"Jacobian: {told}; {moving} of {signs.size} entries are not zero"
    room = min(drawing.WIDTH // width, drawing.HEIGHT // height)
    size = min(drawing.LARGEST_CELL, max(drawing.SMALLEST_CELL, room))
    kinds = {"+": "up", "-": "down", "?": "both"}
    drawn = [drawing.path(kinds[sign], drawing.cells_path(signs == sign)) for sign in kinds]
    nothing = tag("rect", class_="nothing", width=width, height=height)
    svg = drawing.cells([nothing, *drawn], height, width, size, title)
    return tag("figure", svg, tag("figcaption", f"{title}. Blue moves up, orange down."))
