"""The process of a worker as its parent sees it: start it, ask how it is, end it.

It is a child of the fork server, which tells on a line of its own which number it has and how it
ended. A line that ends without that tells that the server is gone.
"""

from __future__ import annotations

import contextlib
import errno
import os
import select
import signal
import socket
import time
from typing import TYPE_CHECKING

from gradcheck.errors import GradcheckError, too_many_files
from gradcheck.run.workers import fork_server, orphans
from gradcheck.run.workers.channel import ParentEnd
from gradcheck.run.workers.fork_server import ServerLostError
from gradcheck.run.workers.server_process import STATUS
from gradcheck.run.workers.worker_output import WorkerOutput

if TYPE_CHECKING:
    from collections.abc import Sequence


FAIL_SECONDS = 0.5
"""Seconds in which a server that has closed its lines is seen to be gone."""


class WorkersUnavailableError(GradcheckError):
    """No worker process can be started on this machine."""


class WorkerProcess:
    """A process that was forked for a worker, and what it prints."""

    def __init__(self, channel: ParentEnd, preload: Sequence[str]) -> None:
        """Raises ServerLostError where the server fails, WorkersUnavailableError where all do."""
        self.line, theirs = socket.socketpair()
        try:
            reading, writing = os.pipe()
        except OSError:
            for end in (self.line, theirs):
                end.close()
            raise
        self.output = WorkerOutput(reading)
        try:
            fork_server.fork(
                (theirs, channel.theirs, os.fdopen(writing, "wb", 0)), self.line, preload
            )
            self.pid = self._number()
        except BaseException:
            self.close()
            raise
        self._code: int | None = None
        self._ended = False

    def _number(self) -> int:
        """The number of the process, which the server has told."""
        told = self.line.recv(STATUS.size)
        number = STATUS.unpack(told)[0] if len(told) == STATUS.size else 0
        if number > 0:
            return int(number)
        if not number and fork_server.has_failed(FAIL_SECONDS):
            raise ServerLostError("the process that the workers come from was killed")
        # (Descriptors that the server has no room for do not arrive.)
        reason = os.strerror(-number) if number else too_many_files()
        raise WorkersUnavailableError(f"no worker process can be started here: {reason}")

    @property
    def ended(self) -> bool:
        """Whether it has ended, or its server, without which nobody knows."""
        self._listen(0.0)
        return self._ended

    @property
    def code(self) -> int | None:
        """Its exit code; None while it runs, and where its server ended before it."""
        self._listen(0.0)
        return self._code

    @property
    def server_is_lost(self) -> bool:
        """Whether the fork server ended before this process did."""
        self._listen(0.0)
        return self._ended and self._code is None

    @property
    def stopped(self) -> bool:
        """Whether a signal has stopped it."""
        return orphans.is_stopped(self.pid)

    def wait(self, seconds: float) -> None:
        """Wait for its end, so long at most."""
        self._listen(seconds)

    def _listen(self, seconds: float) -> None:
        if self._ended:
            return
        poll = select.poll()
        poll.register(self.line.fileno(), select.POLLIN)
        if poll.poll(seconds * 1000):
            self._ended = True
            with contextlib.suppress(OSError):
                told = self.line.recv(STATUS.size)
                self._code = STATUS.unpack(told)[0] if len(told) == STATUS.size else None

    def signal(self, number: int) -> None:
        """Send it a signal."""
        if not self.ended or self.server_is_lost:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(self.pid, number)

    def kill(self) -> None:
        """End it and what it started, without waiting for it; also where it is stopped."""
        if self.code is not None:  # the server has ended what was left, and the number may be taken
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        # In its first moments a worker is not yet the leader of a group of its own.
        self.signal(signal.SIGKILL)

    def close(self) -> None:
        """Give its resources back."""
        self.line.close()
        self.output.close()

    def wait_until_gone(self, seconds: float) -> bool:
        """Whether a killed process is gone within so many seconds, while its server is well."""
        deadline = time.monotonic() + seconds
        while not self.ended:
            if time.monotonic() > deadline or fork_server.replace_if_it_fails():
                return self.ended
            self.wait(0.05)
        return True


def start(preload: Sequence[str]) -> tuple[ParentEnd, WorkerProcess]:
    """A new process, and the channel to it.

    Without what it says of files `test_few_files_are_named_as_what_they_are` fails.
    """
    with contextlib.ExitStack() as undone:
        try:
            channel = ParentEnd()
            undone.callback(channel.close)
            process = WorkerProcess(channel, preload)
        except OSError as error:
            few = error.errno in (errno.EMFILE, errno.ENFILE)
            raise WorkersUnavailableError(too_many_files() if few else str(error)) from error
        undone.pop_all()
        return channel, process


__all__ = ["ServerLostError", "WorkerProcess", "WorkersUnavailableError", "start"]
