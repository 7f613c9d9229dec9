"""One run: its cases through the workers, every result to the reporters and to the journal."""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING, Any

import click

from gradcheck.errors import ExitCode, GradcheckError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence

    from gradcheck.cache import Keeper
    from gradcheck.cli.outputs import Destination
    from gradcheck.errors import SpecProblem
    from gradcheck.model import Case, Plan, Result, Shard, Summary

    Runner = Callable[[Sequence[Case]], Generator[Result, None, None]]


def note(text: str) -> None:
    """Say something that the user should know but that stops nothing."""
    click.echo(f"note: {text}", err=True)


def narrow(
    cases: Sequence[Case],
    keeper: Keeper,
    *,
    last_failed: bool,
    shard: tuple[int, int] | None,
) -> tuple[tuple[Case, ...], Shard | None]:
    """The cases that failed last time, or this machine's share of them, or both."""
    from gradcheck.run import cut

    if last_failed:
        failed = keeper.failed(cases)
        if failed:
            cases = failed
        else:
            note("none of these cases failed when it last ran: all of them run")
    if shard is None:
        return tuple(cases), None
    part, which = cut(cases, *shard, keeper.history.seconds)
    return tuple(part), which


def execute(
    plan: Plan,
    destinations: Sequence[Destination],
    keeper: Keeper,
    runner: Runner,
    *,
    report: Mapping[str, Any],
    environment: dict[str, str],
    facts: dict[str, str],
    resume: bool = False,
    append: bool = False,
    failed_first: bool = False,
) -> Summary:
    """Run what is missing and tell the reporters; Ctrl-C ends it with the results so far.

    Args:
        plan: What to run.
        destinations: Which reports go where.
        keeper: What earlier runs left, and where this one leaves its own.
        runner: Turns cases into results, and fills the facts while it does.
        report: Options of the reporters.
        environment: That of the plan; at the end it also has the facts.
        facts: What the workers say about the machine.
        resume: Whether results of the run before are taken over.
        append: Whether the journal goes on where it is, and everything runs all the same.
        failed_first: Whether to begin with what failed last time.
    """
    from gradcheck.cli.reporters import Audience
    from gradcheck.run import summarise

    # Neither the seed, since every case has its own, nor what workers said in an earlier run.
    versions = {k: v for k, v in environment.items() if k != "seed" and k not in facts}
    results: list[Result] = []
    interrupted = False
    lost: GradcheckError | None = None
    begun = time.perf_counter()
    with Audience(destinations, **report) as audience, contextlib.closing(keeper):
        try:
            old: list[Result] = []
            timed = plan.shard is None
            if resume or append:
                old = keeper.resume(plan.cases if resume else (), versions, timed=timed)
            else:
                keeper.begin(versions, timed=timed)
            if old:
                note(f"{len(old)} of {len(plan.cases)} results come from the run before")
            audience.start(plan)
            facts.update(keeper.facts)
            for result in old:
                results.append(result)
                audience.result(result)
            done = {result.id for result in old}
            missing = [case for case in plan.cases if case.id not in done]
            ordered = keeper.order(missing, failed_first=failed_first)
            with contextlib.closing(runner(ordered)) as stream:
                for result in stream:
                    results.append(result)
                    if facts != keeper.facts:
                        keeper.add_facts(facts)
                    keeper.add(result)
                    audience.result(result)
        except KeyboardInterrupt:
            interrupted = True
        except GradcheckError as error:
            # The workers or the cluster are gone: what there is is told first.
            interrupted, lost = True, error
        environment.update(facts)
        summary = summarise(
            results,
            problems=len(plan.problems),
            seconds=time.perf_counter() - begun,
            interrupted=interrupted,
        )
        audience.finish(summary)
    if lost is not None:
        raise lost
    return summary


def list_cases(cases: Sequence[Case], problems: Sequence[SpecProblem]) -> int:
    """`--collect-only`: the ids, and what is wrong in the specs."""
    for case in cases:
        click.echo(case.id)
    click.echo(f"\n{len(cases)} case{'' if len(cases) == 1 else 's'}")
    for problem in problems:
        click.echo(str(problem), err=True)
    if problems:
        return ExitCode.USAGE
    return ExitCode.OK if cases else ExitCode.NOTHING_SELECTED


def exit_code(summary: Summary) -> int:
    """The gravest thing that can be said of the run."""
    if summary.interrupted:
        return ExitCode.INTERRUPTED
    if summary.problems:
        return ExitCode.USAGE
    if summary.failed:
        return ExitCode.FAILED
    return ExitCode.OK if summary.total else ExitCode.NOTHING_SELECTED
