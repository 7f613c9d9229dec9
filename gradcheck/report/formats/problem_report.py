"""What `gradcheck validate` says about specs: lines, annotations of GitHub's, or JSON."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, TextIO

from gradcheck.report import numbers
from gradcheck.report.safe_text import SafeStream, clean, defused

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gradcheck.model import SpecProblem

PROBLEMS_VERSION = 1
"""Goes up when a program that reads the JSON would have to change."""


@dataclass(frozen=True, slots=True)
class Validated:
    """Specs that were read, and what is wrong in them."""

    files: int
    cases: int
    """Those that are right."""
    problems: tuple[SpecProblem, ...]

    @property
    def totals(self) -> str:
        """`3 files, 40 cases, 1 problem`."""
        return ", ".join(
            (
                numbers.count(self.files, "file"),
                numbers.count(self.cases, "case"),
                numbers.count(len(self.problems), "problem"),
            )
        )


def plain(validated: Validated) -> str:
    """Each problem with its line, and how many there are."""
    told = "".join(f"{problem}\n\n" for problem in validated.problems)
    return f"{defused(clean(told))}{validated.totals}\n"


def print_validated(stream: TextIO, validated: Validated) -> None:
    """The same for eyes: places, carets and hints in colour."""
    from gradcheck.report.formats.rows import text
    from gradcheck.report.formats.sections import print_problem
    from gradcheck.report.formats.table import open_console

    console = open_console(stream)
    for problem in validated.problems:
        print_problem(console, problem)
    if validated.problems:
        console.print()
    style = "bold red" if validated.problems else "bold green"
    console.print(text(validated.totals, style), soft_wrap=True)


def github(validated: Validated) -> str:
    """An error at the line of each problem, and a notice."""
    from gradcheck.report.formats import github as actions

    stream = io.StringIO()
    annotations = [actions.problem_annotation(problem) for problem in validated.problems]
    actions.write_annotations(stream, "error", annotations)
    notice = actions.Annotation("gradcheck", validated.totals, None)
    actions.command(SafeStream(stream), "notice", notice)
    return stream.getvalue()


def document(validated: Validated) -> str:
    """A JSON object; `gradcheck schema problems` says what is in it."""
    from gradcheck.report.formats.json import encode_problem, json_text

    told = {
        "version": PROBLEMS_VERSION,
        "files": validated.files,
        "cases": validated.cases,
        "problems": [encode_problem(problem) for problem in validated.problems],
    }
    return json_text(told) + "\n"


PROBLEM_FORMATS: Mapping[str, Callable[[Validated], str]] = {
    "plain": plain,
    "github": github,
    "json": document,
}
"""By name: what writes it."""
