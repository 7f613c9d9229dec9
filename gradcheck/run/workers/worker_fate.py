"""What can happen to a worker's process, and what that says about the case that it was at."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gradcheck.model import Verdict
from gradcheck.run.workers import fork_server
from gradcheck.run.workers.crash_message import death_message, is_own_fault
from gradcheck.run.workers.memory import held, shown
from gradcheck.run.workers.worker import WHERE_SIGNAL

if TYPE_CHECKING:
    from gradcheck.run.workers.worker_process import WorkerProcess

OUTPUT_SECONDS = 0.005
"""Seconds between two looks at a worker's output while there is more of it than is read at once."""

EXIT_SECONDS = 1.0
"""Seconds that a worker which closed its connection has to be gone, and that one whose cases were
recalled has to confirm that."""


@dataclass(frozen=True, slots=True)
class Fate:
    """The end of a worker."""

    text: str
    verdict: Verdict = Verdict.CRASHED
    doubtful: bool = False
    """Whether somebody else than the case that it was at may have done it."""


class Fates:
    """Finds out what has happened to one process."""

    def __init__(self, process: WorkerProcess, memory_limit: int | None) -> None:
        self._process = process
        self._memory_limit = memory_limit

    def death(self, *, after_users_code: bool) -> Fate:
        """It has ended, or closed its channel, perhaps after code of the user's.

        Who sent a signal is never known: another case, the system that needs memory, a person.
        Without that doubt `test_a_worker_that_is_killed_from_outside_costs_no_case` fails.
        """
        process = self._process
        # The server tells how, unless that is what has ended.
        process.wait(EXIT_SECONDS)
        if process.server_is_lost or (not process.ended and fork_server.replace_if_it_fails()):
            text = "the process that all workers come from was killed or stopped"
            return Fate(text, doubtful=True)
        code = process.code
        return Fate(death_message(code), doubtful=after_users_code or not is_own_fault(code))

    def refusal(self) -> Fate:
        """It did not read the case that it was to begin with."""
        fate = self.death(after_users_code=False)
        if self._process.ended:
            return replace(fate, text=f"{fate.text}, before it had read the case")
        return replace(fate, text="the worker process does not read the case")

    def too_late(self, number: int, limit: float, *, after_users_code: bool) -> Fate:
        """The case with this number has taken longer than it may."""
        if self._process.stopped:
            return self._stopped()
        self._ask_where()
        # What ran here before may have taken the message in which the case came.
        never_begun = self._process.output.case != number
        text = f"stopped after {limit:g} s, the time limit of the case"
        return Fate(text, Verdict.TIMEOUT, doubtful=after_users_code and never_begun)

    def garbled(self, what: str, *, after_users_code: bool) -> Fate:
        """Something has written to the channel that is not the worker's to say."""
        text = f"the case wrote into the channel of its worker: {what} came"
        return Fate(text, doubtful=after_users_code)

    def look(self) -> Fate | None:
        """Take what it printed, and see whether it is well and within its memory."""
        self._process.output.drain()
        if self._process.stopped:
            return self._stopped()
        limit = self._memory_limit
        size = 0 if limit is None else held(self._process.pid)
        if limit is None or size <= limit:
            return None
        text = f"stopped with {shown(size)} in memory, over the limit of {shown(limit)}"
        return Fate(f"{text}; --memory-limit raises it")

    def _stopped(self) -> Fate:
        """A signal, which any other may have sent, has stopped it: it would wait for ever."""
        return Fate("a signal stopped the worker process (SIGSTOP)", doubtful=True)

    def _ask_where(self) -> None:
        """Let it write down where it is; on a busy machine that may take a moment."""
        self._process.signal(WHERE_SIGNAL)
        output = self._process.output
        for _ in range(100):
            told = b"most recent call first" in output.kept
            time.sleep(OUTPUT_SECONDS)
            output.drain()
            if told:  # and all of it by now
                return
