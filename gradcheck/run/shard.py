"""`--shard I/N`: a suite cut into parts of about the same length, the same on every machine.

All machines must know the same recorded durations, or none: each cuts for itself. The name of the
cut is in every report, so that reports of different cuts are not taken for a whole.
"""

from __future__ import annotations

import hashlib
import heapq
import re
from statistics import fmean
from typing import TYPE_CHECKING

from gradcheck.errors import UsageError
from gradcheck.model import Case, Shard

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

MOST_SHARDS = 10_000
"""Nobody has more machines, and a list of them all is still made in a moment."""

_SHARD = re.compile(r"([0-9]{1,9})/([0-9]{1,9})")


def parse_shard(text: str) -> tuple[int, int]:
    """`2/5`: the second of five; UsageError for anything that is not a part of a whole."""
    match = _SHARD.fullmatch(text.strip())
    if match is None:
        raise UsageError(f"{text!r} is not a shard: write 2/5 for the second of five")
    index, count = int(match[1]), int(match[2])
    if not 1 <= index <= count <= MOST_SHARDS:
        raise UsageError(f"there is no shard {index} of {count}: they count from 1")
    return index, count


def cut(
    cases: Sequence[Case], index: int, count: int, seconds: Callable[[str], float | None]
) -> tuple[list[Case], Shard]:
    """The cases of one shard, in their order; `seconds` tells what is known of a case's time."""
    owners = _owners(cases, count, seconds)
    positions = tuple(i for i, owner in enumerate(owners) if owner == index)
    name = hashlib.sha256()
    for case, owner in zip(cases, owners, strict=True):
        name.update(f"{owner} {case.id}\n".encode())
    shard = Shard(index, count, name.hexdigest()[:12], positions)
    return [cases[i] for i in positions], shard


def _owners(cases: Sequence[Case], count: int, seconds: Callable[[str], float | None]) -> list[int]:
    """Who gets which case: the longest first, each to whoever has least so far."""
    known = [time for case in cases if (time := seconds(case.id)) is not None]
    # An unknown case counts as a usual one; never as nothing, or one shard would get them all.
    usual = max(fmean(known) if known else 1.0, 1e-3)
    times = [usual if (time := seconds(case.id)) is None else max(time, 1e-3) for case in cases]
    loads = [(0.0, shard) for shard in range(1, count + 1)]
    owners = [0] * len(cases)
    # (In no order of names: of the modes and checks of a case every shard would get the same.)
    for i in sorted(range(len(cases)), key=lambda i: (-times[i], _digest(cases[i].id))):
        load, owner = heapq.heappop(loads)
        owners[i] = owner
        heapq.heappush(loads, (load + times[i], owner))
    return owners


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()
