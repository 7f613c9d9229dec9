"""A worker as its parent sees it: give it cases, ask whether there are results, end it.

A worker at small cases has many at hand, and its parent looks now and then what has come of them.
Only the one that it is at can be to blame for what happens; the others are then still to do.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import pickle
import signal
import time
from collections import deque
from typing import TYPE_CHECKING

from gradcheck.errors import GradcheckError
from gradcheck.model import Case, Result, Verdict
from gradcheck.run.workers import fork_server
from gradcheck.run.workers.channel import MOST, ParentEnd
from gradcheck.run.workers.memory import TICK, held, shown
from gradcheck.run.workers.postmortem import death_message, last_words
from gradcheck.run.workers.worker import MARK, WHERE, Job, work

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence
    from multiprocessing.connection import Connection

    from gradcheck.run.workers.result_sender import Answer

TAIL = 16_384
"""How many bytes of a worker's output are kept."""

GROWTH = 256 * 2**20
"""Bytes by which a worker may grow before it is replaced: TensorFlow keeps what XLA compiles."""

AT_HAND = 4 * TICK
"""Seconds of work that a worker has at hand: enough for a parent that does not get its turn.

A case that takes longer comes alone."""

LARGE = 65_536
"""Bytes of cases that a worker has at hand, and of results that it gathers: what is on the line
must find room there, or one side would wait for the other."""

SHORTEST = 0.005
"""Seconds between two looks at what a worker has done."""

GRACE = 1.0
"""Seconds that a worker which closed its connection has to be gone."""


class WorkersUnavailableError(GradcheckError):
    """No worker process can be started on this machine."""


@dataclasses.dataclass(frozen=True, slots=True)
class _Given:
    """A case that the worker has."""

    case: Case
    limit: float
    ticket: int


