"""Which machine gets which cases: batches that are worth some seconds, by recorded times.

Every machine has a little more than it is at, so that none waits for the command, and little enough
that much is left for those who are quicker. What a lost machine had goes to others. A case that was
lost with two machines runs once more with nothing beside it on its machine: only if that is lost
too, it is the case.
"""

from __future__ import annotations

import dataclasses
from collections import Counter, deque
from typing import TYPE_CHECKING

from gradcheck.model import Case, Result, Stage, Verdict
from gradcheck.run.dask.messages import Reply, Request

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

AHEAD_WORTH = 2.0
"""Seconds of work that every process of a machine has: requests come once a second or oftener, and
may be late on a busy machine."""

MOST_REQUESTS = 100
"""How many requests the scheduler passes on in a second, for all machines together: each takes it
one or two thousandths, and it has other things to do."""

FIRST_GUESS = 0.05
"""Seconds that a case takes of which nothing is known, before any result has come: small ones take
a few thousandths, those of layers a few tenths."""

LEAST_WORTH = 0.001
"""Seconds that a case counts at least: what it takes to send it."""

BATCH_CASES = 2_000
"""How many cases a request has at most: their pickle takes a tenth of a second."""

LEARNT_FROM = 100
"""Of how many results the usual time of a case is the mean, of the last more than of others."""

ALONE_AFTER = 2
"""With how many machines a case was lost before it runs alone."""


@dataclasses.dataclass(slots=True, eq=False)
class Machine:
    """A machine of the cluster, and what it has."""

    host: str
    workers: dict[str, int]
    """The threads of each of its Dask workers, by address."""
    speaker: str
    """The address of the one that speaks for it."""
    given: dict[str, Case] = dataclasses.field(default_factory=dict)
    """The cases that it has not answered yet, by id."""
    asked: frozenset[str] = frozenset()
    """The ids of the cases in the last request."""
    pool: str = ""
    """The name of its processes, once it has told it."""
    alone: bool = False
    """Whether it has a case that nothing may run beside."""

    @property
    def processes(self) -> int:
        """As many as its Dask workers have threads."""
        return max(1, sum(self.workers.values()))

    def __str__(self) -> str:
        return f"{self.speaker} ({self.host})"


