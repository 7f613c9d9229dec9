"""The channel between a worker and its parent: cases go one way, answers come the other.

A worker at small cases has many waiting, so that neither side waits for the other. It answers each
case before it begins the next, so the first case without an answer is always the one it is at. What
waits behind a case that turns out to be slow can be recalled, for other workers: this one confirms
that it has dropped it, and is given nothing new until then.
"""

from __future__ import annotations

import pickle
import select
from collections import deque
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from multiprocessing.connection import Connection
    from multiprocessing.context import ForkServerContext

    from gradcheck.model import Case

_RECALL = None
"""Sent in place of cases: drop those that wait. Sent back as it is when that is done."""


class UnsendableError(Exception):
    """The cases cannot be sent to another process."""


class Answer(NamedTuple):
    """What a worker sends back for a case."""

    number: int
    """That of the case."""
    result: bytes
    """A pickle by itself: one that cannot be read spoils nothing else."""
    held: int | None
    """Bytes of memory that the worker holds; None where it has not looked."""
    unclean: bool
    """Whether a case left something running that could disturb the next one: the last answer."""
    facts: Mapping[str, str]
    """What TensorFlow says about the machine; with the first answer of a worker."""


class WorkerEnd:
    """The end that the worker has; it is made by the parent, and travels to it."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._waiting: deque[tuple[int, Case]] = deque()

    @property
    def idle(self) -> bool:
        """Whether no case is waiting here."""
        return not self._waiting

    def cases(self) -> Iterator[tuple[int, Case]]:
        """Each case with its number, when its turn comes; ends when the parent is gone."""
        readable = _readable(self._connection)
        while True:
            # All there is to read: among it may be a recall.
            while not self._waiting or readable.poll(0):
                try:
                    message = pickle.loads(self._connection.recv_bytes())  # noqa: S301  (our parent's)
                except EOFError:
                    return
                if message is _RECALL:
                    self._waiting.clear()
                    self._connection.send_bytes(pickle.dumps(_RECALL))
                else:
                    self._waiting.extend(message)
            yield self._waiting.popleft()

    def answer(self, answer: Answer) -> None:
        """Send an answer back."""
        self._connection.send_bytes(pickle.dumps(tuple(answer)))


class ParentEnd:
    """The end that the parent keeps."""

    def __init__(self, context: ForkServerContext) -> None:
        self.connection, self._theirs = context.Pipe()
        self.other_end = WorkerEnd(self._theirs)
        self.recalling = False
        """Whether a recall has not been confirmed yet."""
        self.bytes_per_case = 0.0
        """What the cases of the last message took."""
        self._next = 0
        self._readable = _readable(self.connection)

    def give(self, cases: Sequence[Case], most_bytes: int | None = None) -> list[int]:
        """Hand over some cases, and say which numbers they have; none if they are too large.

        A worker that is at a case reads nothing: it may be given no more than `most_bytes`, or
        this would wait for it. Raises UnsendableError for what cannot be sent, OSError where the
        worker is gone.
        """
        numbers = range(self._next, self._next + len(cases))
        try:
            message = pickle.dumps(list(zip(numbers, cases, strict=True)))
        except Exception as error:
            raise UnsendableError(
                f"the case cannot be sent to a worker process: {type(error).__name__}: {error}"
            ) from error
        self.bytes_per_case = len(message) / len(cases)
        if most_bytes is not None and len(message) > most_bytes:
            return []
        self.connection.send_bytes(message)
        self._next += len(cases)
        return list(numbers)

    def recall(self) -> None:
        """Let the worker drop the cases that it has not begun; OSError where it is gone."""
        self.connection.send_bytes(pickle.dumps(_RECALL))
        self.recalling = True

    def receive(self) -> Answer | None:
        """The next answer, if it can be read without waiting.

        Raises EOFError or OSError where there will be none.
        """
        while self._readable.poll(0):
            message = pickle.loads(self.connection.recv_bytes())  # noqa: S301  (our own worker's)
            if message is not _RECALL:
                return Answer(*message)
            self.recalling = False
        return None

    def let_go(self) -> None:
        """Close the worker's end here; it has its own by now. Else its death would not show."""
        self._theirs.close()

    def close(self) -> None:
        """Close what is open."""
        self.let_go()
        self.connection.close()


def _readable(connection: Connection) -> select.poll:
    """What tells whether something can be read, as `Connection.poll` does, which builds it anew."""
    poll = select.poll()
    poll.register(connection.fileno(), select.POLLIN)
    return poll
