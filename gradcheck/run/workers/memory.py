"""How much memory a worker holds, and how much it may.

The limit is on what is really used, looked at from outside. A limit on addresses (RLIMIT_AS) would
be on something else: after its first op TensorFlow has reserved 1.8 GB of them and uses 0.6.
"""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path

from gradcheck.errors import UsageError

LOOK_SECONDS = 0.05
"""Seconds between two looks: memory fills with a few gigabytes a second at most, so a worker is a
tenth of a gigabyte or two over its limit when that is seen."""

LEAST_MEMORY = 2 * 2**30
"""The least default limit in bytes: a worker with TensorFlow in it begins with half a gigabyte, and
what a case may need comes on top."""

MEMORY_SHARE = 0.8
"""How much of the machine the workers may use together, unless told otherwise: the fifth that is
left is for the command, the fork server and whoever else is there."""

_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
_SIZE = re.compile(r"(?P<number>\d+(\.\d+)?)\s*(?P<unit>[kmgt]?)(i?b)?", re.IGNORECASE | re.ASCII)
_UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}


def held(pid: int) -> int:
    """The bytes that a process and all below it hold; 0 where that cannot be known.

    Without a list of its own `test_a_long_line_of_processes_is_counted` fails: a case may fork
    more often than Python calls itself.
    """
    total = 0
    left = [pid]
    while left:
        one = left.pop()
        total += held_alone(one)
        with contextlib.suppress(OSError):
            for task in os.listdir(f"/proc/{one}/task"):  # noqa: PTH208  (as below)
                left.extend(map(int, _read(f"/proc/{one}/task/{task}/children")))
    return total


def held_alone(pid: int) -> int:
    """The bytes that a process holds, without its children."""
    pages = _read(f"/proc/{pid}/statm")
    return int(pages[1]) * _PAGE if pages else 0


def _read(name: str) -> list[bytes]:
    """The words of a file of /proc; none where it is gone."""
    try:
        # Not by pathlib: this is done twenty times a second for every worker.
        file = os.open(name, os.O_RDONLY)
    except OSError:
        return []
    text = b""
    try:
        # Of `children` the system gives a page at a time: some 500 numbers.
        while part := os.read(file, 65_536):
            text += part
        return text.split()
    except OSError:
        return []
    finally:
        os.close(file)


def can_be_limited() -> bool:
    """Whether this system tells how much memory a process holds."""
    return held(os.getpid()) > 0


def default_limit(jobs: int) -> int | None:
    """A fair share of the machine for each of the workers; None where none can be enforced."""
    if not can_be_limited():
        return None
    return max(LEAST_MEMORY, int(_machine() * MEMORY_SHARE) // max(jobs, 1))


def parse_size(text: str, place: str = "") -> int | None:
    """`2G`, `1.5GiB`, `800M`: bytes. `none`: no limit. UsageError, with the place, for others."""
    where = place and f"{place}: "
    if text.strip().lower() == "none":
        return None
    match = _SIZE.fullmatch(text.strip())
    size = int(float(match["number"]) * _UNITS[match["unit"].lower()]) if match else 0
    if size < 2**20:
        raise UsageError(f"{where}{text!r} is not a memory limit: write 2G, 800M or none")
    if not can_be_limited():
        raise UsageError(f"{where}a memory limit needs /proc, which this system does not have")
    return size


def shown(size: int) -> str:
    """`1.5 GiB`, `800 MiB`."""
    if size >= 2**30:
        return f"{size / 2**30:.1f}".removesuffix(".0") + " GiB"
    return f"{size / 2**20:.0f} MiB"


def _machine() -> int:
    """The memory of the machine, or of the container around us where that is less."""
    sizes = [os.sysconf("SC_PHYS_PAGES") * _PAGE]
    for name in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        with contextlib.suppress(OSError, ValueError):
            sizes.append(int(Path(name).read_text()))
    return min(sizes)
