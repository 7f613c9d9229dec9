from __future__ import annotations

import multiprocessing
import os
from typing import TYPE_CHECKING

import pytest

from gradcheck.run.workers.worker import CASE_MARK
from gradcheck.run.workers.worker_output import KEPT_BYTES, MOST_CHUNKS, WorkerOutput

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Printed:
    """An output, and what prints to it."""

    def __init__(self) -> None:
        reading, self.writing = multiprocessing.Pipe(duplex=False)
        self.output = WorkerOutput(reading)

    def write(self, data: bytes) -> None:
        os.write(self.writing.fileno(), data)


@pytest.fixture
def printed() -> Iterator[Printed]:
    printed = Printed()
    yield printed
    printed.output.close()
    printed.writing.close()


def test_silence_has_no_words_and_holds_nobody_up(printed: Printed) -> None:
    assert not printed.output.drain()
    assert printed.output.last_words() == ""


def test_the_words_are_those_of_the_last_case(printed: Printed) -> None:
    printed.write(CASE_MARK + b"the first\n" + CASE_MARK + b"the second\n\xff\n")
    assert not printed.output.drain()
    assert (
        printed.output.last_words()
        == "\nits last output:\n  the second\n  \N{REPLACEMENT CHARACTER}"
    )


def test_only_the_end_is_kept(printed: Printed) -> None:
    for _ in range(3):
        printed.write(b"x" * 10_000)
        printed.output.drain()
    printed.write(b"the end")
    printed.output.drain()
    assert len(printed.output.kept) == KEPT_BYTES
    assert printed.output.kept.endswith(b"the end")


def test_of_an_endless_output_so_much_is_taken_at_once(
    printed: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    real: Callable[[int, int], bytes] = os.read
    taken = 0

    def read(descriptor: int, size: int) -> bytes:
        nonlocal taken
        taken += 1
        printed.write(b"more")
        return real(descriptor, size)

    printed.write(b"some")
    monkeypatch.setattr(os, "read", read)
    assert printed.output.drain()
    assert taken == MOST_CHUNKS
