"""What can go wrong outside a gradient, and the exit codes that say so to a shell."""

from __future__ import annotations

from enum import IntEnum
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from gradcheck.model import Location, SpecProblem, Summary


class ExitCode(IntEnum):
    """What `gradcheck` tells the shell; the numbers are those of pytest where it has the thing."""

    OK = 0
    FAILED = 1
    USAGE = 2
    INTERNAL = 3
    NOTHING_SELECTED = 5
    HUNG_UP = 129
    INTERRUPTED = 130
    TERMINATED = 143


def exit_code(summary: Summary) -> int:
    """The gravest thing that can be said of the run."""
    if summary.interrupted:
        return ExitCode.INTERRUPTED
    if summary.problems:
        return ExitCode.USAGE
    if summary.failed:
        return ExitCode.FAILED
    return ExitCode.OK if summary.total else ExitCode.NOTHING_SELECTED


MOST_KNOWN = 5_000
"""Names among which the nearest is looked for: TensorFlow has two thousand."""
LONGEST_MISSPELT = 100
"""Characters: nobody misspells a longer name, and comparing takes time by the square."""
ALIKE = 0.6
"""How alike two names are, from 0 to 1, of which one may be meant for the other."""


def nearest(name: str, known: Iterable[str], *, alike: float = ALIKE) -> str:
    """The known name that may be meant by one that is not; empty where none is near."""
    # (Not at the top: it costs start-up time, and is for those who misspell.)
    import difflib

    if len(name) > LONGEST_MISSPELT:
        return ""
    near = difflib.get_close_matches(name, list(islice(known, MOST_KNOWN)), n=1, cutoff=alike)
    return near[0] if near else ""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The end of a message about a name that is not there: which one may be meant."""
    near = nearest(name, known)
    return f"; did you mean {near!r}?" if near else ""


class GradcheckError(Exception):
    """A problem that is the user's to solve: the command line prints its text and no traceback."""

    exit_code = ExitCode.INTERNAL


def too_many_files() -> str:
    """What it means that no more files can be opened, and what helps."""
    import resource

    allowed, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return (
        f"too many open files: this shell allows {allowed} (`ulimit -n`), and each worker takes "
        "three beside some ten for the command; raise it with `ulimit -n 1024`, or take fewer: -j"
    )


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


class ExplainError(GradcheckError):
    """Something cannot be explained here: the text says what, and what to do in place of it."""

    exit_code = ExitCode.USAGE


class FunctionError(GradcheckError):
    """A function could not be reached, or does not take what it is to be called with.

    `location` is the place in the spec that is to blame, where it is not the function's own.
    """

    exit_code = ExitCode.USAGE

    def __init__(self, message: str, location: Location | None = None) -> None:
        super().__init__(message)
        self.location = location


class SpecError(GradcheckError):
    """All the problems of all the specs that were read."""

    exit_code = ExitCode.USAGE

    def __init__(self, problems: Sequence[SpecProblem]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = tuple(problems)
