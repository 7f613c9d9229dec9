"""The error by element as a heat map, in the input's own shape."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gradcheck.report import numbers
from gradcheck.report.error_shades import SHADES, error_shades
from gradcheck.report.formats.html import drawing
from gradcheck.report.formats.html.markup import Html, joined, tag

if TYPE_CHECKING:
    from gradcheck.model import Array, Comparison

_FEWEST_CELLS = 4
"""Fewer elements are better told in a table."""
_LONGEST_SIDE = 256
"""Cells along a side: a picture that is longer is no picture."""
_ROW = 32
"""Elements of a vector that stand in a row, and how many fill the width of a picture at most."""


def error_map(comparison: Comparison) -> Html | None:
    """A cell for each element, darker the more its gradient is wrong."""
    digits = error_shades(comparison)
    if len(digits) < _FEWEST_CELLS or not comparison.shape:
        return None
    shades = np.array([int(digit) for digit in digits]).reshape(comparison.shape)
    cells, layout = _laid_out(shades)
    rows, columns = cells.shape
    if max(columns, rows) > _LONGEST_SIDE:
        return None
    used = sorted(set(shades.ravel().tolist()))
    room = min(drawing.WIDTH // columns, 2 * drawing.HEIGHT // rows)
    size = min(drawing.LARGEST_CELL, max(drawing.SMALLEST_CELL, room))
    drawn = [drawing.path(f"shade{s}", drawing.cells_path(cells == s)) for s in used]
    title = f"Error by element of {comparison.name}, {layout}"
    if comparison.worst_index:
        title += f"; the worst is at {numbers.index(comparison.worst_index)}"
    svg = drawing.cells(drawn, rows, columns, size, title)
    return tag("figure", svg, tag("figcaption", f"{title}. ", _legend(used)))


def _laid_out(shades: Array) -> tuple[Array, str]:
    """The cells as rows and columns, −1 between matrices, and how that is to be read."""
    if shades.ndim == 1 or max(shades.shape) == shades.size:
        width = min(_ROW, shades.size)
        missing = -shades.size % width
        rows = np.pad(shades.ravel(), (0, missing), constant_values=-1).reshape(-1, width)
        return rows, "from left to right" + (", row by row" if len(rows) > 1 else "")
    if shades.ndim == 2:
        return shades, "axis 0 downward, axis 1 to the right"
    height, width = shades.shape[-2:]
    matrices = shades.reshape(-1, height, width)
    beside = max(1, min(len(matrices), _ROW // max(1, width)))
    missing = -len(matrices) % beside
    padded = np.pad(matrices, ((0, missing), (0, 1), (0, 1)), constant_values=-1)
    tiles = padded.reshape(-1, beside, height + 1, width + 1).transpose(0, 2, 1, 3)
    cells = tiles.reshape(-1, beside * (width + 1))[:-1, :-1]
    return cells, "matrices of the last two axes, one beside the other"


def _legend(used: list[int]) -> Html:
    chips = [
        tag("span", tag("i", "", class_=f"chip shade{shade}"), SHADES[shade], class_="key")
        for shade in used
    ]
    scale = "" if used == [0] else "As shares of the largest derivative: "
    return joined([scale, joined(chips, " ")])
