"""`gradcheck validate`: what is wrong in specs, without TensorFlow."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from gradcheck.cli import options
from gradcheck.cli.say import say_report
from gradcheck.cli.setting_values import must_hold
from gradcheck.errors import ExitCode


@click.command(name="validate")
@options.paths
@options.allow
@options.max_cases
@click.option(
    "--format",
    "format_",
    type=click.Choice(["plain", "github", "json"]),
    default="plain",
    show_default=True,
    help="How to tell: lines to read, annotations of GitHub Actions, or JSON.",
)
def command(
    paths: tuple[str, ...], allow: tuple[str, ...], max_cases: int | None, format_: str
) -> int:
    """Find what is wrong in specs, without running them.

    A PATH is a spec file or a folder of them. Without one it is specs/.

    \b
    Examples:
      gradcheck validate specs/
      gradcheck validate specs/linalg.yaml
      gradcheck validate specs/ --format github

    The exit code is 0 when the specs are right and 2 when they are not.
    """  # noqa: D301  (click reads the \b)
    from gradcheck.report.formats.problem_report import PROBLEM_FORMATS, Validated
    from gradcheck.spec import load
    from gradcheck.spec.settings import read_settings

    settings = read_settings(Path.cwd(), allow=allow, max_cases=max_cases)
    must_hold(settings)
    loaded = load(
        paths or settings.specs or options.default_paths("validate"),
        allow=settings.allow,
        max_cases=settings.max_cases,
    )
    files = {case.path for case in loaded.cases}
    files |= {problem.location.path for problem in loaded.problems}
    validated = Validated(len(files), len(loaded.cases), tuple(loaded.problems))
    if format_ == "plain" and options.for_people():
        from gradcheck.report.formats.problem_report import print_validated

        print_validated(sys.stdout, validated)
    else:
        say_report(PROBLEM_FORMATS[format_](validated))
    return ExitCode.USAGE if loaded.problems else ExitCode.OK
