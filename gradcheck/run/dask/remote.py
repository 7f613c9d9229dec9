"""What runs inside a Dask worker: cases in processes of their own, as on this machine.

A Dask worker that ran a case itself would die with it, and take its other tasks along. Each of its
threads has a pool of one process instead, which stays from task to task until the run is over.
"""

from __future__ import annotations

import dataclasses
import os
import threading
from typing import TYPE_CHECKING

from gradcheck.run.workers import fork_server
from gradcheck.run.workers.memory import default_limit
from gradcheck.run.workers.pool import Pool

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gradcheck.model import Case, Result
    from gradcheck.run.workers.worker import Check


@dataclasses.dataclass(frozen=True, slots=True)
class RemoteJob:
    """What all cases of a run have in common."""

    token: str
    """The name of the run: the next one gets new processes, and so the user's code as it is."""
    allow: tuple[str, ...]
    root: str
    timeout: float
    memory_limit: int | None
    fair_share: bool
    """Whether the limit is a share of the machine that the Dask worker is on."""
    check: Check
    preload: tuple[str, ...]

    def make_pool(self, facts: dict[str, str]) -> Pool:
        """A process for one thread of a Dask worker."""
        limit = default_limit(os.cpu_count() or 1) if self.fair_share else self.memory_limit
        return Pool(
            allow=self.allow,
            root=self.root,
            jobs=1,
            timeout=self.timeout,
            memory_limit=limit,
            check=self.check,
            preload=self.preload,
            facts=facts,
        )


class _OwnPool:
    """The pool of one thread."""

    def __init__(self, job: RemoteJob) -> None:
        self.facts: dict[str, str] = {}
        self.pool = job.make_pool(self.facts)
        self.lock = threading.Lock()


_POOLS: dict[tuple[str, int], _OwnPool] = {}
_ENDED: set[str] = set()
"""The runs that are over: whatever still runs for them is given up."""


def prepare(preload: tuple[str, ...]) -> None:
    """Begin to load TensorFlow, before the first case comes."""
    fork_server.warm_up(preload)


def check_remotely(job: RemoteJob, case: Case) -> tuple[Result | None, Mapping[str, str]]:
    """The result of a case, and what TensorFlow says here; no result once the run is over."""
    key = (job.token, threading.get_ident())
    own = _POOLS.get(key)
    if own is None:
        own = _POOLS[key] = _OwnPool(job)
    with own.lock:
        found = list(own.pool.run([case], stop=lambda: job.token in _ENDED))
        if job.token in _ENDED:
            own.pool.stop()
            _POOLS.pop(key, None)
            _shut_down_if_unused()
    # The case stays where it came from.
    result = dataclasses.replace(found[0], case=None) if found else None
    return result, own.facts


def end_run(token: str = "") -> None:
    """End the processes of a run, and the one that holds TensorFlow if nobody else needs it.

    Without a run, only that one: a run that never began has prepared it all the same.
    """
    _ENDED.add(token)
    for key, own in list(_POOLS.items()):
        # A thread that is at work sees for itself that the run is over.
        if key[0] == token and own.lock.acquire(timeout=1.0):
            own.pool.stop()
            _POOLS.pop(key, None)
            own.lock.release()
    _shut_down_if_unused()


def _shut_down_if_unused() -> None:
    if not _POOLS:
        fork_server.shut_down()
