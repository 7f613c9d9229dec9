"""`gradcheck run`: specs in, verdicts out."""

from __future__ import annotations

import contextlib
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gradcheck.cli import options
from gradcheck.cli.run_request import RunRequest
from gradcheck.cli.say import note, say
from gradcheck.run.case_time import DEFAULT_TIMEOUT

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence

    from gradcheck.cache import Store
    from gradcheck.cli.run_context import RunContext
    from gradcheck.cli.session import Runner
    from gradcheck.model import Case, Result, Shard
    from gradcheck.run import Cluster
    from gradcheck.spec.load_specs import Loaded


def _time_limit(
    context: click.Context, parameter: click.Parameter, value: float | None
) -> float | None:
    if value is None:
        return None
    # (Not at the top: the spec's keys are more than `--help` needs.)
    from gradcheck.spec.format.keys import MAX_TIMEOUT

    if not 0 < value <= MAX_TIMEOUT:  # so written that NaN is refused too
        raise click.BadParameter(
            f"{value:g} is not a time limit: more than 0 and at most {MAX_TIMEOUT:g} seconds",
            context,
            parameter,
        )
    return value


@click.command(name="run")
@options.paths
@options.select
@options.tags
@options.modes
@options.checks
@click.option("-x", "--exitfirst", is_flag=True, help="Stop at the first failure.")
@click.option(
    "--maxfail", metavar="N", type=options.WholeNumber(min=1), help="Stop after N failures."
)
@click.option(
    "--seed",
    metavar="N",
    type=options.WholeNumber(min=0, max=2**63 - 1),
    help="Draw from this seed what is drawn in cases that set none.",
)
@click.option("--collect-only", is_flag=True, help="Print the ids of the cases and run nothing.")
@click.option(
    "--durations",
    metavar="N",
    type=options.WholeNumber(min=0),
    help="List the N slowest cases; 0 lists all.",
)
@options.formats("table on a terminal, else plain")
@options.outputs
@options.junitxml
@options.baselines
@options.allow
@options.max_cases
@options.jobs
@click.option(
    "--timeout",
    metavar="SECONDS",
    type=float,
    callback=_time_limit,
    help=f"Time limit of a case that sets none itself. Default: {DEFAULT_TIMEOUT:g}.",
)
@click.option(
    "--budget",
    metavar="SECONDS",
    type=float,
    callback=_time_limit,
    help="Processor time that a check may spend on a case that says nothing of it. Default: 10.",
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

    A PATH is a spec file, a folder of them, or a case: file.yaml::name. Without one it is what
    `specs` under [tool.gradcheck] in pyproject.toml says, else specs/. Most options can be set
    there; the command line wins.

    \b
    Examples:
      gradcheck run specs/
      gradcheck run 'specs/linalg.yaml::transposed[float32]'
      gradcheck run specs/ -k 'matmul and not xla' -x
      gradcheck run specs/ --tags smoke
      gradcheck run specs/ --mode all --check all
      gradcheck run specs/ --format json --output report.json
      gradcheck run specs/ --format html --output report.html --baseline last.json
      gradcheck run specs/ --format plain --format github --junitxml results.xml
      gradcheck run specs/ --allow mypackage
      gradcheck run specs/ --resume
      gradcheck run specs/ --watch
      gradcheck run specs/ --shard 2/5 --format json --output shard2.json

    The exit code is 0 when all is as expected, 1 when a case failed, 2 for a bad spec (its other
    cases still run) or wrong usage, 5 when nothing was selected, 130 after Ctrl-C, 143 after
    SIGTERM, 129 after SIGHUP; after these the report holds the results so far.
    """  # noqa: D301  (click reads the \b)
    from gradcheck.run import in_a_command, warm_up

    request = RunRequest.read(given)
    if request.runs_here:
        click.get_current_context().with_resource(in_a_command())
        # TensorFlow loads in another process while this one imports the rest and reads the specs.
        warm_up()

    from gradcheck.cli.run_context import RunContext
    from gradcheck.spec.settings import read_settings

    settings = read_settings(Path.cwd(), allow=request.allow, max_cases=request.max_cases)
    request = request.completed(settings)
    context = RunContext.find(request, settings)
    if request.watching:
        from gradcheck.cli.watch import watch

        return watch(request, context)
    return _run_once(request, context)


def _run_once(request: RunRequest, context: RunContext) -> int:
    """Run what is asked for, or list it; the exit code."""
    if request.collect_only:
        return _list(request, context)
    # A cluster is sought first: TensorFlow loads there while the specs are read here.
    with _connected(request, context) as cluster:
        return _run_all(request, context, cluster)


def _list(request: RunRequest, context: RunContext) -> int:
    from gradcheck.cli.session import list_cases

    loaded, store, cases, _ = _selected(request, context)
    store.close()
    return list_cases(cases, loaded.problems)


def _run_all(request: RunRequest, context: RunContext, cluster: Cluster | None) -> int:
    from gradcheck.cli.session import execute
    from gradcheck.errors import exit_code
    from gradcheck.model import Plan

    loaded, store, cases, shard = _selected(request, context)
    plan = Plan(cases, loaded.problems, context.environment, shard)
    runner = _runner(request, context, cluster, store)
    summary = execute(request, context, plan, store, runner)
    if summary.interrupted and summary.total < len(cases):
        note("the results so far are kept: the same command with --resume runs only the rest")
    if not cases and not loaded.problems:
        part = request.shard and "{}/{}".format(*request.shard)
        available = len(loaded.cases)
        say(options.nothing_selected(request.expression, available, part, request.tags), err=True)
    return exit_code(summary)


def _selected(
    request: RunRequest, context: RunContext
) -> tuple[Loaded, Store, tuple[Case, ...], Shard | None]:
    """What the specs hold, what is remembered of it, and what of it is asked for."""
    from gradcheck.cache import Store
    from gradcheck.cli.session import narrow
    from gradcheck.spec import load

    loaded = load(
        request.paths,
        allow=context.allow,
        seed=request.seed,
        budget=request.budget,
        max_cases=context.max_cases,
        axes=request.axes,
    )
    matching = [case for case in loaded.cases if context.selected(case)]
    store = Store(
        context.root,
        allow=context.allow,
        warn=note,
        look=request.collect_only,
        shard=request.shard,
    )
    return loaded, store, *narrow(request, matching, store)


@contextlib.contextmanager
def _connected(request: RunRequest, context: RunContext) -> Iterator[Cluster | None]:
    """The cluster that is to run the cases; None for this machine."""
    if request.scheduler is None:
        yield None
        return
    from gradcheck.run import Cluster, describe
    from gradcheck.run.environment import FLAGS
    from gradcheck.run.threads import VARIABLES

    with Cluster(request.scheduler) as cluster:
        # What counts is on what the cases run.
        own = describe()
        there = cluster.describe()
        for name in (*FLAGS, *VARIABLES):
            if name in own and own[name] != there.get(name):
                note(
                    f"{name} is {own[name]} here and {there.get(name, 'unset')} on the Dask "
                    "workers, where the cases run: set it there, before they are started"
                )
        rest = {name: text for name, text in context.environment.items() if name not in own}
        context.environment.clear()
        context.environment.update(there | rest)
        yield cluster


def _runner(
    request: RunRequest, context: RunContext, cluster: Cluster | None, store: Store
) -> Runner:
    """What turns the cases into results: the workers of this machine, or a cluster."""
    from gradcheck.report import close_ups_for, tell_gradients
    from gradcheck.run import check_with_tensorflow

    common: dict[str, Any] = {
        "allow": context.allow,
        "root": str(context.root),
        "timeout": request.timeout,
        "memory_limit": context.memory_limit,
        "maxfail": request.maxfail,
        "facts": context.facts,
    }
    close_ups, called = close_ups_for(request.formats), tell_gradients(request.formats)
    if close_ups or called:
        common["check"] = partial(check_with_tensorflow, close_ups=close_ups, called=called)
    if cluster is None:
        return partial(_run_here, jobs=context.jobs, **common)
    seconds = store.history.seconds
    return partial(cluster.run, fair_share=request.fair_share, seconds=seconds, warn=note, **common)


def _run_here(cases: Sequence[Case], **options: Any) -> Generator[Result, None, None]:
    """The results; the process that holds TensorFlow then ends while the reports are written."""
    from gradcheck.run import dismiss, run

    yield from run(cases, **options)
    dismiss()
