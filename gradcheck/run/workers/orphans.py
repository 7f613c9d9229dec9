"""Processes whose own parent has died: who gets them, which there are, and how they are ended.

A case may start a process that starts another and ends, so that nobody knows the other. Linux gives
such a process to the nearest ancestor that asked for it. Where none is left, it is known by a mark
in its environment, which all that come from one fork server have.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MARK = "GRADCHECK_WORKERS"
"""The variable of the environment by which all processes of one fork server are known."""

END_SECONDS = 2.0
"""Seconds that are spent on ending what was left; as a rule it takes milliseconds."""

_SET_CHILD_SUBREAPER = 36
_SET_DEATH_SIGNAL = 1


def adopt(wanted: bool = True) -> bool:
    """Let this process be the parent of what is orphaned below it; False where it cannot."""
    return _control(_SET_CHILD_SUBREAPER, int(wanted))


def end_with_parent() -> bool:
    """Let the system end this process with its parent; False where it cannot."""
    return _control(_SET_DEATH_SIGNAL, signal.SIGKILL)


def go_on_without_parent() -> bool:
    """Let the system wake this process, should it be stopped, when its parent ends.

    It then sees for itself that nobody is left. Without it
    `test_a_killed_command_takes_a_server_along_that_is_stopped` fails.
    """
    return _control(_SET_DEATH_SIGNAL, signal.SIGCONT)


def _control(option: int, value: int) -> bool:
    """`prctl`, which is Linux's own."""
    try:
        import ctypes

        done: int = ctypes.CDLL(None, use_errno=True).prctl(option, int(value), 0, 0, 0)
    except (ImportError, OSError, AttributeError):
        return False
    return done == 0


def children(pid: int) -> set[int]:
    """The processes that have this one as their parent; none where the system does not tell."""
    found: set[int] = set()
    with contextlib.suppress(OSError):
        for task in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208  (between two cases)
            with (
                contextlib.suppress(OSError),
                open(f"/proc/{pid}/task/{task}/children", "rb") as file,  # noqa: PTH123
            ):
                found.update(map(int, file.read().split()))
    return found


def is_stopped(pid: int) -> bool:
    """Whether a process was stopped by a signal, and waits to be told to go on."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123  (twenty times a second)
            state = file.read().rpartition(b")")[2].split()[0]
    except (OSError, IndexError):
        return False
    return state in (b"T", b"t")


@contextlib.contextmanager
def adopted() -> Iterator[None]:
    """End, when this is left, whatever was orphaned below this process meanwhile.

    For a process that starts nothing else: the command. Without it
    `test_what_hides_behind_a_killed_server_ends_with_the_command` fails.
    """
    before = children(os.getpid())
    adopt()
    try:
        yield
    finally:
        # First: what a worker leaves comes here when the worker is quite gone, and not before.
        _end(lambda: children(os.getpid()) - before)
        adopt(False)


def end_marked(mark: str) -> None:
    """End every process that carries the mark, and what they start meanwhile.

    Without it `test_what_outlives_a_killed_server_ends_with_the_run` fails.
    """
    setting = f"{MARK}={mark}".encode()
    _end(lambda: _marked(setting))


def _end(find: Callable[[], set[int]]) -> None:
    """End processes until no more are found."""
    deadline = time.monotonic() + END_SECONDS
    while found := find():
        for pid in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
            # Where this process has adopted it.
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
        if time.monotonic() > deadline:
            return
        time.sleep(0.002)


def _marked(setting: bytes) -> set[int]:
    """The processes with this setting in the environment that they were started with."""
    found = set()
    own = os.getpid()
    with contextlib.suppress(OSError):
        for name in os.listdir("/proc"):  # noqa: PTH208  (as above)
            if not name.isdigit() or int(name) == own:
                continue
            with (
                contextlib.suppress(OSError),
                open(f"/proc/{name}/environ", "rb") as file,  # noqa: PTH123
            ):
                if setting in file.read().split(b"\0"):
                    found.add(int(name))
    return found
