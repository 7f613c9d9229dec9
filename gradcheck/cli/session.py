"""One run: its cases through the workers, every result to the reporters and to the journal."""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING

from gradcheck.cli.say import note, say
from gradcheck.errors import ExitCode, GradcheckError
from gradcheck.report.numbers import count

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence

    from gradcheck.cache import Results, Store
    from gradcheck.cli.reporters import Reporters
    from gradcheck.cli.run_context import RunContext
    from gradcheck.cli.run_request import RunRequest
    from gradcheck.model import Case, Plan, Result, Shard, SpecProblem, Summary

    Runner = Callable[[Sequence[Case]], Generator[Result, None, None]]


def narrow(
    request: RunRequest, cases: Sequence[Case], store: Store
) -> tuple[tuple[Case, ...], Shard | None]:
    """The cases that failed last time, or this machine's share of them, or both."""
    from gradcheck.run import cut

    if request.last_failed:
        failed = store.failed(cases)
        if failed:
            cases = failed
        else:
            note("none of these cases failed when it last ran: all of them run")
    if request.shard is None:
        return tuple(cases), None
    part, which = cut(cases, *request.shard, store.history.seconds)
    return tuple(part), which


def execute(
    request: RunRequest,
    context: RunContext,
    plan: Plan,
    store: Store,
    runner: Runner,
    *,
    header: bool = True,
    append: bool = False,
) -> Summary:
    """Run what is missing and tell the reporters; Ctrl-C ends it with the results so far.

    Args:
        request: What was asked for.
        context: The project and the machine; the facts are filled while the cases run.
        plan: What to run; its environment is that of the context.
        store: What earlier runs left, and where this one leaves its own; closed at the end.
        runner: Turns cases into results.
        header: Whether the reports say on what they ran.
        append: Whether the journal goes on where it is, and everything runs all the same.
    """
    from gradcheck.cli.reporters import Reporters

    interrupted = False
    lost: GradcheckError | None = None
    begun = time.perf_counter()
    reporters = Reporters(
        request.destinations,
        verbose=request.verbose,
        durations=request.durations,
        header=header,
        background=context.background,
    )
    with reporters, contextlib.closing(store):
        session = _Session(request, context, plan, store, reporters)
        try:
            session.begin(append=append)
            session.run_missing(runner)
        except KeyboardInterrupt:
            interrupted = True
        except GradcheckError as error:
            # The workers or the cluster are gone: what there is is told first.
            interrupted, lost = True, error
        context.environment.update(context.facts)
        summary = session.count.summary(
            problems=len(plan.problems),
            seconds=time.perf_counter() - begun,
            interrupted=interrupted,
        )
        reporters.finish(summary)
    if lost is not None:
        raise lost
    return summary


class _Session:
    """A run under way. Results are passed on and counted, and not kept: there may be many."""

    def __init__(
        self,
        request: RunRequest,
        context: RunContext,
        plan: Plan,
        store: Store,
        reporters: Reporters,
    ) -> None:
        from gradcheck.run import Count

        self._request = request
        self._context = context
        self._plan = plan
        self._store = store
        self._reporters = reporters
        self.count = Count()
        self._done: set[str] = set()
        """What was taken over."""

    def begin(self, *, append: bool) -> None:
        """Open the journal and the reports, with what is taken over from the run before."""
        taken = self._take_over(append=append)
        if taken:
            note(f"{len(taken)} of {len(self._plan.cases)} results come from the run before")
        self._reporters.start(self._plan)
        self._context.facts.update(self._store.facts)
        for result in taken:
            self._done.add(result.id)
            self.count.add(result)
            self._reporters.result(result)

    def run_missing(self, runner: Runner) -> None:
        """Run the cases that have no result yet; each one is written down as it comes."""
        missing = [case for case in self._plan.cases if case.id not in self._done]
        ordered = self._store.order(missing, failed_first=self._request.failed_first)
        from gradcheck.run import interruptions

        facts = self._context.facts
        with contextlib.closing(runner(ordered)) as stream:
            for result in stream:
                # All are told of a result, or none.
                with interruptions.later():
                    self.count.add(result)
                    if facts != self._store.facts:
                        _tell_changes(self._store.facts, facts)
                        self._store.add_facts(facts)
                    self._store.add(result)
                    self._reporters.result(result)

    def _take_over(self, *, append: bool) -> Results | tuple[()]:
        """The results that count as they are; none where everything is to run."""
        from gradcheck.run.environment import decisive

        # (Nor what workers said in an earlier run: those of this one have said nothing yet.)
        environment = decisive(self._context.environment).items()
        versions = {k: v for k, v in environment if k not in self._context.facts}
        # Of a shard no times are kept: the next one would be cut by them.
        timed = self._plan.shard is None
        if self._request.resume or append:
            wanted = self._plan.cases if self._request.resume else ()
            return self._store.resume(wanted, versions, timed=timed, limits=self._limits())
        self._store.begin(versions, timed=timed, limits=self._limits())
        return ()

    def _limits(self) -> str:
        """How much a case may take, as a text that is the same where that is."""
        request, memory = self._request, self._context.memory_limit
        # (A fair share of other machines is another one.)
        where = f" each at {request.scheduler}" if request.scheduler else ""
        return f"{request.timeout!r} s, {memory or 'any number of'} bytes{where}"


def _tell_changes(before: Mapping[str, str], now: Mapping[str, str]) -> None:
    """Results may have come from another machine: what only TensorFlow knows is known late."""
    for name, old in before.items():
        if name in now and now[name] != old:
            note(f"the results of the run before have {name} {old}, the new ones {now[name]}")


def list_cases(cases: Sequence[Case], problems: Sequence[SpecProblem]) -> int:
    """`--collect-only`: the ids, and what is wrong in the specs."""
    for case in cases:
        say(case.id)
    say(f"\n{count(len(cases), 'case')}")
    for problem in problems:
        say(str(problem), err=True)
    if problems:
        return ExitCode.USAGE
    return ExitCode.OK if cases else ExitCode.NOTHING_SELECTED
