"""Many Cases → a stream of Results, each case in a worker process that it may take down with it.

Every worker has a connection of its own, so it is always known which case a dead worker had, and
a worker that dies in the middle of a message spoils nobody else's.
"""

from __future__ import annotations

import os
import time
from collections import deque
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Self

from gradcheck.model import Case, Result, Verdict
from gradcheck.run.workers import fork_server
from gradcheck.run.workers.channel import UnsendableError
from gradcheck.run.workers.worker import Check, Job, check_with_tensorflow
from gradcheck.run.workers.worker_handle import Worker, WorkersUnavailableError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Generator, Iterator, MutableMapping, Sequence

STOP_SECONDS = 0.1
"""Seconds between two questions whether to go on: nobody notices a tenth."""


def cores() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def run(
    cases: Sequence[Case],
    *,
    allow: Collection[str],
    root: str,
    jobs: int | None = None,
    timeout: float = 60.0,
    memory_limit: int | None = None,
    maxfail: int | None = None,
    check: Check = check_with_tensorflow,
    preload: Sequence[str] = fork_server.PRELOAD,
    facts: MutableMapping[str, str] | None = None,
) -> Generator[Result, None, None]:
    """Check the cases in worker processes and yield each result as it comes.

    Every case gets exactly one result. After `maxfail` unexpected ones the rest is `skipped`.

    Args:
        cases: What to check, in the order in which it is begun.
        allow: Packages whose functions a case may name.
        root: The folder from which those packages are imported.
        jobs: How many workers at most; by default one per processor.
        timeout: The limit in seconds for a case that gives none itself.
        memory_limit: How many bytes a worker may hold; None for no limit.
        maxfail: After how many unexpected results to stop.
        check: What a worker does with a case; importable by its name.
        preload: Modules that are loaded once for all workers.
        facts: Filled with what TensorFlow says in a worker: the device, and flags.
    """
    with Pool(
        allow=allow,
        root=root,
        jobs=jobs,
        timeout=timeout,
        memory_limit=memory_limit,
        check=check,
        preload=preload,
        facts=facts,
    ) as pool:
        yield from pool.run(cases, maxfail=maxfail)


