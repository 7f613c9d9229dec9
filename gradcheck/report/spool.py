"""Many texts that come in one order and are wanted in another, most of them on disk meanwhile."""

from __future__ import annotations

import tempfile
import weakref
from array import array
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_IN_MEMORY = 16 * 2**20
"""Bytes that are kept in memory: the results of five thousand small cases."""


class Spool:
    """Texts with a rank each; OSError where the disk is full."""

    def __init__(self) -> None:
        self._file = tempfile.SpooledTemporaryFile(MOST_IN_MEMORY)  # noqa: SIM115  (see below)
        # A run that fails has no end at which somebody would close it.
        weakref.finalize(self, self._file.close)
        # (Numbers and no objects: there may be a hundred thousand.)
        self._ranks = array("q")
        self._ends = array("q", [0])

    def __len__(self) -> int:
        return len(self._ranks)

    def add(self, rank: int, text: str) -> None:
        """Keep a text."""
        data = text.encode("utf-8", "surrogatepass")
        self._file.write(data)
        self._ranks.append(rank)
        self._ends.append(self._ends[-1] + len(data))

    def __iter__(self) -> Iterator[str]:
        """The texts by rank; those of the same rank in the order in which they came."""
        for number in sorted(range(len(self)), key=self._ranks.__getitem__):
            self._file.seek(self._ends[number])
            data = self._file.read(self._ends[number + 1] - self._ends[number])
            yield data.decode("utf-8", "surrogatepass")
