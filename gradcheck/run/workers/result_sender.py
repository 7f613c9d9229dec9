"""What takes the results of a worker to its parent, many small ones at a time.

A message for each would cost a tenth of a small check: between two checks nothing of what it takes
is in the processor's caches, and the parent would have to wake up for it. So a thread sends what
there is every few hundredths of a second, whatever the case of that moment does: it may be one that
hangs. A result that dies with its worker is made again.
"""

from __future__ import annotations

import dataclasses
import os
import pickle
import threading
import time
from typing import TYPE_CHECKING, NamedTuple

from gradcheck.model import Result, Verdict
from gradcheck.run.environment import tensorflow_facts
from gradcheck.run.workers.memory import TICK, held_alone

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class Answer(NamedTuple):
    """What a worker sends back."""

    results: tuple[bytes, ...]
    """Pickles, in the order of the cases; each by itself, so that a bad one spoils no other."""
    held: int
    """Bytes of memory that the worker holds now."""
    unclean: bool
    """Whether a case left something running that could disturb the next one: the last answer."""
    facts: Mapping[str, str]
    """What TensorFlow says about the machine; with the first answer of a worker."""


class Courier:
    """Gathers results and sends them; `send` is how a message gets to the parent."""

    def __init__(self, send: Callable[[bytes], None]) -> None:
        self._send = send
        self._results: list[Result] = []
        self._lock = threading.Lock()
        self._more = threading.Event()
        self._told = False
        threading.Thread(target=self._go, daemon=True).start()
        self._threads = threading.active_count()
        self.unclean = False
        """Whether something was left running."""
        self.copied = False
        """Whether this is a copy of the worker, which a case has made by forking."""
        os.register_at_fork(after_in_child=self._note_copy)

    def add(self, result: Result) -> None:
        """Take a result; it is sent soon, or when `flush` is called."""
        with self._lock:
            self._results.append(result)
            first = len(self._results) == 1
        if first:
            self._more.set()
        if threading.active_count() > self._threads:
            self.unclean = True

    def flush(self) -> None:
        """Send what there is."""
        with self._lock:
            if not self._results:
                return
            # The children of a process are dear to ask for: not after every case.
            self.unclean = self.unclean or _has_children()
            facts = {} if self._told else tensorflow_facts()
            self._told = True
            results = tuple(map(_encode, self._results))
            self._results.clear()
            answer = Answer(results, held_alone(os.getpid()), self.unclean, facts)
            self._send(pickle.dumps(answer))

    def _note_copy(self) -> None:
        self.copied = True

    def _go(self) -> None:
        while True:
            self._more.wait()
            self._more.clear()
            time.sleep(TICK)
            self.flush()


def _encode(result: Result) -> bytes:
    try:
        return pickle.dumps(dataclasses.replace(result, case=None))  # the parent has the case
    except Exception as error:
        message = f"the result could not be sent back: {type(error).__name__}: {error}"
        return pickle.dumps(Result(result.id, Verdict.ERROR, message=message))


def _has_children() -> bool:
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True
