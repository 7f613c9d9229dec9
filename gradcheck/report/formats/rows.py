"""The table of a run: a row per input under its case and its spec file, or a row per file."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import TYPE_CHECKING, Literal

from rich.cells import cell_len
from rich.console import Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from gradcheck.model import Stage, Verdict
from gradcheck.report import numbers
from gradcheck.report.details import input_label, input_mark, mark
from gradcheck.report.safe_text import clean, one_line
from gradcheck.report.tally import split_id
from gradcheck.report.totals import by_file

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType

    from gradcheck.model import Comparison, Result
    from gradcheck.report.tally import FileTotals

_STYLES = {Verdict.PASS: "green", Verdict.KINK: "green", Verdict.SKIPPED: "dim"}
_WIDE_SCREEN = 100
"""From this width on, columns stand two spaces apart: on a narrower one the second spaces are
better spent on names."""
_NARROWEST_COLUMN = 8
"""No column is folded below this: `mismatch` has as many letters."""


@dataclass(frozen=True, slots=True)
class _Column:
    title: str
    justify: Literal["left", "right"] = "right"
    share: int = 0
    """How much of what is left a column gets when the screen is narrow; 0: it never folds."""


_CASE_COLUMNS = (
    _Column("case", "left", share=2),
    _Column("input", "left", share=1),
    _Column("elements"),
    _Column("max abs\nerror"),
    _Column("max rel\nerror"),
    _Column("error\nbar"),
    _Column("verdict", "left"),
    _Column("time"),
)

_FILE_COLUMNS = (
    _Column("spec", "left", share=3),
    _Column("cases"),
    _Column("max abs\nerror"),
    _Column("max rel\nerror"),
    _Column("error\nbar"),
    _Column("verdicts", "left", share=2),
    _Column("time"),
)

_GLUE = "\N{NO-BREAK SPACE}"

_Row = list[Text]
_Block = list[_Row]
"""The rows of one case: the case's name in the first, and below it whatever does not fit there."""


def case_table(results: Sequence[Result], width: int, *, stages: bool = False) -> RenderableType:
    """A heading for each spec file, below it a row for each input of each of its cases.

    Args:
        results: in their order.
        width: of the screen.
        stages: tell which stage of the check decided.
    """
    files = {
        path: [_case_block(result, stages) for result in group]
        for path, group in by_file(results).items()
    }
    rows = [row for blocks in files.values() for block in blocks for row in block]
    indent = 2 if any(files) else 0
    widths = _widths(_CASE_COLUMNS, rows, width - indent)
    parts: list[RenderableType] = [_table(_CASE_COLUMNS, [], widths, width, header=True)]
    for path, blocks in files.items():
        if path:
            parts.append(text(one_line(path), "bold"))
        parts.append(_table(_CASE_COLUMNS, blocks, widths, width))
    parts = [part if isinstance(part, Text) else Padding(part, (0, 0, 0, indent)) for part in parts]
    if any(c.directions for result in results for c in result.comparisons):
        explanation = "dirs: random directions through all elements, where there are too many"
        parts.append(Padding(text(explanation, "dim"), (1, 0, 0, indent)))
    return Group(*parts)


def file_table(files: Sequence[FileTotals], width: int) -> RenderableType:
    """A row for each spec file."""
    folder = _common_folder([file.path for file in files])
    rows = [
        [
            text(file.path.removeprefix(folder) or "gradcheck", "bold red" if file.failed else ""),
            text(str(file.cases)),
            text(numbers.error(file.max_abs_error)),
            text(numbers.error(file.max_rel_error)),
            text(numbers.error(file.error_bar)),
            text(_unbroken(file.verdicts), "bold red" if file.failed else "green"),
            text(numbers.seconds(file.seconds), "dim"),
        ]
        for file in files
    ]
    first = replace(_FILE_COLUMNS[0], title=f"spec in\n{folder}" if folder else "spec")
    columns = (first, *_FILE_COLUMNS[1:])
    widths = _widths(columns, rows, width)
    return _table(columns, [[row] for row in rows], widths, width, header=True)


def _unbroken(verdicts: str) -> str:
    """Verdict counts that do not break between a number and its verdict."""
    return re.sub(r"(?<=\d) ", _GLUE, verdicts)


def _common_folder(paths: Sequence[str]) -> str:
    """The folder that holds all the files, with its slash; nothing for a single file."""
    if len(paths) < 2:
        return ""
    levels = zip(*(path.split("/")[:-1] for path in paths), strict=False)
    common = takewhile(lambda names: len(set(names)) == 1, levels)
    return "".join(f"{names[0]}/" for names in common)


