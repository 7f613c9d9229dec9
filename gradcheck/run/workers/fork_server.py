"""The fork server as its parent has it: started early, asked for workers, replaced where it fails.

Every wait here has a limit. A server that was stopped by a signal is as good as a dead one: it is
killed, and the next worker comes from a new one.
"""

from __future__ import annotations

import atexit
import contextlib
import errno
import os
import secrets
import select
import socket
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, Any, Protocol

from gradcheck.run import interruptions
from gradcheck.run.threads import one_each
from gradcheck.run.workers import orphans
from gradcheck.run.workers.crash_message import is_own_fault
from gradcheck.run.workers.server_process import READY

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PRELOAD = ("gradcheck.run.workers.preload",)
"""Which modules the server imports before the first worker forks from it."""

LOAD_SECONDS = 300.0
"""Seconds for the server to load: TensorFlow takes three, on a busy machine twenty, from a slow
network drive minutes."""

FORK_SECONDS = 30.0
"""Seconds for a server that has loaded to fork: it takes milliseconds where there is time."""

GONE_SECONDS = 5.0
"""Seconds for a killed server to be gone: more only where the system itself is stuck."""

# Threads of one process may start workers at the same time: those of a Dask worker do.
_LOCK = threading.RLock()

_START = (
    # What lies in the current folder must not be taken for TensorFlow (-P). Where this package is
    # found only by the parent's own path, that comes last.
    "import sys; sys.path += [p for p in {path!r} if p not in sys.path]; "
    "from gradcheck.run.workers.server_process import main; main({line}, {preload!r})"
)


class Handed(Protocol):
    """An end of a line that goes to a worker."""

    def fileno(self) -> int:
        """Its number here."""

    def close(self) -> None:
        """Let it go here."""


class ServerLostError(Exception):
    """The fork server is gone, or does not answer, and has been put away."""

    never_loads = False
    """Whether it ended by itself before it could fork: the next one will do the same."""


class _Server:
    """One fork server that runs, or ran."""

    def __init__(self, preload: tuple[str, ...]) -> None:
        self.preload = preload
        self.owner = os.getpid()
        self.mark = secrets.token_hex(8)
        self.loaded = False
        self.line, theirs = socket.socketpair()
        path = [entry for entry in sys.path if entry]
        start = _START.format(path=path, line=theirs.fileno(), preload=preload)
        try:
            self.process = subprocess.Popen(  # noqa: S603  (our own text)
                [sys.executable, *_interpreter_flags(), "-P", "-c", start],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                env={**one_each(os.environ), orphans.MARK: self.mark},
                # Ctrl-C and a terminal that is closed are this process's business.
                start_new_session=True,
            )
        except BaseException:
            self.line.close()
            raise
        finally:
            theirs.close()

    @property
    def fails(self) -> bool:
        """Whether it has ended, or was stopped by a signal.

        Without the question for stopped ones `test_a_server_that_is_stopped_is_replaced` fails.
        """
        return self.process.poll() is not None or orphans.is_stopped(self.process.pid)

    def wait_until_loaded(self) -> None:
        """Come back when it can fork; ServerLostError where it never will."""
        if self.loaded:
            return
        if not self.readable(self.line, LOAD_SECONDS) or self.line.recv(1) != READY:
            raise ServerLostError("the process that loads TensorFlow ended")
        self.loaded = True

    def never_loads(self) -> bool:
        """Whether it has failed at its modules, and was not ended by somebody else.

        Without the second `test_a_server_that_is_killed_while_it_loads_is_replaced` fails.
        """
        if self.loaded or orphans.is_stopped(self.process.pid):
            return False
        try:
            return is_own_fault(self.process.wait(GONE_SECONDS))
        except subprocess.TimeoutExpired:
            return True  # it takes for ever

    def readable(self, line: socket.socket, seconds: float) -> bool:
        """Whether something comes on a line while the server is well."""
        deadline = time.monotonic() + seconds
        poll = select.poll()
        poll.register(line.fileno(), select.POLLIN)
        while not poll.poll(100):
            if self.fails or time.monotonic() > deadline:
                return bool(poll.poll(0))
        return True

    def kill(self) -> None:
        """End it at once, whatever it does, also where it is stopped."""
        if self.owner == os.getpid():
            self.process.kill()

    def put_away(self) -> None:
        """End it with everything that came from it."""
        self.line.close()
        if self.owner != os.getpid():  # a copy of the process that started it
            return
        self.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(GONE_SECONDS)
        orphans.end_marked(self.mark)


class _State:
    """The server that runs; None while there is none."""

    server: _Server | None = None


def _interpreter_flags() -> list[str]:
    """The flags that this Python was started with, for another one.

    The standard library has a function for that which is not public: without it there are none.
    """
    flags: Any = getattr(subprocess, "_args_from_interpreter_flags", None)
    return list(flags()) if callable(flags) else []


def warm_up(preload: Sequence[str] = PRELOAD) -> None:
    """Start the fork server in the background, and return at once.

    Called before anything else is done, so that specs are read while TensorFlow loads.
    """
    wanted = tuple(preload)
    with _LOCK:
        server = _State.server
        usable = server is not None and server.preload == wanted and server.owner == os.getpid()
        if server is not None and (not usable or server.fails):
            shut_down()
        if _State.server is None:
            # Every process that was started must be known.
            with interruptions.later():
                _State.server = _Server(wanted)
            atexit.register(shut_down)


def fork(ends: Sequence[Handed], answer: socket.socket, preload: Sequence[str]) -> None:
    """Let the server fork a worker that has these ends of its lines, which are closed here.

    The answer can then be read. Raises ServerLostError where none comes in time: the server is
    put away, and the next call has another one.
    """
    with _LOCK:
        try:
            warm_up(preload)
            server = _State.server
            assert server is not None  # noqa: S101  (for the type checker)
            server.wait_until_loaded()
            socket.send_fds(server.line, [b"w"], [end.fileno() for end in ends])
        except (OSError, ServerLostError) as error:
            if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE):
                raise
            lost = ServerLostError(str(error))
            lost.never_loads = _State.server is None or _State.server.never_loads()
            shut_down()
            raise lost from error
        finally:
            for end in ends:
                end.close()
        if not server.readable(answer, FORK_SECONDS):
            shut_down()
            raise ServerLostError("the process that the workers come from does not answer")


def has_failed(seconds: float) -> bool:
    """Whether the server is seen to be gone within so many seconds; it is then put away."""
    deadline = time.monotonic() + seconds
    while not replace_if_it_fails():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def replace_if_it_fails() -> bool:
    """Put the server away where it has ended or was stopped; whether that was so."""
    with _LOCK:
        if _State.server is None or not _State.server.fails:
            return False
        shut_down()
        return True


@contextlib.contextmanager
def in_a_command() -> Iterator[None]:
    """What a command runs in that starts no other processes: at its end none is left."""
    with orphans.adopted():
        try:
            yield
        finally:
            shut_down()


def dismiss() -> None:
    """Let the fork server end while this process does other things; `shut_down` waits for it."""
    if _State.server is not None:
        _State.server.kill()


def shut_down() -> None:
    """End the fork server and what came from it, even while it still loads."""
    with _LOCK:
        server, _State.server = _State.server, None
        if server is not None:
            atexit.unregister(shut_down)
            server.put_away()
