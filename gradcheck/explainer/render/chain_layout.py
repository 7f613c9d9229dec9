"""Where the boxes of a chain stand: a row for each step of the way, its boxes beside each other.

A value that skips rows passes through them at a place of its own, so that no arrow runs through
a box. Rows are ordered by where their neighbours stand, a few times up and down.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["Layout", "lay_out"]

_SWEEPS = 12
"""How often rows are ordered, and moved below their neighbours."""
_PASSING = 20.0
"""The width that an arrow takes on its way through a row."""

_WEIGHT = 20.0
"""How much more than an input something that is computed stays where it wants to be."""

_Route = list[str]


@dataclass(frozen=True)
class Layout:
    """The middle of each box, the row that it stands in, and the ways between them."""

    across: Mapping[str, float]
    row: Mapping[str, int]
    routes: Mapping[tuple[str, str], tuple[str, ...]]
    """By source and target: the names of the places in between."""
    width: float


def lay_out(sources: Mapping[str, Sequence[str]], widths: Mapping[str, float]) -> Layout:
    """Places for boxes of these widths.

    Args:
        sources: by box, those that it is made of, each of which stands before it.
        widths: by box.
    """
    row = _rows(sources)
    rows: list[_Route] = [[] for _ in range(max(row.values()) + 1)]
    for name in sources:
        rows[row[name]].append(name)
    room = dict(widths)
    routes: dict[tuple[str, str], tuple[str, ...]] = {}
    above: dict[str, list[str]] = {name: [] for name in sources}
    below: dict[str, list[str]] = {name: [] for name in sources}
    for target, used in sources.items():
        for source in used:
            passing = [f"{source}>{target}@{i}" for i in range(row[source] + 1, row[target])]
            for i, name in enumerate(passing, row[source] + 1):
                rows[i].append(name)
                room[name] = _PASSING
                row[name] = i
            way = [source, *passing, target]
            routes[source, target] = tuple(passing)
            for one, other in pairwise(way):
                below.setdefault(one, []).append(other)
                above.setdefault(other, []).append(one)
    _order(rows, above, below)
    across = _centred(rows, room)
    # What is computed stands below what it is computed from; inputs make way for it.
    heavy = {name for name in room if above.get(name)}
    upstairs = {
        name: [one for one in found if one in heavy] or found for name, found in above.items()
    }
    for sweep in range(_SWEEPS):
        down = sweep % 2 == 0
        for names in rows if down else reversed(rows):
            _pull(names, upstairs if down else below, across, room, heavy)
    left = min(across[name] - room[name] / 2 for name in room)
    right = max(across[name] + room[name] / 2 for name in room)
    return Layout({name: place - left for name, place in across.items()}, row, routes, right - left)


def _rows(sources: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """Steps as early as they can be, inputs directly above the first that uses them."""
    row: dict[str, int] = {}
    for name, used in sources.items():
        if used:
            row[name] = 1 + max((row[source] for source in used if source in row), default=0)
    for name, used in sources.items():
        if not used:
            users = [row[other] for other, taken in sources.items() if name in taken]
            row[name] = min(users, default=1) - 1
    return row


def _order(
    rows: list[_Route], above: Mapping[str, list[str]], below: Mapping[str, list[str]]
) -> None:
    """From the last row up, each box by where it is used, and there in the order of operands."""
    for i in range(len(rows) - 2, -1, -1):
        at = {name: float(place) for place, name in enumerate(rows[i + 1])}
        places = {}
        for name in rows[i]:
            used = [
                at[other] + (above[other].index(name) + 1) / (len(above[other]) + 1)
                for other in below.get(name, [])
            ]
            places[name] = sum(used) / len(used) if used else float(len(at))
        rows[i].sort(key=places.__getitem__)


def _mean(
    beside: Mapping[str, list[str]], name: str, at: Mapping[str, float], otherwise: float
) -> float:
    places = [at[other] for other in beside.get(name, []) if other in at]
    return sum(places) / len(places) if places else otherwise


def _centred(rows: list[_Route], room: Mapping[str, float]) -> dict[str, float]:
    across: dict[str, float] = {}
    for names in rows:
        place = -sum(room[name] for name in names) / 2
        for name in names:
            across[name] = place + room[name] / 2
            place += room[name]
    return across


def _pull(
    names: _Route,
    beside: Mapping[str, list[str]],
    across: dict[str, float],
    room: Mapping[str, float],
    heavy: set[str],
) -> None:
    """Move a row's boxes to where their neighbours are, in their order and without overlaps.

    Boxes that would overlap become a block, which stands where its boxes want it on average; what
    is heavy is moved little.
    """
    blocks: list[tuple[float, float, list[str]]] = []
    offset, offsets = 0.0, {}
    for name in names:
        offset += room[name] / 2
        offsets[name] = offset
        offset += room[name] / 2
        weight = _WEIGHT if name in heavy else 1.0
        place = _mean(beside, name, across, across[name]) - offsets[name]
        blocks.append((place, weight, [name]))
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            (one, first, some), (other, second, more) = blocks[-2:]
            mean = (one * first + other * second) / (first + second)
            blocks[-2:] = [(mean, first + second, [*some, *more])]
    for place, _, members in blocks:
        for name in members:
            across[name] = place + offsets[name]
