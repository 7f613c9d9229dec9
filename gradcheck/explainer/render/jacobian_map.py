"""The Jacobian as a map: a cell for each pair of an output and an input's element.

The colour tells the sign and its strength the size; a minus stands in what is negative where there
is room, and a dot in what is zero. The number is what the pointer shows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gradcheck.explainer.render.elements import Markup, element
from gradcheck.explainer.render.number_grid import number
from gradcheck.explainer.worked_example import element_name

if TYPE_CHECKING:
    from gradcheck.explainer.worked_example import Jacobian, Numbers
    from gradcheck.model import Array

__all__ = ["jacobian_map"]

_ROOM, _LARGEST, _SMALLEST = 420.0, 22.0, 5.0
"""The width of a map, and the sides of a cell, in pixels."""
_LABELLED, _SIGNED = 12.0, 10.0
"""The least sides of cells that have names beside them, and a sign in them."""
_LETTER = 6.0


def jacobian_map(numbers: Numbers, jacobian: Jacobian) -> Markup:
    """The map of one input, with a caption."""
    matrix = jacobian.matrix
    height, width = matrix.shape
    side = min(_LARGEST, max(_SMALLEST, _ROOM / max(width, height)))
    rows = [element_name(one.output, at) for one, at in numbers.rows()]
    columns = [element_name(jacobian.symbol, at) for at in np.ndindex(jacobian.shape)]
    labelled = side >= _LABELLED
    left = max(map(len, rows)) * _LETTER + 8 if labelled else 2.0
    top = max(map(len, columns)) * _LETTER + 8 if labelled else 2.0
    filled = int(np.count_nonzero(matrix))
    outputs = ", ".join(one.output for one in numbers.upstreams)
    told = (
        f"∂{outputs}/∂{jacobian.symbol}: {height} outputs (rows) by {width} elements of "
        f"{jacobian.symbol} (columns), {filled} of {matrix.size} not zero"
    )
    parts = [
        element("title", told),
        *(_labels(rows, columns, side, left, top) if labelled else []),
        element(
            "rect", x=left, y=top, width=width * side, height=height * side, class_="gcx-frame"
        ),
        _zeros(matrix, side, left, top),
        *_cells(matrix, rows, columns, side, (left, top)),
        *(
            element(
                "rect", x=left + i * side, y=top, width=side, height=height * side,
                class_=f"gcx-column c{i}",
            )
            for i in range(width)
        ),
    ]  # fmt: skip
    across, down = left + width * side + 2, top + height * side + 2
    least = f"min-width:{0.85 * across:.0f}px"
    size = {"width": f"{across:.0f}", "height": f"{down:.0f}", "style": least}
    drawn = element(
        "svg", *parts, viewBox=f"0 0 {across:g} {down:g}", role="img", aria_label=told, **size
    )
    key = " Blue is positive, orange negative (−), the stronger the larger; a dot is zero."
    caption = element("figcaption", told, ".", key)
    return element("figure", element("div", drawn, class_="gcx-wide"), caption, class_="gcx-map")


def _labels(
    rows: list[str], columns: list[str], side: float, left: float, top: float
) -> list[Markup]:
    found = [
        element(
            "text", name, x=left - 4, y=f"{top + (i + 0.5) * side + 3.5:.1f}", text_anchor="end"
        )
        for i, name in enumerate(rows)
    ]
    for i, name in enumerate(columns):
        turned = f"translate({left + (i + 0.5) * side + 3.5:.1f} {top - 4:.1f})rotate(-90)"
        found.append(element("text", name, transform=turned))
    return found


def _zeros(matrix: Array, side: float, left: float, top: float) -> Markup:
    """A dot, a line of no length with round ends, in each cell that is zero."""
    dots = "".join(
        f"M{left + (j + 0.5) * side:.4g} {top + (i + 0.5) * side:.4g}h0"
        for i, j in np.argwhere(matrix == 0)
    )
    return element("path", d=dots, class_="gcx-zero") if dots else Markup("")


def _cells(
    matrix: Array,
    rows: list[str],
    columns: list[str],
    side: float,
    corner: tuple[float, float],
) -> list[Markup]:
    found = []
    largest = float(np.max(np.abs(matrix), initial=0.0)) or 1.0
    minus = ""
    for i, j in np.argwhere(matrix != 0):
        value = float(matrix[i, j])
        x, y = corner[0] + j * side, corner[1] + i * side
        named = element("title", f"∂{rows[i]}/∂{columns[j]} = {number(value)}")
        found.append(
            element(
                "g",
                named,
                element(
                    "rect",
                    x=f"{x + 0.5:.4g}",
                    y=f"{y + 0.5:.4g}",
                    width=f"{side - 1:.4g}",
                    height=f"{side - 1:.4g}",
                    fill_opacity=f"{0.35 + 0.65 * abs(value) / largest:.2f}",
                    class_="gcx-plus" if value > 0 else "gcx-minus",
                ),
            )
        )
        if value < 0 and side >= _SIGNED:
            minus += f"M{x + 0.3 * side:.4g} {y + 0.5 * side:.4g}h{0.4 * side:.3g}"
    return [*found, element("path", d=minus, class_="gcx-sign")] if minus else found
