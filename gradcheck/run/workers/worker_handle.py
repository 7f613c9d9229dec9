"""A worker as its parent sees it: give it cases, ask whether there are results, end it.

A worker at small cases has many waiting, and its parent looks now and then what has come of them.
Only the one that it is at can be to blame for what happens; the others are then still to do. Where
somebody else may have done it, the one that it is at is suspect: it is to run again, alone.
"""

from __future__ import annotations

import contextlib
import dataclasses
import time
from collections import deque
from typing import TYPE_CHECKING

from gradcheck.model import Case, Result, Stage
from gradcheck.run.workers.frames import GarbledError
from gradcheck.run.workers.memory import LOOK_SECONDS
from gradcheck.run.workers.result_bytes import from_bytes
from gradcheck.run.workers.worker import Job, introduction
from gradcheck.run.workers.worker_fate import EXIT_SECONDS, OUTPUT_SECONDS, Fate, Fates
from gradcheck.run.workers.worker_process import start

if TYPE_CHECKING:
    import socket
    from collections.abc import Container, Mapping, Sequence

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

CLOSE_SECONDS = 5.0
"""Seconds that a killed worker has to be gone: more only where the system itself is stuck."""


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

    def __init__(
        self,
        job: Job,
        preload: Sequence[str],
        memory_limit: int | None = None,
    ) -> None:
        """Start it; ServerLostError where the fork server fails."""
        self._channel, self._process = start(preload)
        # (That nobody listens is seen when it is given a case.)
        self._channel.greet(introduction(job))
        self.last_chance = False
        """Whether its case is to blame for whatever happens: no other runs, and not for the first
        time."""
        self._fates = Fates(self._process, memory_limit)
        self.ran_users_code = False
        """Whether a function of the user's has ended here, and may have left anything behind."""
        self.suspects: list[Case] = []
        """What it was at when something happened that somebody else may have done."""
        self.answers = 0
        """How many results it has given."""
        self._given: deque[_Given] = deque()
        """What it has not answered yet; it is at the first of them."""
        self._recalled: set[int] = set()
        """Numbers of cases that were taken back, of which it may have begun one."""
        self._begun = 0.0
        """When it was first seen at that case."""
        self._next_look = 0.0
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

    def handles(self) -> list[socket.socket | int]:
        """What to wait for: the worker's end, and its answers where nobody would look in time."""
        found: list[socket.socket | int] = [self._process.line]
        if self._process.output.chatty:
            found.append(self._process.output.descriptor)
        if self._pace * (len(self._given) - 1) <= LOOK_SECONDS:
            # Else it has enough to do until the next look. To wake up for every answer costs a
            # quarter of the throughput of small cases: each time it takes a worker's processor.
            found.append(self._channel.connection)
        return found

    def give(self, cases: Sequence[tuple[Case, float]]) -> bool:
        """Hand over cases with their time limits; False if the worker cannot take them.

        Raises UnsendableError, and gives none, if one of them cannot be sent.
        """
        if self._process.ended:
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

    def refuse(self, case: Case) -> list[Result]:
        """The end of a worker that could not take its first case; none where that is suspect."""
        self._begun = time.monotonic()
        self._given.append(_Given(case, 0.0, -1))
        return self._meet(self._fates.refusal())

    def recall(self) -> list[Case]:
        """Take back the cases behind one that takes long: others may be sooner at them."""
        if len(self._given) < 2 or not self._slow:
            return []
        with contextlib.suppress(OSError):  # that it is gone is seen elsewhere
            self._channel.recall()
        first, *behind = self._given
        self._given = deque([first])
        self._recalled.update(given.number for given in behind)
        return [given.case for given in behind]

    def poll(self, ready: Container[object]) -> list[Result]:
        """What has come of its cases: results of their own, a death or a time-out.

        `ready` are those of all handles that have something to tell.
        """
        ended = self._process.line in ready
        if self._process.output.descriptor in ready:
            self._process.output.drain()
        results: list[Result] = []
        try:
            # What was sent before the end came may have arrived since.
            while (answer := self._channel.receive()) is not None:
                results += self._take(answer)
        except (EOFError, OSError):
            ended = True
        except GarbledError as error:
            fate = self._fates.garbled(str(error), after_users_code=self.ran_users_code)
            return [*results, *self._meet(fate)]
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
        if answer.number in self._recalled:
            self._recalled.remove(answer.number)
            return []
        if not self._given or answer.number != self._given[0].number:
            raise GarbledError("an answer to another case")
        case = self._given.popleft().case
        self.ran_users_code |= case.target.users_own
        self.answers += 1
        result = from_bytes(answer.result, case)
        self._begun = time.monotonic()
        self._pace = (self._pace + result.seconds) / 2
        if len(answer.result) > AHEAD_BYTES:
            self._pace = AHEAD_SECONDS
        return [result]

    def _judge(self, now: float, *, ended: bool) -> list[Result]:
        """What has become of the case that it is at, where that is not the case's own result."""
        at = self._given[0]
        fate: Fate | None = None
        if ended:
            if self.to_replace:
                return []
            fate = self._fates.death(after_users_code=self.ran_users_code)
        elif now >= self._begun + at.limit:
            fate = self._fates.too_late(at.number, at.limit, after_users_code=self.ran_users_code)
        elif now >= self._next_look:
            fate = self._fates.look()
            self._next_look = now + (
                OUTPUT_SECONDS if self._process.output.chatty else LOOK_SECONDS
            )
        return [] if fate is None else self._meet(fate)

    def _meet(self, fate: Fate) -> list[Result]:
        """The end of the worker: its case has a verdict, or is suspect if another could do it.

        Without that `test_who_kills_the_server_is_blamed_and_nobody_else` fails.
        """
        self.kill()
        if not self._given:
            return []
        case = self._given.popleft().case
        if fate.doubtful and not self.last_chance:
            self.suspects.append(case)
            return []
        self._process.output.drain()
        return [
            Result(
                case.id,
                fate.verdict,
                message=fate.text + ", again" * fate.doubtful + self._process.output.last_words(),
                seconds=time.monotonic() - self._begun,
                case=case,
                decided_by=Stage.WORKER,
            )
        ]

    def kill(self) -> None:
        """End the worker and what it started, without waiting for it."""
        self.alive = False
        self._process.kill()

    def close(self) -> None:
        """Wait for a killed worker to be gone and give its resources back."""
        self._process.wait_until_gone(CLOSE_SECONDS)
        self._channel.close()
        self._process.close()
