"""The table of a run: a row per input under its case and its spec file, or a row per file."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import takewhile
from typing import TYPE_CHECKING

from rich.console import Group
from rich.padding import Padding
from rich.text import Text

from gradcheck.model import Stage, Verdict
from gradcheck.report import numbers
from gradcheck.report.details import input_label, input_mark, mark
from gradcheck.report.formats.column_layout import (
    GLUE,
    Column,
    fitting_layout,
    gap_on,
    laid_out,
    whole_layout,
)
from gradcheck.report.safe_text import clean, one_line
from gradcheck.report.tally import split_id
from gradcheck.report.totals import by_file

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType

    from gradcheck.model import Comparison, Result
    from gradcheck.report.formats.column_layout import Block, Layout, Row
    from gradcheck.report.tally import FileTotals

_STYLES = {Verdict.PASS: "green", Verdict.KINK: "green", Verdict.SKIPPED: "dim"}

_CASE_COLUMNS = (
    Column("case", "left", share=2, longest=14),
    Column("input", "left", share=1, longest=14),
    Column("elements", leaves=3),
    Column("max abs\nerror"),
    Column("max rel\nerror", leaves=4),
    Column("error\nbar", leaves=2),
    Column("verdict", "left", share=4),
    Column("time", leaves=1),
)

_FILE_COLUMNS = (
    Column("spec", "left", share=3),
    Column("cases", leaves=3),
    Column("max abs\nerror"),
    Column("max rel\nerror", leaves=4),
    Column("error\nbar", leaves=2),
    Column("verdicts", "left", share=2, longest=16),
    Column("time", leaves=1),
)


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
    layout = whole_layout(_CASE_COLUMNS, rows, width - indent, gap_on(width))
    above = not layout.fits
    if above:
        inner = [row[1:-1] for row in rows]
        layout = fitting_layout(_CASE_COLUMNS[1:-1], inner, width - indent - 2, gap_on(width))
    parts: list[RenderableType] = [laid_out(layout, [], header=True)]
    if above:
        parts = [text("case", "dim bold"), Padding(parts[0], (0, 0, 0, 2))]
    parts = [Padding(part, (0, 0, 0, indent)) for part in parts]
    for path, blocks in files.items():
        if path:
            parts.append(text(one_line(path), "bold"))
        told = _under_names(layout, blocks) if above else [laid_out(layout, blocks)]
        parts += [Padding(part, (0, 0, 0, indent)) for part in told]
    if any(c.directions for result in results for c in result.comparisons):
        explanation = "dirs: random directions through all elements, where there are too many"
        parts.append(Padding(text(explanation, "dim"), (1, 0, 0, indent)))
    return Group(*parts, *_left_out(layout, indent))


def _under_names(layout: Layout, blocks: Sequence[Block]) -> list[RenderableType]:
    """For narrow screens: the name of a case and its time above its inputs, not beside them."""
    parts: list[RenderableType] = []
    for block in blocks:
        name, time = block[0][0], block[0][-1]
        parts.append(Text.assemble(name, "  ", time))
        inputs = [row[1:-1] for row in block]
        parts.append(Padding(laid_out(layout, [[row] for row in inputs]), (0, 0, 0, 2)))
    return parts


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
    layout = fitting_layout(columns, rows, width, gap_on(width))
    table = laid_out(layout, [[row] for row in rows], header=True)
    return Group(table, *_left_out(layout, 0))


def _unbroken(verdicts: str) -> str:
    """Verdict counts that do not break between a number and its verdict."""
    return re.sub(r"(?<=\d) ", GLUE, verdicts)


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


def _case_block(result: Result, stages: bool) -> Block:
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


def _input_cells(result: Result, comparison: Comparison, stages: bool) -> Row:
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


def _left_out(layout: Layout, indent: int) -> list[RenderableType]:
    """A word on the columns that a narrow screen has no room for."""
    if not layout.left_out:
        return []
    told = f"left out, for want of width: {', '.join(layout.left_out)}"
    return [Padding(text(told, "dim"), (1, 0, 0, indent))]
