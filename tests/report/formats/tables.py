"""Tables, as a terminal or a file would get them."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING, TextIO, cast

from gradcheck.report import make_reporter
from gradcheck.report.formats.table import TableReporter
from gradcheck.report.reporter import Options
from tests.report import examples

if TYPE_CHECKING:
    from gradcheck.model import Result

HIDDEN_CURSOR = "\x1b[?25l"
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def table(
    results: list[Result],
    width: int = 80,
    *,
    problems: bool = False,
    verbose: bool = False,
    durations: int | None = None,
) -> str:
    stream = io.StringIO()
    options = Options(verbose=verbose, durations=durations, color=False)
    reporter = TableReporter(stream, options, width=width)
    examples.tell(reporter, results, (examples.PROBLEM,) if problems else ())
    return "\n".join(line.rstrip() for line in stream.getvalue().split("\n"))


def many() -> list[Result]:
    good = [examples.passing(f"specs/f{i % 3}/ops.yaml::n{i}[float32]") for i in range(50)]
    return [*good, examples.mismatch()]


def on_terminal(*, color: bool | None = None) -> str:
    below = io.StringIO()
    stream = cast("TextIO", examples.Terminal(below))
    examples.tell(make_reporter("table", stream, color=color), examples.all_results())
    return below.getvalue()
