"""A worker as its parent sees it: give it cases, ask whether there are results, end it.

A worker at small cases has many waiting, and its parent looks now and then what has come of them.
Only the one that it is at can be to blame for what happens; the others are then still to do.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import signal
import time
from collections import deque
from typing import TYPE_CHECKING

from gradcheck.errors import GradcheckError
from gradcheck.model import Case, Result, Stage, Verdict
from gradcheck.run.workers import fork_server
from gradcheck.run.workers.channel import ParentEnd
from gradcheck.run.workers.crash_message import death_message
from gradcheck.run.workers.memory import LOOK_SECONDS, held, shown
from gradcheck.run.workers.result_bytes import from_bytes
from gradcheck.run.workers.worker import WHERE_SIGNAL, Job, work
from gradcheck.run.workers.worker_output import WorkerOutput

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence
    from multiprocessing.connection import Connection

    from gradcheck.run.workers.channel import Answer

MOST_GROWTH = 256 * 2**20
"""Bytes by which a worker may grow before it is replaced: TensorFlow keeps what XLA compiles. A new
one costs a fifth of a second, which so many compilations take many times over."""

AHEAD_SECONDS = 4 * LOOK_SECONDS
"""Seconds of work that a worker has waiting: enough for a parent that does not get its turn.

A case that takes longer comes alone."""

AHEAD_CASES = 64
"""How many cases a worker has at most, however quick they are: 64 of three milliseconds each make
up those seconds."""

AHEAD_BYTES = 65_536
"""Bytes of cases that a worker has waiting, and of a result that comes with others: what is on the
way must find room in the channel, or one side would wait for the other. Linux has room for three
times as much."""

OUTPUT_SECONDS = 0.005
"""Seconds between two looks at a worker's output while there is more of it than is read at once."""

EXIT_SECONDS = 1.0
"""Seconds that a worker which closed its connection has to be gone, and that one whose cases were
recalled has to confirm that."""


class WorkersUnavailableError(GradcheckError):
    """No worker process can be started on this machine."""


@dataclasses.dataclass(frozen=True, slots=True)
class _Given:
    """A case that the worker has."""

    case: Case
    limit: float
    """Seconds that it may take."""
    number: int
    """Which of all the cases that the worker was given."""


