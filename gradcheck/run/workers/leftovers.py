"""What cases leave behind in their worker: threads, processes, memory, copies of the worker."""

from __future__ import annotations

import os
import threading
import time

from gradcheck.run.workers.memory import LOOK_SECONDS, held_alone


class Leftovers:
    """Looks, between two cases, at what the process has become since this was made."""

    def __init__(self) -> None:
        self._pid = os.getpid()
        self._threads = threading.active_count()
        self._next_look = 0.0
        self.unclean = False
        """Whether something was left running that could disturb the next case."""
        self.held: int | None = None
        """Bytes of memory, of the last look; None where there was none."""

    @property
    def copied(self) -> bool:
        """Whether this is a copy of the worker, which a case has made by forking."""
        return os.getpid() != self._pid

    def look(self, *, idle: bool) -> None:
        """Look what there is; at what is dear to ask for only now and then, or when idle."""
        self.unclean = self.unclean or threading.active_count() > self._threads
        self.held = None
        now = time.monotonic()
        if idle or now >= self._next_look:
            self._next_look = now + LOOK_SECONDS
            self.unclean = self.unclean or _has_children()
            self.held = held_alone(self._pid)


def _has_children() -> bool:
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True
