"""Arrays as tables of numbers, a table for each matrix, whose cells can be pointed at."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from gradcheck.explainer.render.elements import Markup, element
from gradcheck.explainer.worked_example import element_name, sizes

if TYPE_CHECKING:
    from gradcheck.model import Array

__all__ = ["Cell", "grid", "number"]

Cell = Callable[[int, str], Markup]
"""The content of a cell, from its number in the array and its name."""


def number(value: float) -> str:
    """A number in few digits."""
    return f"{value + 0.0:.4g}".replace("-", "−")


def grid(symbol: str, value: Array, kind: str = "", cell: Cell | None = None) -> Markup:
    """An array with its name and shape above.

    Args:
        symbol: how it is written.
        value: the numbers.
        kind: the class of its cells, before their number; by it they are found.
        cell: what stands in a cell, where it is more than the number.
    """
    array = np.asarray(value)

    def plain(place: int, name: str) -> Markup:
        told = number(float(array.flat[place]))
        return element("span", told, class_=f"{kind}{place}" if kind else None, title=name)

    content = cell or plain
    rows, columns = ((1, 1), (1, *array.shape))[array.ndim] if array.ndim < 2 else array.shape[-2:]
    tables, place = [], 0
    for front in np.ndindex(array.shape[:-2]):
        body = []
        for i in range(rows):
            cells = []
            for j in range(columns):
                at = (*front, *((i, j)[2 - min(array.ndim, 2) :]))
                cells.append(element("td", content(place, element_name(symbol, at))))
                place += 1
            body.append(element("tr", *cells))
        title = f"{symbol}[{','.join(map(str, front))},:,:]" if front else symbol
        above = [element("caption", title)] if front else []
        tables.append(element("table", *above, *body, aria_label=title))
    named = element("figcaption", element("b", symbol), f" ({sizes(array.shape)})")
    inside = element("div", *tables, class_="gcx-slices")
    return element("figure", named, element("div", inside, class_="gcx-wide"), class_="gcx-grid")
