"""The parts below the table, for a terminal: problems, failures, known bugs, slow cases."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from gradcheck.report import numbers
from gradcheck.report.columns import statements
from gradcheck.report.formats.rows import text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import Console, RenderableType

    from gradcheck.model import Result, SpecProblem
    from gradcheck.report.details import FailureDetails, Grid, InputDetails
    from gradcheck.report.matrix import Matrix

_COLUMN_STYLES = {"analytic": "red", "numeric ± bound": "green", "formula": "green"}


def print_heading(console: Console, title: str, style: str) -> None:
    """A line across the screen, with a title."""
    console.print()
    console.print(Rule(text(title, f"bold {style}"), style=style, align="left"))


def print_problem(console: Console, problem: SpecProblem) -> None:
    """What is wrong in a spec: where, the line with its caret, what would be right."""
    lines = str(problem).split("\n")
    where = str(problem.location)
    first = text(lines[0])
    first.stylize("bold", 0, len(where))
    styled = [first]
    for number, line in enumerate(lines[1:], start=1):
        if problem.source and number == 2:
            styled.append(text(line, "bold red"))
        else:
            styled.append(text(line, "cyan" if line.startswith("      = ") else ""))
    console.print()
    _print_as_is(console, Text("\n").join(styled))


def print_failure(console: Console, failure: FailureDetails) -> None:
    """One failure: where, what, the worst elements, the likely cause, how to run it again."""
    console.print()
    _print_as_is(console, text(failure.id, "bold red"))
    if failure.location:
        _print_as_is(console, text(f"  at {failure.location}", "dim"))
    for number, statement in enumerate(statements(failure)):
        style = "bold" if failure.headline and number == 0 else ""
        _print_indented(console, _emphasised(statement, style))
    if failure.message:
        console.print()
        _print_indented(console, text(failure.message), by=4)
    for details in failure.inputs:
        console.print()
        _print_input(console, details)
    console.print()
    command = Text.assemble(text("  replay: ", "dim"), text(failure.replay, "cyan"))
    _print_as_is(console, command)


def print_remarks(console: Console, lines: Iterable[str]) -> None:
    """Dim lines on what is not right but as expected, or was not run."""
    for line in lines:
        console.print(text(line, "dim"))


def print_matrix(console: Console, matrix: Matrix) -> None:
    """The functions by mode and check, where there are several."""
    lines = matrix.lines()
    if lines:
        print_heading(console, "modes and checks", "dim")
        for line in lines:
            _print_as_is(console, text(line))


def print_slowest(console: Console, results: Iterable[Result]) -> None:
    """The slow cases, slowest first."""
    for result in results:
        _print_as_is(console, text(f"{numbers.seconds(result.seconds):>8}  {result.id}"))


def _print_input(console: Console, details: InputDetails) -> None:
    title = Text.assemble(
        text(details.label, "bold"),
        text(f": {details.verdict}", "bold red"),
        text(f", {details.facts}"),
    )
    _print_indented(console, title)
    if details.elements:
        _print_indented(console, _grid(details.elements, console.width - 4), by=4)
    if details.note:
        _print_indented(console, text(details.note), by=4)
    if details.cause:
        cause = Text.assemble(text("likely cause: ", "bold"), text(details.cause))
        _print_indented(console, cause, by=4)
    if details.places:
        # (A terminal makes a link of `file.py:8` where it is whole.)
        places = Text.assemble(text("    in your code: ", "bold"), text(details.places, "cyan"))
        _print_as_is(console, places)


def _grid(grid: Grid, width: int) -> RenderableType:
    """The elements in rows or, where that is too wide for the screen, each as a short list."""
    columns = list(zip(grid.header, *grid.rows, strict=True))
    if _together(columns) <= width:
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
        for title in grid.header:
            style = _COLUMN_STYLES.get(title, "")
            table.add_column(title, header_style="dim", style=style, justify="right", no_wrap=True)
        table.columns[0].justify = "left"
        for row in grid.rows:
            table.add_row(*map(text, row))
        return table
    beside = _together([columns[0], grid.header[1:], [c for row in grid.rows for c in row[1:]]])
    return _short_lists(grid) if beside <= width else _lines(grid)


def _together(columns: Sequence[Sequence[str]]) -> int:
    """How wide columns are that stand two spaces apart."""
    return sum(max(map(cell_len, column)) for column in columns) + 2 * (len(columns) - 1)


def _short_lists(grid: Grid) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=False)
    for row in grid.rows:
        for number, (title, cell) in enumerate(zip(grid.header[1:], row[1:], strict=True)):
            first = row[0] if number == 0 else ""
            table.add_row(first, text(title, "dim"), text(cell, _COLUMN_STYLES.get(title, "")))
    return table


def _lines(grid: Grid) -> Text:
    """Each value below its title: the narrowest that there is, and no number is split."""
    lines = []
    for row in grid.rows:
        lines.append(text(row[0], "bold"))
        for title, cell in zip(grid.header[1:], row[1:], strict=True):
            lines.append(text(f"  {title}", "dim"))
            lines.append(text(f"    {cell}", _COLUMN_STYLES.get(title, "")))
    return Text("\n").join(lines)


def _emphasised(statement: str, style: str) -> Text:
    result = text(statement, style)
    head, colon, _ = statement.partition(": ")
    if colon and " " not in head:
        result.stylize("bold red", 0, len(head))
    return result


def _print_indented(console: Console, content: RenderableType, by: int = 2) -> None:
    console.print(Padding(content, (0, 0, 0, by), expand=False))


def _print_as_is(console: Console, content: Text) -> None:
    """What a reader may want to copy: the terminal wraps it, we do not."""
    console.print(content, soft_wrap=True)
