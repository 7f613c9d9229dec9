"""Messages on a socket: each begins with a word that both ends know, and its length.

A user's function may write to any descriptor that it finds. What does not begin with the word was
not sent by us: the reader says so, and is not led to wait for the rest of something.
"""

from __future__ import annotations

import contextlib
import select
import struct
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import socket

WORD_BYTES = 16
"""The length of the word: nobody writes it by accident."""

MOST_MESSAGE = 256 * 2**20
"""Bytes of the longest message that is read: of a case with millions of values there are tens."""

SEND_SECONDS = 10.0
"""Seconds for a worker that waits for cases to take one: at once, unless it is stopped."""

_LENGTH = struct.Struct("<I")
_HEAD_BYTES = WORD_BYTES + _LENGTH.size
_CHUNK = 2**20


class GarbledError(Exception):
    """Something came that the other end did not send."""


class Frames:
    """One end of a socket on which messages go both ways."""

    def __init__(self, line: socket.socket, word: bytes) -> None:
        self._line = line
        self._word = word
        self._read = bytearray()
        self._ended = False
        self._poll = select.poll()
        self._poll.register(line.fileno(), select.POLLIN)

    def send(self, message: bytes) -> None:
        """Send a message, however long that takes; OSError where nobody is left to read it."""
        self._line.sendall(self._word + _LENGTH.pack(len(message)) + message)

    def send_in_time(self, message: bytes) -> bool:
        """Send a message to somebody who may not read it; False where that shows.

        Without a limit `test_a_worker_that_does_not_read_holds_nobody_up` would wait for ever.
        """
        rest = memoryview(self._word + _LENGTH.pack(len(message)) + message)
        deadline = time.monotonic() + SEND_SECONDS
        writable = select.poll()
        writable.register(self._line.fileno(), select.POLLOUT)
        while rest:
            with contextlib.suppress(BlockingIOError):
                rest = rest[self._line.send(rest) :]
                continue
            if not writable.poll(max(0.0, deadline - time.monotonic()) * 1000):
                return False
        return True

    def arrived(self) -> bool:
        """Whether there is something to read: a message, a part of one, or the end."""
        return bool(self._read) or self._ended or bool(self._poll.poll(0))

    def wait(self) -> bytes:
        """The next message, when it comes; EOFError where there will be none."""
        while (message := self._message()) is None:
            self._take(self._line.recv(_CHUNK))
        return message

    def next(self) -> bytes | None:
        """The next message if all of it is here; EOFError where there will be none.

        The socket must not be a blocking one.
        """
        while (message := self._message()) is None:
            try:
                self._take(self._line.recv(_CHUNK))
            except BlockingIOError:
                return None
        return message

    def _take(self, data: bytes) -> None:
        if not data:
            self._ended = True
            raise EOFError
        self._read += data

    def _message(self) -> bytes | None:
        """Take a whole message out of what has been read."""
        read = self._read
        if not self._word.startswith(read[:WORD_BYTES]):
            raise GarbledError("something that is no message")
        if len(read) < _HEAD_BYTES:
            return None
        (length,) = _LENGTH.unpack_from(read, WORD_BYTES)
        if length > MOST_MESSAGE:
            raise GarbledError(f"a message of {length} bytes")
        if len(read) < _HEAD_BYTES + length:
            return None
        message = bytes(read[_HEAD_BYTES : _HEAD_BYTES + length])
        del read[: _HEAD_BYTES + length]
        return message