def text(content: str, style: str = "") -> Text:
    """Text as it is: brackets are no markup, and nothing in it moves the cursor."""
    return Text(clean(content), style=style)


def verdict_style(verdict: Verdict, marked: str) -> str:
    """Red for what fails the run, yellow for a known bug, green for what is right."""
    if marked == "expected":
        return "yellow"
    if marked == "unexpected":
        return "bold red"
    return _STYLES.get(verdict, "bold red")


def _case_block(result: Result, stages: bool) -> _Block:
    rows = [_input_cells(result, comparison, stages) for comparison in result.comparisons]
    if result.verdict not in {comparison.verdict for comparison in result.comparisons}:
        # What happened to the case as a whole: it raised, died or was not run.
        blank = [text(numbers.NOTHING) for _ in range(5)]
        stage = result.decided_by if stages else None
        rows.insert(0, [*blank, _verdict(result.verdict, mark(result), stage)])
    name, time = one_line(split_id(result)[1]), numbers.seconds(result.seconds)
    block = [[text(""), *cells, text("")] for cells in rows]
    block[0][0], block[0][-1] = text(name), text(time, "dim")
    return block


def _input_cells(result: Result, comparison: Comparison, stages: bool) -> _Row:
    stage = comparison.decided_by if stages else None
    marked = input_mark(result, comparison)
    # (In as few words as will do: what stands after the colon is among the remarks.)
    judged = comparison.reservation.partition(":")[0]
    return [
        text(input_label(comparison)),
        text(_elements(comparison)),
        text(numbers.error(comparison.max_abs_error)),
        text(numbers.error(comparison.max_rel_error)),
        text(numbers.error(comparison.error_bar)),
        _verdict(comparison.verdict, marked, stage, judged),
    ]


def _elements(comparison: Comparison) -> str:
    """As `numbers.elements` says it, in as little width as will do."""
    judged = str(comparison.elements)
    if comparison.directions or 0 < comparison.judged < comparison.elements:
        judged = f"{comparison.judged}/{comparison.elements}"
    return f"{judged}\n+{comparison.directions} dirs" if comparison.directions else judged


def _verdict(verdict: Verdict, marked: str, stage: Stage | None = None, judged: str = "") -> Text:
    note = "".join(f"\n({told})" for told in (marked, judged) if told)
    told = text(f"{verdict}{note}", verdict_style(verdict, marked))
    return told if stage is None else told.append_text(text(f"\nby {stage}", "dim"))


def _widths(columns: Sequence[_Column], rows: Sequence[_Row], width: int) -> list[int]:
    """The width of each column: as its content wants it, less in those that fold."""
    wanted = [
        max(_width(column.title), *(_width(row[i].plain) for row in rows), 1)
        for i, column in enumerate(columns)
    ]
    excess = sum(wanted) + _gap(width) * (len(columns) - 1) - width
    while excess > 0:
        foldable = [i for i, c in enumerate(columns) if c.share and wanted[i] > _NARROWEST_COLUMN]
        if not foldable:
            break
        wanted[max(foldable, key=lambda i: wanted[i] / columns[i].share)] -= 1
        excess -= 1
    return wanted


def _table(
    columns: Sequence[_Column],
    blocks: Sequence[_Block],
    widths: Sequence[int],
    width: int,
    *,
    header: bool = False,
) -> Table:
    table = Table(box=None, show_header=header, pad_edge=False, padding=(0, _gap(width), 0, 0))
    for column, size in zip(columns, widths, strict=True):
        table.add_column(
            column.title,
            header_style="dim",
            justify=column.justify,
            vertical="top",
            overflow="fold",
            width=size,
        )
    for block in blocks:
        table.add_row(*_stacked(block, widths))
    return table


def _stacked(block: _Block, widths: Sequence[int]) -> _Row:
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
        pieces = [line] if fits else [piece for piece in re.split(r"(?<=/)|(?=\[)", line) if piece]
        lines += _filled(pieces, width)
    return [Text(line.replace(_GLUE, " "), style=cell.style) for line in lines]


def _filled(pieces: Sequence[str], width: int) -> list[str]:
    """The pieces, as many to a line as fit; one that is too long breaks, at a space if it can."""
    lines = [""]
    for piece in pieces:
        if cell_len(lines[-1] + piece) <= width:
            lines[-1] += piece
        else:
            lines += textwrap.wrap(piece, width, break_on_hyphens=False)
    return [line for line in lines if line] or [""]


def _gap(width: int) -> int:
    return 2 if width >= _WIDE_SCREEN else 1


def _width(content: str) -> int:
    return max(cell_len(line) for line in content.split("\n"))
