"""For pipes and logs: one line per result as it comes, then the failures; no escape codes ever."""

from __future__ import annotations

from typing import TYPE_CHECKING, TextIO

from gradcheck.model import Verdict
from gradcheck.report import numbers
from gradcheck.report.columns import WIDEST_NAME, failure_text
from gradcheck.report.details import failure_details, input_label, input_mark, mark
from gradcheck.report.remark_lines import (
    gone_lines,
    kink_lines,
    known_lines,
    mended_lines,
    skipped_lines,
    weak_lines,
)
from gradcheck.report.reporter import CollectingReporter, Options, Outcome
from gradcheck.report.safe_text import SafeStream, clean, one_line
from gradcheck.report.totals import environment_line, slowest, totals

if TYPE_CHECKING:
    from gradcheck.model import Comparison, Plan, Result

_LABEL_WIDTH = max(len(verdict) for verdict in Verdict)


class PlainReporter(CollectingReporter):
    """Lines to read in a log and to grep."""

    counts_many = True

    def __init__(self, stream: TextIO, options: Options) -> None:
        super().__init__(stream, options)
        self._out = SafeStream(stream)
        self._id_width = 0
        self._known: frozenset[str] = frozenset()

    def start(self, plan: Plan) -> None:
        """Say what the run is made of."""
        super().start(plan)
        longest = max((len(one_line(case.id)) for case in plan.cases), default=0)
        self._id_width = min(longest, WIDEST_NAME)
        self._known = frozenset(plan.environment)
        if plan.environment and self.options.header:
            self._write(environment_line(plan))

    def result(self, result: Result) -> None:
        """Print the result's line at once."""
        super().result(result)
        told = result_line(self.with_case(result), self._id_width, stages=self.options.verbose)
        self._write(told)
        self.stream.flush()

    def report(self, outcome: Outcome) -> None:
        """Print the failures, then what else there is to know, then the totals."""
        problems, failures = outcome.plan.problems, outcome.failures
        if problems:
            self._heading(numbers.count(len(problems), "spec problem"))
            self._write("\n\n".join(str(problem) for problem in problems))
        if failures:
            self._heading(numbers.count(len(failures), "failure"))
            texts = [failure_text(failure_details(f, outcome.plan)) for f in failures]
            self._write("\n\n\n".join([*texts, *gone_lines(failures)]))
        remarks = [*known_lines(outcome.known), *skipped_lines(outcome.results)]
        remarks += mended_lines(outcome.results, outcome.environment)
        if self.case_by_case(outcome):
            remarks += [line for result in outcome.results for line in kink_lines(result)]
            remarks += [line for result in outcome.results for line in weak_lines(result)]
        if remarks:
            self._heading("as expected")
            self._write("\n".join(remarks))
        matrix = outcome.tally.matrix.lines()
        if matrix:
            self._heading("modes and checks")
            self._write("\n".join(matrix))
        slow = slowest(outcome.results, self.options.durations)
        if slow:
            self._heading("slowest cases")
            self._write("\n".join(f"{numbers.seconds(r.seconds):>8}  {r.id}" for r in slow))
        # The device and TensorFlow's flags: only a worker could tell.
        facts = environment_line(outcome.plan, self._known)
        if facts and self.options.header:
            self._write(f"\non {facts}")
        self._write(f"\n{totals(outcome)}")

    def _heading(self, text: str) -> None:
        self._write(f"\n== {text} ==\n")

    def _write(self, text: str) -> None:
        self._out.write(clean(text) + "\n")


def result_line(result: Result, id_width: int, *, stages: bool = False) -> str:
    """One result in one line: verdict, case, each input with its errors, time.

    Args:
        result: what is told.
        id_width: how wide the names of the cases are.
        stages: tell which stage of the check decided.
    """
    parts = [f"{result.verdict.upper():<{_LABEL_WIDTH}} {one_line(result.id):<{id_width}}"]
    if mark(result):
        parts.append(f"({mark(result)})")
    parts += [_input(result, comparison, stages) for comparison in result.comparisons]
    if not result.comparisons and result.message:
        # What follows the first line is for the account of the failure.
        parts.append(_shortened(one_line(result.message.partition("\n")[0])))
    parts.append(numbers.seconds(result.seconds).replace(" ", ""))
    return "  ".join(parts)


def _input(result: Result, comparison: Comparison, stages: bool) -> str:
    words = [input_label(comparison)]
    if comparison.verdict is not Verdict.PASS:
        words.append(comparison.verdict)
    if input_mark(result, comparison) and len(result.comparisons) > 1:
        words.append(f"({input_mark(result, comparison)})")
    if comparison.directions or 0 < comparison.judged < comparison.elements:
        words.append(f"({numbers.elements(comparison)})")
    if comparison.reservation:
        words.append(f"({comparison.reservation})")
    if comparison.max_abs_error is not None:
        words.append(f"abs {numbers.error(comparison.max_abs_error)}")
    if comparison.max_rel_error is not None:
        words.append(f"rel {numbers.error(comparison.max_rel_error)}")
    if comparison.error_bar is not None:
        words.append(f"± {numbers.error(comparison.error_bar)}")
    if stages and comparison.decided_by is not None:
        words.append(f"by {comparison.decided_by}")
    return " ".join(words)


def _shortened(text: str, most: int = 80) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
