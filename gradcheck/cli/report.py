"""`gradcheck report`: what a JSON report holds, in any format."""

from __future__ import annotations

from pathlib import Path

import click

from gradcheck.cli import options


@click.command(name="report")
@click.argument("reports", metavar="[OLDER]... REPORT", nargs=-1, required=True)
@options.formats("table on a terminal, else plain")
@options.outputs
@options.junitxml
@click.option("-v", "--verbose", is_flag=True, help="Show every case, however many there are.")
def command(
    reports: tuple[str, ...],
    formats: tuple[str, ...],
    outputs: tuple[str, ...],
    junitxml: str | None,
    verbose: bool,
) -> int:
    """Show a JSON report in another format.

    REPORT is what `gradcheck run --format json` wrote. OLDER ones, the oldest first, are its
    history on an html page, which says what changed since the last of them; so does markdown.

    \b
    Examples:
      gradcheck report today.json
      gradcheck report today.json --format html --output report.html
      gradcheck report today.json --format markdown > comment.md
      gradcheck report monday.json tuesday.json today.json --format html --output report.html

    The exit code is that of the run: 0 when all is as expected, 1 when a case failed, 2 when a spec
    was bad.
    """  # noqa: D301  (click reads the \b)
    from gradcheck.cli.outputs import pair
    from gradcheck.cli.page_background import must_show_older, read_background
    from gradcheck.cli.read_back import read_back
    from gradcheck.cli.reporters import Reporters
    from gradcheck.errors import exit_code
    from gradcheck.report.read.json_reader import read_report

    *older, newest = reports
    destinations = pair(formats, outputs, junitxml, "table" if options.for_people() else "plain")
    shown = {destination.format for destination in destinations}
    must_show_older(shown, older, newest)
    report = read_report(Path(newest))
    background = read_background(shown, older)
    plan, summary = read_back(report, newest)
    with Reporters(
        destinations, verbose=verbose, durations=None, background=background
    ) as reporters:
        reporters.start(plan)
        for result in report.results:
            reporters.result(result)
        reporters.finish(summary)
    return exit_code(summary)
