"""What the rows of a matrix are called: by their function, or by a case where that is long."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from gradcheck.report.safe_text import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcheck.model import Result


class RowName(NamedTuple):
    """What a row may be called."""

    text: str
    """The function or the expression, in full."""
    case_id: str
    """Its first case."""


def target_text(result: Result) -> str:
    """What a case is about, in full; its name where the report does not tell."""
    text = result.case.target.text if result.case else ""
    return one_line(" ".join(text.split()) or _parts(result.id)[1])


def row_names(rows: Sequence[RowName], longest: int) -> dict[str, str]:
    """By the text of a row what it is called: no two alike.

    Expressions that are cut look like each other: one that is longer is called as its first case,
    with the file of that where another row has the name.
    """
    names = {row.text: row.text for row in rows if len(row.text) <= longest}
    taken = set(names.values())
    for row in rows:
        if row.text not in names:
            path, case = _parts(row.case_id)
            stem = path.rpartition("/")[2].partition(".")[0]
            options = (case, f"{stem}::{case}", f"{path}::{case}", row.text)
            names[row.text] = next(name for name in options if name not in taken)
            taken.add(names[row.text])
    return {row.text: names[row.text] for row in rows}


def _parts(case_id: str) -> tuple[str, str]:
    """The file of a case and its name there, which its variants share."""
    path, separator, name = case_id.partition("::")
    if not separator:
        path, name = "", case_id
    return path, name.partition("[")[0] or case_id
