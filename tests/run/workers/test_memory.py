from __future__ import annotations

import contextlib
import inspect
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from gradcheck.errors import UsageError
from gradcheck.run.workers import orphans
from gradcheck.run.workers.memory import (
    LEAST_MEMORY,
    default_limit,
    held,
    held_alone,
    parse_size,
    shown,
)

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("2G", 2 * 2**30),
        ("1.5GiB", 3 * 2**29),
        ("800M", 800 * 2**20),
        ("800 mb", 800 * 2**20),
        ("4194304", 2**22),
        ("none", None),
    ],
)
def test_sizes(text: str, size: int | None) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "much", "-1G", "2X", "5", "nan", "1e9G", "٣G "])
def test_what_is_no_size_is_said(text: str) -> None:
    with pytest.raises(UsageError, match="write 2G, 800M or none"):
        parse_size(text)


def test_what_this_process_holds_is_seen_and_what_does_not_exist_holds_nothing() -> None:
    before = held(os.getpid())
    fat = bytearray(b"x") * 100_000_000
    assert held(os.getpid()) >= before + 90_000_000
    assert held(2**22 + 1) == 0
    del fat


def test_the_default_is_a_share_of_the_machine() -> None:
    one, two, many = (default_limit(jobs) or 0 for jobs in (1, 2, 100_000))
    assert LEAST_MEMORY == many <= two <= one


def test_sizes_are_shown_short() -> None:
    assert [shown(n * 2**20) for n in (300, 1024, 1536)] == ["300 MiB", "1 GiB", "1.5 GiB"]


LINE = """
import os, sys, time
for _ in range(int(sys.argv[1])):
    if os.fork():
        break
else:
    print("all", flush=True)
time.sleep(3600)
"""

BROOD = """
import os, sys, time
for _ in range(int(sys.argv[1])):
    if not os.fork():
        time.sleep(3600)
print("all", flush=True)
time.sleep(3600)
"""


@contextlib.contextmanager
def forked(script: str, count: int) -> Iterator[int]:
    """A process that has so many below it, all of them there."""
    command = [sys.executable, "-S", "-c", script, str(count)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"all\n"
            yield process.pid
        finally:
            os.killpg(process.pid, signal.SIGKILL)


def test_a_long_line_of_processes_is_counted() -> None:
    # Far more generations than are left of Python's own calls.
    limit = sys.getrecursionlimit()
    with forked(LINE, 150) as pid:
        sys.setrecursionlimit(len(inspect.stack()) + 60)
        try:
            assert held(pid) >= 150 * held_alone(pid) / 4
        finally:
            sys.setrecursionlimit(limit)


def test_every_one_of_many_children_is_counted() -> None:
    # Their numbers take more than a page of the file in which the system lists them.
    with forked(BROOD, 1_000) as pid:
        children = orphans.children(pid)
        assert len(children) == 1_000
        # (They still settle while they are looked at.)
        one_by_one = held_alone(pid) + sum(map(held_alone, children))
        assert held(pid) == pytest.approx(one_by_one, rel=0.05)
