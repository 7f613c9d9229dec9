"""How wide the columns of a terminal's table are, which there is room for, and how cells fold."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Sequence

_WIDE_SCREEN = 100
"""From this width on, columns stand two spaces apart: on a narrower one the second spaces are
better spent on names."""
GLUE = "\N{NO-BREAK SPACE}"
"""Where a cell must not break, though it looks like a space."""

Row = list[Text]
Block = list[Row]
"""Rows that stand as one: a name in the first, and below it whatever does not fit there."""

# (`transposed` / `[float32,xla]`, `block/` / `kernel`; then, where a piece is too long, inside.)
_SEAMS = re.compile(r"(?<=[/ ])|(?=\[)")
_FINE_SEAMS = re.compile(r"(?<=[_,.\-])")


@dataclass(frozen=True, slots=True)
class Column:
    """A column, and what becomes of it where the screen is narrow."""

    title: str
    justify: Literal["left", "right"] = "right"
    share: int = 0
    """How much of what is left a column gets when the screen is narrow; 0: it never folds."""
    longest: int = 12
    """Pieces of names up to this length stay whole: `disconnected`."""
    leaves: int = 0
    """Its turn to be left out where even folded columns do not fit; 0: it stays."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Which columns are shown, and how wide each of them is."""

    columns: Sequence[Column]
    shown: Sequence[int]
    """Their numbers among all the columns."""
    widths: Sequence[int]
    gap: int
    fits: bool
    """Whether the screen is as wide as they are together."""

    @property
    def left_out(self) -> list[str]:
        """The titles of those that there is no room for."""
        hidden = [c for i, c in enumerate(self.columns) if i not in self.shown]
        return [column.title.replace("\n", " ") for column in hidden]


def gap_on(screen: int) -> int:
    """How far columns stand apart on a screen of this width."""
    return 2 if screen >= _WIDE_SCREEN else 1


def whole_layout(columns: Sequence[Column], rows: Sequence[Row], width: int, gap: int) -> Layout:
    """All the columns: names fold where they must, numbers never."""
    return _with(columns, rows, width, gap, list(range(len(columns))))


def fitting_layout(columns: Sequence[Column], rows: Sequence[Row], width: int, gap: int) -> Layout:
    """As many columns as fit: what matters least is left out first."""
    shown = list(range(len(columns)))
    leaving = sorted((i for i in shown if columns[i].leaves), key=lambda i: -columns[i].leaves)
    layout = _with(columns, rows, width, gap, shown)
    while leaving and not layout.fits:
        shown.remove(leaving.pop())
        layout = _with(columns, rows, width, gap, shown)
    return layout


def laid_out(layout: Layout, blocks: Sequence[Block], *, header: bool = False) -> Table:
    """The table, or its header alone."""
    table = Table(box=None, show_header=header, pad_edge=False, padding=(0, layout.gap, 0, 0))
    for number, size in zip(layout.shown, layout.widths, strict=True):
        column = layout.columns[number]
        table.add_column(
            column.title,
            header_style="dim",
            justify=column.justify,
            vertical="top",
            overflow="fold",
            width=size,
        )
    for block in blocks:
        rows = [[row[i] for i in layout.shown] for row in block]
        table.add_row(*_stacked(rows, layout.widths))
    return table


def _with(
    columns: Sequence[Column], rows: Sequence[Row], width: int, gap: int, shown: Sequence[int]
) -> Layout:
    room = width - gap * (len(shown) - 1)
    cells = {i: [columns[i].title, *(row[i].plain for row in rows)] for i in shown}
    widths = {i: max(1, *map(_width, cells[i])) for i in shown}
    least = {i: _least(columns[i], cells[i][1:]) for i in shown if columns[i].share}
    while sum(widths.values()) > room:
        foldable = [i for i in least if widths[i] > least[i]]
        if not foldable:
            break
        widths[max(foldable, key=lambda i: widths[i] / columns[i].share)] -= 1
    fits = sum(widths.values()) <= room
    return Layout(columns, tuple(shown), list(widths.values()), gap, fits)


def _least(column: Column, cells: Sequence[str]) -> int:
    """How narrow a column may become: no word of its names is torn apart that is not very long."""
    pieces = (p for cell in cells for line in cell.split("\n") for p in _pieces(line, fine=True))
    longest = max((cell_len(piece.rstrip(" ")) for piece in pieces), default=1)
    return max(min(longest, column.longest), _width(column.title.split("\n")[0].split(" ")[0]))


def _pieces(line: str, *, fine: bool = False) -> list[str]:
    pieces = [piece for piece in _SEAMS.split(line) if piece]
    return [part for p in pieces for part in _FINE_SEAMS.split(p) if part] if fine else pieces


def _stacked(block: Block, widths: Sequence[int]) -> Row:
    """The rows of a case in one: its folded name stands beside its inputs, not above them."""
    columns: list[list[Text]] = [[] for _ in widths]
    for row in block:
        cells = [_folded(cell, size) for cell, size in zip(row, widths, strict=True)]
        # The name runs on; the other cells of a row end together.
        height = max(len(lines) for lines in cells[1:])
        for column, lines in zip(columns[1:], cells[1:], strict=True):
            column.extend(lines + [Text()] * (height - len(lines)))
        columns[0] += cells[0] if cells[0][0] else []
    return [Text("\n").join(lines) for lines in columns]


def _folded(cell: Text, width: int) -> list[Text]:
    """The lines of a cell; a name breaks before its variant: `transposed` / `[float32,xla]`."""
    lines: list[str] = []
    for line in cell.plain.split("\n"):
        fits = cell_len(line) <= width
        lines += _filled([line] if fits else _pieces(line), width)
    return [Text(line.replace(GLUE, " "), style=cell.style) for line in lines]


def _filled(pieces: Sequence[str], width: int) -> list[str]:
    """The pieces, as many to a line as fit; one that is too long breaks where a word ends."""
    lines = [""]
    for piece in pieces:
        for part in [piece] if cell_len(piece.rstrip(" ")) <= width else _FINE_SEAMS.split(piece):
            if cell_len((lines[-1] + part).rstrip(" ")) <= width:
                lines[-1] += part
            else:
                lines += textwrap.wrap(part, width, break_on_hyphens=False, drop_whitespace=False)
    return [line.rstrip(" ") for line in lines if line] or [""]


def _width(content: str) -> int:
    return max(cell_len(line) for line in content.split("\n"))
