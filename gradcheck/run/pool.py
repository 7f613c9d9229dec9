"""Many Cases → a stream of Results, each case in a worker process that it may take down with it.

Every worker has a connection of its own, so it is always known which case a dead worker had, and
a worker that dies in the middle of a message spoils nobody else's.
"""

from __future__ import annotations

import dataclasses
import os
import time
from collections import deque
from multiprocessing.connection import wait
from typing import TYPE_CHECKING

from gradcheck.model import Case, Result, Verdict
from gradcheck.run import server
from gradcheck.run.handle import UnsendableError, Worker
from gradcheck.run.worker import Check, Job, check_with_tensorflow

if TYPE_CHECKING:
    from collections.abc import Collection, Generator, Iterator, Sequence

RECYCLE_AFTER = 500
"""Cases per worker: TensorFlow keeps what it traces and compiles, so memory grows with each."""


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
    maxfail: int | None = None,
    check: Check = check_with_tensorflow,
    preload: Sequence[str] = server.PRELOAD,
) -> Generator[Result, None, None]:
    """Check the cases in worker processes and yield each result as it comes.

    Every case gets exactly one result. After `maxfail` unexpected ones the rest is `skipped`.

    Args:
        cases: What to check, in the order in which it is begun.
        allow: Packages whose functions a case may name.
        root: The folder from which those packages are imported.
        jobs: How many workers at most; by default one per processor.
        timeout: The limit in seconds for a case that gives none itself.
        maxfail: After how many unexpected results to stop.
        check: What a worker does with a case; importable by its name.
        preload: Modules that are loaded once for all workers.
    """
    jobs = min(jobs or cores(), len(cases))
    job = Job(check=check, allow=tuple(allow), root=root, single_threaded=jobs > 1)
    pool = _Pool(job, jobs, timeout, preload)
    failures = 0
    try:
        for result in pool.results(cases):
            yield result
            failures += not result.expected
            if maxfail is not None and failures >= maxfail:
                break
    finally:
        pool.stop()
    for case in pool.unfinished:
        text = f"not run: stopped after {failures} failure{'s' if failures > 1 else ''}"
        yield Result(case.id, Verdict.SKIPPED, message=text, case=case)


class _Pool:
    """The workers and what they are at."""

    def __init__(self, job: Job, size: int, timeout: float, preload: Sequence[str]) -> None:
        self._job = job
        self._size = size
        self._timeout = timeout
        self._preload = preload
        self._waiting: deque[Case] = deque()
        self._idle: list[Worker] = []
        self._busy: list[Worker] = []
        self._dropped: list[Case] = []

    @property
    def unfinished(self) -> list[Case]:
        """The cases without a result, once the pool has stopped."""
        return [*self._dropped, *self._waiting]

    def results(self, cases: Sequence[Case]) -> Iterator[Result]:
        """Run all cases; results in the order of their completion."""
        self._waiting.extend(cases)
        while self._waiting or self._busy:
            if self._waiting and len(self._busy) < self._size:
                failed = self._begin(self._waiting.popleft())
                if failed is not None:
                    yield failed
                # Look for results in between: the first start waits for TensorFlow to load.
                yield from self._collect(0.0)
            else:
                yield from self._collect(self._patience())

    def stop(self) -> None:
        """End every worker at once, whatever it does."""
        self._dropped += [worker.case for worker in self._busy if worker.case is not None]
        for worker in [*self._idle, *self._busy]:
            worker.kill()
        for worker in [*self._idle, *self._busy]:
            worker.close()
        self._idle.clear()
        self._busy.clear()

    def _begin(self, case: Case) -> Result | None:
        """Give the case to a worker; a result only if that is impossible."""
        limit = self._timeout if case.timeout is None else case.timeout
        while True:
            worker = self._idle.pop() if self._idle else Worker(self._job, self._preload)
            self._busy.append(worker)
            try:
                if worker.give(case, limit):
                    return None
            except UnsendableError as error:
                self._busy.remove(worker)
                self._idle.append(worker)
                return Result(case.id, Verdict.ERROR, message=str(error), case=case)
            # It died while it had nothing to do: no case is to blame.
            self._busy.remove(worker)
            worker.kill()
            worker.close()

    def _patience(self) -> float:
        """Seconds until the first of the running cases is over its limit."""
        return max(0.0, min(worker.deadline for worker in self._busy) - time.monotonic())

    def _collect(self, patience: float) -> Iterator[Result]:
        wait([handle for worker in self._busy for handle in worker.handles], patience)
        for worker in tuple(self._busy):
            result = worker.poll()
            if result is None:
                continue
            case = worker.release()
            self._busy.remove(worker)
            if worker.alive and worker.served < RECYCLE_AFTER:
                self._idle.append(worker)
            else:
                worker.kill()
                worker.close()
            yield dataclasses.replace(result, case=case)
