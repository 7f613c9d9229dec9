"""What Dask runs inside its workers: functions that the command calls there by their names."""

from __future__ import annotations

import contextlib
import os
import pickle
import re
import socket
import threading
from pathlib import Path

from gradcheck.model.versions import installed_version
from gradcheck.run.dask.machine_pool import MachinePool
from gradcheck.run.dask.messages import Introduction, RemoteJob, Reply, Request
from gradcheck.run.environment import describe
from gradcheck.run.workers import fork_server

POOL_END_SECONDS = 10.0
"""Seconds for the processes of a run to end; they are killed, which takes milliseconds."""

_LOCK = threading.Lock()
_POOLS: dict[str, MachinePool] = {}
"""By the name of their run."""
_ENDED: set[str] = set()
"""The runs that are over: a request that was under way then must not bring them back."""


def introduce() -> Introduction:
    """Who this Dask worker is."""
    dask = installed_version("distributed") or ""
    return Introduction(_place(), socket.gethostname(), describe(), dask)


def prepare(preload: tuple[str, ...]) -> None:
    """Begin to load TensorFlow, before the first case comes."""
    fork_server.warm_up(preload)


def converse(job: bytes, request: bytes) -> bytes:
    """Give the machine's pool what is asked, and tell what it has; pickles both ways."""
    asked: Request = pickle.loads(request)  # noqa: S301  (the command's, as is all of Dask's)
    pool = _pool(pickle.loads(job))  # noqa: S301  (as above)
    answer = Reply("", failed="the run is over") if pool is None else pool.exchange(asked)
    return pickle.dumps(answer, pickle.HIGHEST_PROTOCOL)


def end_run(token: str = "") -> None:
    """End the processes of a run, and the one that holds TensorFlow if nobody else needs it.

    Without a run, only that one: a run that never began has prepared it all the same.
    """
    with _LOCK:
        _ENDED.add(token)
        pool = _POOLS.pop(token, None)
    if pool is not None:
        pool.end()
    # (Not here: this is the thread in which the Dask worker hears and answers.)
    threading.Thread(target=_shut_down_if_unused, args=(pool,), daemon=True).start()


def _pool(job: RemoteJob) -> MachinePool | None:
    """The pool of a run, made when it is first asked for; None once the run is over."""
    with _LOCK:
        if job.token in _ENDED:
            return None
        pool = _POOLS.get(job.token)
        # (One that failed stays, to say so; one that nobody asked for any more is made again.)
        if pool is None or (pool.over and not pool.failed):
            pool = _POOLS[job.token] = MachinePool(job, _shut_down_if_unused)
        return pool


def _shut_down_if_unused(ending: MachinePool | None = None) -> None:
    """Let TensorFlow go where no pool needs it; one that is about to end is waited for."""
    if ending is not None:
        ending.wait(POOL_END_SECONDS)
    with _LOCK:
        unused = all(pool.over for pool in _POOLS.values())
    if unused:
        fork_server.shut_down()


def _place() -> str:
    """A text that those have in common who share a machine, and may use the same part of it.

    Two containers, two jobs of a batch system or workers that are bound to processors of their own
    are as good as two machines: a process that one of them starts is in its bounds.
    """
    parts = [socket.gethostname(), str(os.getuid())]
    with contextlib.suppress(OSError):
        parts += [str(Path(f"/proc/self/ns/{kind}").readlink()) for kind in ("pid", "mnt")]
    if hasattr(os, "sched_getaffinity"):
        parts.append(str(sorted(os.sched_getaffinity(0))))
    with contextlib.suppress(OSError):
        # (Slurm has a group for each task of a step; their limits are the step's.)
        groups = Path("/proc/self/cgroup").read_text()
        parts.append(re.sub(r"/task_\w+", "", groups))
    return "\n".join(parts)
