"""For GitHub Actions: annotations at the lines of the specs, and a summary of the job."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from gradcheck.model import Location
from gradcheck.report import numbers
from gradcheck.report.columns import failure_text
from gradcheck.report.details import fails, failure_details, gist, input_label, mark
from gradcheck.report.reporter import CollectingReporter, Options, Outcome
from gradcheck.report.safe_text import SafeStream, clean, one_line
from gradcheck.report.totals import file_totals, succeeded, totals

if TYPE_CHECKING:
    from gradcheck.model import Result

SUMMARY_FILE = "GITHUB_STEP_SUMMARY"
"""The variable with the path of the file whose Markdown GitHub shows on the job's page."""


class GitHubReporter(CollectingReporter):
    """Workflow commands on the stream, Markdown in the job's summary."""

    def __init__(self, stream: TextIO, options: Options) -> None:
        super().__init__(stream, options)
        self._out = SafeStream(stream)

    def report(self, outcome: Outcome) -> None:
        """Print an error for each problem and each failure, then the totals."""
        for problem in outcome.plan.problems:
            text = f"{problem.message}\n{problem.hint}" if problem.hint else problem.message
            self._command("error", text, "gradcheck: spec problem", problem.location)
        for result in outcome.failures:
            details = failure_details(result, outcome.plan)
            name = result.case.name if result.case else result.id
            what = f"{mark(result)} {result.verdict}".lstrip()
            title = f"gradcheck: {what} in {name}"
            where = result.case.location if result.case else None
            self._command("error", failure_text(details), title, where)
            self._at_code(result, name)
        self._command("notice", totals(outcome), "gradcheck", None)
        summary_file = os.environ.get(SUMMARY_FILE)
        if summary_file:
            with Path(summary_file).open("a", encoding="utf-8", errors="replace") as file:
                file.write(markdown(outcome))

    def _at_code(self, result: Result, name: str) -> None:
        """An error at each of the user's gradient functions that lies in the repository."""
        for place in result.places:
            told = [c for c in result.comparisons if place in c.places and fails(result, c)]
            path = _repository_path(place.path)
            if told and not Path(path).is_absolute():
                causes = [c.diagnosis.text if c.diagnosis else c.note for c in told]
                labels = ", ".join(map(input_label, told))
                lines = [f"{place.function}: the gradient of {labels} is wrong", *causes]
                text = "\n".join(line for line in lines if line)
                title = f"gradcheck: {told[0].verdict} in {name}"
                self._command("error", text, title, Location(place.path, place.line, 1))

    def _command(self, kind: str, message: str, title: str, where: Location | None) -> None:
        properties = {"title": title}
        if where:
            place = {"file": _repository_path(where.path), "line": where.line, "col": where.column}
            properties = {**{key: str(value) for key, value in place.items()}, **properties}
        listed = ",".join(f"{key}={escape_property(value)}" for key, value in properties.items())
        self._out.write(f"::{kind} {listed}::{escape_data(message)}\n")


def escape_data(text: str) -> str:
    """The message of a workflow command: a command is one line."""
    return clean(text).replace("%", "%25").replace("\n", "%0A")


def escape_property(text: str) -> str:
    """A property of a workflow command, in which commas and colons have their own meaning."""
    return escape_data(text).replace(":", "%3A").replace(",", "%2C")


def markdown(outcome: Outcome) -> str:
    """The job's summary: totals, problems, failures, and one row per spec file."""
    sign = "✅" if succeeded(outcome) else "❌"
    parts = [f"## gradcheck\n\n{sign} {totals(outcome)}\n"]
    if outcome.plan.problems:
        rows = [
            [f"`{_code(str(p.location))}`", _cell(p.message), _cell(p.hint)]
            for p in outcome.plan.problems
        ]
        parts.append(_markdown_table(["spec problem", "what", "hint"], rows))
    if outcome.failures:
        details = [failure_details(result, outcome.plan) for result in outcome.failures]
        rows = [
            [f"`{_code(d.id)}`", d.verdict, _cell(gist(d)), f"`{_code(d.replay)}`"] for d in details
        ]
        parts.append(_markdown_table(["failure", "verdict", "what", "replay"], rows))
    files = file_totals(outcome.results)
    rows = [
        [
            f"`{_code(f.path or 'gradcheck')}`",
            str(f.cases),
            numbers.error(f.max_abs_error),
            numbers.error(f.max_rel_error),
            numbers.error(f.error_bar),
            f"**{f.verdicts}**" if f.failed else f.verdicts,
            numbers.seconds(f.seconds),
        ]
        for f in files
    ]
    header = ["spec", "cases", "max abs error", "max rel error", "error bar", "verdicts", "time"]
    if rows:
        parts.append(_markdown_table(header, rows))
    return "\n".join(parts) + "\n"


def _markdown_table(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _cell(text: str) -> str:
    """Text in a cell: nothing in it is Markdown or HTML."""
    text = one_line(text).replace("&", "&amp;").replace("<", "&lt;")
    return "".join(f"\\{c}" if c in "\\`*_|[]" else c for c in text)


def _code(text: str) -> str:
    """Text between backticks in a cell: a bar would end the cell, a backtick the code."""
    return one_line(text).replace("|", "\\|").replace("`", "'")


def _repository_path(path: str) -> str:
    """The path as GitHub wants it: from the root of the repository, wherever the job runs."""
    workspace = os.environ.get("GITHUB_WORKSPACE")
    if not workspace:
        return path
    absolute = Path(path).absolute()
    return str(absolute.relative_to(workspace)) if absolute.is_relative_to(workspace) else path
