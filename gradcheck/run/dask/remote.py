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
class Order:
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


class _Site:
    """The pool of one thread."""

    def __init__(self, order: Order) -> None:
        self.facts: dict[str, str] = {}
        self.pool = order.make_pool(self.facts)
        self.lock = threading.Lock()


_SITES: dict[tuple[str, int], _Site] = {}
_LEFT: set[str] = set()
"""The runs that are over: whatever still runs for them is given up."""


def prepare(preload: tuple[str, ...]) -> None:
    """Begin to load TensorFlow, before the first case comes."""
    fork_server.warm_up(preload)


def check_remotely(order: Order, case: Case) -> tuple[Result | None, Mapping[str, str]]:
    """The result of a case, and what TensorFlow says here; no result once the run is over."""
    key = (order.token, threading.get_ident())
    site = _SITES.get(key)
    if site is None:
        site = _SITES[key] = _Site(order)
    with site.lock:
        found = list(site.pool.run([case], stop=lambda: order.token in _LEFT))
        if order.token in _LEFT:
            site.pool.stop()
            _SITES.pop(key, None)
            _rest()
    # The case stays where it came from.
    result = dataclasses.replace(found[0], case=None) if found else None
    return result, site.facts


def leave(token: str = "") -> None:
    """End the processes of a run, and the one that holds TensorFlow if nobody else needs it.

    Without a run, only that one: a run that never began has prepared it all the same.
    """
    _LEFT.add(token)
    for key, site in list(_SITES.items()):
        # A thread that is at work sees for itself that the run is over.
        if key[0] == token and site.lock.acquire(timeout=1.0):
            site.pool.stop()
            _SITES.pop(key, None)
            site.lock.release()
    _rest()


def _rest() -> None:
    if not _SITES:
        fork_server.shut_down()