class Pool:
    """The workers and what they are at; they stay between runs, until the pool is left.

    The arguments are those of `run`.
    """

    def __init__(
        self,
        *,
        allow: Collection[str],
        root: str,
        jobs: int | None = None,
        timeout: float = 60.0,
        memory_limit: int | None = None,
        check: Check = check_with_tensorflow,
        preload: Sequence[str] = fork_server.PRELOAD,
        facts: MutableMapping[str, str] | None = None,
    ) -> None:
        self._job = Job(check=check, allow=tuple(allow), root=root)
        self._size = jobs or cores()
        self._timeout = timeout
        self._memory_limit = memory_limit
        self._preload = preload
        self._waiting: deque[Case] = deque()
        self._idle: list[Worker] = []
        self._busy: list[Worker] = []
        self._done: deque[Result] = deque()
        """What has come and nobody was told yet: with small cases many at a time."""
        self._facts = {} if facts is None else facts

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def run(
        self,
        cases: Sequence[Case],
        *,
        maxfail: int | None = None,
        stop: Callable[[], bool] | None = None,
    ) -> Generator[Result, None, None]:
        """One result for every case; what runs when this is closed early is ended.

        `stop` is asked now and then whether to give up; the cases that are left then have none.
        """
        failures = 0
        try:
            for result in self._results(cases, stop):
                yield result
                failures += not result.expected
                if maxfail is not None and failures >= maxfail:
                    break
        finally:
            dropped = self._drop()
        if maxfail is None or failures < maxfail:
            return
        for case in dropped:
            text = f"not run: stopped after {failures} failure{'s' if failures > 1 else ''}"
            yield Result(case.id, Verdict.SKIPPED, message=text, case=case)

    def refresh(self) -> None:
        """Let the next cases have new workers, which have imported nothing of the user's yet."""
        self._end(self._idle)

    def stop(self) -> None:
        """End every worker at once, whatever it does."""
        self._end([*self._idle, *self._busy])

    def _drop(self) -> list[Case]:
        """Give up what has not been told yet, and say what that is."""
        dropped = [result.case for result in self._done if result.case is not None]
        dropped += [case for worker in self._busy for case in worker.cases]
        dropped += self._waiting
        self._done.clear()
        self._waiting.clear()
        self._end(self._busy)
        return dropped

    def _end(self, workers: Sequence[Worker]) -> None:
        ending = tuple(workers)
        for worker in ending:
            worker.kill()
        for worker in ending:
            worker.close()
        self._idle = [worker for worker in self._idle if worker not in ending]
        self._busy = [worker for worker in self._busy if worker not in ending]

    def _results(
        self, cases: Sequence[Case], stop: Callable[[], bool] | None = None
    ) -> Iterator[Result]:
        """Run all cases; results in the order of their completion."""
        self._waiting.extend(cases)
        while self._waiting or self._busy:
            if stop is not None and stop():
                return
            if self._waiting and len(self._busy) < self._size:
                self._begin(self._waiting.popleft())
                # Look for results in between: the first start waits for TensorFlow to load.
                self._collect(0.0)
            else:
                self._hand_ahead()
                patience = self._patience()
                self._collect(patience if stop is None else min(patience, STOP_SECONDS))
            while self._done:
                yield self._done.popleft()

    def _hand_ahead(self) -> None:
        """Give workers at quick cases more of them, and leave enough for the others."""
        for worker in self._busy:
            # Half of a fair share: the less there is left, the more evenly it is dealt.
            count = min(worker.room, len(self._waiting) // (2 * self._size))
            if count > 0:
                self._hand(worker, [self._waiting.popleft() for _ in range(count)])

    def _hand(self, worker: Worker, cases: Sequence[Case]) -> None:
        """Give the cases to the worker; those that cannot be sent are done."""
        try:
            if not worker.give([(case, self._limit(case)) for case in cases]):
                self._waiting.extendleft(reversed(cases))
        except UnsendableError as error:
            if len(cases) == 1:
                self._done.append(_unsendable(cases[0], error))
                return
            for case in cases:
                self._hand(worker, [case])

    def _begin(self, case: Case) -> None:
        """Give the case to a worker that has none; if it cannot be sent it is done."""
        while True:
            worker = self._idle.pop() if self._idle else self._start()
            try:
                if worker.give([(case, self._limit(case))]):
                    self._busy.append(worker)
                    return
            except UnsendableError as error:
                self._idle.append(worker)
                self._done.append(_unsendable(case, error))
                return
            # It died while it had nothing to do: no case is to blame.
            worker.kill()
            worker.close()

    def _limit(self, case: Case) -> float:
        return self._timeout if case.timeout is None else case.timeout

    def _start(self) -> Worker:
        try:
            return Worker(self._job, self._preload, self._memory_limit)
        except WorkersUnavailableError:
            # The fork server may have been killed just now; a second time is no accident.
            fork_server.shut_down()
            return Worker(self._job, self._preload, self._memory_limit)

    def _patience(self) -> float:
        """Seconds until the first of the running cases is to be looked at again."""
        return max(0.0, min(worker.deadline for worker in self._busy) - time.monotonic())

    def _collect(self, patience: float) -> None:
        """Take what has come of the cases, or comes within so many seconds."""
        handles = [handle for worker in self._busy for handle in worker.handles()]
        ready = wait(handles, patience)
        for worker in tuple(self._busy):
            self._done += worker.poll(ready)
            self._facts.update(worker.facts)
            if not worker.alive or worker.to_replace:
                self._busy.remove(worker)
                self._waiting.extendleft(reversed(worker.cases))
                worker.kill()
                worker.close()
            elif worker.idle:
                self._busy.remove(worker)
                self._idle.append(worker)
            else:
                self._waiting.extendleft(reversed(worker.recall()))


def _unsendable(case: Case, error: UnsendableError) -> Result:
    return Result(case.id, Verdict.ERROR, message=str(error), case=case)
