"""The matrix of functions by mode, check and dtype: a coloured cell for all that was checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradcheck.report import numbers
from gradcheck.report.endings import Mark
from gradcheck.report.formats.html.markup import Html, joined, section, tag
from gradcheck.report.matrix import Cell, Column, Matrix, columns_of

if TYPE_CHECKING:
    from gradcheck.report.formats.html.shown_run import ShownRun

_MOST_ROWS = 600
"""Functions that the table has rows for; those with failures come first."""
_FOLDED = 30
"""Rows from which on the table is folded."""
_LONGEST_NAME = 60
"""Characters of an expression that names its row; one that is longer is the row's title."""


def grid_section(shown: ShownRun) -> Html:
    """A row for each function, a column for each mode, check and dtype that any case has."""
    matrix = Matrix(shown.function)
    for position, result in enumerate(shown.results):
        matrix.add(result, position)
    rows = matrix.rows
    if not rows:
        return Html("")
    columns = columns_of(rows)
    called = matrix.names(_LONGEST_NAME)
    texts = sorted(rows, key=lambda text: (not _has_failed(rows[text]), called[text].lower()))
    body = [_row(shown, text, called[text], rows[text], columns) for text in texts[:_MOST_ROWS]]
    caption = "How each function fared, by mode, check and dtype"
    drawn = tag(
        "table",
        tag("caption", caption, class_="unseen"),
        _head(columns),
        tag("tbody", *body),
        class_="grid",
    )
    scrolled = tag("div", drawn, class_="wide")
    told = (
        f"{numbers.count(len(texts), 'function')} in {numbers.count(len(columns), 'combination')}"
    )
    if len(texts) > _MOST_ROWS:
        told += f"; the first {_MOST_ROWS}"
    folded = tag("summary", told)
    parts = [_legend(), tag("details", folded, scrolled, open=len(texts) <= _FOLDED)]
    return section("grid", "Functions by mode, check and dtype", *parts)


def _has_failed(cells: dict[Column, Cell]) -> bool:
    return any(cell.mark is Mark.FAILED for cell in cells.values())


def _head(columns: list[Column]) -> Html:
    """A row of modes, one of checks if there are several, and below them the dtypes."""
    modes, checks = _groups(columns, 1), _groups(columns, 2)
    several = len({column.check for column in columns}) > 1
    rows = [_headings(modes)]
    rows += [_headings(checks)] if several else []
    first = tag("th", "function", scope="col", rowspan=len(rows) + 1)
    head = [tag("tr", first, *rows[0]), *(tag("tr", *row) for row in rows[1:])]
    dtypes = [tag("th", column.dtype, scope="col") for column in columns]
    return tag("thead", *head, tag("tr", *dtypes))


def _groups(columns: list[Column], depth: int) -> list[tuple[str, int]]:
    """The columns that share what stands above them, by its last name and their number."""
    widths: dict[tuple[str, ...], int] = {}
    for column in columns:
        widths[column[:depth]] = widths.get(column[:depth], 0) + 1
    return [(names[-1], width) for names, width in widths.items()]


def _headings(groups: list[tuple[str, int]]) -> list[Html]:
    return [tag("th", name, scope="colgroup", colspan=width) for name, width in groups]


def _row(
    shown: ShownRun, text: str, name: str, cells: dict[Column, Cell], columns: list[Column]
) -> Html:
    drawn = [_cell(shown, cells[c]) if c in cells else tag("td", "") for c in columns]
    title = text if text != name else None
    return tag("tr", tag("th", tag("code", name), scope="row", title=title), *drawn)


def _cell(shown: ShownRun, cell: Cell) -> Html:
    label = f"{cell.mark.words}, {numbers.count(cell.count, 'case')}"
    link = tag("a", cell.text, href=shown.place(cell.worst), aria_label=label)
    return tag("td", link, class_=cell.mark.status)


def _legend() -> Html:
    chips = [
        tag("span", tag("i", mark, class_=f"chip {mark.status}"), mark.words, class_="key")
        for mark in Mark
    ]
    return tag(
        "p", "A cell shows the gravest of its cases, and how many there are: ", joined(chips)
    )
