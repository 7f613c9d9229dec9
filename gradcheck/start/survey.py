"""A package looked at: what in it has a gradient, and what of that has a spec that works."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gradcheck.model.findings import Found, FoundKind
from gradcheck.start.sightings import look_at_modules
from gradcheck.start.source_scan import scan
from gradcheck.start.trial import Tried, try_all

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from gradcheck.model.findings import Sighting
    from gradcheck.start.project import Project

LONGEST_SURVEY = 600.0
"""Seconds for which shapes are looked for, for a whole package."""


@dataclass(frozen=True, slots=True)
class Survey:
    """What came of it."""

    tried: tuple[Tried, ...]
    """All that has a gradient, as far as that can be told, and no spec yet."""
    known: tuple[str, ...]
    """What has one."""
    not_called: tuple[str, ...]
    """Functions of which nothing says that they take tensors: they may do anything."""
    unnamed: tuple[str, ...]
    """What has a gradient, and no name that a spec could give."""
    unreadable: tuple[tuple[str, str], ...]
    """Modules that could not be looked into, or not at all of them, with the reason."""


def survey(
    project: Project,
    known: Collection[str],
    progress: Callable[[str], None] = lambda _text: None,
) -> Survey:
    """Import the modules that may hold a gradient, and look for shapes for what they offer.

    Args:
        project: what to look at.
        known: the targets that have a spec already.
        progress: told what is being done.
    """
    root, modules = str(project.root), []
    unreadable = [(", ".join(project.packages), project.cut)] if project.cut else []
    for module in project.modules:
        scanned = scan(module.path)
        if scanned.problem:
            unreadable.append((module.name, scanned.problem))
        elif scanned.worth_importing:
            modules.append(module.name)
    progress(f"importing {len(modules)} module{'' if len(modules) == 1 else 's'}")
    sightings = look_at_modules(modules, allow=project.packages, root=root)
    unreadable += [(seen.id, seen.message) for seen in sightings if seen.message]
    things = _each_once(found for seen in sightings for found in seen.found)
    wanted = [
        found
        for found in things
        if found.kind is not FoundKind.FUNCTION and found.target not in known
    ]
    tried = try_all(
        [(found, "layer" if found.kind.is_class else "function") for found in wanted],
        allow=project.packages,
        root=root,
        until=time.monotonic() + LONGEST_SURVEY,
        progress=lambda done, total: progress(f"looking for shapes: {done} of {total} done"),
    )
    return Survey(
        tuple(tried),
        tuple(found.target for found in things if found.target in known),
        tuple(found.target for found in things if found.kind is FoundKind.FUNCTION),
        _unnamed(sightings, {found.place for found in things if found.place}),
        tuple(unreadable),
    )


def _unnamed(sightings: Iterable[Sighting], offered: Collection[str]) -> tuple[str, ...]:
    """What no spec can name, but what has a name besides that one can: `swish = _swish`."""
    things = _each_once(found for seen in sightings for found in seen.unnamed)
    return tuple(found.target for found in things if found.place not in offered)


def _each_once(things: Iterable[Found]) -> list[Found]:
    """What several modules offer is taken from the one that defines it, if that is public."""
    chosen: dict[tuple[str, str], Found] = {}
    for found in things:
        key = (found.home, found.place or found.target)
        if key not in chosen or found.target.partition(":")[0] == found.home:
            chosen[key] = found
    return sorted(chosen.values(), key=lambda found: (found.target.partition(":")[0], _line(found)))


def _line(found: Found) -> int:
    digits = found.place.rpartition(":")[2]
    return int(digits) if digits.isdigit() else 0
