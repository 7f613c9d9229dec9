"""`gradcheck compare`: what changed between two runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from gradcheck.errors import ExitCode
from gradcheck.report.read.difference import GROWTH_FACTOR, compare

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gradcheck.report.read.difference import Change, Difference


@click.command(name="compare")
@click.argument("old", metavar="OLD")
@click.argument("new", metavar="NEW")
@click.option(
    "--factor",
    metavar="X",
    type=click.FloatRange(min=1.0),
    default=GROWTH_FACTOR,
    show_default=True,
    help="By how much an error must grow to be told.",
)
def command(old: str, new: str, factor: float) -> int:
    """Show what changed between two JSON reports.

    OLD and NEW are what `gradcheck run --format json` wrote: before and after an upgrade of
    TensorFlow, say, or on two kinds of machine.

    \b
    Example:
      gradcheck run specs/ --format json --output old.json
      pip install --upgrade tensorflow
      gradcheck run specs/ --format json --output new.json
      gradcheck compare old.json new.json

    The exit code is 1 when something got worse: a case that was as expected and is not any more,
    one that is gone, or an error that grew. Otherwise it is 0.
    """  # noqa: D301  (click reads the \b)
    from gradcheck.report.read.json_reader import read_report

    difference = compare(read_report(Path(old)), read_report(Path(new)), factor)
    click.echo("\n".join(_lines(difference)))
    return ExitCode.FAILED if difference.worse else ExitCode.OK


def _lines(difference: Difference) -> Iterator[str]:
    yield from _section("environment", difference.environment)
    yield from _section("broken", _shown(difference.broken))
    yield from _section("mended", _shown(difference.mended))
    yield from _section("other verdict", _shown(difference.other))
    yield from _section("larger error", _shown(difference.grown))
    yield from _section("gone", difference.removed)
    yield from _section("new", difference.added)
    counts = {
        "broken": difference.broken,
        "mended": difference.mended,
        "with another verdict": difference.other,
        "with a larger error": difference.grown,
        "gone": difference.removed,
        "new": difference.added,
    }
    told = [f"{len(items)} {what}" for what, items in counts.items() if items]
    cases = f"{difference.common} case{'' if difference.common == 1 else 's'} in both reports"
    yield f"{cases}: {', '.join(told) or 'no change'}"


def _section(title: str, lines: Sequence[str]) -> Iterator[str]:
    if lines:
        yield click.style(title, bold=True)
        yield from (f"  {line}" for line in lines)
        yield ""


def _shown(changes: Sequence[Change]) -> list[str]:
    from gradcheck.report.safe_text import clean, one_line

    return [clean(one_line(f"{change.id}  {change.text}")) for change in changes]