class Worker:
    """One worker process, and the cases that it has."""

    def __init__(self, job: Job, preload: Sequence[str], memory_limit: int | None = None) -> None:
        context = fork_server.context(preload)
        self._channel = ParentEnd(context)
        reading, writing = context.Pipe(duplex=False)
        self._output = WorkerOutput(reading)
        self._process = context.Process(target=work, args=(job, self._channel.other_end, writing))
        try:
            with fork_server.starting():
                self._process.start()
        except (OSError, EOFError) as error:
            self._channel.close()
            self._output.close()
            raise WorkersUnavailableError(
                "the worker processes do not start: the process that loads TensorFlow ended. "
                'Does `python -c "import tensorflow"` work here?'
            ) from error
        finally:
            self._channel.let_go()
            writing.close()
        self._given: deque[_Given] = deque()
        """What it has not answered yet; it is at the first of them."""
        self._begun = 0.0
        """When it was first seen at that case."""
        self._next_look = 0.0
        self._memory_limit = memory_limit
        self._held_first: int | None = None
        self._pace = AHEAD_SECONDS
        """Seconds that its last cases took."""
        self.alive = True
        self.to_replace = False
        """Whether the next case had better have a new worker."""
        self.facts: Mapping[str, str] = {}

    @property
    def cases(self) -> list[Case]:
        """What has no result yet."""
        return [given.case for given in self._given]

    @property
    def idle(self) -> bool:
        """Whether it waits for cases."""
        return not self._given and not self._channel.recalling

    @property
    def room(self) -> int:
        """How many more cases it should have waiting."""
        if self._slow or self._channel.recalling:
            return 0
        by_time = AHEAD_SECONDS / max(self._pace, 1e-4)
        by_size = AHEAD_BYTES / max(self._channel.bytes_per_case, 1.0)
        return max(1, int(min(AHEAD_CASES, by_time, by_size))) - len(self._given)

    @property
    def _slow(self) -> bool:
        """Whether it has been at its case for long."""
        return bool(self._given) and time.monotonic() >= self._begun + AHEAD_SECONDS

    @property
    def deadline(self) -> float:
        """When to look at it again if nothing comes before, on the monotonic clock."""
        if not self._given:  # what was recalled is to be confirmed
            return self._begun + EXIT_SECONDS
        return min(self._next_look, self._begun + self._given[0].limit)

    def handles(self) -> list[Connection | int]:
        """What to wait for: the worker's end, and its answers where nobody would look in time."""
        if self._pace * (len(self._given) - 1) > LOOK_SECONDS:
            # It has enough to do until the next look. To wake up for every answer costs a quarter
            # of the throughput of small cases: each time the processor is taken from a worker.
            return [self._process.sentinel]
        return [self._channel.connection, self._process.sentinel]

    def give(self, cases: Sequence[tuple[Case, float]]) -> bool:
        """Hand over cases with their time limits; False if the worker cannot take them.

        Raises UnsendableError, and gives none, if one of them cannot be sent.
        """
        if not self._process.is_alive():
            return False
        idle = not self._given
        try:
            most_bytes = None if idle else AHEAD_BYTES
            # (A check ends by itself before its time is up.)
            sent = [dataclasses.replace(case, timeout=limit) for case, limit in cases]
            numbers = self._channel.give(sent, most_bytes)
        except OSError:
            return False
        if not numbers:
            return False
        for (case, limit), number in zip(cases, numbers, strict=True):
            self._given.append(_Given(case, limit, number))
        now = time.monotonic()
        if idle:
            self._begun = now
            self._next_look = now + LOOK_SECONDS
        return True

    def recall(self) -> list[Case]:
        """Take back the cases behind one that takes long: others may be sooner at them."""
        if len(self._given) < 2 or not self._slow:
            return []
        with contextlib.suppress(OSError):  # that it is gone is seen elsewhere
            self._channel.recall()
        first, *behind = self._given
        self._given = deque([first])
        return [given.case for given in behind]

    def poll(self, ready: Container[object]) -> list[Result]:
        """What has come of its cases: results of their own, a death or a time-out.

        `ready` are those of all handles that have something to tell.
        """
        ended = self._process.sentinel in ready
        results: list[Result] = []
        try:
            # What was sent before the end came may have arrived since.
            while (answer := self._channel.receive()) is not None:
                results += self._take(answer)
        except (EOFError, OSError):
            ended = True
        now = time.monotonic()
        if self._given:
            results += self._judge(now, ended=ended)
        elif ended or (self._channel.recalling and now >= self._begun + EXIT_SECONDS):
            # Perhaps at a case that was recalled too late: that one is run elsewhere.
            self.kill()
        return results

    def _take(self, answer: Answer) -> list[Result]:
        """The result in an answer; none if its case has been recalled."""
        if self._held_first is None:
            self._held_first = answer.held or 0
            self.facts = answer.facts
        grown = answer.held is not None and answer.held > self._held_first + MOST_GROWTH
        self.to_replace |= answer.unclean or grown
        if not self._given or self._given[0].number != answer.number:
            return []
        result = from_bytes(answer.result, self._given.popleft().case)
        self._begun = time.monotonic()
        self._pace = (self._pace + result.seconds) / 2
        if len(answer.result) > AHEAD_BYTES:
            self._pace = AHEAD_SECONDS
        return [result]

    def _judge(self, now: float, *, ended: bool) -> list[Result]:
        """What has become of the case that it is at, where that is not the case's own result."""
        at = self._given[0]
        if ended:
            return [] if self.to_replace else [self._death()]
        if now >= self._begun + at.limit:
            self._ask_where()
            self.kill()
            text = f"stopped after {at.limit:g} s, the time limit of the case"
            return [self._blame(Verdict.TIMEOUT, text)]
        if now >= self._next_look:
            return self._look(now)
        return []

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
        self._channel.close()
        self._output.close()
        self._process.close()

    def _ask_where(self) -> None:
        """Let it write down where it is; on a busy machine that may take a moment."""
        if self._process.pid is None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._process.pid, WHERE_SIGNAL)
        for _ in range(100):
            told = b"most recent call first" in self._output.kept
            time.sleep(OUTPUT_SECONDS)
            self._output.drain()
            if told:  # and all of it by now
                return

    def _look(self, now: float) -> list[Result]:
        """Take what it printed, and see whether it is still within its memory."""
        self._next_look = now + (OUTPUT_SECONDS if self._output.drain() else LOOK_SECONDS)
        limit = self._memory_limit
        if limit is None:
            return []
        size = held(self._process.pid or 0)
        if size <= limit:
            return []
        self.kill()
        self._output.drain()
        text = f"stopped with {shown(size)} in memory, over the limit of {shown(limit)}"
        return [self._blame(Verdict.CRASHED, f"{text}; --memory-limit raises it")]

    def _death(self) -> Result:
        self._process.join(EXIT_SECONDS)
        code = self._process.exitcode
        self.kill()
        self._output.drain()
        return self._blame(Verdict.CRASHED, death_message(code))

    def _blame(self, verdict: Verdict, message: str) -> Result:
        """What happened to the worker happened to the case that it was at."""
        case = self._given.popleft().case
        message += self._output.last_words()
        seconds = time.monotonic() - self._begun
        return Result(
            case.id,
            verdict,
            message=message,
            seconds=seconds,
            case=case,
            decided_by=Stage.WORKER,
        )
