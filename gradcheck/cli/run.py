"""`gradcheck run`: specs in, verdicts out."""

from __future__ import annotations

import contextlib
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gradcheck.cli import options
from gradcheck.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Sequence

    from gradcheck.model import Case, Result

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
@options.paths
@options.select
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
@options.formats("table on a terminal, else plain")
@options.outputs
@options.junitxml
@options.allow
@options.jobs
@click.option(
    "--timeout",
    metavar="SECONDS",
    type=float,
    default=60.0,
    show_default=True,
    callback=_time_limit,
    help="Time limit of a case that sets none itself.",
)
@click.option(
    "--memory-limit",
    metavar="SIZE",
    help="How much memory a worker may hold, as in 2G or 800M, or none. "
    "Default: its share of four fifths of the machine, at least 2G.",
)
@click.option(
    "--lf", "--last-failed", "last_failed", is_flag=True, help="Run only what failed last time."
)
@click.option(
    "--ff", "--failed-first", "failed_first", is_flag=True, help="Begin with what failed last time."
)
@click.option(
    "--resume",
    is_flag=True,
    help="Pick up a run that was stopped or killed: run only what has no result yet.",
)
@click.option(
    "--shard",
    metavar="I/N",
    help="Run the I-th of N parts of about the same length; `gradcheck merge` joins the reports.",
)
@click.option(
    "--dask",
    "scheduler",
    metavar="ADDRESS",
    help="Run on the Dask cluster whose scheduler is there, as in tcp://10.0.0.1:8786.",
)
@click.option(
    "--watch", "watching", is_flag=True, help="Stay, and run again what changes when it is saved."
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
    memory_limit: str | None,
    last_failed: bool,
    failed_first: bool,
    resume: bool,
    shard: str | None,
    scheduler: str | None,
    watching: bool,
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
      gradcheck run specs/ --resume
      gradcheck run specs/ --watch
      gradcheck run specs/ --shard 2/5 --format json --output shard2.json

    The exit code is 0 when all is as expected, 1 when a case failed, 2 for a bad spec (its other
    cases still run) or wrong usage, 5 when nothing was selected, 130 after Ctrl-C.
    """  # noqa: D301  (click reads the \b)
    from gradcheck.cli.outputs import pair
    from gradcheck.run import parse_shard, parse_size, warm_up

    default = "table" if sys.stdout.isatty() else "plain"
    destinations = pair(formats, outputs, junitxml, default)
    paths = paths or options.default_paths()
    part = None if shard is None else parse_shard(shard)
    limit = None if memory_limit is None else parse_size(memory_limit)
    if watching:
        given = {
            "--output": outputs,
            "--junitxml": junitxml,
            "--shard": shard,
            "--dask": scheduler,
            "--resume": resume,
            "--lf": last_failed,
            "--collect-only": collect_only,
        }
        for option in (option for option, value in given.items() if value):
            raise UsageError(f"--watch and {option} do not go together")
    if not collect_only and scheduler is None:
        # TensorFlow loads in another process while this one imports the rest and reads the specs.
        warm_up()

    from gradcheck.cache import Keeper
    from gradcheck.cli.session import execute, exit_code, list_cases, narrow, note
    from gradcheck.model import Plan
    from gradcheck.run import compile_selector, cores, default_limit, describe, run
    from gradcheck.spec import load
    from gradcheck.spec.settings import read_settings

    selected = compile_selector(expression)
    settings = read_settings(Path.cwd())
    allowed = (*settings.allow, *allow)
    environment, facts = describe() | _given(seed, allow), dict[str, str]()
    jobs = jobs or cores()
    limits: dict[str, Any] = {
        "jobs": jobs,
        "timeout": timeout,
        "memory_limit": limit if memory_limit else default_limit(jobs),
    }
    maxfail = 1 if exitfirst else maxfail
    report = {"verbose": verbose, "durations": durations}
    if watching:
        from gradcheck.cli.watch import Specs, watch

        return watch(
            Specs(paths, allow=allowed, root=settings.root, seed=seed),
            destinations,
            selected=selected,
            allow=allowed,
            root=settings.root,
            environment=environment,
            maxfail=maxfail,
            report=report,
            **limits,
        )
    loaded = load(paths, allow=allowed, seed=seed)
    matching = [case for case in loaded.cases if selected(case)]
    keeper = Keeper(settings.root, allow=allowed, warn=note)
    cases, which = narrow(matching, keeper, last_failed=last_failed, shard=part)
    if collect_only:
        keeper.close()
        return list_cases(cases, loaded.problems)
    plan = Plan(cases=cases, problems=loaded.problems, environment=environment, shard=which)
    with contextlib.ExitStack() as stack:
        limits |= {"allow": allowed, "root": str(settings.root), "maxfail": maxfail, "facts": facts}
        runner = partial(_run_here, run, **limits)
        if scheduler is not None:
            from gradcheck.run import Cluster

            cluster = stack.enter_context(Cluster(scheduler))
            environment.update(cluster.describe())
            del limits["jobs"]
            runner = partial(cluster.run, **limits, fair_share=memory_limit is None)
        summary = execute(
            plan,
            destinations,
            keeper,
            runner,
            report=report,
            environment=environment,
            facts=facts,
            resume=resume,
            failed_first=failed_first,
        )
    if not cases and not loaded.problems:
        click.echo(options.nothing_selected(expression, len(loaded.cases), shard), err=True)
    return exit_code(summary)


def _run_here(
    run: Callable[..., Iterator[Result]], cases: Sequence[Case], **limits: Any
) -> Generator[Result, None, None]:
    """The results; the process that holds TensorFlow then ends while the reports are written."""
    from gradcheck.run import dismiss

    yield from run(cases, **limits)
    dismiss()


def _given(seed: int | None, allow: tuple[str, ...]) -> dict[str, str]:
    """What a command that replays a case must say again."""
    given = {} if seed is None else {"seed": str(seed)}
    return given | ({"allow": " ".join(allow)} if allow else {})
