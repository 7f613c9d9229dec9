"""For comments on pull requests and summaries of jobs: what failed on top, details folded.

What does not fit is left out with a sentence that says so: a comment that is too long is refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TextIO

from gradcheck.report import markdown_text as md
from gradcheck.report import numbers
from gradcheck.report.columns import statements
from gradcheck.report.details import FailureDetails, InputDetails, failure_details, gist
from gradcheck.report.difference import since_the_last
from gradcheck.report.remark_lines import (
    kink_lines,
    known_lines,
    mended_lines,
    skipped_lines,
    weak_lines,
)
from gradcheck.report.reporter import CollectingReporter, Options, Outcome
from gradcheck.report.repository import line_url
from gradcheck.report.safe_text import SafeStream
from gradcheck.report.totals import environment_line, headline, succeeded, worst_first

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from gradcheck.model import CodePlace, Result
    from gradcheck.report.background import Background
    from gradcheck.report.difference import ChangeList, Difference

LONGEST_COMMENT = 64_000
"""GitHub's comments have 65,536 characters; the rest is for what somebody puts around it."""

_ALL = "`--format json` has all of them."


class MarkdownReporter(CollectingReporter):
    """One text, written at the end."""

    def __init__(self, stream: TextIO, options: Options) -> None:
        super().__init__(stream, options)
        # (Of what changed all results have their part.)
        self.counts_many = not options.background.earlier

    def report(self, outcome: Outcome) -> None:
        """Write the text."""
        SafeStream(self.stream).write(document(outcome, self.options.background, LONGEST_COMMENT))


def document(outcome: Outcome, background: Background, limit: int) -> str:
    """The whole text, of at most so many bytes."""
    sheet = md.Sheet(limit)
    sign = "✅" if succeeded(outcome) else "❌"
    seconds = numbers.seconds(outcome.summary.seconds)
    sheet.add(f"## {sign} gradcheck: {headline(outcome)}\n")
    sheet.add(f"{outcome.tally.verdicts or 'No cases'} in {seconds}.\n")
    difference = since_the_last(background, outcome)
    if difference is not None:
        sheet.add(f"### Since {md.code(background.earlier[-1].name)}\n")
        add_changes(sheet, difference)
    _add_problems(sheet, outcome)
    failures = worst_first(outcome.failures)
    _add_failures(sheet, failures, outcome)
    _add_remarks(sheet, outcome)
    _add_files(sheet, outcome)
    if outcome.plan.environment:
        sheet.add(f"On {md.plain(environment_line(outcome.plan))}.\n")
    return str(sheet)


def add_changes(sheet: md.Sheet, difference: Difference) -> None:
    """What changed: a sentence, and a table for each way in which something did."""
    cases = numbers.count(difference.common, "case")
    sheet.add(f"{cases} in both runs: **{difference.counts()}**.\n")
    if difference.environment:
        sheet.add(f"Not on the same: {md.plain('; '.join(difference.environment))}.\n")
    for found in difference.lists():
        _add_change_list(sheet, found)


def _add_change_list(sheet: md.Sheet, found: ChangeList) -> None:
    total = len(found.changes)
    title = f"{found.name.capitalize()}: {found.title} ({total})"
    rows = [md.table_row((md.code(change.id), md.plain(change.text))) for change in found.changes]
    head = md.table_head(("case", "before → now"))
    if not any(change.text for change in found.changes):
        rows = [f"- {md.code(change.id)}\n" for change in found.changes]
        head = ""
    # (Nobody reads a hundred names to find the three that broke.)
    before, after = (f"**{title}**\n\n", "") if found.worse or total <= 3 else md.fold("", title)
    left_out = f"{{}} more are left out here. {_ALL}"
    sheet.add_list(rows, left_out, before=before + head, after=after, share=0.3)


def _add_problems(sheet: md.Sheet, outcome: Outcome) -> None:
    problems = outcome.plan.problems
    if not problems:
        return
    rows = [
        md.table_row((md.code(str(p.location)), md.plain(p.message), md.plain(p.hint)))
        for p in problems
    ]
    head = "### Spec problems\n\n" + md.table_head(("where", "what", "hint"))
    told = "{} spec problems are left out here: `gradcheck validate` shows all of them."
    sheet.add_list(rows, told, before=head, share=0.3)


