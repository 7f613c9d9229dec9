"""A worker as its parent sees it: give it cases, ask whether there is a result, end it.

A worker may be given the next case while it is at the first, so that it need not wait while the
result is looked at. Only the first can be to blame for what happens; the other is then still to do.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import time
from collections import deque
from typing import TYPE_CHECKING

from gradcheck.errors import GradcheckError
from gradcheck.model import Case, Result, Verdict
from gradcheck.run import server
from gradcheck.run.lastwords import death_message, last_words
from gradcheck.run.memory import TICK, held, shown
from gradcheck.run.worker import MARK, Answer, Job, work

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence
    from multiprocessing.connection import Connection

TAIL = 16_384
"""How many bytes of a worker's output are kept."""

GROWTH = 256 * 2**20
"""Bytes by which a worker may grow before it is replaced: TensorFlow keeps what XLA compiles."""

QUICK = 0.1
"""Seconds: after a case that took less, a worker gets the next one before it asks."""

GRACE = 1.0
"""Seconds that a worker which closed its connection has to be gone."""


class UnsendableError(Exception):
    """The case cannot be sent to another process."""


class WorkersUnavailableError(GradcheckError):
    """No worker process can be started on this machine."""


class Worker:
    """One worker process, and the case that it has."""

    def __init__(self, job: Job, preload: Sequence[str], memory_limit: int | None = None) -> None:
        context = server.context(preload)
        self._connection, theirs = context.Pipe()
        self._output, output = context.Pipe(duplex=False)
        os.set_blocking(self._output.fileno(), False)
        self._process = context.Process(target=work, args=(job, theirs, output))
        try:
            with server.starting():
                self._process.start()
        except (OSError, EOFError) as error:
            self._connection.close()
            self._output.close()
            raise WorkersUnavailableError(
                "the worker processes do not start: the process that loads TensorFlow ended. "
                'Does `python -c "import tensorflow"` work here?'
            ) from error
        finally:
            theirs.close()
            output.close()
        self._tail = bytearray()
        self._begun = 0.0
        self._cases: deque[tuple[Case, float]] = deque()
        self._memory_limit = memory_limit
        self._next_look = 0.0
        self._held_first: int | None = None
        self.alive = True
        self.quick = False
        """Whether the last case took so little that the way to the worker and back counts."""
        self.worn = False
        """Whether the next case had better have a new worker."""
        self.facts: Mapping[str, str] = {}

    @property
    def deadline(self) -> float:
        """When to look at the case again if nothing comes of it, on the monotonic clock."""
        return min(self._begun + self._limit, self._next_look)

    @property
    def cases(self) -> list[Case]:
        """What it has to do, the case that it is at first."""
        return [case for case, _ in self._cases]

    @property
    def _limit(self) -> float:
        return self._cases[0][1]

    @property
    def handles(self) -> list[Connection | int]:
        """What to wait for: a result, or the worker's end."""
        return [self._connection, self._process.sentinel]

    def give(self, case: Case, limit: float) -> bool:
        """Hand over a case; False if the worker is no longer there to take it."""
        try:
            message = pickle.dumps(case)
        except Exception as error:
            raise UnsendableError(
                f"the case cannot be sent to a worker process: {type(error).__name__}: {error}"
            ) from error
        if not self._process.is_alive():
            return False
        try:
            self._connection.send_bytes(message)
        except OSError:
            return False
        self._cases.append((case, limit))
        if len(self._cases) == 1:
            self._begin()
        return True

    def release(self) -> Case:
        """Take back the case that is done; the next one, if there is one, has begun."""
        case, _ = self._cases.popleft()
        self._begin()
        return case

    def _begin(self) -> None:
        self._begun = time.monotonic()
        self._next_look = self._begun + TICK

    def poll(self, ready: Container[object]) -> Result | None:
        """The result of the case, if it has come to one: its own, a death or a time-out.

        `ready` are those of all handles that have something to tell.
        """
        ended = self._process.sentinel in ready
        try:
            # What was sent before the end came may have arrived since.
            if self._connection in ready or (ended and self._connection.poll()):
                return self._decode(self._connection.recv_bytes())
        except (EOFError, OSError):
            ended = True
        if ended:
            return self._death()
        now = time.monotonic()
        if now >= self._begun + self._limit:
            self.kill()
            return self._result(
                Verdict.TIMEOUT, f"stopped after {self._limit:g} s, the time limit of the case"
            )
        if now >= self._next_look:
            self._next_look = now + TICK
            self._drain()
            if self._memory_limit is not None:
                return self._look(self._memory_limit)
        return None

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
        self._connection.close()
        self._output.close()
        self._process.close()

    def _drain(self) -> None:
        """Take what the worker has printed, and keep the end of it."""
        # Bounded: a worker that prints without end would hold up the others.
        for _ in range(16):
            try:
                chunk = os.read(self._output.fileno(), 65_536)
            except BlockingIOError:
                return
            if not chunk:
                return
            self._tail += chunk
            del self._tail[:-TAIL]

    def _look(self, limit: int) -> Result | None:
        """Whether the worker is still within its memory."""
        size = held(self._process.pid or 0)
        if size <= limit:
            return None
        self.kill()
        self._drain()
        text = f"stopped with {shown(size)} in memory, over the limit of {shown(limit)}"
        return self._result(Verdict.CRASHED, f"{text}; --memory-limit raises it{self._words()}")

    def _words(self) -> str:
        output = self._tail.rpartition(MARK)[2]
        words = last_words(output.decode(errors="replace"))
        return "".join(["\nits last output:", *(f"\n  {line}" for line in words)]) if words else ""

    def _death(self) -> Result:
        self._process.join(GRACE)
        code = self._process.exitcode
        self.kill()
        self._drain()
        return self._result(Verdict.CRASHED, death_message(code) + self._words())

    def _decode(self, message: bytes) -> Result:
        try:
            answer: Answer = pickle.loads(message)  # noqa: S301  (from our own worker)
        except Exception as error:
            text = f"the result cannot be read: {type(error).__name__}: {error}"
            return self._result(Verdict.ERROR, text)
        if self._held_first is None:
            self._held_first = answer.held
            self.facts = answer.facts
        self.quick = answer.result.seconds < QUICK
        self.worn = answer.unclean or answer.held > self._held_first + GROWTH
        return answer.result

    def _result(self, verdict: Verdict, message: str) -> Result:
        case, _ = self._cases[0]
        return Result(case.id, verdict, message=message, seconds=time.monotonic() - self._begun)
