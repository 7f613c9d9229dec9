"""A run on a cluster: one conversation with each of its machines, until every case has a result.

A request brings more cases and asks for results; it is a task of Dask's, for the one worker that
speaks for its machine, and answered within a second or so, however long cases take. Who does not
answer is not there: so the limits here are about silence, never about work.

All of this happens in the thread of the loop; what comes of it is put into a queue.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import dataclasses
import pickle
import queue
from typing import TYPE_CHECKING, Any

from gradcheck.errors import GradcheckError, UsageError
from gradcheck.run.dask.dealing import Dealer, Machine
from gradcheck.run.dask.packages import fingerprints, packages_of
from gradcheck.run.dask.remote import converse, end_run
from gradcheck.run.dask.roster import ANSWER_SECONDS, Roster

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gradcheck.model import Case, Result
    from gradcheck.run.dask.messages import RemoteJob, Reply

WATCH_SECONDS = 1.0
"""Seconds between two looks at which workers there are."""

SILENT_SECONDS = 60.0
"""Seconds without an answer after which a machine's cases are given to others."""

LONELY_SECONDS = 60.0
"""Seconds without any worker after which none is expected: one that was killed is started again
within a few, where there is a nanny."""

MOST_BYTES = 2**23
"""How large a request may be; a single case may be larger. Dask complains from 10 MB on."""

MOST_UNTOLD = 20_000
"""Results that wait to be written down: no more cases are given while there are so many."""

_CANCELLED = (asyncio.CancelledError, concurrent.futures.CancelledError)
"""What the futures of a client raise that has lost its scheduler."""

URGENT = 10
"""The priority of a request among Dask's tasks: it is short, and processes wait for it."""


