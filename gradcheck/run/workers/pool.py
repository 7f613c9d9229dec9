"""Many Cases → a stream of Results, each case in a worker process that it may take down with it.

Every worker has a connection of its own, so it is always known which case a dead worker had, and
a worker that dies in the middle of a message spoils nobody else's. What dies of something that
somebody else may have done, as of a signal or a killed fork server, runs again when all others are
through, with no other beside it: what happens then is its own verdict.
"""

from __future__ import annotations

import time
from collections import deque
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any, Self

from gradcheck.model import Case, Result, Verdict
from gradcheck.run.case_time import DEFAULT_TIMEOUT
from gradcheck.run.environment import cores
from gradcheck.run.summary import left_out
from gradcheck.run.workers import fork_server
from gradcheck.run.workers.channel import UnsendableError
from gradcheck.run.workers.first_deaths import FirstDeaths
from gradcheck.run.workers.suspects import Suspects
from gradcheck.run.workers.worker import Check, Job, check_with_tensorflow
from gradcheck.run.workers.worker_handle import Worker
from gradcheck.run.workers.worker_process import ServerLostError, WorkersUnavailableError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Generator, Iterator, MutableMapping, Sequence

STOP_SECONDS = 0.1
"""Seconds between two questions whether to go on: nobody notices a tenth."""


START_ATTEMPTS = 5
"""How often a worker is tried to be started, or to be given its first case: of a server that fails
to load, twice."""

SERVER_SECONDS = 0.5
"""Seconds between two looks at the fork server: it takes a millionth of that."""


class Pool:
    """The workers and what they are at; they stay between runs, until the pool is left.

    The arguments are those of `run_cases.run`; `folder` is where the workers are, by default here.
    """

    def __init__(
        self,
        *,
        allow: Collection[str],
        root: str,
        folder: str = "",
        jobs: int | None = None,
        timeout: float = DEFAULT_TIMEOUT,
        memory_limit: int | None = None,
        check: Check = check_with_tensorflow,
        preload: Sequence[str] = fork_server.PRELOAD,
        facts: MutableMapping[str, str] | None = None,
    ) -> None:
        self._job = Job(check=check, allow=tuple(allow), root=root, folder=folder)
        self._size = jobs or cores()
        self._timeout = timeout
        self._memory_limit = memory_limit
        self._preload = preload
        self._waiting: deque[Case] = deque()
        self._idle: list[Worker] = []
        self._busy: list[Worker] = []
        self._suspects = Suspects()
        self._first_deaths = FirstDeaths()
        self._next_question = 0.0
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
            yield left_out(case, failures)

    def add(self, cases: Sequence[Case]) -> None:
        """More cases for the run under way; for its `stop`, or whoever takes its results."""
        self._waiting.extend(cases)

    @property
    def wants_to_be_alone(self) -> bool:
        """Whether a case is to run with no other beside it: whoever adds more keeps it waiting."""
        return bool(self._suspects)

    def take_back(self, count: int) -> list[Case]:
        """The last of the cases that no worker has, so many at most: they get no result here."""
        return [self._waiting.pop() for _ in range(min(count, len(self._waiting)))]

    def resize(self, jobs: int, memory_limit: int | None) -> None:
        """Have so many workers from now on, and so much memory for each that is started."""
        self._size = jobs
        self._memory_limit = memory_limit

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
        dropped += [*self._waiting, *self._suspects.drop()]
        dropped += [r.case for r in self._first_deaths.release() if r.case is not None]
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
        while self._waiting or self._busy or self._suspects:
            if stop is not None and stop():
                return
            if self._waiting and len(self._busy) < self._size:
                self._begin(self._waiting.popleft())
                # Look for results in between: the first start waits for TensorFlow to load.
                self._collect(0.0)
            elif self._suspects and not self._busy:
                case, last_chance = self._suspects.next()
                # Who will be blamed has a worker of its own: an idle one may be about to end with a
                # server that was killed, and nobody knows yet. (Without this, now and then,
                # `test_no_innocent_case_is_lost_or_blamed` fails.)
                self._end([each for each in self._idle if last_chance or each.ran_users_code])
                self._begin(case, last_chance=last_chance)
            else:
                self._hand_ahead()
                patience = self._patience()
                self._collect(patience if stop is None else min(patience, STOP_SECONDS))
            while self._done:
                yield self._done.popleft()
        yield from self._first_deaths.release()

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

    def _begin(self, case: Case, *, last_chance: bool = False) -> None:
        """Give the case to a worker that has none; if it cannot be sent it is done.

        A large case finds out at once where new workers die before they read. Without a limit
        `test_a_large_case_whose_workers_die_at_once_has_a_verdict` would not end.
        """
        attempts = 0
        while attempts < START_ATTEMPTS:
            attempts += not self._idle
            worker = self._idle.pop() if self._idle else self._start()
            worker.last_chance = last_chance
            try:
                if worker.give([(case, self._limit(case))]):
                    self._busy.append(worker)
                    return
            except UnsendableError as error:
                self._idle.append(worker)
                self._done.append(_unsendable(case, error))
                return
            # It died while it had nothing to do: no case is to blame, unless it always happens.
            if attempts == START_ATTEMPTS:
                told = worker.refuse(case)
                self._note(worker, told, answered=False)
                self._suspects.add(worker.suspects)
            worker.kill()
            worker.close()

    def _note(self, worker: Worker, told: Sequence[Result], *, answered: bool) -> None:
        """These results have come of the worker's cases."""
        suspects = len(worker.suspects)
        self._done += self._first_deaths.told(told, suspects=suspects, answered=answered)

    def _limit(self, case: Case) -> float:
        return self._timeout if case.timeout is None else case.timeout

    def _start(self) -> Worker:
        for attempt in range(START_ATTEMPTS):
            try:
                return Worker(self._job, self._preload, self._memory_limit)
            except ServerLostError as error:
                # The fork server may have been killed just now, by a case.
                reason = error
                if attempt and error.never_loads:
                    break
        raise WorkersUnavailableError(
            f"the worker processes do not start: {reason}. "
            'Does `python -c "import tensorflow"` work here?'
        ) from reason

    def _patience(self) -> float:
        """Seconds until the first of the running cases is to be looked at again."""
        return max(0.0, min(worker.deadline for worker in self._busy) - time.monotonic())

    def _collect(self, patience: float) -> None:
        """Take what has come of the cases, or comes within so many seconds."""
        handles: list[Any] = [handle for worker in self._busy for handle in worker.handles()]
        ready = wait(handles, patience)
        self._ask_the_server()
        for worker in tuple(self._busy):
            answers = worker.answers
            told = worker.poll(ready)
            self._note(worker, told, answered=worker.answers > answers)
            self._facts.update(worker.facts)
            if not worker.alive or worker.to_replace:
                self._busy.remove(worker)
                self._waiting.extendleft(reversed(worker.cases))
                self._suspects.add(worker.suspects)
                worker.kill()
                worker.close()
            elif worker.idle:
                self._busy.remove(worker)
                self._idle.append(worker)
            else:
                self._waiting.extendleft(reversed(worker.recall()))

    def _ask_the_server(self) -> None:
        """Look now and then whether the fork server is well: stopped, it would never say so."""
        now = time.monotonic()
        if now >= self._next_question:
            self._next_question = now + SERVER_SECONDS
            fork_server.replace_if_it_fails()


def _unsendable(case: Case, error: UnsendableError) -> Result:
    return Result(case.id, Verdict.ERROR, message=str(error), case=case)
