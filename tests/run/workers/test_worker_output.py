from __future__ import annotations

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
        reading, self.writing = os.pipe()
        self.output = WorkerOutput(reading)

    def write(self, data: bytes) -> None:
        os.write(self.writing, data)


@pytest.fixture
def printed() -> Iterator[Printed]:
    printed = Printed()
    yield printed
    printed.output.close()
    os.close(printed.writing)


def test_silence_has_no_words_and_holds_nobody_up(printed: Printed) -> None:
    assert not printed.output.drain()
    assert printed.output.last_words() == ""


def test_the_words_are_those_of_the_last_case(printed: Printed) -> None:
    printed.write(CASE_MARK % 1 + b"the first\n" + CASE_MARK % 23 + b"the second\n\xff\n")
    assert not printed.output.drain()
    assert printed.output.case == 23
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


def test_a_mark_may_come_in_two_parts(printed: Printed) -> None:
    printed.write(b"the first\n" + (CASE_MARK % 7)[:5])
    printed.output.drain()
    printed.write((CASE_MARK % 7)[5:] + b"the second\n")
    printed.output.drain()
    assert printed.output.case == 7
    assert bytes(printed.output.kept) == b"the second\n"


def test_of_a_long_output_the_first_and_the_last_lines_are_shown(printed: Printed) -> None:
    printed.write(CASE_MARK % 0 + b"the reason\n")
    for number in range(30_000):
        printed.write(b"line %d\n" % number)
        printed.output.drain()
    words = printed.output.last_words()
    assert words.startswith("\nits first output:\n  the reason\n  line 0\n")
    assert words.endswith("\n  line 29999")
    assert len(words) < 1_000
    printed.write(CASE_MARK % 1 + b"short\n")
    printed.output.drain()
    assert printed.output.last_words() == "\nits last output:\n  short"


def test_who_prints_much_is_read_as_it_comes(printed: Printed) -> None:
    seen = []
    for data in (b"a line\n", b"x" * 10_000, b"\n"):
        printed.write(data)
        printed.output.drain()
        seen.append(printed.output.chatty)
    assert seen == [False, True, False]


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
