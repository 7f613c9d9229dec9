"""The matrix of functions by mode, check and dtype: one cell for all cases that share them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from gradcheck.model import CheckKind, Mode
from gradcheck.report import numbers
from gradcheck.report.endings import Mark, graver, mark_of_check
from gradcheck.report.row_names import RowName, row_names, target_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradcheck.model import Result

DTYPES = ("float64", "float32", "bfloat16", "float16", "complex128", "complex64")

_ROWS_PRINTED = 40
"""Rows up to which all are printed; of more, those in which something is no pass."""
_LONGEST_TOLD = 40
"""Characters of a function's name or expression."""


class Column(NamedTuple):
    """What the cells below each other share."""

    mode: str
    check: str
    dtype: str

    @property
    def rank(self) -> tuple[int, int, int, str]:
        """Where it stands."""
        modes, checks = list(map(str, Mode)), list(map(str, CheckKind))
        return modes.index(self.mode), checks.index(self.check), *_dtype_rank(self.dtype)


@dataclass(slots=True)
class Cell:
    """How the cases of a function fared that share a column."""

    mark: Mark
    """The gravest of them."""
    worst: str
    """The first case that is as grave."""
    count: int = 0

    @property
    def text(self) -> str:
        """A sign, and how many cases there are if there are several."""
        count = f" {self.count}" if self.count > 1 else ""
        return f"{self.mark}{count}"


Rows = dict[str, dict[Column, Cell]]

_Line = tuple[str, str, dict[tuple[str, str], Cell]]
"""A function, a dtype, and cells by mode and check."""


class Matrix:
    """Results by function and column, counted as they come; none of them is kept."""

    def __init__(self, label: Callable[[Result], str] | None = None) -> None:
        """Nothing has come yet; `label` says in full what a result is about."""
        self.rows: Rows = {}
        self._label = label or target_text
        self._first: dict[str, tuple[int, str]] = {}
        """By row: the position of its first case, and that case."""

    def add(self, result: Result, position: int) -> None:
        """One more, which has this position among them all; one without a case is left out."""
        if result.case is None:
            return
        name = self._label(result)
        first = (position, result.id)
        self._first[name] = min(first, self._first.get(name, first))
        for kind in result.case.checks:
            column = Column(str(result.case.mode), str(kind), result.case.dtype)
            mark = mark_of_check(result, kind)
            cell = self.rows.setdefault(name, {}).setdefault(column, Cell(mark, result.id))
            cell.count += 1
            if graver(mark, cell.mark):
                cell.mark, cell.worst = mark, result.id

    def names(self, longest: int = _LONGEST_TOLD) -> dict[str, str]:
        """What each row is called, in so many characters, and no other: in the order of the cases.

        Without it `test_expressions_that_begin_alike` fails.
        """
        inorder = sorted(self._first.items(), key=lambda item: item[1])
        return row_names([RowName(text, case_id) for text, (_, case_id) in inorder], longest)

    def lines(self) -> list[str]:
        """The matrix as lines of text; none for a run of one mode and one check."""
        columns = columns_of(self.rows)
        if len({(column.mode, column.check) for column in columns}) < 2:
            return []
        lines: list[_Line] = []
        for text, name in self.names().items():
            for dtype in sorted({c.dtype for c in columns}, key=_dtype_rank):
                own = {(c.mode, c.check): x for c, x in self.rows[text].items() if c.dtype == dtype}
                lines += [(name, dtype, own)] if own else []
        heads = list(dict.fromkeys((column.mode, column.check) for column in columns))
        shown = lines
        if len(lines) > _ROWS_PRINTED:
            shown = [line for line in lines if not all(map(_passes, line[2].values()))]
        return _drawn(shown, heads, len(lines) - len(shown))


def _passes(cell: Cell) -> bool:
    return cell.mark is Mark.PASS


def _dtype_rank(dtype: str) -> tuple[int, str]:
    return (DTYPES.index(dtype) if dtype in DTYPES else len(DTYPES), dtype)


def columns_of(rows: Rows) -> list[Column]:
    """All columns that any function has a cell in, in their order."""
    return sorted({column for cells in rows.values() for column in cells}, key=lambda c: c.rank)


def _drawn(shown: list[_Line], heads: list[tuple[str, str]], rest: int) -> list[str]:
    name_width = max((len(name) for name, _, _ in shown), default=len("function"))
    name_width = max(name_width, len("function"))
    dtype_width = max((len(dtype) for _, dtype, _ in shown), default=len("dtype"))
    widths = [
        max(len(check), *(len(c[head].text) for _, _, c in shown if head in c), 0)
        for head in heads
        for check in (head[1],)
    ]
    groups: dict[str, int] = {}
    for (mode, _), width in zip(heads, widths, strict=True):
        groups[mode] = groups.get(mode, -2) + width + 2
    first = "  ".join(f"{mode:<{width}}" for mode, width in groups.items())
    second = "  ".join(f"{h[1]:<{w}}" for h, w in zip(heads, widths, strict=True))
    blank = " " * (name_width + dtype_width + 4)
    start = f"{'function':<{name_width}}  {'dtype':<{dtype_width}}  "
    lines = [blank + first, start + second]
    for name, dtype, cells in shown:
        told = [cells[head].text if head in cells else "" for head in heads]
        row = "  ".join(f"{text:<{width}}" for text, width in zip(told, widths, strict=True))
        lines.append(f"{name:<{name_width}}  {dtype:<{dtype_width}}  {row}")
    if rest:
        lines.append(f"{numbers.count(rest, 'other row')}: {Mark.PASS} everywhere")
    used = {cell.mark for _, _, cells in shown for cell in cells.values()}
    used |= {Mark.PASS} if rest else set()
    signs = ", ".join(f"{mark} {mark.words}" for mark in Mark if mark in used)
    return [line.rstrip() for line in (*lines, "", f"({signs})")]
