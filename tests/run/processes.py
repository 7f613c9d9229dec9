"""Which processes there are, as /proc tells it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def descendants(root: int) -> list[tuple[int, str]]:
    """All processes below the root, with their command lines; zombies do not count."""
    children: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        state = _state(stat)
        if state is not None and state[0] != "Z":
            children.setdefault(state[1], []).append(int(stat.parent.name))
    found: list[tuple[int, str]] = []
    waiting = [root]
    while waiting:
        for pid in children.get(waiting.pop(), []):
            waiting.append(pid)
            try:
                text = Path(f"/proc/{pid}/cmdline").read_text(errors="replace")
            except OSError:
                continue
            found.append((pid, text.replace("\0", " ")))
    return found


def parent_of(pid: int) -> int | None:
    """The parent of a process that lives."""
    state = _state(Path(f"/proc/{pid}/stat"))
    return state and state[1]


def gone(pid: int) -> bool:
    """Whether a process ends soon."""
    return _soon(lambda state: state is None or state[0] == "Z", pid)


def reaped(pid: int) -> bool:
    """Whether a process, all its threads and its files are gone soon."""
    return _soon(lambda state: state is None, pid)


def _soon(over: Callable[[tuple[str, int] | None], bool], pid: int) -> bool:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if over(_state(Path(f"/proc/{pid}/stat"))):
            return True
        time.sleep(0.01)
    return False


def _state(stat: Path) -> tuple[str, int] | None:
    try:
        text = stat.read_text(errors="replace")
    except OSError:
        return None
    state, parent = text.rpartition(")")[2].split()[:2]
    return state, int(parent)
