"""The process that has TensorFlow loaded, and forks a worker whenever its parent asks for one.

It stands in for `multiprocessing`'s fork server, which waits without limit, listens at an address
that a worker can find, and can be ended only through private names. This one hears its parent
alone, over a pair of sockets that no worker has; it passes by every signal that can be passed by;
and what a worker started ends with the worker, also what left its group.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import select
import signal
import socket
import struct
import sys
import time
import traceback
import warnings
from typing import TYPE_CHECKING, NoReturn

from gradcheck.run.workers import orphans

if TYPE_CHECKING:
    from collections.abc import Sequence

READY = b"r"
"""Sent when everything is loaded."""

STATUS = struct.Struct("<q")
"""What a worker's status line carries: its number, then its exit code (of a signal, negative).
Minus the error's number where no process could be made."""

DESCRIPTORS = 3
"""How many come with a request: the status line, the channel and the output of the new worker."""

STRAY_SECONDS = 0.5
"""Seconds that are spent on ending what a worker left; to be killed takes milliseconds."""

_PASSED_BY = signal.valid_signals() - {
    *(signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD, signal.SIGCONT),
    # What the processor says: to ignore it would mean to run into it again.
    *(signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGABRT, signal.SIGTRAP),
}


def main(line: int, preload: Sequence[str]) -> NoReturn:
    """Load the modules, then fork workers until the parent is gone."""
    usual = _pass_signals_by()
    orphans.adopt()
    orphans.go_on_without_parent()
    for name in preload:
        # What cannot be imported here is imported by a worker, which has a case to say it in.
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    with socket.socket(fileno=line) as parent:
        with contextlib.suppress(OSError):  # that it is gone is seen below
            parent.sendall(READY)
        server = _Server(parent, usual)
        try:
            server.serve()
        finally:
            server.end()
            os._exit(0)


def _pass_signals_by() -> dict[int, object]:
    """Let a signal that was meant for others change nothing here; what it did before, by number."""
    usual: dict[int, object] = {}
    for number in _PASSED_BY:
        with contextlib.suppress(OSError, ValueError):  # the C library keeps some for itself
            usual[number] = signal.signal(number, signal.SIG_IGN)
    return usual


class _Server:
    """The workers that live, each with the line on which its end is told."""

    def __init__(self, parent: socket.socket, usual: dict[int, object]) -> None:
        self._parent = parent
        self._usual = usual
        self._workers: dict[int, socket.socket] = {}
        self._wake, self._woken = socket.socketpair()
        for end in (self._wake, self._woken):
            end.setblocking(False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._woken.fileno(), warn_on_full_buffer=False)

    def serve(self) -> None:
        """Fork and reap until the parent has closed its end."""
        poll = select.poll()
        poll.register(self._parent.fileno(), select.POLLIN)
        poll.register(self._wake.fileno(), select.POLLIN)
        while True:
            ready = {descriptor for descriptor, _ in poll.poll()}
            if self._wake.fileno() in ready:
                with contextlib.suppress(BlockingIOError):
                    self._wake.recv(65_536)
                self._reap()
            if self._parent.fileno() in ready and not self._answer():
                return

    def end(self) -> None:
        """End the workers and what they started: nobody is left who would wait for it."""
        for pid in self._workers:
            _kill_group(pid)
        self._workers.clear()
        self._end_strays()

    def _answer(self) -> bool:
        """Fork a worker for the request; False where there will be no more of them."""
        try:
            asked, descriptors, *_ = socket.recv_fds(self._parent, 1, DESCRIPTORS)
        except OSError:
            return False
        if not asked:
            return False
        if len(descriptors) == DESCRIPTORS:
            # No copy of it is made, for which there may be no room: without that
            # `test_a_server_without_room_for_more_files_lives_on` fails.
            line = socket.socket(fileno=descriptors.pop(0))
            self._fork(line, *descriptors)
        # (Of too many open files some do not arrive: that the line ends tells the parent so.)
        for descriptor in descriptors:
            with contextlib.suppress(OSError):
                os.close(descriptor)
        return True

    def _fork(self, line: socket.socket, channel: int, output: int) -> None:
        server = os.getpid()
        try:
            with warnings.catch_warnings():
                # Python warns of threads. Libraries may have some; none of them holds a lock here.
                warnings.simplefilter("ignore")
                pid = os.fork()
        except OSError as error:
            _tell(line, -(error.errno or 1))
            line.close()
            return
        if pid == 0:
            self._become_worker(server, line, channel, output)
        _tell(line, pid)
        self._workers[pid] = line

    def _become_worker(
        self, server: int, line: socket.socket, channel: int, output: int
    ) -> NoReturn:
        """The child's side of a fork: nothing of the server is left in it."""
        code = 1
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for number, handler in self._usual.items():
                signal.signal(number, handler)  # type: ignore[arg-type]
            for end in (self._parent, self._wake, self._woken, line, *self._workers.values()):
                end.close()
            orphans.end_with_parent()
            if os.getppid() != server:  # it ended in between
                os._exit(code)
            from gradcheck.run.workers.worker import work

            work(channel, output)
            code = 0
        except BaseException:
            with contextlib.suppress(BaseException):
                os.write(2, traceback.format_exc().encode(errors="replace"))
        finally:
            os._exit(code)

    def _reap(self) -> None:
        """See which workers have ended, and tell the parent; when all is gone that they started."""
        while (ended := _next_ended()) is not None:
            pid, code = ended
            line = self._workers.pop(pid, None)
            if line is not None:
                _kill_group(pid)
                self._end_strays()
                _tell(line, code)
                line.close()

    def _end_strays(self) -> None:
        """End what came to this process because its own parent has died.

        Every worker adopts what is orphaned below it, so what comes here was left by one that has
        ended. Without it `test_what_is_forked_twice_ends_with_its_case` fails.
        """
        deadline = time.monotonic() + STRAY_SECONDS
        while strays := orphans.children(os.getpid()) - self._workers.keys():
            for pid in strays:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(pid, os.WNOHANG)
            if time.monotonic() > deadline:
                return
            time.sleep(0.001)


def _next_ended() -> tuple[int, int] | None:
    """A child that has ended, and how; None where there is none."""
    try:
        pid, status = os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return None
    return (pid, os.waitstatus_to_exitcode(status)) if pid else None


def _tell(line: socket.socket, number: int) -> None:
    with contextlib.suppress(OSError):  # nobody listens any more
        line.sendall(STATUS.pack(number))


def _kill_group(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
