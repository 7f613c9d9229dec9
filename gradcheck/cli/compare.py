"""`gradcheck compare`: what changed between two runs."""

from __future__ import annotations

from pathlib import Path

import click

from gradcheck.cli import options
from gradcheck.cli.say import say_report
from gradcheck.errors import ExitCode
from gradcheck.report import comparing_formats
from gradcheck.report.background import GROWTH_FACTOR


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
@options.formats("plain", comparing_formats())
@options.outputs
def command(
    old: str, new: str, factor: float, formats: tuple[str, ...], outputs: tuple[str, ...]
) -> int:
    """Show what changed between two JSON reports.

    OLD and NEW are what `gradcheck run --format json` wrote: before and after an upgrade of
    TensorFlow, say, or on two kinds of machine.

    \b
    Examples:
      gradcheck run specs/ --format json --output old.json
      pip install --upgrade tensorflow
      gradcheck run specs/ --format json --output new.json
      gradcheck compare old.json new.json
      gradcheck compare old.json new.json --format markdown > comment.md

    The html page is that of NEW, with what changed on top.

    The exit code is 1 when something got worse: a case that was as expected and is not any more,
    one that is gone or now skipped, or an error that grew. Otherwise it is 0.
    """  # noqa: D301  (click reads the \b)
    from gradcheck.cli.outputs import OutputFile, pair
    from gradcheck.cli.page_background import declared_ops, read_earlier_run
    from gradcheck.cli.read_back import read_back
    from gradcheck.report import FORMATS, comparison_text
    from gradcheck.report.background import Background
    from gradcheck.report.difference import compare
    from gradcheck.report.read.json_reader import read_report
    from gradcheck.report.reporter import Outcome

    destinations = pair(formats, outputs, None, "plain")
    earlier, report = read_earlier_run(old), read_report(Path(new))
    plan, summary = read_back(report, new)
    outcome = Outcome(plan, report.results, summary)
    covered = any(FORMATS[destination.format].coverage for destination in destinations)
    background = Background((earlier,), declared_ops() if covered else (), factor)
    for destination in destinations:
        on_screen = destination.path is None
        text = comparison_text(destination.format, outcome, background, color=on_screen)
        if destination.path is None:
            say_report(text)
        else:
            file = OutputFile(destination.path)
            file.stream.write(text)
            file.commit()
    difference = compare(earlier, outcome, factor)
    return ExitCode.FAILED if difference.worse else ExitCode.OK
