"""`gradcheck power`: which wrong gradients the specs would catch."""

from __future__ import annotations

import contextlib
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gradcheck.cli import options
from gradcheck.cli.say import say, say_json
from gradcheck.errors import ExitCode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from gradcheck.model import Case, Result
    from gradcheck.report.power_totals import PowerOutcome
    from gradcheck.spec.load_specs import Loaded
    from gradcheck.spec.settings import Settings

CASE_TIMEOUT = 900.0
"""Seconds for one case: it is checked a hundred times over, so its own limit does not apply. A
check may then take nine."""


def _percentage(
    context: click.Context, parameter: click.Parameter, value: float | None
) -> float | None:
    if value is not None and not 0 <= value <= 100:  # so written that NaN is refused too
        raise click.BadParameter(f"{value:g} is not a percentage", context, parameter)
    return value


@click.command(name="power")
@options.paths
@options.select
@click.option(
    "--format",
    "format_",
    type=click.Choice(["table", "plain", "json"]),
    help="How to report. Default: table on a terminal, else plain.",
)
@options.allow
@options.max_cases
@options.jobs
@click.option(
    "--min-score",
    metavar="PERCENT",
    type=float,
    callback=_percentage,
    help="Fail when a smaller share of the planted faults is caught.",
)
def command(
    *,
    paths: tuple[str, ...],
    expression: str,
    format_: str | None,
    allow: tuple[str, ...],
    max_cases: int | None,
    jobs: int | None,
    min_score: float | None,
) -> int:
    """Plant wrong gradients in the specs' cases, and see which are caught.

    Each gradient that is right is made wrong in some thirty ways, one at a time: sign, transposed,
    shifted, a factor, one element, the upstream ignored, … The score is the share that the check
    catches; the survivors are listed with the reason. The floor is the smallest relative error that
    is caught, of the whole gradient and of the element that is hardest to judge; errors below 1e-8
    are tried for the floor only. Faults that change nothing at the point of a case do not count.

    A PATH is a spec file, a folder of them, or a case: file.yaml::name. Without one it is specs/.

    \b
    Examples:
      gradcheck power specs/
      gradcheck power specs/linalg.yaml -k 'matmul and not xla'
      gradcheck power specs/ --min-score 95
      gradcheck power specs/ --format json > power.json

    The exit code is 0 when all was measured, 1 below --min-score, 2 for a bad spec (its other cases
    are still measured) or wrong usage, 5 when nothing was selected, 130 after Ctrl-C.
    """  # noqa: D301  (click reads the \b)
    from gradcheck.run import in_a_command, warm_up

    click.get_current_context().with_resource(in_a_command())
    # TensorFlow loads in another process while this one imports the rest and reads the specs.
    warm_up()

    from gradcheck.run import compile_selector, describe
    from gradcheck.spec.settings import read_settings

    selected = compile_selector(expression)
    settings = read_settings(Path.cwd(), allow=allow, max_cases=max_cases)
    loaded = _loaded(paths, settings)
    cases = [replace(case, timeout=None) for case in loaded.cases if selected(case)]
    if not cases and not loaded.problems:
        say(options.nothing_selected(expression, len(loaded.cases)), err=True)
        return ExitCode.NOTHING_SELECTED

    from gradcheck.report.power_totals import PowerOutcome

    started = time.perf_counter()
    console = _console(format_)
    at = {"allow": settings.allow, "root": str(settings.root)}
    results, interrupted = _measure(cases, console, jobs=jobs or settings.jobs, **at)
    seconds = time.perf_counter() - started
    outcome = PowerOutcome(tuple(results), loaded.problems, seconds, interrupted)
    _report(outcome, console, format_, describe())
    return _exit_code(outcome, min_score)


def _loaded(paths: tuple[str, ...], settings: Settings) -> Loaded:
    """What the specs hold, as the project wants it."""
    from gradcheck.spec import load

    return load(
        paths or settings.specs or options.default_paths("power"),
        allow=settings.allow,
        seed=settings.seed,
        budget=settings.budget,
        max_cases=settings.max_cases,
    )


def _console(format_: str | None) -> Console | None:
    """Where a table is printed; None where none is wanted."""
    if format_ != "table" and (format_ is not None or not options.for_people()):
        return None
    from gradcheck.report.formats.table import open_console

    return open_console(sys.stdout)


def _report(
    outcome: PowerOutcome,
    console: Console | None,
    format_: str | None,
    environment: dict[str, str],
) -> None:
    """Print what was measured, as it was asked for."""
    from gradcheck.report.formats import power_report

    if console is not None:
        power_report.print_table(console, outcome)
    elif format_ == "json":
        say_json(power_report.document(outcome, environment))
    else:
        say(power_report.plain(outcome))


def _measure(
    cases: Sequence[Case], console: Console | None, **settings: Any
) -> tuple[list[Result], bool]:
    """The results in the order of the cases, and whether Ctrl-C came before the last."""
    from gradcheck.checker.power.measure_power import measure_power
    from gradcheck.run import run

    results: dict[str, Result] = {}
    interrupted = False
    with contextlib.ExitStack() as stack:
        live = None
        if console is not None:
            from gradcheck.report.formats.progress import LiveBar

            live = LiveBar(console, len(cases))
            live.start()
            stack.callback(live.stop)
        try:
            stream = run(cases, timeout=CASE_TIMEOUT, check=measure_power, **settings)
            with contextlib.closing(stream):
                for result in stream:
                    results[result.id] = result
                    if live is not None:
                        live.advance(failed=False)
        except KeyboardInterrupt:
            interrupted = True
    return [results[case.id] for case in cases if case.id in results], interrupted


def _exit_code(outcome: PowerOutcome, min_score: float | None) -> int:
    from gradcheck.report.power_totals import Tally, percent

    if outcome.interrupted:
        return ExitCode.INTERRUPTED
    if outcome.problems:
        return ExitCode.USAGE
    score = Tally.of(outcome.measured).score
    if min_score is not None and (score is None or score < min_score):
        say(f"the score is {percent(score)}, below {min_score:g} %", err=True)
        return ExitCode.FAILED
    return ExitCode.OK
