"""`gradcheck coverage`: which of TensorFlow's gradient functions the specs' cases go through."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gradcheck.cli import options
from gradcheck.cli.say import say, say_json
from gradcheck.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from gradcheck.report.formats.coverage_report import CoverageOutcome

_RUN_ONLY = {"paths": "PATH", "expression": "-k", "jobs": "-j", "seed": "--seed"}
"""What makes no sense where a report is read, by the names of the parameters."""


def _percentage(
    context: click.Context, parameter: click.Parameter, value: float | None
) -> float | None:
    if value is not None and not 0 <= value <= 100:  # so written that NaN is refused too
        raise click.BadParameter(f"{value:g} is not a percentage", context, parameter)
    return value


@click.command(name="coverage")
@options.paths
@options.select
@click.option("--missing", is_flag=True, help="List what is not covered, and why not.")
@click.option(
    "--fail-under",
    metavar="PERCENT",
    type=float,
    callback=_percentage,
    help="Fail when a smaller share of the gradient functions in reach is covered.",
)
@click.option(
    "--format",
    "format_",
    type=click.Choice(["plain", "json"]),
    default="plain",
    show_default=True,
    help="How to report.",
)
@click.option(
    "--badge", metavar="FILE", help="Write the share to a file, as shields.io reads it for a badge."
)
@click.option(
    "--from",
    "report",
    metavar="REPORT",
    help="Read what `gradcheck run --format json` wrote, and run nothing.",
)
@options.allow
@options.max_cases
@options.jobs
@click.option(
    "--seed",
    metavar="N",
    type=options.WholeNumber(min=0, max=2**63 - 1),
    help="Draw from this seed what is drawn in cases that set none.",
)
def command(
    *, missing: bool, fail_under: float | None, format_: str, badge: str | None, **given: Any
) -> int:
    """Run the specs' cases, and see which gradient functions they cover.

    TensorFlow registers a gradient function for each op that has one. It is exercised if it was
    really called on the way back of a case with a verdict; verified if such a case passes; known
    wrong if the case expects that it fails. These two are covered. What cannot be called on this
    machine is out of reach, and does not count. Public functions count by the cases that name them.

    A PATH is a spec file, a folder of them, or a case: file.yaml::name. Without one it is specs/.

    \b
    Examples:
      gradcheck coverage specs/
      gradcheck coverage specs/ --missing
      gradcheck coverage specs/ --fail-under 80 --badge badge.json
      gradcheck coverage specs/ --format json > coverage.json
      gradcheck coverage --from report.json --missing

    The exit code is 0 when all was measured, 1 below --fail-under, 2 for a bad spec (its other
    cases still count) or wrong usage, 5 when nothing was selected, 130 after Ctrl-C. Cases that
    fail are no matter here: `gradcheck run` tells of them.
    """  # noqa: D301  (click reads the \b)
    from gradcheck.run import describe, in_a_command, warm_up

    _must_fit(given)
    click.get_current_context().with_resource(in_a_command())
    # TensorFlow loads in another process while this one imports the rest and reads the specs.
    warm_up()
    from gradcheck.cli.measured_coverage import NothingSelectedError

    try:
        outcome = _measured(**given)
    except NothingSelectedError as error:
        say(str(error), err=True)
        return ExitCode.NOTHING_SELECTED
    from gradcheck.report.formats import coverage_report

    if format_ == "json":
        say_json(coverage_report.document(outcome, describe()))
    else:
        say(coverage_report.plain(outcome, missing=missing))
    if badge is not None:
        _write(badge, coverage_report.badge(outcome))
    return _exit_code(outcome, fail_under)


def _must_fit(given: dict[str, Any]) -> None:
    for parameter, option in _RUN_ONLY.items():
        if given["report"] is not None and given[parameter]:
            raise UsageError(f"--from reads a report and runs nothing: {option} has no use there")


def _measured(
    *, report: str | None, allow: tuple[str, ...], max_cases: int | None, **given: Any
) -> CoverageOutcome:
    from gradcheck.cli.measured_coverage import of_report, of_specs
    from gradcheck.spec.settings import read_settings

    if report is not None:
        return of_report(report)
    settings = read_settings(Path.cwd(), allow=allow, max_cases=max_cases)
    paths = given.pop("paths") or settings.specs or options.default_paths("coverage")
    return of_specs(paths, settings, **given)


def _write(file: str, text: str) -> None:
    from gradcheck.cli.outputs import OutputFile

    written = OutputFile(Path(file))
    written.stream.write(text)
    written.commit()


def _exit_code(outcome: CoverageOutcome, fail_under: float | None) -> int:
    from gradcheck.report.coverage_totals import share

    if outcome.interrupted:
        return ExitCode.INTERRUPTED
    if outcome.problems:
        return ExitCode.USAGE
    percent = outcome.count.percent
    if fail_under is not None and percent < fail_under:
        say(f"{share(percent)} are covered, below {fail_under:g} %", err=True)
        return ExitCode.FAILED
    return ExitCode.OK