class Dealer:
    """The cases of a run: which have no result yet, and where they are."""

    def __init__(
        self, cases: Sequence[Case], seconds: Callable[[str], float | None] = lambda _: None
    ) -> None:
        """`seconds` tells how long a case took when it last ran, by its id."""
        self.missing = {case.id: case for case in cases}
        self.most_cases = BATCH_CASES
        """How many a request may have: fewer where they turn out to be large."""
        self.machines: dict[str, Machine] = {}
        """By their place."""
        self._waiting = deque(cases)
        self._suspects: deque[Case] = deque()
        # (As it is now: the times of this run are written down while it goes on.)
        self._recorded = {case.id: seconds(case.id) for case in cases}
        self._usual = FIRST_GUESS
        self._results = 0
        self._losses: Counter[str] = Counter()

    def request(self, machine: Machine) -> Request | None:
        """What to say to a machine next; None where there is nothing to say to it for now."""
        cases = self._deal(machine)
        machine.asked = frozenset(case.id for case in cases)
        for case in cases:
            machine.given[case.id] = case
        if not machine.given:
            return None
        return Request(machine.processes, tuple(cases), self._spare(machine), self._patience)

    def take(self, machine: Machine, reply: Reply) -> list[Result]:
        """What is new in a reply: the first result of a case counts."""
        found: list[Result] = []
        if machine.pool not in ("", reply.pool):
            # The processes that had the others are gone.
            found += self._lose(machine, [i for i in machine.given if i not in machine.asked])
        machine.pool = reply.pool
        for result in reply.results:
            machine.given.pop(result.id, None)
            case = self.missing.pop(result.id, None)
            if case is not None:
                self._learn(result)
                found.append(dataclasses.replace(result, case=case))
        for name in reply.returned:
            case = machine.given.pop(name, None)
            if case is not None and name in self.missing:
                self._waiting.appendleft(case)
        machine.alone &= bool(machine.given)
        return found

    def lose(self, machine: Machine) -> list[Result]:
        """Give what a machine had to others; the verdicts on those that were lost too often."""
        found = self._lose(machine, tuple(machine.given))
        machine.pool = ""
        machine.alone = False
        return found

    def put_back(self, machine: Machine, cases: Iterable[Case]) -> None:
        """Take back cases that could not be sent to a machine, or not yet."""
        for case in reversed(tuple(cases)):
            machine.given.pop(case.id, None)
            self._waiting.appendleft(case)
        machine.alone &= bool(machine.given)

    def give_up(self, machine: Machine, case: Case, why: str) -> Result:
        """The verdict on a case that cannot be sent anywhere."""
        machine.given.pop(case.id, None)
        self.missing.pop(case.id, None)
        return Result(case.id, Verdict.ERROR, message=why, case=case)

    def _deal(self, machine: Machine) -> list[Case]:
        if machine.alone:
            return []
        processes = machine.processes
        least = processes - len(machine.given)
        most = min(self.most_cases, max(least, self._share(processes)))
        # (Enough for several requests: of very many machines each is asked but now and then.)
        ahead = max(AHEAD_WORTH, 4 * self._patience)
        room = ahead * processes - sum(map(self._worth, machine.given.values()))
        cases: list[Case] = []
        while self._waiting and len(cases) < most and (len(cases) < least or room > 0):
            case = self._waiting.popleft()
            if case.id in self.missing:  # a machine that was given up may have had it all the same
                cases.append(case)
                room -= self._worth(case)
        if not cases and not machine.given and not self._waiting and self._suspects:
            cases.append(self._suspects.popleft())
            machine.alone = True
        return cases

    @property
    def _patience(self) -> float:
        return max(Request(0).patience, len(self.machines) / MOST_REQUESTS)

    def _share(self, processes: int) -> int:
        """How many of the cases that wait a machine may have."""
        everywhere = sum(machine.processes for machine in self.machines.values())
        if everywhere <= processes:
            return len(self._waiting)
        # Half of a fair share: the less there is left, the more evenly it is dealt.
        return len(self._waiting) * processes // (2 * everywhere)

    def _spare(self, machine: Machine) -> int:
        """How many of its cases others could run at once, who have nothing left to do."""
        if self._waiting or machine.alone:
            return 0
        others = (m for m in self.machines.values() if m is not machine and not m.alone)
        idle = sum(max(0, other.processes - len(other.given)) for other in others)
        return min(idle, max(0, len(machine.given) - machine.processes))

    def _lose(self, machine: Machine, names: Sequence[str]) -> list[Result]:
        found: list[Result] = []
        was_alone = machine.alone
        for name in reversed(names):
            case = machine.given.pop(name)
            if name not in self.missing:
                continue
            self._losses[name] += 1
            if was_alone:
                del self.missing[name]
                message = (
                    f"{self._losses[name]} Dask workers were lost while they had this case, the "
                    "last of them with nothing beside it"
                )
                stage = Stage.WORKER
                found.append(
                    Result(name, Verdict.CRASHED, message=message, case=case, decided_by=stage)
                )
            elif self._losses[name] >= ALONE_AFTER:
                self._suspects.appendleft(case)
            else:
                self._waiting.appendleft(case)
        return found

    def _worth(self, case: Case) -> float:
        known = self._recorded[case.id]
        return max(LEAST_WORTH, self._usual if known is None else known)

    def _learn(self, result: Result) -> None:
        """What a case takes of which nothing is known, from those that have run."""
        self._results += 1
        if self._recorded[result.id] is None:
            weight = min(self._results, LEARNT_FROM)
            self._usual += (result.seconds - self._usual) / weight