class ClusterLostError(GradcheckError):
    """The cluster went away in the middle of a run."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{what}; --resume runs what is missing, with or without --dask")


@dataclasses.dataclass(frozen=True, slots=True)
class Told:
    """Something that came from the cluster; nothing at all where a machine was but heard."""

    results: tuple[Result, ...] = ()
    facts: Mapping[str, str] = dataclasses.field(default_factory=dict)
    note: str = ""
    """What the user should know."""
    ended: Exception | None = None
    """Why nothing more will come."""


class Conversation:
    """The machines of a run, and what is said to them."""

    def __init__(self, client: Any, roster: Roster, job: RemoteJob, dealer: Dealer) -> None:
        self.told: queue.SimpleQueue[Told] = queue.SimpleQueue()
        self._client = client
        self._roster = roster
        self._job = job
        self._pickled_job = pickle.dumps(job)
        self._dealer = dealer
        self._packages = packages_of(dealer.missing.values())
        self._files: dict[str, str] = {}
        """Those of the user's packages, with the texts that stand for their content."""
        self._tasks: dict[str, asyncio.Task[None]] = {}
        """What speaks to each machine, by its place."""
        self._greeting: set[asyncio.Task[None]] = set()
        self._seen: set[str] = set()
        """Workers that have been greeted."""
        self._lonely = 0.0
        self._requests = 0
        self._news = asyncio.Event()

    async def run(self) -> None:
        """Speak to all machines until this is cancelled; an end of another kind is told."""
        try:
            self._files = fingerprints(self._packages, self._job.root)
            threads = await self._threads()
            self._seen.update(a for a in threads if a in self._roster.workers)
            refused = await self._join({a: threads[a] for a in self._seen})
            if refused:
                raise UsageError("; ".join(refused))
            while True:
                await self._watch()
                await asyncio.sleep(WATCH_SECONDS)
        except Exception as error:
            self.told.put(Told(ended=error))
        finally:
            for task in [*self._tasks.values(), *self._greeting]:
                task.cancel()

    async def end(self) -> None:
        """Let the machines end what they do for this run."""
        await self._client.run(end_run, self._job.token, on_error="ignore")

    async def _threads(self) -> dict[str, int]:
        """How many threads each worker has, by address; ClusterLostError without a scheduler."""
        try:
            return dict(await asyncio.wait_for(self._client.nthreads(), ANSWER_SECONDS))
        except Exception as error:
            why = str(error) or type(error).__name__
            raise ClusterLostError(f"the Dask scheduler does not answer ({why})") from error

    async def _watch(self) -> None:
        """Look who has come and who has gone."""
        threads = await self._threads()
        self._seen &= threads.keys()
        for place, machine in tuple(self._dealer.machines.items()):
            machine.workers = {a: threads[a] for a in machine.workers if a in threads}
            if machine.speaker not in machine.workers:
                self._lose(place, machine)
        if new := {a: n for a, n in threads.items() if a not in self._seen}:
            self._seen.update(new)
            greeting = asyncio.create_task(self._greet(new))
            self._greeting.add(greeting)
            greeting.add_done_callback(self._greeting.discard)
        self._lonely = 0.0 if self._dealer.machines else self._lonely + WATCH_SECONDS
        if self._lonely > LONELY_SECONDS:
            raise ClusterLostError("all workers of the Dask cluster are gone")

    async def _greet(self, new: Mapping[str, int]) -> None:
        """Let newcomers in, if their results count."""
        try:
            refused = await self._roster.meet(new)
            refused += await self._join({a: n for a, n in new.items() if a in self._roster.workers})
        except Exception as error:  # they may be gone again
            refused = [f"{len(new)} new Dask workers do not answer: {error}"]
            self._seen -= new.keys()
        for why in refused:
            self.told.put(Told(note=f"{why}; it gets no cases"))

    async def _join(self, new: Mapping[str, int]) -> list[str]:
        """Let workers take part; why those that may not are left out."""
        joined: dict[str, Machine] = {}
        for address in sorted(new):
            who = self._roster.workers[address]
            machine = joined.setdefault(who.place, Machine(who.host, {}, address))
            machine.workers[address] = new[address]
        unlike = await self._unlike([machine.speaker for machine in joined.values()])
        refused = []
        for place, machine in joined.items():
            known = self._dealer.machines.get(place)
            if machine.speaker in unlike:
                refused.append(f"the Dask worker {machine} {unlike[machine.speaker]}")
            elif known is not None:
                known.workers |= machine.workers
            else:
                self._dealer.machines[place] = machine
                self._speak(place, machine)
        return refused

    async def _unlike(self, addresses: list[str]) -> Mapping[str, str]:
        """On which workers the user's packages are not those of here, and in what they differ."""
        if not self._packages or not addresses:
            return {}
        return await self._roster.compare(self._packages, self._job.root, addresses, self._files)

    def _speak(self, place: str, machine: Machine) -> None:
        self._tasks[place] = asyncio.create_task(self._converse(place, machine))

    async def _converse(self, place: str, machine: Machine) -> None:
        """Give a machine cases and take its results, as long as it is there."""
        try:
            while True:
                while self.told.qsize() > MOST_UNTOLD:
                    await asyncio.sleep(0.1)
                request = self._request(machine)
                if request is None:
                    await self._news.wait()
                    continue
                reply = await self._answer(machine, request)
                if reply.failed:
                    self._leave_out(place, machine, reply.failed)
                    return
                results = self._dealer.take(machine, reply)
                self.told.put(Told(tuple(results), reply.facts))
                self._tell_all()
        except GradcheckError as error:
            self.told.put(Told(ended=error))
        except Exception as error:  # what Dask, or the function there, raises
            self._leave_out(place, machine, f"{type(error).__name__}: {error}")

    def _request(self, machine: Machine) -> bytes | None:
        """The next request; no larger than it may be, and without what cannot be sent."""
        while (request := self._dealer.request(machine)) is not None:
            try:
                data = pickle.dumps(request, pickle.HIGHEST_PROTOCOL)
            except Exception:
                self._give_up_unsendable(machine, request.cases)
                continue
            if len(data) <= MOST_BYTES or len(request.cases) < 2:
                return data
            self._dealer.put_back(machine, request.cases)
            self._dealer.most_cases = len(request.cases) // 2
        return None

    def _give_up_unsendable(self, machine: Machine, cases: tuple[Case, ...]) -> None:
        """Those that no process can be sent have their verdict, the others are dealt again."""
        for case in cases:
            try:
                pickle.dumps(case)
            except Exception as error:
                why = (
                    f"the case cannot be sent to a worker process: {type(error).__name__}: {error}"
                )
                self.told.put(Told((self._dealer.give_up(machine, case, why),)))
            else:
                self._dealer.put_back(machine, [case])

    async def _answer(self, machine: Machine, request: bytes) -> Reply:
        """What a machine answers; where it is silent for long, others get its cases meanwhile."""
        self._requests += 1
        future = self._client.submit(
            converse,
            self._pickled_job,
            request,
            key=f"gradcheck-{self._job.token}-{self._requests}",
            workers=[machine.speaker],
            pure=False,
            priority=URGENT,
        )
        answer = asyncio.ensure_future(_result(future))
        try:
            await asyncio.wait([answer], timeout=SILENT_SECONDS)
            if not answer.done():
                self._give_to_others(machine)
                note = f"the Dask worker {machine} has not answered for {SILENT_SECONDS:g} s"
                self.told.put(Told(note=f"{note}: its cases go to others"))
                await asyncio.wait([answer])
            if answer.cancelled() or isinstance(answer.exception(), _CANCELLED):
                raise ClusterLostError("the connection to the Dask scheduler was lost")
            reply: Reply = pickle.loads(answer.result())  # noqa: S301  (Dask's own way)
            return reply
        finally:
            answer.cancel()

    def _lose(self, place: str, machine: Machine) -> None:
        """A machine without the worker that spoke for it: another does, if there is one."""
        if place in self._tasks:
            self._tasks.pop(place).cancel()
        self._give_to_others(machine)
        if machine.workers:
            machine.speaker = min(machine.workers)
            self._speak(place, machine)
        else:
            del self._dealer.machines[place]

    def _give_to_others(self, machine: Machine) -> None:
        if found := self._dealer.lose(machine):
            self.told.put(Told(tuple(found)))
        self._tell_all()

    def _leave_out(self, place: str, machine: Machine, why: str) -> None:
        """Do without a machine that can run nothing."""
        self._dealer.put_back(machine, tuple(machine.given.values()))
        del self._dealer.machines[place]
        if not self._dealer.machines:
            self.told.put(Told(ended=ClusterLostError(f"the Dask worker {machine}: {why}")))
        else:
            self.told.put(Told(note=f"the Dask worker {machine} gets no more cases: {why}"))
        self._tasks.pop(place, None)
        self._tell_all()

    def _tell_all(self) -> None:
        """Wake whoever had nothing to say: there may be cases for them."""
        self._news.set()
        self._news = asyncio.Event()


async def _result(future: Any) -> bytes:
    result: bytes = await future
    return result
