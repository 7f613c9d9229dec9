"""Details laid out as plain text: for pipes, for JUnit and for GitHub."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradcheck.report.safe_text import indented

if TYPE_CHECKING:
    from gradcheck.report.details import FailureDetails, Grid, InputDetails

WIDEST_NAME = 60
"""Names are padded to a column of at most so many characters: half of a line of a log. Longer ones
push what follows to the right."""


def failure_text(failure: FailureDetails) -> str:
    """Everything about one failure, in paragraphs; the first line is the case's id."""
    head = [failure.id]
    if failure.location:
        head.append(indented(f"at {failure.location}"))
    head += [indented(text) for text in statements(failure)]
    paragraphs = ["\n".join(head)]
    if failure.message:
        paragraphs.append(indented(failure.message))
    paragraphs += [indented(input_text(details)) for details in failure.inputs]
    if failure.replay:
        paragraphs.append(indented(f"replay: {failure.replay}"))
    return "\n\n".join(paragraphs)


def statements(failure: FailureDetails) -> list[str]:
    """What the failure is, what its verdict means, why the spec expected something else."""
    lines = failure.headline.split("\n") if failure.headline else []
    if failure.meaning:
        lines.append(f"{failure.verdict}: {failure.meaning}")
    if failure.headline and failure.reason:
        lines.append(f"reason in the spec: {failure.reason}")
    return lines


def input_text(details: InputDetails) -> str:
    """One input: what is wrong, the worst elements, the likely cause, the place."""
    lines = [f"{details.label}: {details.verdict}, {details.facts}"]
    if details.elements:
        lines.append(indented(grid_text(details.elements)))
    if details.note:
        lines.append(indented(details.note))
    if details.cause:
        lines.append(indented(f"likely cause: {details.cause}"))
    if details.places:
        lines.append(indented(f"in your code: {details.places}"))
    return "\n".join(lines)


def grid_text(grid: Grid) -> str:
    """A small table in columns, flush right: digits of the same weight stand near each other."""
    table = [grid.header, *grid.rows]
    widths = [max(len(row[i]) for row in table) for i in range(len(grid.header))]
    return "\n".join(
        "  ".join(
            # The first column holds names, the others numbers.
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in table
    )