class Worker:
    """One worker process, and the cases that it has."""

    def __init__(self, job: Job, preload: Sequence[str], memory_limit: int | None = None) -> None:
        context = fork_server.context(preload)
        self._line = ParentEnd(context)
        self._output, output = context.Pipe(duplex=False)
        os.set_blocking(self._output.fileno(), False)
        self._process = context.Process(target=work, args=(job, self._line.other_end, output))
        try:
            with fork_server.starting():
                self._process.start()
        except (OSError, EOFError) as error:
            self._line.close()
            self._output.close()
            raise WorkersUnavailableError(
                "the worker processes do not start: the process that loads TensorFlow ended. "
                'Does `python -c "import tensorflow"` work here?'
            ) from error
        finally:
            self._line.let_go()
            output.close()
        self._tail = bytearray()
        self._given: deque[_Given] = deque()
        self._current: _Given | None = None
        """The case that it was at when last looked at."""
        self._begun = 0.0
        """When it was first seen at that case."""
        self._next_poll = self._next_look = 0.0
        self._memory_limit = memory_limit
        self._held_first: int | None = None
        self._pace = AT_HAND
        """Seconds that its last cases took."""
        self.alive = True
        self.worn = False
        """Whether the next case had better have a new worker."""
        self.facts: Mapping[str, str] = {}

    @property
    def cases(self) -> list[Case]:
        """What has no result yet."""
        return [given.case for given in self._given]

    @property
    def room(self) -> int:
        """How many more cases it should have at hand."""
        if self._slow:
            return 0
        by_time = AT_HAND / max(self._pace, 1e-4)
        by_size = LARGE / max(self._line.weight, 1.0)
        return max(1, int(min(MOST, by_time, by_size))) - len(self._given)

    @property
    def _slow(self) -> bool:
        """Whether it has been at its case for long."""
        return bool(self._given) and time.monotonic() >= self._begun + AT_HAND

    @property
    def deadline(self) -> float:
        """When to look at it again if nothing comes before, on the monotonic clock."""
        return min(self._next_look, self._next_poll)

    def handles(self, *, last: bool) -> list[Connection | int]:
        """What to wait for: the worker's end, and its results where nobody would look in time.

        Args:
            last: whether there are no more cases to give it.
        """
        if len(self._given) > 1 and not last:
            return [self._process.sentinel]
        return [self._line.connection, self._process.sentinel]

    def give(self, cases: Sequence[tuple[Case, float]]) -> bool:
        """Hand over cases with their time limits; False if the worker cannot take them.

        Raises UnsendableError, and gives none, if one of them cannot be sent.
        """
        if not self._process.is_alive():
            return False
        idle = not self._given
        try:
            tickets = self._line.give([case for case, _ in cases], None if idle else LARGE)
        except OSError:
            return False
        if not tickets:
            return False
        now = time.monotonic()
        for (case, limit), ticket in zip(cases, tickets, strict=True):
            self._given.append(_Given(case, limit, ticket))
        if idle:
            self._current, self._begun = self._given[0], now
            self._next_look = now + TICK
        self._plan_poll(now)
        return True

    def take_back(self) -> list[Case]:
        """The cases behind one that takes long: others may be sooner at them."""
        if self._current is None or len(self._given) < 2 or not self._slow:
            return []
        tickets = self._line.take_back(keep=self._current.ticket)
        back = [given.case for given in self._given if given.ticket in tickets]
        self._given = deque(given for given in self._given if given.ticket not in tickets)
        return back

    def poll(self, ready: Container[object]) -> list[Result]:
        """What has come of its cases: results of their own, a death or a time-out.

        `ready` are those of all handles that have something to tell.
        """
        ended = self._process.sentinel in ready
        results: list[Result] = []
        try:
            # What was sent before the end came may have arrived since.
            while self._given and self._line.has_answer():
                results += self._decode(self._line.receive())
        except (EOFError, OSError):
            ended = True
        if not self._given:
            return results
        now = time.monotonic()
        at = self._at()
        if at is not self._current:
            self._current, self._begun = at, now
        if ended:
            if not self.worn:
                results.append(self._death())
        elif now >= self._begun + at.limit:
            self._ask_where()
            self.kill()
            text = f"stopped after {at.limit:g} s, the time limit of the case{self._words()}"
            results.append(self._blame(at, Verdict.TIMEOUT, text))
        elif now >= self._next_look:
            results += self._look(now, at)
        self._plan_poll(now)
        return results

    def _at(self) -> _Given:
        """The case that it is at; those before it are done, but their results not here yet."""
        return self._given[max(0, len(self._given) - self._line.untaken() - 1)]

    def _plan_poll(self, now: float) -> None:
        """Look again before the worker has nothing to do any more, and at the time limit."""
        busy = self._pace * (len(self._given) - 1)
        self._next_poll = now + (max(SHORTEST, min(TICK, busy)) if busy else TICK)
        if self._current is not None:
            self._next_poll = min(self._next_poll, self._begun + self._current.limit)

    def kill(self) -> None:
        """End the worker and what it started, without waiting for it."""
        self.alive = False
        pid = self._process.pid
        if pid is None:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)
        # In its first moments a worker is not yet the leader of a group of its own.
        if self._process.is_alive():
            self._process.kill()

    def close(self) -> None:
        """Wait for a killed worker to be gone and give its resources back."""
        self._process.join()
        self._line.close()
        self._output.close()
        self._process.close()

    def _drain(self) -> bool:
        """Take what the worker has printed, and keep the end of it; whether there is more."""
        # Bounded: a worker that prints without end would hold up the others.
        for _ in range(16):
            try:
                chunk = os.read(self._output.fileno(), 65_536)
            except BlockingIOError:
                return False
            if not chunk:
                return False
            self._tail += chunk
            del self._tail[:-TAIL]
        return True

    def _ask_where(self) -> None:
        """Let it write down where it is; on a busy machine that may take a moment."""
        if self._process.pid is None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._process.pid, WHERE)
        for _ in range(100):
            told = b"most recent call first" in self._tail
            time.sleep(SHORTEST)
            self._drain()
            if told:  # and all of it by now
                return

    def _look(self, now: float, at: _Given) -> list[Result]:
        """Take what it printed, and see whether it is still within its memory."""
        self._next_look = now + (SHORTEST if self._drain() else TICK)
        limit = self._memory_limit
        if limit is None:
            return []
        size = held(self._process.pid or 0)
        if size <= limit:
            return []
        self.kill()
        self._drain()
        text = f"stopped with {shown(size)} in memory, over the limit of {shown(limit)}"
        text = f"{text}; --memory-limit raises it{self._words()}"
        return [self._blame(at, Verdict.CRASHED, text)]

    def _words(self) -> str:
        output = self._tail.rpartition(MARK)[2]
        words = last_words(output.decode(errors="replace"))
        return "".join(["\nits last output:", *(f"\n  {line}" for line in words)]) if words else ""

    def _death(self) -> Result:
        self._process.join(GRACE)
        code = self._process.exitcode
        self.kill()
        self._drain()
        return self._blame(self._at(), Verdict.CRASHED, death_message(code) + self._words())

    def _decode(self, message: bytes) -> list[Result]:
        answer: Answer = pickle.loads(message)  # noqa: S301  (from our own worker)
        if self._held_first is None:
            self._held_first = answer.held
            self.facts = answer.facts
        self.worn |= answer.unclean or answer.held > self._held_first + GROWTH
        results = [_read(item, self._given.popleft().case) for item in answer.results]
        for result in results:
            self._pace = (self._pace + result.seconds) / 2
        if len(message) > LARGE:
            self._pace = AT_HAND
        return results

    def _blame(self, given: _Given, verdict: Verdict, message: str) -> Result:
        """What happened to the worker happened to this case."""
        self._given.remove(given)
        seconds = time.monotonic() - self._begun
        return Result(given.case.id, verdict, message=message, seconds=seconds, case=given.case)


def _read(message: bytes, case: Case) -> Result:
    try:
        result: Result = pickle.loads(message)  # noqa: S301  (from our own worker)
    except Exception as error:
        text = f"the result cannot be read: {type(error).__name__}: {error}"
        return Result(case.id, Verdict.ERROR, message=text, case=case)
    return dataclasses.replace(result, case=case)
