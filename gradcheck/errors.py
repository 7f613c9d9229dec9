"""What can go wrong outside a gradient, and the exit codes that say so to a shell."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcheck.model import Location


class ExitCode(IntEnum):
    """What `gradcheck` tells the shell; the numbers are those of pytest where it has the thing."""

    OK = 0
    FAILED = 1
    USAGE = 2
    INTERNAL = 3
    NOTHING_SELECTED = 5
    INTERRUPTED = 130


class GradcheckError(Exception):
    """A problem that is the user's to solve: the command line prints its text and no traceback."""

    exit_code = ExitCode.INTERNAL


class UsageError(GradcheckError):
    """The command or the call asks for something that does not make sense."""

    exit_code = ExitCode.USAGE


class ShapeError(GradcheckError):
    """The inputs of an op do not fit together; the text says which sizes, and what would fit."""

    exit_code = ExitCode.USAGE


class ExpressionError(GradcheckError):
    """An expression does not parse, or uses something that is not allowed.

    `offset` and `length` say which characters of the expression are meant.
    """

    exit_code = ExitCode.USAGE

    def __init__(self, message: str, *, offset: int = 0, length: int = 1, hint: str = "") -> None:
        super().__init__(message)
        self.offset = offset
        self.length = length
        self.hint = hint


class FunctionError(GradcheckError):
    """A function of the user's could not be reached: not allowed, not importable, not callable."""

    exit_code = ExitCode.USAGE


@dataclass(frozen=True, slots=True)
class SpecProblem:
    """One thing that is wrong in a spec: what, where, and what would be right."""

    message: str
    location: Location
    hint: str = ""
    source: str = ""
    """The text of the line, to be shown with a caret under `location.column`."""
    length: int = 1
    """How many characters the caret underlines."""

    def __str__(self) -> str:
        lines = [f"{self.location}: {self.message}"]
        if self.source:
            gutter = f"{self.location.line:>5} | "
            caret = " " * (len(gutter) + self.location.column - 1) + "^" * max(1, self.length)
            lines += [gutter + self.source, caret]
        if self.hint:
            lines.append(f"      = {self.hint}")
        return "\n".join(lines)


class SpecError(GradcheckError):
    """All the problems of all the specs that were read."""

    exit_code = ExitCode.USAGE

    def __init__(self, problems: Sequence[SpecProblem]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = tuple(problems)
