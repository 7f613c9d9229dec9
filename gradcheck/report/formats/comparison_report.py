"""What `gradcheck compare` says: lines to read, Markdown for a comment, JSON for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradcheck.report import markdown_text as md
from gradcheck.report import numbers
from gradcheck.report.difference import since_the_last
from gradcheck.report.formats.json import json_text
from gradcheck.report.formats.markdown import LONGEST_COMMENT, add_changes
from gradcheck.report.safe_text import defused, one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gradcheck.report.background import Background
    from gradcheck.report.difference import Difference
    from gradcheck.report.reporter import Options, Outcome

COMPARISON_VERSION = 1
"""Goes up when a program that reads comparisons would have to change."""


def plain(outcome: Outcome, background: Background, options: Options) -> str:
    """Lines: what changed by kind, and a sentence at the end."""
    lines = _lines(_difference(outcome, background), bold=bool(options.color))
    return defused("\n".join(lines) + "\n")


def markdown(outcome: Outcome, background: Background, options: Options) -> str:
    """A comment for a pull request."""
    del options
    difference = _difference(outcome, background)
    sheet = md.Sheet(LONGEST_COMMENT)
    sheet.add(f"## {'❌' if difference.worse else '✅'} gradcheck: what changed\n")
    sheet.add(f"Since {md.code(background.earlier[-1].name)}.\n")
    add_changes(sheet, difference)
    return defused(str(sheet))


def document(outcome: Outcome, background: Background, options: Options) -> str:
    """A JSON object; `gradcheck schema comparison` says what is in it."""
    del options
    difference = _difference(outcome, background)
    old, before, after = background.earlier[-1], *_verdicts(outcome, background)
    told: dict[str, Any] = {
        "version": COMPARISON_VERSION,
        "old": old.name,
        "factor": background.factor,
        "worse": difference.worse,
        "common": difference.common,
        "environment": {
            name: {"old": old.environment.get(name), "new": outcome.environment.get(name)}
            for name in dict.fromkeys([*old.environment, *outcome.environment])
            if old.environment.get(name) != outcome.environment.get(name)
        },
    }
    for name in ("broken", "mended", "other", "grown"):
        told[name] = [
            {"id": c.id, "old": before[c.id], "new": after[c.id], "text": c.text}
            for c in getattr(difference, name)
        ]
    told |= {"removed": list(difference.removed), "added": list(difference.added)}
    return json_text(told) + "\n"


def _verdicts(outcome: Outcome, background: Background) -> tuple[dict[str, str], dict[str, str]]:
    """By case: the verdict that it had, and the one that it has."""
    runs = (background.earlier[-1].results, outcome.results)
    before, after = ({result.id: str(result.verdict) for result in run} for run in runs)
    return before, after


def _difference(outcome: Outcome, background: Background) -> Difference:
    difference = since_the_last(background, outcome)
    if difference is None:
        raise ValueError("there is no run to compare with")
    return difference


def _lines(difference: Difference, *, bold: bool) -> Iterator[str]:
    sections = [("environment", list(difference.environment))]
    sections += [
        (found.name, [f"{change.id}  {change.text}".rstrip() for change in found.changes])
        for found in difference.lists()
    ]
    for title, lines in sections:
        if lines:
            yield f"\x1b[1m{title}\x1b[0m" if bold else title
            yield from (f"  {one_line(line)}" for line in lines)
            yield ""
    yield f"{numbers.count(difference.common, 'case')} in both reports: {difference.counts()}"
