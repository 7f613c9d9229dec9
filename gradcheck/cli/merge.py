"""`gradcheck merge`: the reports of shards, as if they had been one run."""

from __future__ import annotations

import contextlib
from pathlib import Path

import click

from gradcheck.cli import options
from gradcheck.errors import UsageError


@click.command(name="merge")
@click.argument("reports", metavar="REPORT...", nargs=-1, required=True)
@options.formats("json")
@options.outputs
@options.junitxml
def command(
    reports: tuple[str, ...],
    formats: tuple[str, ...],
    outputs: tuple[str, ...],
    junitxml: str | None,
) -> int:
    """Join the JSON reports of shards.

    A REPORT is what `gradcheck run --format json` wrote. Those of shards must make up the whole
    suite; the result is then the report of one run. Reports of different suites are joined too.
    How long each case took is remembered in .gradcheck/, for the next cut into shards.

    \b
    Examples:
      gradcheck merge shard*.json > report.json
      gradcheck merge shard*.json --format table
      gradcheck merge shard*.json --format plain --format json --output report.json
      gradcheck merge shard*.json --format html --output report.html
      gradcheck merge shard*.json --format markdown > comment.md

    The exit code is that of a single run: 0 when all is as expected, 1 when a case failed, 2 when
    a spec was bad, or the reports do not fit together.
    """  # noqa: D301  (click reads the \b)
    from gradcheck.cache import Store
    from gradcheck.cli.outputs import pair
    from gradcheck.cli.page_background import read_background
    from gradcheck.cli.reporters import Reporters
    from gradcheck.cli.say import note
    from gradcheck.errors import exit_code
    from gradcheck.report.read.json_reader import read_report
    from gradcheck.report.read.merge_reports import merge
    from gradcheck.run import summarise
    from gradcheck.spec.settings import read_settings

    if len(set(reports)) < len(reports):
        raise UsageError("a report is given twice")
    # A file alone is enough: what is merged into it need not be printed as well.
    lone = bool(outputs) and not formats
    destinations = pair(("json",) if lone else formats, outputs, junitxml, "json")
    if lone:
        del destinations[0]
    merged = merge({name: read_report(Path(name)) for name in reports})
    for difference in merged.differences:
        note(difference)
    summary = summarise(
        merged.results,
        problems=len(merged.plan.problems),
        seconds=merged.seconds,
        interrupted=merged.interrupted,
    )
    background = read_background({destination.format for destination in destinations}, ())
    with Reporters(destinations, verbose=False, durations=None, background=background) as reporters:
        reporters.start(merged.plan)
        for result in merged.results:
            reporters.result(result)
        reporters.finish(summary)
    with contextlib.closing(Store(read_settings(Path.cwd()).root, warn=note)) as store:
        for result in merged.results:
            store.remember(result)
    return exit_code(summary)
