"""For people on a terminal: a live bar, then one table, then the failures in full."""

from __future__ import annotations

import os
from typing import IO, TYPE_CHECKING, Literal, TextIO, cast

from rich.console import Console

from gradcheck.report import numbers
from gradcheck.report.details import failure_details
from gradcheck.report.formats.progress import LiveBar
from gradcheck.report.formats.rows import case_table, file_table, text
from gradcheck.report.formats.sections import (
    print_failure,
    print_heading,
    print_matrix,
    print_problem,
    print_remarks,
    print_slowest,
)
from gradcheck.report.remark_lines import (
    gone_lines,
    kink_lines,
    known_lines,
    mended_lines,
    skipped_lines,
    weak_lines,
)
from gradcheck.report.reporter import CollectingReporter, Options, Outcome
from gradcheck.report.safe_text import SafeStream
from gradcheck.report.totals import environment_line, slowest, succeeded, totals

if TYPE_CHECKING:
    from rich.console import RenderableType

    from gradcheck.model import Plan, Result, Summary

_NARROWEST_SCREEN = 40
"""On a narrower one the terminal wraps the lines: columns of two letters help nobody."""


class TableReporter(CollectingReporter):
    """A rich table, with what matters in colour."""

    counts_many = True

    def __init__(self, stream: TextIO, options: Options, *, width: int | None = None) -> None:
        super().__init__(stream, options)
        self._console = open_console(stream, options.color, width)
        self._bar: LiveBar | None = None
        self._known: frozenset[str] = frozenset()

    def start(self, plan: Plan) -> None:
        """Say what the run is made of, and show the bar."""
        super().start(plan)
        self._known = frozenset(plan.environment)
        if plan.environment and self.options.header:
            self._console.print(text(environment_line(plan), "dim"))
        self._bar = LiveBar(self._console, len(plan.cases))
        self._bar.start()

    def result(self, result: Result) -> None:
        """Move the bar."""
        super().result(result)
        if self._bar:
            self._bar.advance(failed=not self.with_case(result).expected)

    def finish(self, summary: Summary) -> None:
        """Take the bar away and print the report."""
        if self._bar:
            self._bar.stop()
        super().finish(summary)

    def _table(self, outcome: Outcome) -> RenderableType:
        width = self._console.width
        if not self.case_by_case(outcome):
            return file_table(outcome.tally.files(), width)
        return case_table(outcome.results, width, stages=self.options.verbose)

    def _failures(self, outcome: Outcome) -> None:
        """Each with all there is to say; then which of them are known bugs that are gone."""
        if outcome.failures:
            title = numbers.count(len(outcome.failures), "failure")
            print_heading(self._console, title, "red")
        for result in outcome.failures:
            print_failure(self._console, failure_details(result, outcome.plan))
        gone = gone_lines(outcome.failures)
        if gone:
            self._console.print()
            print_remarks(self._console, gone)

    def report(self, outcome: Outcome) -> None:
        """Print the table, the failures, then what else there is to know, then the totals."""
        console, results = self._console, outcome.results
        console.width = max(console.width, _NARROWEST_SCREEN)
        if outcome.tally.count:
            console.print()
            console.print(self._table(outcome))
        if outcome.plan.problems:
            title = numbers.count(len(outcome.plan.problems), "spec problem")
            print_heading(console, title, "red")
            for problem in outcome.plan.problems:
                print_problem(console, problem)
        self._failures(outcome)
        remarks = [*known_lines(outcome.known), *skipped_lines(results)]
        remarks += mended_lines(outcome.results, outcome.environment)
        if self.case_by_case(outcome):
            remarks += [line for result in results for line in kink_lines(result)]
            remarks += [line for result in results for line in weak_lines(result)]
        if remarks:
            print_heading(console, "as expected", "dim")
            print_remarks(console, remarks)
        print_matrix(console, outcome.tally.matrix)
        slow = slowest(results, self.options.durations)
        if slow:
            print_heading(console, "slowest cases", "dim")
            print_slowest(console, slow)
        # The device and TensorFlow's flags: only a worker could tell.
        facts = environment_line(outcome.plan, self._known)
        if facts and self.options.header:
            console.print()
            console.print(text(f"on {facts}", "dim"))
        console.print()
        style = "bold green" if succeeded(outcome) else "bold red"
        console.print(text(totals(outcome), style), soft_wrap=True)


def open_console(stream: TextIO, color: bool | None = None, width: int | None = None) -> Console:
    """A console that prints text as it is; colour and width None are left to the terminal."""
    if color is None and os.environ.get("NO_COLOR"):
        color = False
    # Rich takes NO_COLOR as no colour but bold and dim all the same; a user means: no codes.
    systems: dict[bool | None, Literal["auto", "standard"] | None]
    systems = {None: "auto", True: "standard", False: None}
    return Console(
        file=cast("IO[str]", SafeStream(stream)),
        color_system=systems[color],
        no_color=color is False,
        width=width,
        markup=False,
        emoji=False,
        highlight=False,
    )
