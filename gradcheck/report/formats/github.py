"""For GitHub Actions: annotations at your code and at the specs, and the summary of the job.

GitHub shows ten errors and ten warnings of a step and drops the others, so the gravest come first.
A gradient function has one error, however many cases find it wrong; the lines of these cases in the
specs have warnings. What is not among them is printed, folded, and stands in the summary.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from gradcheck.model import Location
from gradcheck.report import numbers
from gradcheck.report.columns import failure_text
from gradcheck.report.details import fails, failure_details, input_label, mark
from gradcheck.report.formats.markdown import document
from gradcheck.report.reporter import CollectingReporter, Options, Outcome
from gradcheck.report.repository import is_inside, repository_path
from gradcheck.report.safe_text import SafeStream, clean, defused, one_line
from gradcheck.report.totals import totals, worst_first

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from gradcheck.model import CodePlace, Plan, Result, SpecProblem

SUMMARY_FILE = "GITHUB_STEP_SUMMARY"
"""The variable with the path of the file whose Markdown GitHub shows on the job's page."""

MOST_ANNOTATIONS = 10
"""Errors of one step that GitHub shows, and as many warnings."""

_MOST_PROBLEMS = 5
"""Of them for specs that cannot be read, where there are failures too."""

MOST_SUMMARY = 2**20 - 1024
"""Bytes: the summary of a step has 1 MiB, and one that is longer is not shown at all."""

_LONGEST_MESSAGE = 4000
"""Characters: the runner cuts a message at 4,096."""

_MOST_OTHER_CASES = 5
"""Other cases that an annotation names."""


@dataclass(frozen=True, slots=True)
class Annotation:
    """A text at a line of a file."""

    title: str
    text: str
    where: Location | None


class GitHubReporter(CollectingReporter):
    """Workflow commands on the stream, Markdown in the job's summary."""

    def __init__(self, stream: TextIO, options: Options) -> None:
        super().__init__(stream, options)
        self._out = SafeStream(stream)
        # (Of what changed all results have their part.)
        self.counts_many = not options.background.earlier

    def report(self, outcome: Outcome) -> None:
        """Print an error for each problem and each failure, then the totals."""
        failures = worst_first(outcome.failures)
        at_code = _at_code(failures)
        placed = {id(result) for _, results in at_code for result in results}
        problems = [problem_annotation(problem) for problem in outcome.plan.problems]
        errors = [
            *problems[:_MOST_PROBLEMS],
            *(_of_function(place, results) for place, results in at_code),
            *(_at_spec(result, outcome.plan) for result in failures if id(result) not in placed),
            *problems[_MOST_PROBLEMS:],
        ]
        write_annotations(self.stream, "error", errors)
        # What is told at the code is told at the spec as well, for who looks there.
        again = [_at_spec(result, outcome.plan) for result in failures if id(result) in placed]
        write_annotations(self.stream, "warning", again)
        command(self._out, "notice", Annotation("gradcheck", totals(outcome), None))
        if summary_file := os.environ.get(SUMMARY_FILE):
            self._summarise(outcome, Path(summary_file))

    def _summarise(self, outcome: Outcome, file: Path) -> None:
        """Add to what the step has written into its summary, as far as there is room."""
        try:
            used = file.stat().st_size if file.exists() else 0
            text = document(outcome, self.options.background, MOST_SUMMARY - used)
            with file.open("a", encoding="utf-8", errors="replace") as stream:
                stream.write(defused(text))
        except OSError as error:
            why = f"the summary of the step could not be written: {error.strerror or error}"
            command(self._out, "warning", Annotation("gradcheck", why, None))


def problem_annotation(problem: SpecProblem) -> Annotation:
    """What is wrong in a spec, at its line."""
    text = f"{problem.message}\n{problem.hint}" if problem.hint else problem.message
    return Annotation("gradcheck: spec problem", text, problem.location)


def write_annotations(stream: TextIO, kind: str, annotations: Sequence[Annotation]) -> None:
    """The first ten as errors or warnings, the others as text that the log folds."""
    out = SafeStream(stream)
    for annotation in annotations[:MOST_ANNOTATIONS]:
        command(out, kind, annotation)
    rest = annotations[MOST_ANNOTATIONS:]
    if rest:
        more = numbers.count(len(rest), f"more {kind}")
        out.command(f"::group::{more}: GitHub shows {MOST_ANNOTATIONS} of a step\n")
        for annotation in rest:
            place = f"{annotation.where}: " if annotation.where else ""
            out.write(f"{place}{one_line(annotation.title)}\n{clean(annotation.text)}\n\n")
        out.command("::endgroup::\n")


def command(out: SafeStream, kind: str, annotation: Annotation) -> None:
    """Print a workflow command, which is one line."""
    where, properties = annotation.where, {"title": annotation.title}
    if where:
        path = repository_path(where.path)
        place = {"file": path, "line": str(where.line), "col": str(where.column)}
        properties = place | properties
    listed = ",".join(f"{key}={escape_property(value)}" for key, value in properties.items())
    out.command(f"::{kind} {listed}::{escape_data(_shortened(annotation.text))}\n")


def escape_data(text: str) -> str:
    """The message of a workflow command."""
    return defused(clean(text)).replace("%", "%25").replace("\n", "%0A")


def escape_property(text: str) -> str:
    """A property of a workflow command, in which commas and colons have their own meaning."""
    return escape_data(text).replace(":", "%3A").replace(",", "%2C")


def _shortened(text: str) -> str:
    if len(text) <= _LONGEST_MESSAGE:
        return text
    return f"{text[:_LONGEST_MESSAGE].rstrip()}\n… (the whole of it is in the other reports)"


def _at_spec(result: Result, plan: Plan) -> Annotation:
    text = failure_text(failure_details(result, plan))
    return Annotation(_title(result), text, result.case.location if result.case else None)


def _title(result: Result) -> str:
    name = result.case.name if result.case else result.id
    return f"gradcheck: {mark(result)} {result.verdict} in {name}".replace(":  ", ": ")


def _at_code(failures: Iterable[Result]) -> list[tuple[CodePlace, list[Result]]]:
    """The gradient functions in the repository that are to blame, each with its failures."""
    found: dict[CodePlace, list[Result]] = {}
    for result in failures:
        for place in result.places:
            told = any(place in c.places and fails(result, c) for c in result.comparisons)
            if told and is_inside(repository_path(place.path)):
                found.setdefault(place, []).append(result)
    return list(found.items())


def _of_function(place: CodePlace, results: Sequence[Result]) -> Annotation:
    """What is wrong with a gradient function, by the worst of its failures."""
    worst = results[0]
    told = [c for c in worst.comparisons if place in c.places and fails(worst, c)]
    causes = [c.diagnosis.text if c.diagnosis else c.note for c in told]
    labels = ", ".join(map(input_label, told))
    lines = [f"{place.function}: the gradient of {labels} is wrong", *dict.fromkeys(causes)]
    lines.append(f"found by {worst.id}")
    others = [result.id for result in results[1:]]
    if others:
        more = (
            f" and {len(others) - _MOST_OTHER_CASES} more"
            if len(others) > _MOST_OTHER_CASES
            else ""
        )
        lines.append(f"also in {', '.join(others[:_MOST_OTHER_CASES])}{more}")
    text = "\n".join(line for line in lines if line)
    return Annotation(_title(worst), text, Location(place.path, place.line, 1))
