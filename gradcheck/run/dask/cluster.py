"""`--dask ADDRESS`: the same cases on the machines of a Dask cluster, with the same results."""

from __future__ import annotations

import contextlib
import queue
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from gradcheck.errors import UsageError
from gradcheck.run.case_time import DEFAULT_TIMEOUT
from gradcheck.run.dask.conversation import ClusterLostError, Conversation, Told
from gradcheck.run.dask.dealing import Dealer
from gradcheck.run.dask.loop_thread import LoopThread
from gradcheck.run.dask.messages import RemoteJob
from gradcheck.run.dask.remote import end_run, prepare
from gradcheck.run.dask.roster import ANSWER_SECONDS, Roster
from gradcheck.run.summary import left_out
from gradcheck.run.workers import fork_server
from gradcheck.run.workers.worker import Check, check_with_tensorflow

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Generator, MutableMapping, Sequence

    from gradcheck.model import Case, Result

SCHEDULER_SECONDS = 5.0
"""Seconds for the scheduler to answer; it may have been started just before."""

WORKER_SECONDS = 20.0
"""Seconds to wait for the first worker of the cluster: it may be on a machine that is starting."""

MARGIN_SECONDS = 5.0
"""Seconds after which a call is given up whose own time-out should have ended it before."""

QUIET_SECONDS = 300.0
"""Seconds without a word from any machine after which none is expected; each is asked for one every
second, and for cases to begin, however long they take."""

LEAVE_SECONDS = 10.0
"""Seconds for the connection to be closed in order; it is gone with this process all the same."""


class Cluster:
    """A connection to a Dask scheduler."""

    def __init__(self, address: str, preload: Sequence[str] = fork_server.PRELOAD) -> None:
        """Connect, and let TensorFlow be loaded; UsageError where nobody is there."""
        try:
            import distributed
        except ImportError as error:
            raise UsageError("--dask needs Dask: pip install 'gradcheck[dask]'") from error
        self._preload = tuple(preload)
        self._loop = LoopThread()
        try:
            self._client: Any = self._loop.call(
                _connected(distributed.Client, address), SCHEDULER_SECONDS + MARGIN_SECONDS
            )
        except Exception as error:  # whatever else answers there may send anything
            self._loop.stop()
            reason = str(error) or type(error).__name__
            raise UsageError(f"no Dask scheduler answers at {address}: {reason}") from error
        self._roster = Roster(self._client)
        try:
            self._meet(address)
        except BaseException:
            self._leave()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._leave()

    def describe(self) -> dict[str, str]:
        """On what the workers run; where they differ, all values side by side."""
        return self._roster.environment()

    def run(
        self,
        cases: Sequence[Case],
        *,
        allow: Collection[str],
        root: str,
        timeout: float = DEFAULT_TIMEOUT,
        memory_limit: int | None = None,
        fair_share: bool = False,
        maxfail: int | None = None,
        check: Check = check_with_tensorflow,
        facts: MutableMapping[str, str] | None = None,
        seconds: Callable[[str], float | None] = lambda _: None,
        warn: Callable[[str], None] = lambda _: None,
    ) -> Generator[Result, None, None]:
        """Check the cases on the cluster, as `gradcheck.run.run` does on this machine.

        What is named as there is the same here. `fair_share` limits the memory of each process to
        its share of the machine that it is on; `facts` are those of all machines, side by side
        where they differ; `seconds` tells how long a case took when it last ran, by its id; `warn`
        is told what the user should know, of machines that are not used, and why.
        """
        job = RemoteJob(
            token=uuid.uuid4().hex,
            allow=tuple(allow),
            root=root,
            folder=str(Path.cwd()),
            timeout=timeout,
            memory_limit=memory_limit,
            fair_share=fair_share,
            check=check,
            preload=self._preload,
        )
        missing = {case.id: case for case in cases}
        failures = 0
        if not cases:
            return
        with contextlib.closing(self._told(job, Dealer(cases, seconds))) as all_told:
            for told in all_told:
                if told.note:
                    warn(told.note)
                _join_facts(facts, told)
                for result in told.results:
                    del missing[result.id]
                    failures += not result.expected
                    yield result
                    if failures and failures == maxfail:
                        break
                if not missing or (failures and failures == maxfail):
                    break
        for case in missing.values():
            yield left_out(case, failures)

    def _told(self, job: RemoteJob, dealer: Dealer) -> Generator[Told, None, None]:
        """What comes from the machines of a run, until this is closed: then they are to end it."""
        conversation = Conversation(self._client, self._roster, job, dealer)
        speaking = self._loop.begin(conversation.run())
        try:
            while True:
                yield _heard(conversation.told)
        finally:
            speaking.cancel()
            with contextlib.suppress(Exception):
                self._loop.call(conversation.end(), LEAVE_SECONDS)

    def _meet(self, address: str) -> None:
        """Wait for the first worker, ask all who they are, and let them get ready."""
        try:
            self._loop.call(self._workers_there(), WORKER_SECONDS + MARGIN_SECONDS)
        except TimeoutError as error:
            raise UsageError(
                f"the Dask cluster at {address} has no workers: start some with "
                f"`dask worker {address}`"
            ) from error
        try:
            refused = self._loop.call(self._roster.meet(), ANSWER_SECONDS + MARGIN_SECONDS)
            if refused:
                raise UsageError("; ".join(refused))
            workers = self._roster.workers
            speakers = {workers[name].place: name for name in sorted(workers, reverse=True)}
            self._ask(prepare, self._preload, workers=list(speakers.values()))
        except (TimeoutError, OSError) as error:
            raise UsageError(
                f"the workers of the Dask cluster at {address} do not answer: {error}"
            ) from error

    async def _workers_there(self) -> None:
        await self._client.wait_for_workers(1, timeout=WORKER_SECONDS)

    def _leave(self) -> None:
        """Leave the cluster as it was."""
        with contextlib.suppress(Exception):
            self._ask(end_run, on_error="ignore", limit=LEAVE_SECONDS)
        with contextlib.suppress(Exception):
            self._loop.call(_closed(self._client), LEAVE_SECONDS)
        self._client.status = "closed"  # as below
        self._loop.stop()

    def _ask(
        self, what: Callable[..., Any], *details: Any, limit: float = ANSWER_SECONDS, **options: Any
    ) -> Any:
        """What each worker answers, by its address; TimeoutError where one does not in time."""

        async def asked() -> Any:
            return await self._client.run(what, *details, **options)

        return self._loop.call(asked(), limit)


async def _connected(client: Callable[..., Any], address: str) -> Any:
    # (Not as the client of this process, which Python would wait for at its end.)
    found = client(address, timeout=SCHEDULER_SECONDS, asynchronous=True, set_as_default=False)
    try:
        return await found
    except BaseException:
        # Otherwise it is closed when Python forgets it, which waits, and may print.
        found.status = "closed"
        raise


async def _closed(client: Any) -> None:
    await client.close()


def _heard(told: queue.SimpleQueue[Told]) -> Told:
    """What comes next; ClusterLostError, or what else ended the run, where nothing does."""
    try:
        next_ = told.get(timeout=QUIET_SECONDS)
    except queue.Empty:
        raise ClusterLostError(f"no Dask worker has answered for {QUIET_SECONDS:g} s") from None
    if next_.ended is not None:
        raise next_.ended
    return next_


def _join_facts(facts: MutableMapping[str, str] | None, told: Told) -> None:
    """What all machines say; where they differ, side by side."""
    if facts is None:
        return
    for name, value in told.facts.items():
        values = {*facts.get(name, value).split(" | "), value}
        facts[name] = " | ".join(sorted(values))
