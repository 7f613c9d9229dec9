"""The processes of one machine: a pool in a thread, which is given cases and asked for results.

All Dask workers of a machine together have one such pool, in the one of them that speaks for it:
TensorFlow is loaded once, and the pool knows of everything that runs beside a case.
"""

from __future__ import annotations

import dataclasses
import threading
import time
import uuid
from typing import TYPE_CHECKING

from gradcheck.errors import GradcheckError
from gradcheck.run.dask.messages import RemoteJob, Reply, Request
from gradcheck.run.workers.memory import default_limit
from gradcheck.run.workers.pool import Pool

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradcheck.model import Case, Result

ANSWER_WAIT = 1.0
"""Seconds for which an answer waits for something to tell: the command hears from every machine
once a second at least, and knows so that it is there."""

ABANDONED_SECONDS = 120.0
"""Seconds without a request after which nobody is taken to be there any more: a command that was
killed asks no more, and its cases must not run for ever."""


class MachinePool:
    """The pool of a run on this machine, and what has come of its cases."""

    def __init__(self, job: RemoteJob, when_ended: Callable[[], None] = lambda: None) -> None:
        self._name = uuid.uuid4().hex
        self._job = job
        self._when_ended = when_ended
        self._news = threading.Condition()
        """Held by whoever looks at what follows."""
        self._processes = 1
        self._sized = 0
        """For how many the pool was last made."""
        self._arrived: list[Case] = []
        self._wanted_back = 0
        self._results: list[Result] = []
        self._returned: list[str] = []
        self._held = 0
        """How many cases have neither a result nor been given back."""
        self._facts: dict[str, str] = {}
        self._failure = ""
        self._over = False
        self._heard = time.monotonic()
        self._thread = threading.Thread(target=self._work, daemon=True, name="gradcheck-pool")
        self._thread.start()

    def exchange(self, request: Request) -> Reply:
        """Take more cases, and tell what has come: in a second, and the patience of the request."""
        with self._news:
            self._heard = time.monotonic()
            self._processes = request.processes
            self._arrived += request.cases
            self._held += len(request.cases)
            self._wanted_back = request.give_back
            self._news.notify_all()
            self._news.wait_for(self._has_something, ANSWER_WAIT)
            self._news.wait_for(self._waits_for_more, request.patience)
            results, self._results = self._results, []
            returned, self._returned = self._returned, []
            return Reply(
                self._name, tuple(results), tuple(returned), dict(self._facts), self._failure
            )

    def end(self) -> None:
        """End the processes, soon, whatever they do."""
        with self._news:
            self._over = True
            self._news.notify_all()

    @property
    def failed(self) -> bool:
        """Whether it could not run anything any more; it then says so to whoever asks."""
        return bool(self._failure)

    @property
    def over(self) -> bool:
        """Whether it runs nothing any more."""
        return self._over

    def wait(self, seconds: float) -> bool:
        """Whether all is over within so many seconds."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def _has_something(self) -> bool:
        told = self._results or self._returned or not self._held
        return (bool(told) and not self._wanted_back) or self._over

    def _waits_for_more(self) -> bool:
        """Whether a process may have nothing to do."""
        return self._held < self._processes or bool(self._returned) or self._over

    def _work(self) -> None:
        """The life of the pool."""
        job = self._job
        try:
            with Pool(
                allow=job.allow,
                root=job.root,
                folder=job.folder,
                timeout=job.timeout,
                check=job.check,
                preload=job.preload,
                facts=self._facts,
            ) as pool:
                while cases := self._cases(pool):
                    for result in pool.run(cases, stop=lambda: self._look(pool)):
                        self._note(dataclasses.replace(result, case=None))
        except GradcheckError as error:
            self._fail(str(error))
        except Exception as error:
            self._fail(f"{type(error).__name__}: {error}")
        finally:
            self.end()
            self._when_ended()

    def _cases(self, pool: Pool) -> list[Case]:
        """The next cases, as soon as there are some; none when all is over."""
        with self._news:
            while not self._arrived and not self._is_over():
                self._wanted_back = 0
                self._news.notify_all()
                self._news.wait(ANSWER_WAIT)
            return self._taken(pool)

    def _look(self, pool: Pool) -> bool:
        """Between two results: take what has arrived, give back what is wanted; whether to end."""
        with self._news:
            pool.add(self._taken(pool))
            if self._wanted_back:
                back = pool.take_back(self._wanted_back)
                self._returned += [case.id for case in back]
                self._held -= len(back)
                self._wanted_back = 0
                self._news.notify_all()
            return self._is_over()

    def _taken(self, pool: Pool) -> list[Case]:
        if self._sized != self._processes:
            self._sized = self._processes
            limit = self._job.memory_limit
            if self._job.fair_share:
                limit = default_limit(self._processes)
            pool.resize(self._processes, limit)
        if self._over:
            return []
        arrived, self._arrived = self._arrived, []
        return arrived

    def _is_over(self) -> bool:
        self._over |= time.monotonic() > self._heard + ABANDONED_SECONDS
        return self._over

    def _note(self, result: Result) -> None:
        with self._news:
            self._results.append(result)
            self._held -= 1
            # (Not for each of many small ones: whoever waits gathers them.)
            if len(self._results) == 1 or self._held < self._processes:
                self._news.notify_all()

    def _fail(self, why: str) -> None:
        with self._news:
            self._failure = why
