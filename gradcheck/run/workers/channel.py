"""The channel between a worker and its parent: cases go one way, answers come the other.

A worker at small cases has many waiting, so that neither side waits for the other. It answers each
case before it begins the next, so the first case without an answer is always the one it is at. What
waits behind a case that turns out to be slow can be recalled, for other workers: this one confirms
that it has dropped it, and is given nothing new until then.

Cases are pickles, which a worker may believe. What comes back is not believed: it is data, read by
its type, and whatever is not an answer to a case that was given counts as the end of the worker.
"""

from __future__ import annotations

import json
import os
import pickle
import secrets
import socket
from collections import deque
from typing import TYPE_CHECKING, Any, NamedTuple

from gradcheck.run.workers.frames import WORD_BYTES, Frames, GarbledError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gradcheck.model import Case

_RECALL = None
"""Sent in place of cases: drop those that wait."""

_CONFIRMED = b"recalled"
"""Sent back when that is done."""

MOST_FACTS = 32
LONGEST_FACT = 500
"""How many facts about the machine are believed, and how long their names and texts may be."""


class UnsendableError(Exception):
    """The cases cannot be sent to another process."""


class Answer(NamedTuple):
    """What a worker sends back for a case."""

    number: int
    """That of the case."""
    result: bytes
    """Not looked at here: one that cannot be read spoils nothing else."""
    held: int | None
    """Bytes of memory that the worker holds; None where it has not looked."""
    unclean: bool
    """Whether a case left something that could disturb the next one: the last answer."""
    facts: Mapping[str, str]
    """What TensorFlow says about the machine; with the first answer of a worker."""

    def to_bytes(self) -> bytes:
        """As it is sent: a line of JSON, then the result."""
        head = (self.number, self.held, self.unclean, dict(self.facts))
        return json.dumps(head).encode() + b"\n" + self.result

    @classmethod
    def from_bytes(cls, data: bytes) -> Answer:
        """What was sent; GarbledError where it was no answer."""
        head, _, result = data.partition(b"\n")
        try:
            number, held, unclean, facts = json.loads(head)
        except (ValueError, TypeError, RecursionError) as error:
            raise GarbledError("something that is no answer") from error
        sound = type(number) is int and (held is None or type(held) is int)
        if not (sound and type(unclean) is bool and _are_facts(facts)):
            raise GarbledError("an answer of another make")
        return cls(number, result, held, unclean, facts)


def _are_facts(facts: Any) -> bool:
    if type(facts) is not dict or len(facts) > MOST_FACTS:
        return False
    texts = [*facts, *facts.values()]
    return all(type(text) is str and len(text) <= LONGEST_FACT for text in texts)


class WorkerEnd:
    """The end that the worker has."""

    def __init__(self, descriptor: int) -> None:
        line = socket.socket(fileno=descriptor)
        line.setblocking(True)
        self.descriptor = descriptor
        self._line = line
        self._frames = Frames(line, _received_word(line))
        self._waiting: deque[tuple[int, Case]] = deque()

    @property
    def idle(self) -> bool:
        """Whether no case is waiting here."""
        return not self._waiting

    def greeting(self) -> Any:
        """What the parent has to say before the first case."""
        return pickle.loads(self._frames.wait())  # noqa: S301  (our parent's)

    def cases(self) -> Iterator[tuple[int, Case]]:
        """Each case with its number, when its turn comes; ends when the parent is gone."""
        while True:
            # All there is to read: among it may be a recall.
            while not self._waiting or self._frames.arrived():
                try:
                    message = pickle.loads(self._frames.wait())  # noqa: S301  (our parent's)
                except (EOFError, OSError):
                    return
                if message is _RECALL:
                    self._waiting.clear()
                    self._frames.send(_CONFIRMED)
                else:
                    self._waiting.extend(message)
            yield self._waiting.popleft()

    def answer(self, answer: Answer) -> None:
        """Send an answer back."""
        self._frames.send(answer.to_bytes())

    def close(self) -> None:
        """Leave the channel."""
        self._line.close()


def _received_word(line: socket.socket) -> bytes:
    word = b""
    while len(word) < WORD_BYTES:
        data = line.recv(WORD_BYTES - len(word))
        if not data:
            raise EOFError
        word += data
    return word


class ParentEnd:
    """The end that the parent keeps, with the other one until a worker has it."""

    def __init__(self) -> None:
        self.connection, self.theirs = socket.socketpair()
        self.connection.setblocking(False)
        self.recalling = False
        """Whether a recall has not been confirmed yet."""
        self.bytes_per_case = 0.0
        """What the cases of the last message took."""
        self._next = 0
        word = secrets.token_bytes(WORD_BYTES)
        self._frames = Frames(self.connection, word)
        self.connection.send(word)

    def greet(self, greeting: object) -> bool:
        """Say what is to be known before the first case; False where nobody listens."""
        try:
            return self._frames.send_in_time(pickle.dumps(greeting))
        except OSError:
            return False

    def give(self, cases: Sequence[Case], most_bytes: int | None = None) -> list[int]:
        """Hand over some cases, and say which numbers they have; none if they are too large.

        A worker that is at a case reads nothing: it may be given no more than `most_bytes`, or
        this would wait for it. Raises UnsendableError for what cannot be sent, OSError where the
        worker is gone or does not read.
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
        if not self._frames.send_in_time(message):
            raise TimeoutError("the worker does not read")
        self._next += len(cases)
        return list(numbers)

    def recall(self) -> None:
        """Let the worker drop the cases that it has not begun; OSError where it is gone."""
        if not self._frames.send_in_time(pickle.dumps(_RECALL)):
            raise TimeoutError("the worker does not read")
        self.recalling = True

    def receive(self) -> Answer | None:
        """The next answer, if it is here.

        Raises EOFError or OSError where there will be none, GarbledError where what came was not
        sent by the worker's own hand.
        """
        while (message := self._frames.next()) is not None:
            if message != _CONFIRMED:
                return Answer.from_bytes(message)
            if not self.recalling:
                raise GarbledError("a word out of turn")
            self.recalling = False
        return None

    def close(self) -> None:
        """Close what is open."""
        self.theirs.close()
        self.connection.close()


def hidden(descriptor: int) -> int:
    """The same channel as a descriptor that nobody finds by counting from three; the old is closed.

    Without it `test_who_closes_the_first_descriptors_goes_on` fails.
    """
    import fcntl
    import random
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    top = min(soft if soft > 0 else _HIGHEST, _HIGHEST)
    try:
        moved = fcntl.fcntl(
            descriptor, fcntl.F_DUPFD_CLOEXEC, random.SystemRandom().randrange(top // 2, top - 8)
        )
    except (OSError, ValueError):  # few are allowed
        return descriptor
    os.close(descriptor)
    return moved


_HIGHEST = 8192
"""The highest descriptor that is taken: the system makes a table of so many."""
