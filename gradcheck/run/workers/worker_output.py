"""What a worker prints, as its parent has it: the first and the last of what its case said."""

from __future__ import annotations

import contextlib
import os
import re

from gradcheck.run.workers.crash_message import first_words, last_words

KEPT_BYTES = 16_384
"""How many bytes of a worker's output are kept: all the lines that are shown, and a long stack."""

FIRST_BYTES = 2_048
"""How many bytes are kept of the beginning: the first lines, which often tell the reason."""

CHUNK_BYTES = 65_536
"""How many bytes are read at once: what a pipe holds on Linux."""

MOST_CHUNKS = 16
"""How many are read in one go: a worker that prints without end would hold up the others."""

MUCH_BYTES = 4_096
"""A worker that has printed so much since the last look is read as it prints."""

_MARK = re.compile(rb"\0\x1egradcheck (\d+)\x1e\0")
_LONGEST_MARK = 40


class WorkerOutput:
    """The reading end of a worker's output."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        os.set_blocking(descriptor, False)
        self.kept = bytearray()
        self.case = -1
        """The number of the case that printed last."""
        self.chatty = False
        """Whether it prints so much that it should be read as it comes."""
        self._first = b""
        self._left_out = 0

    def drain(self) -> bool:
        """Take what the worker has printed, and keep the ends of it; whether there is more."""
        taken = 0
        for _ in range(MOST_CHUNKS):
            try:
                chunk = os.read(self.descriptor, CHUNK_BYTES)
            except BlockingIOError:
                chunk = b""
            if not chunk:
                self.chatty = taken > MUCH_BYTES
                return False
            taken += len(chunk)
            self._keep(chunk)
        self.chatty = True
        return True

    def _keep(self, chunk: bytes) -> None:
        self.kept += chunk
        # (A mark may have come in two parts.)
        marks = _MARK.finditer(self.kept, max(0, len(self.kept) - len(chunk) - _LONGEST_MARK))
        for last in list(marks)[-1:]:
            self.case = int(last[1])
            del self.kept[: last.end()]
            self._first, self._left_out = b"", 0
        over = len(self.kept) - KEPT_BYTES
        if over > 0:
            if not self._left_out:
                self._first = bytes(self.kept[:FIRST_BYTES])
            self._left_out += over
            del self.kept[:over]

    def last_words(self) -> str:
        """The lines that are worth showing, below a line of their own; empty without any."""
        words = last_words(self.kept.decode(errors="replace"))
        first = first_words(self._first.decode(errors="replace"))
        told = ["\nits first output:", *(f"\n  {line}" for line in first)] if first else []
        told += ["\nits last output:", *(f"\n  {line}" for line in words)] if words else []
        return "".join(told)

    def close(self) -> None:
        """Give the pipe back."""
        with contextlib.suppress(OSError):
            os.close(self.descriptor)
        self.descriptor = -1
