"""What a worker prints, as its parent has it: only the end, and only that of the last case."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from gradcheck.run.workers.crash_message import last_words
from gradcheck.run.workers.worker import CASE_MARK

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

KEPT_BYTES = 16_384
"""How many bytes of a worker's output are kept: all the lines that are shown, and a long stack."""

CHUNK_BYTES = 65_536
"""How many bytes are read at once: what a pipe holds on Linux."""

MOST_CHUNKS = 16
"""How many are read in one go: a worker that prints without end would hold up the others."""


class WorkerOutput:
    """The reading end of a worker's output."""

    def __init__(self, pipe: Connection) -> None:
        self._pipe = pipe
        os.set_blocking(pipe.fileno(), False)
        self.kept = bytearray()

    def drain(self) -> bool:
        """Take what the worker has printed, and keep the end of it; whether there is more."""
        for _ in range(MOST_CHUNKS):
            try:
                chunk = os.read(self._pipe.fileno(), CHUNK_BYTES)
            except BlockingIOError:
                return False
            if not chunk:
                return False
            self.kept += chunk
            del self.kept[:-KEPT_BYTES]
        return True

    def last_words(self) -> str:
        """The last lines that are worth showing, below a line of their own; empty without any."""
        output = self.kept.rpartition(CASE_MARK)[2]
        words = last_words(output.decode(errors="replace"))
        return "".join(["\nits last output:", *(f"\n  {line}" for line in words)]) if words else ""

    def close(self) -> None:
        """Give the pipe back."""
        self._pipe.close()
