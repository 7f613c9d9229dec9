"""`gradcheck run`: specs in, verdicts out."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gradcheck.errors import ExitCode, SpecProblem, UsageError
from gradcheck.report import FORMATS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcheck.cli.outputs import Destination
    from gradcheck.model import Case, Plan, Summary

LONGEST = 86_400.0
"""The longest time limit of a case, in seconds: a day."""


def _time_limit(context: click.Context, parameter: click.Parameter, value: float) -> float:
    if not 0 < value <= LONGEST:  # so written that NaN is refused too
        raise click.BadParameter(
            f"{value:g} is not a time limit: more than 0 and at most {LONGEST:g} seconds",
            context,
            parameter,
        )
    return value


@click.command(name="run")
@click.argument("paths", metavar="[PATH]...", nargs=-1)
@click.option(
    "-k",
    "expression",
    metavar="EXPR",
    default="",
    help="Run the cases whose id or tags match: parts of names with and, or, not and parentheses.",
)
@click.option("-x", "--exitfirst", is_flag=True, help="Stop at the first failure.")
@click.option("--maxfail", metavar="N", type=click.IntRange(min=1), help="Stop after N failures.")
@click.option(
    "--seed",
    metavar="N",
    type=click.IntRange(min=0, max=2**63 - 1),
    help="Draw from this seed what is drawn in cases that set none.",
)
@click.option("--collect-only", is_flag=True, help="Print the ids of the cases and run nothing.")
@click.option(
    "--durations",
    metavar="N",
    type=click.IntRange(min=0),
    help="List the N slowest cases; 0 lists all.",
)
@click.option(
    "--format",
    "formats",
    multiple=True,
    type=click.Choice(list(FORMATS)),
    help="How to report; may be repeated. Default: table on a terminal, else plain.",
)
@click.option(
    "--output",
    "outputs",
    metavar="FILE",
    multiple=True,
    help="Write a report to a file; may be repeated. The files belong to the last "
    "formats given, in their order; the format left over goes to the screen.",
)
@click.option("--junitxml", metavar="FILE", help="Short for --format junit --output FILE.")
@click.option(
    "--allow",
    metavar="PACKAGE",
    multiple=True,
    help="Let specs call functions of this Python package; may be repeated. "
    "`allow` under [tool.gradcheck] in pyproject.toml does the same.",
)
@click.option(
    "-j",
    "--jobs",
    metavar="N",
    type=click.IntRange(min=1),
    help="How many worker processes. Default: one per processor.",
)
@click.option(
    "--timeout",
    metavar="SECONDS",
    type=float,
    default=60.0,
    show_default=True,
    callback=_time_limit,
    help="Time limit of a case that sets none itself.",
)
@click.option("-v", "--verbose", is_flag=True, help="Show every case, however many there are.")
def command(
    *,
    paths: tuple[str, ...],
    expression: str,
    exitfirst: bool,
    maxfail: int | None,
    seed: int | None,
    collect_only: bool,
    durations: int | None,
    formats: tuple[str, ...],
    outputs: tuple[str, ...],
    junitxml: str | None,
    allow: tuple[str, ...],
    jobs: int | None,
    timeout: float,
    verbose: bool,
) -> int:
    """Check the gradients of the specs.

    A PATH is a spec file, a folder of them, or a case: file.yaml::name. Without one it is specs/.

    \b
    Examples:
      gradcheck run specs/
      gradcheck run 'specs/linalg.yaml::transposed[float32]'
      gradcheck run specs/ -k 'matmul and not xla' -x
      gradcheck run specs/ --format json --output report.json
      gradcheck run specs/ --format github --junitxml results.xml
      gradcheck run specs/ --allow mypackage

    The exit code is 0 when all is as expected, 1 when a case failed, 2 for a bad spec (its other
    cases still run) or wrong usage, 5 when nothing was selected, 130 after Ctrl-C.
    """  # noqa: D301  (click reads the \b)
    from gradcheck.cli.outputs import pair
    from gradcheck.run import warm_up

    default = "table" if sys.stdout.isatty() else "plain"
    destinations = pair(formats, outputs, junitxml, default)
    paths = paths or default_paths()
    if not collect_only:
        # TensorFlow loads in another process while this one imports the rest and reads the specs.
        warm_up()

    from gradcheck.model import Plan
    from gradcheck.run import compile_selector, describe
    from gradcheck.spec import load
    from gradcheck.spec.settings import read_settings

    selected = compile_selector(expression)
    settings = read_settings(Path.cwd())
    allowed = (*settings.allow, *allow)
    loaded = load(paths, allow=allowed, seed=seed)
    cases = tuple(case for case in loaded.cases if selected(case))
    if collect_only:
        return _collect(cases, loaded.problems)
    environment = describe()
    if seed is not None:
        environment["seed"] = str(seed)
    plan = Plan(cases=cases, problems=loaded.problems, environment=environment)
    summary = _run(
        plan,
        destinations,
        report={"verbose": verbose, "durations": durations},
        jobs=jobs,
        timeout=timeout,
        maxfail=1 if exitfirst else maxfail,
        allow=allowed,
        root=str(settings.root),
    )
    if not cases and not loaded.problems:
        click.echo(_nothing(expression, len(loaded.cases)), err=True)
    return _exit_code(summary)


def default_paths() -> tuple[str, ...]:
    """What is meant when no path is given."""
    if os.path.isdir("specs"):  # noqa: PTH112  (the name is shown as it is)
        return ("specs",)
    raise UsageError(
        "no PATH given, and there is no folder specs/ here: "
        "name a spec file or a folder of them, as in `gradcheck run tests/specs`"
    )


def _run(
    plan: Plan, destinations: Sequence[Destination], *, report: dict[str, Any], **options: Any
) -> Summary:
    """Run the plan's cases and tell the reporters; Ctrl-C ends it with the results so far."""
    from gradcheck.cli.audience import Audience
    from gradcheck.run import run, summarise

    results = []
    interrupted = False
    begun = time.perf_counter()
    with Audience(destinations, **report) as audience:
        try:
            audience.start(plan)
            with contextlib.closing(run(plan.cases, **options)) as stream:
                for result in stream:
                    results.append(result)
                    audience.result(result)
        except KeyboardInterrupt:
            interrupted = True
        summary = summarise(
            results,
            problems=len(plan.problems),
            seconds=time.perf_counter() - begun,
            interrupted=interrupted,
        )
        audience.finish(summary)
    return summary


def _collect(cases: Sequence[Case], problems: Sequence[SpecProblem]) -> int:
    for case in cases:
        click.echo(case.id)
    click.echo(f"\n{len(cases)} case{'' if len(cases) == 1 else 's'}")
    for problem in problems:
        click.echo(str(problem), err=True)
    if problems:
        return ExitCode.USAGE
    return ExitCode.OK if cases else ExitCode.NOTHING_SELECTED


def _exit_code(summary: Summary) -> int:
    """The gravest thing that can be said of the run."""
    if summary.interrupted:
        return ExitCode.INTERRUPTED
    if summary.problems:
        return ExitCode.USAGE
    if summary.failed:
        return ExitCode.FAILED
    return ExitCode.OK if summary.total else ExitCode.NOTHING_SELECTED


def _nothing(expression: str, available: int) -> str:
    if not available:
        return "nothing to run: there are no cases"
    return f"nothing selected: -k {expression!r} matches none of the {available} cases"
