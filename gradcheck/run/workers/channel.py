"""The line between a worker and its parent: cases go one way, answers come the other.

A worker at small cases has many at hand, so that neither side waits for the other. Beside the cases
goes a ticket for each, through a pipe from which both sides read: whoever has the ticket has the
case. So the cases behind one that turns out to be slow can be taken back, and go to others.
"""

from __future__ import annotations

import fcntl
import os
import pickle
import select
import struct
import sys
import termios
from collections import deque
from typing import TYPE_CHECKING

from gradcheck.run.workers import lean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from multiprocessing.connection import Connection
    from multiprocessing.context import ForkServerContext

    from gradcheck.model import Case

lean.register()

_TICKET = struct.Struct("=I")
# Fewer bytes than a pipe takes in one piece: a ticket is there whole or not at all.
MOST = 64
"""How many cases at most go in one message."""


class UnsendableError(Exception):
    """The cases cannot be sent to another process."""


class WorkerEnd:
    """The end that the worker has; it is made by the parent, and travels to it."""

    def __init__(self, connection: Connection, tickets: Connection) -> None:
        self._connection = connection
        self._tickets = tickets

    def cases(self, idle: Callable[[], None]) -> Iterator[Case]:
        """Each case that is given, when its turn comes; ends when the parent is gone.

        `idle` is called when there is nothing to do for the moment.
        """
        descriptor = self._tickets.fileno()
        # Not a blocking read: the flag belongs to the pipe, and the parent must never block on it.
        waiting = select.poll()
        waiting.register(descriptor, select.POLLIN)
        given: deque[tuple[int, Case]] = deque()
        while True:
            try:
                data = os.read(descriptor, _TICKET.size)
            except BlockingIOError:
                idle()
                waiting.poll()
                continue
            if not data:
                return
            (ticket,) = _TICKET.unpack(data)
            try:
                # What has an earlier number was taken back.
                while not given or given[0][0] < ticket:
                    if given:
                        given.popleft()
                    else:
                        message = self._connection.recv_bytes()
                        given.extend(pickle.loads(message))  # noqa: S301  (from our own parent)
            except EOFError:
                return
            yield given.popleft()[1]

    def answer(self, message: bytes) -> None:
        """Send an answer back."""
        self._connection.send_bytes(message)


class ParentEnd:
    """The end that the parent keeps."""

    def __init__(self, context: ForkServerContext) -> None:
        self.connection, self._theirs = context.Pipe()
        self._tickets, self._counter = context.Pipe(duplex=False)
        os.set_blocking(self._tickets.fileno(), False)
        self.other_end = WorkerEnd(self._theirs, self._tickets)
        self._next = 0
        self.weight = 0.0
        """Bytes that each of the last cases took."""
        # As `Connection.poll` does it, which builds this anew each time.
        self._readable = select.poll()
        self._readable.register(self.connection.fileno(), select.POLLIN)

    def give(self, cases: Sequence[Case], most: int | None = None) -> list[int]:
        """Hand over some cases, and say which tickets they have; none if they are too large.

        A worker that is at a case reads nothing: it may be given no more than `most` bytes, or
        this would wait for it. Raises UnsendableError for what cannot be sent, OSError where the
        worker is gone.
        """
        tickets = range(self._next, self._next + len(cases))
        try:
            message = pickle.dumps(list(zip(tickets, cases, strict=True)))
        except Exception as error:
            raise UnsendableError(
                f"the case cannot be sent to a worker process: {type(error).__name__}: {error}"
            ) from error
        self.weight = len(message) / len(cases)
        if most is not None and len(message) > most:
            return []
        self._next += len(cases)
        # The tickets first: an idle worker then reads while this is sent, however large it is.
        self._issue(tickets)
        self.connection.send_bytes(message)
        return list(tickets)

    def untaken(self) -> int:
        """How many of the cases, from the last on, the worker has not begun."""
        size = fcntl.ioctl(self._tickets.fileno(), termios.FIONREAD, b"\0" * 4)
        return int.from_bytes(size, sys.byteorder) // _TICKET.size

    def take_back(self, keep: int) -> set[int]:
        """The tickets that the worker has not taken yet; those are no longer its own.

        All but the ticket `keep`, which it is to take in any case.
        """
        try:
            data = os.read(self._tickets.fileno(), MOST * MOST * _TICKET.size)
        except BlockingIOError:
            return set()
        tickets = {ticket for (ticket,) in _TICKET.iter_unpack(data)}
        if keep in tickets:
            self._issue([keep])
        return tickets - {keep}

    def has_answer(self) -> bool:
        """Whether an answer, or the end of the line, can be read without waiting."""
        return bool(self._readable.poll(0))

    def receive(self) -> bytes:
        """The next answer; raises EOFError or OSError where there will be none."""
        return self.connection.recv_bytes()

    def let_go(self) -> None:
        """The worker has its end now, or never will: while it is open here, the line has no end."""
        self._theirs.close()

    def close(self) -> None:
        """Close what is open."""
        self.let_go()
        self.connection.close()
        self._tickets.close()
        self._counter.close()

    def _issue(self, tickets: Sequence[int]) -> None:
        os.write(self._counter.fileno(), b"".join(map(_TICKET.pack, tickets)))
