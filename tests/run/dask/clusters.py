"""A Dask cluster as its own processes, as people start it; every wait has a limit."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any, Self

from gradcheck.run.dask.loop_thread import LoopThread

if TYPE_CHECKING:
    from pathlib import Path

START_SECONDS = 120.0
"""Seconds for a scheduler or a worker to be there: on a busy machine Python alone takes many."""

BIND = """
import os, sys
os.sched_setaffinity(0, {int(sys.argv[1])})
os.execv(sys.argv[2], sys.argv[2:])
"""

END_SECONDS = 10.0
"""Seconds for a process to end by itself; it is then killed."""


class DaskProcesses:
    """A scheduler and its workers, each in a session of its own, so that they end as a whole."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._processes: list[subprocess.Popen[bytes]] = []
        self._file = folder / "scheduler.json"
        self.scheduler = self._start(
            "scheduler", "--port", "0", "--no-dashboard", "--scheduler-file", str(self._file)
        )
        self.address: str = self._until(self._told_address, "no Dask scheduler")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for process in reversed(self._processes):
            self.end(process)

    def add_worker(
        self, *options: str, cwd: Path | None = None, cpu: int | None = None, **environment: str
    ) -> subprocess.Popen[bytes]:
        """Start `dask worker`; that it has come is seen by whoever waits for workers.

        Those that are bound to one processor are, for all that matters, a machine of their own.
        """
        details = ("--no-dashboard", "--local-directory", str(self._folder / "scratch"))
        return self._start(
            "worker", self.address, *details, *options, cwd=cwd, cpu=cpu, **environment
        )

    def wait_for_workers(self, count: int) -> None:
        """Come back when so many are there."""
        loop = LoopThread()
        loop.call(self._workers_there(count), START_SECONDS)
        loop.stop()

    async def _workers_there(self, count: int) -> None:
        import distributed

        async with distributed.Client(
            self.address, timeout=START_SECONDS, asynchronous=True, set_as_default=False
        ) as client:
            await client.wait_for_workers(count, timeout=START_SECONDS)

    def end(self, process: subprocess.Popen[bytes]) -> None:
        """End a process with all that it started, also where it is stopped."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGCONT)
            os.killpg(process.pid, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(END_SECONDS)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(END_SECONDS)

    def _start(
        self,
        what: str,
        *options: str,
        cwd: Path | None = None,
        cpu: int | None = None,
        **environment: str,
    ) -> subprocess.Popen[bytes]:
        bound = () if cpu is None else (sys.executable, "-c", BIND, str(cpu))
        with (self._folder / f"{what}-{len(self._processes)}.log").open("wb") as log:
            process = subprocess.Popen(
                [*bound, sys.executable, "-m", "dask", what, *options],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=cwd,
                env={**os.environ, **environment},
                start_new_session=True,
            )
        self._processes.append(process)
        return process

    def _told_address(self) -> str | None:
        try:
            told: dict[str, Any] = json.loads(self._file.read_text())
        except (OSError, ValueError):
            return None
        return str(told["address"])

    def _until(self, look: Any, missing: str) -> Any:
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            if (found := look()) is not None:
                return found
            time.sleep(0.05)
        logs = "".join(path.read_text() for path in sorted(self._folder.glob("*.log")))
        raise AssertionError(f"{missing} within {START_SECONDS:g} s:\n{logs}")
