"""The processes of a run: which there are, what they hold, and who of them is killed next."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING

from gradcheck.run.workers import orphans

if TYPE_CHECKING:
    from random import Random

SIGNALS = {
    "worker": {signal.SIGKILL: 6, signal.SIGTERM: 1, signal.SIGSTOP: 1},
    "server": {signal.SIGKILL: 3, signal.SIGSTOP: 1},
    "parent": {signal.SIGKILL: 3, signal.SIGTERM: 1},
}
"""What each is sent, and how often. (A SIGSEGV from outside cannot be told from a case's own.)"""

VICTIMS = {"worker": 80, "server": 14, "parent": 6}
"""Who is struck, and how often: a parent takes ten seconds to come back, a server four."""


def server_of(parent: int) -> int | None:
    """The fork server of a run; None while there is none."""
    for pid in orphans.children(parent):
        with contextlib.suppress(OSError):
            if b"server_process" in Path(f"/proc/{pid}/cmdline").read_bytes():
                return pid
    return None


def most_held(pid: int) -> int:
    """The most bytes that a process has ever held; 0 where it is gone."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return 0


def strike(parent: int, random: Random) -> tuple[str, signal.Signals] | None:
    """Send a signal to some process of the run; what to whom, or None where there was none."""
    (victim,) = random.choices(list(VICTIMS), list(VICTIMS.values()))
    (sent,) = random.choices(list(SIGNALS[victim]), list(SIGNALS[victim].values()))
    server = server_of(parent)
    pids = {
        "worker": sorted(orphans.children(server)) if server else [],
        "server": [server] if server else [],
        "parent": [parent],
    }[victim]
    if not pids:
        return None
    try:
        os.kill(random.choice(pids), sent)
    except ProcessLookupError:
        return None
    return victim, sent


def reap(but: int) -> None:
    """Let go of what has ended and came to this process, the run itself excepted."""
    for pid in orphans.children(os.getpid()) - {but}:
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)


def left_over(seconds: float) -> set[int]:
    """Which processes are still there when nobody should be, and have had so long to end."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        reap(but=0)
        if not orphans.children(os.getpid()):
            break
        time.sleep(0.05)
    return orphans.children(os.getpid())
