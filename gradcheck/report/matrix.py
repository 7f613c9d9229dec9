"""The matrix of functions by mode, check and dtype: one cell for all cases that share them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from gradcheck.model import CheckKind, Mode
from gradcheck.report import numbers
from gradcheck.report.endings import Status, gravest, status_of_check
from gradcheck.report.safe_text import one_line
from gradcheck.report.tally import split_id

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from gradcheck.model import Result

DTYPES = ("float64", "float32", "bfloat16", "float16", "complex128", "complex64")

_MOST_ROWS = 40
"""Rows up to which all are printed; of more, those in which something is no pass."""
_LONGEST_LABEL = 40
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
        dtype = DTYPES.index(self.dtype) if self.dtype in DTYPES else len(DTYPES)
        return modes.index(self.mode), checks.index(self.check), dtype, self.dtype


@dataclass(frozen=True)
class Cell:
    """How the cases of a function fared that share a column."""

    results: list[Result] = field(default_factory=list)
    statuses: list[Status] = field(default_factory=list)

    @property
    def status(self) -> Status:
        """The gravest of them."""
        return gravest(self.statuses)

    @property
    def worst(self) -> Result:
        """The first that is as grave."""
        return self.results[self.statuses.index(self.status)]

    @property
    def text(self) -> str:
        """A sign, and how many cases there are if there are several."""
        count = f" {len(self.results)}" if len(self.results) > 1 else ""
        return f"{self.status.sign}{count}"


Rows = dict[str, dict[Column, Cell]]

_Line = tuple[str, str, dict[tuple[str, str], Cell]]
"""A function, a dtype, and cells by mode and check."""


def matrix_of(results: Iterable[Result], label: Callable[[Result], str]) -> Rows:
    """By function and column: how its cases fared; those without a case are left out."""
    rows: Rows = {}
    for result in results:
        if result.case is None:
            continue
        for kind in result.case.checks:
            column = Column(str(result.case.mode), str(kind), result.case.dtype)
            cell = rows.setdefault(label(result), {}).setdefault(column, Cell())
            cell.results.append(result)
            cell.statuses.append(status_of_check(result, kind))
    return rows


def columns_of(rows: Rows) -> list[Column]:
    """All columns that any function has a cell in, in their order."""
    return sorted({column for cells in rows.values() for column in cells}, key=lambda c: c.rank)


def matrix_lines(results: Iterable[Result]) -> list[str]:
    """The matrix as lines of text; none for a run of one mode and one check."""
    rows = matrix_of(results, short_label)
    columns = columns_of(rows)
    if len({(column.mode, column.check) for column in columns}) < 2:
        return []
    lines: list[_Line] = []
    for name, cells in rows.items():
        for dtype in dict.fromkeys(column.dtype for column in columns):
            own = {(c.mode, c.check): cell for c, cell in cells.items() if c.dtype == dtype}
            lines += [(name, dtype, own)] if own else []
    heads = list(dict.fromkeys((column.mode, column.check) for column in columns))
    shown, rest = lines, 0
    if len(lines) > _MOST_ROWS:
        shown = [
            line for line in lines if any(c.status is not Status.PASS for c in line[2].values())
        ]
        rest = len(lines) - len(shown)
    return _drawn(shown, heads, rest)


def short_label(result: Result) -> str:
    """What a case is about in a few words."""
    text = result.case.target.text if result.case else ""
    text = one_line(" ".join(text.split()) or split_id(result)[1].partition("[")[0])
    return text if len(text) <= _LONGEST_LABEL else f"{text[: _LONGEST_LABEL - 1]}…"


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
        lines.append(f"{numbers.count(rest, 'other row')}: {Status.PASS.sign} everywhere")
    signs = ", ".join(f"{status.sign} {status.words}" for status in Status)
    return [line.rstrip() for line in (*lines, "", f"({signs})")]
