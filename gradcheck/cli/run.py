"""`gradcheck run`: specs in, verdicts out."""

from __future__ import annotations

import contextlib
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from gradcheck.cli import options
from gradcheck.cli.run_request import DEFAULT_TIMEOUT, RunRequest

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence

    from gradcheck.cli.run_context import RunContext
    from gradcheck.cli.session import Runner
    from gradcheck.model import Case, Result

LONGEST_TIMEOUT = 86_400.0
"""The longest time limit of a case, in seconds: a day."""


def _time_limit(context: click.Context, parameter: click.Parameter, value: float) -> float:
    if not 0 < value <= LONGEST_TIMEOUT:  # so written that NaN is refused too
        raise click.BadParameter(
            f"{value:g} is not a time limit: more than 0 and at most {LONGEST_TIMEOUT:g} seconds",
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
    default=DEFAULT_TIMEOUT,
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
@click.option(
    "-v",
    "--verbose",
    is_flag=True,
    help="Show every case, however many there are, and which stage of its check decided.",
)
def command(**given: Any) -> int:
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
    from gradcheck.run import warm_up

    request = RunRequest.read(given)
    if request.runs_here:
        # TensorFlow loads in another process while this one imports the rest and reads the specs.
        warm_up()

    from gradcheck.cli.run_context import RunContext

    context = RunContext.find(request)
    if request.watching:
        from gradcheck.cli.watch import watch

        return watch(request, context)
    return _run_once(request, context)


def _run_once(request: RunRequest, context: RunContext) -> int:
    """Run what is asked for, or list it; the exit code."""
    from gradcheck.cache import Store
    from gradcheck.cli.session import execute, exit_code, list_cases, narrow, note
    from gradcheck.model import Plan
    from gradcheck.spec import load

    loaded = load(request.paths, allow=context.allow, seed=request.seed)
    matching = [case for case in loaded.cases if context.selected(case)]
    store = Store(context.root, allow=context.allow, warn=note)
    cases, shard = narrow(request, matching, store)
    if request.collect_only:
        store.close()
        return list_cases(cases, loaded.problems)
    plan = Plan(cases, loaded.problems, context.environment, shard)
    with _runner(request, context) as runner:
        summary = execute(request, context, plan, store, runner)
    if not cases and not loaded.problems:
        part = request.shard and "{}/{}".format(*request.shard)
        click.echo(options.nothing_selected(request.expression, len(loaded.cases), part), err=True)
    return exit_code(summary)


@contextlib.contextmanager
def _runner(request: RunRequest, context: RunContext) -> Iterator[Runner]:
    """What turns the cases into results: the workers of this machine, or a cluster."""
    common: dict[str, Any] = {
        "allow": context.allow,
        "root": str(context.root),
        "timeout": request.timeout,
        "memory_limit": context.memory_limit,
        "maxfail": request.maxfail,
        "facts": context.facts,
    }
    if request.scheduler is None:
        yield partial(_run_here, jobs=context.jobs, **common)
        return
    from gradcheck.run import Cluster

    with Cluster(request.scheduler) as cluster:
        context.environment.update(cluster.describe())
        yield partial(cluster.run, fair_share=request.fair_share, **common)


def _run_here(cases: Sequence[Case], **options: Any) -> Generator[Result, None, None]:
    """The results; the process that holds TensorFlow then ends while the reports are written."""
    from gradcheck.run import dismiss, run

    yield from run(cases, **options)
    dismiss()