def _add_failures(sheet: md.Sheet, failures: Sequence[Result], outcome: Outcome) -> None:
    """A table of the failures, the gravest first, and each of them folded."""
    if not failures:
        return
    told = [(result, failure_details(result, outcome.plan)) for result in failures]
    rows = [
        md.table_row(
            (
                md.code(details.id),
                str(details.verdict),
                md.plain(gist(details)),
                "<br>".join(_place(place) for place in result.places[:3]),
            )
        )
        for result, details in told
    ]
    head = "### Failures\n\n" + md.table_head(("case", "verdict", "what", "in your code"))
    sheet.add_list(rows, f"{{}} failures are left out here. {_ALL}", before=head, share=0.4)
    folds = [_fold(details) for _, details in told]
    sheet.add_list(folds, f"The details of {{}} failures are left out here. {_ALL}", share=0.85)


def _place(place: CodePlace) -> str:
    """A line of the user's code, as a link where GitHub has it."""
    url = line_url(place.path, place.line)
    return f"{md.link(md.code(f'{place.path}:{place.line}'), url)} {md.code(place.function)}"


def _fold(details: FailureDetails) -> str:
    parts = [md.plain(text) for text in statements(details)]
    if details.location:
        parts.insert(0, f"At {md.code(details.location)}.")
    if details.message:
        parts.append(md.block(details.message))
    parts += [_input(item) for item in details.inputs]
    if details.replay:
        parts.append(f"Run it again:\n\n{md.block(details.replay)}")
    before, after = md.fold(details.id, f": {details.verdict}")
    return f"{before}{_paragraphs(parts)}\n{after}"


def _input(item: InputDetails) -> str:
    lines = [f"**{md.plain(item.label)}**: {item.verdict}, {md.plain(item.facts)}"]
    if item.elements:
        rows = [md.table_row(map(md.plain, row)) for row in item.elements.rows]
        lines.append(md.table_head(item.elements.header, numeric=True) + "".join(rows).rstrip())
    if item.note:
        lines.append(md.block(item.note))
    if item.cause:
        lines.append(f"Likely cause: {md.plain(item.cause)}")
    if item.places:
        lines.append(f"In your code: {md.code(item.places)}")
    return _paragraphs(lines)


def _paragraphs(parts: Iterable[str]) -> str:
    return "\n\n".join(part.rstrip() for part in parts)


def _add_remarks(sheet: md.Sheet, outcome: Outcome) -> None:
    """Known bugs, and what else there is to know of cases that are as expected."""
    known = known_lines(outcome.known)
    rest = [line for r in outcome.results for line in (*kink_lines(r), *weak_lines(r))]
    mended = mended_lines(outcome.results, outcome.environment)
    remarks = [*mended, *skipped_lines(outcome.results), *rest]
    for title, lines in (("Known bugs", known), ("Remarks", remarks)):
        if lines:
            items = [f"- {md.plain(line)}\n" for line in lines]
            before, after = md.fold("", f"{title} ({len(lines)})")
            left_out = f"{{}} more are left out here. {_ALL}"
            sheet.add_list(items, left_out, before=before, after=after, share=0.5)


def _add_files(sheet: md.Sheet, outcome: Outcome) -> None:
    files = outcome.tally.files()
    rows = [
        md.table_row(
            (
                md.code(f.path or "gradcheck"),
                str(f.cases),
                numbers.error(f.max_abs_error),
                numbers.error(f.max_rel_error),
                numbers.error(f.error_bar),
                f"**{f.verdicts}**" if f.failed else f.verdicts,
                numbers.seconds(f.seconds),
            )
        )
        for f in files
    ]
    header = ("spec", "cases", "max abs error", "max rel error", "error bar", "verdicts", "time")
    before, after = md.fold("", numbers.count(len(files), "spec file"))
    before += md.table_head(header)
    left_out = f"{{}} spec files are left out here. {_ALL}"
    sheet.add_list(rows, left_out, before=before, after=after, share=0.9)
